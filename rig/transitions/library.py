"""A library: all actions of one character, the best cuts between each two of them, and the cheapest path from one to
another."""

import itertools
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import bpy

from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import drained, subrange
from ...lookat_pd.transitions import clip_graph
from ...lookat_pd.transitions.clip_graph import ClipCut, ClipGraph
from ..animation import editable
from ..detection import moving_actions
from ..sampling import scene_time
from . import best_cut, sequence
from .sequence import ClipRef, ClipStep, Used
from .splice import AUTOMATIC, Blend

_SHORTEST = 3
"""Frames of an action that can be cut; shorter ones are poses."""
_STAY = 0.3
"""Shortest time [s] for which a clip plays between two cuts of a path."""
CUT_COST = 0.02
"""Cost of a cut beside its difference, by default: a clip more must save as much."""
_SAMPLED = 0.8
"""Fraction of the work that is sampling."""


@dataclass(frozen=True)
class LibraryCut:
    """The cut from one action to another: the frames as of `join.ClipRef`, and the cost."""

    source: str
    destination: str
    source_frame: int
    destination_frame: int
    cost: float


@dataclass(frozen=True)
class PathEnds:
    """The actions from and to which a path leads, by name."""

    start: str
    goal: str
    ranges: tuple[best_cut.Range, best_cut.Range] = (None, None)
    """First and last frame at which the start may be left and the goal be entered; by default the second half of the
    start and the first half of the goal."""


class ClipFrames(NamedTuple):
    """The name of an action, and its first and last frame."""

    name: str
    first: int
    last: int

    def leave(self, frames: best_cut.Range) -> slice:
        """The rows at which a path may leave it, by default those of the second half. Raises RigError for none."""
        return slice((self.last - self.first) // 2, None) if frames is None else best_cut.rows(self, frames)

    def enter(self, frames: best_cut.Range) -> slice:
        """The rows at which a path may enter it, by default those of the first half. Raises RigError for none."""
        half = slice(0, max((self.last - self.first) // 2, 1))
        return half if frames is None else best_cut.rows(self, frames)


@dataclass(frozen=True)
class CutGraph:
    """The cuts between actions, without data of Blender."""

    number: int
    """A unique number for each."""
    clips: tuple[ClipFrames, ...]
    graph: ClipGraph
    dt: float
    """Seconds per frame."""

    def pairs(self) -> list[LibraryCut]:
        """The best cut of each ordered pair of different actions that keeps half of both, best first."""
        return [self._cut(cut) for cut in self.graph.pairs(self._keeps_half)]

    def _keeps_half(self, cut: ClipCut) -> bool:
        leave, enter = self.clips[cut.source].leave(None), self.clips[cut.destination].enter(None)
        lengths = self.graph.lengths
        return cut.i in range(lengths[cut.source])[leave] and cut.j in range(lengths[cut.destination])[enter]

    def path(self, ends: PathEnds, cut_cost: float = CUT_COST) -> list[LibraryCut]:
        """The cuts of the cheapest path between two of the actions.

        cut_cost: added to each cut. Raises RigError if there is no path.
        """
        names = [clip.name for clip in self.clips]
        if not {ends.start, ends.goal} <= set(names):
            raise RigError(
                "'{source}' and '{destination}' are not both in the library; compare its actions again.",
                source=ends.start,
                destination=ends.goal,
            )
        first, last = names.index(ends.start), names.index(ends.goal)
        leave, enter = self.clips[first].leave(ends.ranges[0]), self.clips[last].enter(ends.ranges[1])
        stay = max(round(_STAY / self.dt), 1)
        cheapest = self.graph.cheapest(first, last, leave=leave, enter=enter, stay=stay, cut_cost=cut_cost)
        if not cheapest:
            raise RigError(
                "No cuts lead from '{source}' to '{destination}'; add actions to the library, or choose other frames.",
                source=ends.start,
                destination=ends.goal,
            )
        return [self._cut(cut) for cut in cheapest]

    def _cut(self, cut: ClipCut) -> LibraryCut:
        source, destination = self.clips[cut.source], self.clips[cut.destination]
        return LibraryCut(
            source.name, destination.name, source.first + cut.i + 1, destination.first + cut.j + 1, cut.cost
        )


_last: dict[int, CutGraph] = {}
"""The last graph by armature: a cache for display."""
_numbers = itertools.count()


def last(armature: bpy.types.Object) -> CutGraph | None:
    """The graph of the last library of this armature; None if there was none since Blender was started."""
    return _last.get(armature.session_uid)


@dataclass(frozen=True)
class Library:
    """The clips of an armature and the cuts between them."""

    armature: bpy.types.Object
    clips: tuple[Used, ...]
    cuts: CutGraph

    def steps(self, path: Sequence[LibraryCut], blend: Blend = AUTOMATIC) -> list[ClipStep]:
        """Steps for `join.chain` that play a path: the start from its first frame, the goal to its end."""
        known = {clip.action.name: clip for clip in self.clips}
        clip = known[path[0].source]
        frame, at = clip.first, clip.first
        steps = [ClipStep(ClipRef(clip.action, frame, clip.slot), at, blend)]
        for cut in path:
            at += cut.source_frame - frame
            clip, frame = known[cut.destination], cut.destination_frame
            steps.append(ClipStep(ClipRef(clip.action, frame, clip.slot), at, blend))
        return steps


def choosing(
    armature: bpy.types.Object, patterns: str = "", needed: Sequence[bpy.types.Action] = ()
) -> Generator[float, None, list[bpy.types.Action]]:
    """The actions of an armature that can be cut, by name: all, or those that match one of the patterns. Yields the
    completed fraction.

    patterns: names with wildcards, separated by commas. needed: actions that are included, in any case. Poses of a
    single frame and actions of other rigs are left out. Raises RigError if a pattern matches none, and if there are
    fewer than two actions.
    """
    editable.check_armature(armature)
    every = []
    for action in (yield from moving_actions.finding_moving(armature)):
        if _can_be_cut(armature, action):
            every.append(action)
        yield 1.0
    chosen = {action.name: action for action in needed}
    for pattern in _patterns(patterns):
        here = {action.name: action for action in every if fnmatchcase(action.name, pattern)}
        if not here:
            raise RigError(
                "No action of '{armature}' with {frames} frames or more is called '{pattern}'; choose another name or "
                "pattern, such as Walk*.",
                armature=armature.name,
                frames=_SHORTEST,
                pattern=pattern,
            )
        chosen |= here
    if len(chosen) < 2:
        raise RigError(
            "A library needs two actions that animate '{armature}', with {frames} frames or more each; there is only "
            "{count}.",
            armature=armature.name,
            frames=_SHORTEST,
            count=len(chosen),
        )
    return [chosen[name] for name in sorted(chosen)]


choose = drained("choose", choosing)


def _patterns(words: str) -> list[str]:
    if words.strip() in bpy.data.actions:
        return [words.strip()]
    return [word.strip() for word in words.split(",") if word.strip()] or ["*"]


def _can_be_cut(armature: bpy.types.Object, action: bpy.types.Action) -> bool:
    slot = moving_actions.suitable_slot(armature, action)
    if slot is None:
        return False
    try:
        sequence.fitting(armature, action, slot)
        first, last = sequence.key_range(action, slot)
    except RigError:
        return False
    return last - first + 1 >= _SHORTEST


def build(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    library: Sequence[bpy.types.Action],
    *,
    room: int = 0,
    ends: PathEnds | None = None,
) -> Generator[float, None, Library]:
    """Compare all frames of all actions as this armature plays them; yields the completed fraction.

    room: frames of a destination that must come after a cut, such as the length of the blend. ends: of the path that
    will be asked for, if it has ranges. Nothing is changed. Raises LookAtError.
    """
    editable.check_armature(armature)
    used = []
    for action in library:
        used.append(Used.of(armature, ClipRef(action, 0, moving_actions.suitable_slot(armature, action))))
        yield 0.0
    clips = tuple(used)
    frames = tuple(ClipFrames(clip.action.name, clip.first, clip.last) for clip in clips)
    # Any of them may be an end of the next path.
    leave = {n: clip.leave(None) for n, clip in enumerate(frames)}
    enter = {n: clip.enter(None) for n, clip in enumerate(frames)}
    if ends is not None:
        names = [clip.name for clip in frames]
        first, goal = names.index(ends.start), names.index(ends.goal)
        leave[first], enter[goal] = frames[first].leave(ends.ranges[0]), frames[goal].enter(ends.ranges[1])
    dt = scene_time.seconds_per_frame(scene)
    yield 0.0
    body = best_cut.ComparedBody(armature, clips)
    yield 0.0
    positions = []
    for number, clip in enumerate(clips):
        begin, end = (_SAMPLED * n / len(clips) for n in (number, number + 1))
        positions.append((yield from subrange(body.sample(scene, clip), begin, end)))
    contacts = [] if body.feet else None
    for clip in positions if contacts is not None else ():
        contacts.append(body.contacts(clip, dt))
        yield _SAMPLED
    work = clip_graph.comparing(
        positions,
        dt,
        root=body.root,
        contacts=contacts,
        spacing=max(round(best_cut.SPACING / dt), 1),
        room=max(room, 1),
        leave=leave,
        enter=enter,
    )
    graph = yield from subrange(work, _SAMPLED, 1.0)
    _last[armature.session_uid] = CutGraph(next(_numbers), frames, graph, dt)
    return Library(armature, clips, _last[armature.session_uid])
