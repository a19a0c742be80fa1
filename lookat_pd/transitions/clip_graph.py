"""The cuts between all clips of a library, and the cheapest path over them from one clip to another.

Source: L. Kovar, M. Gleicher, F. Pighin, "Motion Graphs", SIGGRAPH 2002. The clips are compared as in `best_cut`, with
one body size for all, so that all costs can be compared and added. The nodes of the graph are cuts: a clip that is
entered after frame j can be left at later frames, or continues by a cut back to itself, such as that of a cycle. The
cheapest path is found by E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959.
"""

import heapq
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..errors import InvalidArgument
from ..progress import drained, in_thread
from ..rotation import Array
from . import best_cut
from .best_cut import CutSearch, Weights

_Stacked = tuple[NDArray[np.complex64], NDArray[np.float32], NDArray[np.float32]]


class ClipCut(NamedTuple):
    """Frame j + 1 of clip `destination` continues frame i of clip `source`. Clips and frames are indices from 0."""

    source: int
    destination: int
    i: int
    j: int
    cost: float


@dataclass(frozen=True)
class ClipGraph:
    """The cuts between clips."""

    lengths: tuple[int, ...]
    """Number of frames of each clip."""
    cuts: tuple[ClipCut, ...]
    """Best first."""

    def pairs(self, suits: Callable[[ClipCut], bool] = lambda cut: True) -> list[ClipCut]:
        """The best cut that suits of each ordered pair of different clips that has one, best first."""
        by_pair: dict[tuple[int, int], ClipCut] = {}
        for cut in self.cuts:
            if cut.source != cut.destination and suits(cut):
                by_pair.setdefault((cut.source, cut.destination), cut)
        return list(by_pair.values())

    def cheapest(
        self,
        start: int,
        goal: int,
        *,
        leave: slice = slice(None),
        enter: slice = slice(None),
        stay: int = 1,
        cut_cost: float = 0.0,
    ) -> list[ClipCut]:
        """The cuts of the path with the smallest sum of costs from clip `start` to clip `goal`; empty if there is none.

        leave: frames i of the start at which the first cut may be. enter: frames j of the goal at which the last one
        may be. stay: number of frames for which a clip that was entered plays at least. cut_cost: added to the cost of
        each cut, so that few cuts are preferred. A path to the start itself has at least one cut. Raises
        InvalidArgument for clips that do not exist and negative numbers.
        """
        for clip in (start, goal):
            if not isinstance(clip, int | np.integer) or not 0 <= clip < len(self.lengths):
                raise InvalidArgument(
                    "There is no clip {clip} among the {count} clips; choose another.",
                    clip=checks.shown(clip),
                    count=len(self.lengths),
                )
        checks.whole("number of frames", stay, 0, 2**31)
        checks.number("cost of a cut", cut_cost, 0.0)
        costs = np.array([cut.cost for cut in self.cuts]) + cut_cost
        leaves, enters = range(self.lengths[start])[leave], range(self.lengths[goal])[enter]
        total, previous = np.full(len(self.cuts), np.inf), np.full(len(self.cuts), -1)
        queue: list[tuple[float, int]] = []

        def push_cuts(clip: int, frames: range, cost: float, cut: int) -> None:
            leaving, at = self._leaving[clip]
            later = leaving[np.searchsorted(at, frames.start) : np.searchsorted(at, frames.stop)]
            better = later[cost + costs[later] < total[later]]
            total[better], previous[better] = cost + costs[better], cut
            for n in better.tolist():
                heapq.heappush(queue, (float(total[n]), n))

        push_cuts(start, leaves, 0.0, -1)
        while queue:
            cost, n = heapq.heappop(queue)
            if cost > total[n]:
                continue
            cut = self.cuts[n]
            if cut.destination == goal and cut.j in enters:
                return self._path(n, previous)
            push_cuts(cut.destination, range(cut.j + 1 + stay, self.lengths[cut.destination]), cost, n)
        return []

    @cached_property
    def _leaving(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """For each clip the indices of the cuts that leave it and their frames i, in order of time."""
        sources, frames = (np.array([cut[k] for cut in self.cuts], dtype=np.intp) for k in (0, 2))
        found = []
        for clip in range(len(self.lengths)):
            rows = np.flatnonzero(sources == clip)
            rows = rows[np.argsort(frames[rows], kind="stable")]
            found.append((rows, frames[rows]))
        return found

    def _path(self, last: int, previous: NDArray[np.intp]) -> list[ClipCut]:
        path = []
        while last >= 0:
            path.append(self.cuts[last])
            last = int(previous[last])
        return path[::-1]


def comparing(
    clips: Sequence[ArrayLike],
    dt: float,
    *,
    root: int = 0,
    contacts: Sequence[ArrayLike] | None = None,
    weights: Weights | None = None,
    per_pair: int = 4,
    spacing: int = 5,
    room: int = 1,
    leave: Mapping[int, slice] | None = None,
    enter: Mapping[int, slice] | None = None,
) -> Generator[float, None, ClipGraph]:
    """As `compare`; yields the completed fraction."""
    weights, leave, enter = weights or Weights(), leave or {}, enter or {}
    if not len(clips):
        raise InvalidArgument("There are no clips to compare; give at least one.")
    points = best_cut.features(clips, dt, root=root, weights=weights)
    for name, value in (("number of cuts", per_pair), ("spacing", spacing), ("room", room)):
        checks.whole(name, value, 0, 2**31)
    if contacts is not None and len(contacts) != len(clips):
        raise InvalidArgument(
            "There are contacts of {contacts} clips, but {clips} clips; give those of each clip.",
            contacts=len(contacts),
            clips=len(clips),
        )
    lengths = [len(clip) for clip in points]
    ends = np.concatenate(([0], np.cumsum(lengths)))
    checks.check_memory(24.0 * max(lengths) * int(ends[-1]))
    stacked = _stacked(points)
    touching = None if contacts is None else _touching(contacts, lengths)
    candidates: list[ClipCut] = []
    for source, first in enumerate(ends[:-1]):
        rows = slice(int(first), int(ends[source + 1]))
        work = partial(_costs, rows, stacked, touching, weights.contact)
        across, cost = yield from in_thread(work, source / len(lengths))
        for destination in range(len(lengths)):
            columns = slice(int(ends[destination]), int(ends[destination + 1]))
            here = cost[:, columns]
            if destination == source:
                here = np.where(np.subtract.outer(np.arange(len(here)), np.arange(len(here))) > spacing, here, np.inf)
            spare = min(room, lengths[destination] // 2)
            search = CutSearch(here, across[:, columns])
            best = search.best(per_pair, spacing=spacing, room=max(spare, 1))
            if source in leave or destination in enter:
                first, second = leave.get(source, slice(None)), enter.get(destination, slice(None))
                within = search.best(per_pair, spacing=spacing, room=max(spare, 1), source=first, destination=second)
                best = list(dict.fromkeys((*best, *within)))
            candidates += [ClipCut(source, destination, cut.i, cut.j, cut.cost) for cut in best]
        yield (source + 1) / len(lengths)
    exact = _exactly(candidates, points, contacts, weights, ends)
    cuts = (cut._replace(cost=cost) for cut, cost in zip(candidates, exact.tolist(), strict=True))
    return ClipGraph(tuple(lengths), tuple(sorted(cuts, key=lambda cut: cut.cost)))


compare = drained("compare", comparing)
compare.__doc__ = """Compare every frame of every clip of a library with all others.

clips: (F, J, 3) each, global positions of the same J joints, Z up; dt: their time step [s]. root, weights: as of
`best_cut.search`. contacts: of each clip, (F, K). per_pair: number of cuts of each ordered pair of clips. spacing: as
of `CutSearch.best`; a cut from a clip to itself goes back by more. room: number of frames of the destination after a
cut, at most half of it. leave, enter: frames i and j, by clip, for which there are cuts in addition to the best ones of
all frames, because a path begins or ends there. The search is in single precision, the costs are not. Raises
InvalidArgument.
"""


def _costs(
    rows: slice, stacked: _Stacked, touching: NDArray[np.float32] | None, contact: float
) -> tuple[NDArray[np.complex64], NDArray[np.float32]]:
    """How frames of one clip, these rows, correlate with all frames horizontally, and the costs of cuts to them."""
    level, high, squares = stacked
    across = level[rows].conj() @ level.T
    cost = np.abs(across)
    cost += high[rows] @ high.T
    cost *= -2.0
    cost += squares[rows, None]
    cost += squares
    np.maximum(cost, 0.0, out=cost)
    if touching is not None:
        cost += np.float32(contact) * _differing(touching[rows], touching)
    return across, cost


def _stacked(points: Sequence[Array]) -> _Stacked:
    """Of all frames of all clips: horizontal positions as complex numbers, heights, and sums of squares."""
    every = np.concatenate(points)
    squares = np.sum(every * every, axis=(1, 2)).astype(np.float32)
    return (every[..., 0] + 1j * every[..., 1]).astype(np.complex64), every[..., 2].astype(np.float32), squares


def _touching(contacts: Sequence[ArrayLike], lengths: Sequence[int]) -> NDArray[np.float32]:
    """Contacts (frames of all clips, feet). Raises InvalidArgument."""
    known = [checks.numbers("contacts", feet) for feet in contacts]
    for feet, length in zip(known, lengths, strict=True):
        if feet.ndim != 2 or not feet.shape[1] or feet.shape != (length, known[0].shape[-1]):
            raise InvalidArgument("Contacts {shape} of a clip must be ({first}, feet).", shape=feet.shape, first=length)
    return np.concatenate(known).astype(bool).astype(np.float32)


def _differing(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """Fraction of feet (F1, F2) that touch the ground at only one of two frames."""
    differing = a.sum(axis=1)[:, None] + b.sum(axis=1) - 2.0 * (a @ b.T)
    return differing.astype(np.float32) / np.float32(a.shape[1])


def _exactly(
    cuts: Sequence[ClipCut],
    points: Sequence[Array],
    contacts: Sequence[ArrayLike] | None,
    weights: Weights,
    ends: NDArray[np.intp],
) -> Array:
    """Costs (n,) of cuts in double precision."""
    every = np.concatenate(points)
    level, high, squares = every[..., 0] + 1j * every[..., 1], every[..., 2], np.einsum("fpk,fpk->f", every, every)
    rows = np.array([(ends[cut.source] + cut.i, ends[cut.destination] + cut.j) for cut in cuts], dtype=int)
    a, b = rows.reshape(-1, 2).T
    across = np.einsum("np,np->n", level[a].conj(), level[b])
    along = np.einsum("np,np->n", high[a], high[b])
    cost = np.maximum(squares[a] + squares[b] - 2.0 * (np.abs(across) + along), 0.0)
    if contacts is not None:
        feet = np.concatenate([np.asarray(clip, dtype=bool) for clip in contacts])
        cost += weights.contact * np.mean(feet[a] != feet[b], axis=1)
    return cost
