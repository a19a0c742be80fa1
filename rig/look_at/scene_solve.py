"""Solving the look-ats of a scene over frames, in the order in which they depend on each other.

The live look-at and the bake both solve with this. Everything that takes time is a generator of the fraction done, so
that it can be done in slices; between two of them call `sample.park_all`, and the file holds nothing of the work.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError
from ..layers.kinds import BODY, FRESH, ROUNDS, TARGETS
from ..layers.track import Track
from ..sampling import fingerprint
from ..sampling.scene_time import seconds_per_frame
from . import circle_solve
from . import look_at_layer as offsets
from .look_at_solve import LookAtSolve
from .resolve import LookAt
from .solve_context import Playing, SolveContext


class SceneSolve:
    """Look-ats of a scene over whole frames, solved in the order in which they depend on each other.

    A look-at depends on those before it on its rig, and on those that move its target or its rig. Look-ats that depend
    on each other in a circle, two characters who look at each other, are solved in rounds, all of them at once: in the
    first every one looks where the others are as animated, in the next where they were found to be. So the order in
    which they are listed does not matter.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        first: int,
        last: int,
        solves: Sequence[LookAtSolve],
        *,
        install: Callable[[LookAt, int], None] | None = None,
        cycle: tuple[int, int] | None = None,
    ) -> None:
        """install: of another scene solve that gives the look-ats their constraints, by default this one does.

        cycle: as `SolveContext` has it.
        """
        self.scene, self.solves = scene, list(solves)
        self.install = install or self._install
        frames = np.arange(first, last + 1)
        self.context = SolveContext(scene, frames, seconds_per_frame(scene), self.install, cycle=cycle)
        self._needs: dict[LookAtSolve, tuple[dict[LookAtSolve, bool], dict[LookAtSolve, bool]]] = {}
        self._installed = ExitStack()

    def steps(
        self, wanted: Sequence[LookAtSolve], failed: Callable[[LookAtSolve, LookAtError], None] | None = None
    ) -> Generator[float, None, None]:
        """Bring these parts, and those that they depend on, up to date.

        failed: called for each look-at that cannot be solved, and the others go on; without it that raises LookAtError.
        """
        self._failed = failed
        groups = self._order(wanted)
        count = sum(len(group) for group in groups)
        done = 0
        for group in groups:
            for fraction in self._alone(group[0]) if len(group) == 1 else self._circle(group):
                yield (done + len(group) * fraction) / count
            done += len(group)

    def trust(self) -> None:
        """Take all solutions, as those of an opened file, for solved from what they depend on now."""
        for group in self._order(self.solves):
            for solve in group:
                solve.below, solve.circle = self._seen_below(solve, group)

    def forget_order(self) -> None:
        """Something that look-ats depend on has changed: find out anew who depends on whom."""
        self._needs.clear()

    def close(self) -> None:
        """At the end, however it came: take away what the work needed in the file."""
        self._installed.close()

    def _install(self, look_at: LookAt, number: int) -> None:
        """Give a look-at its constraints until `close`, if it has none that stay."""
        armature = look_at.armature
        if not offsets.is_installed(armature, number, look_at.turned, look_at.moved):
            self._installed.callback(offsets.remove, armature, number)
            offsets.install(armature, number, look_at.turned, look_at.moved)

    def _alone(self, solve: LookAtSolve) -> Iterator[float]:
        self._see_below(solve, [solve])
        if solve.stale != FRESH:
            body, target = self._below(solve, self.solves)
            yield from self._one(solve, self._playing([*body, *target]))

    def _one(self, solve: LookAtSolve, playing: Playing, *, rough: bool = False) -> Iterator[float]:
        try:
            yield from solve.steps(replace(self.context, playing=playing), rough=rough)
        except LookAtError as error:
            if self._failed is None:
                raise
            solve.track, solve.stale = None, FRESH
            self._failed(solve, error)

    def _seen_below(
        self, solve: LookAtSolve, group: Sequence[LookAtSolve]
    ) -> tuple[tuple[list[Track], list[Track]], frozenset[LookAtSolve]]:
        """Tracks of the look-ats outside its group that a look-at's rig and target depend on; who else is in it."""
        body, target = self._below(solve, [other for other in self.solves if other not in group])
        return (_tracks(body), _tracks(target)), frozenset(group) - {solve}

    def _see_below(self, solve: LookAtSolve, group: Sequence[LookAtSolve]) -> None:
        """Note what has changed of the look-ats that a look-at's rig and target depend on, also those that are gone."""
        below, circle = self._seen_below(solve, group)
        of_body, of_target = (
            [id(track) for track in now] != [id(track) for track in before]
            for now, before in zip(below, solve.below, strict=True)
        )
        if circle != solve.circle:
            # What was sampled shows those who were in the circle.
            solve.stale = BODY
        elif of_body or of_target:
            moved = of_body or not solve.look_at.plain
            solve.stale = max(solve.stale, BODY if moved else TARGETS)
        solve.below, solve.circle = below, circle

    def _circle(self, group: Sequence[LookAtSolve]) -> Iterator[float]:
        outside = [solve for solve in self.solves if solve not in group]
        below = {solve: self._below(solve, outside) for solve in group}
        for solve in group:
            self._see_below(solve, group)
        if all(solve.stale == FRESH for solve in group):
            return
        if circle_solve.can_solve(group, self.context) and not self._move_each_other(group):
            try:
                yield from circle_solve.steps(
                    {
                        solve: replace(self.context, playing=self._playing([*below[solve][0], *below[solve][1]]))
                        for solve in group
                    }
                )
                return
            except LookAtError:
                # Of whom the error is, each by itself will tell.
                pass
        yield from self._in_turns(group, below)

    def _move_each_other(self, group: Sequence[LookAtSolve]) -> bool:
        """Whether the rig of one in a circle depends on that of another, and not only its target."""
        return any(self._needs[solve][0].get(other, False) for solve in group for other in group)

    def _in_turns(
        self, group: Sequence[LookAtSolve], below: Mapping[LookAtSolve, tuple[list[LookAtSolve], list[LookAtSolve]]]
    ) -> Iterator[float]:
        """Solve a circle by sampling each with the others in motion."""
        tracks: dict[LookAtSolve, Track] = {}
        for turn in range(ROUNDS):
            now = {}
            for k, solve in enumerate(group):
                others = [other for other in group if other in tracks and self._plays_under(other, solve)]
                playing = [*self._playing([*below[solve][0], *below[solve][1]])]
                for other in others:
                    self.install(other.look_at, other.number)
                    playing.append((other.look_at.armature, tracks[other]))
                # Whatever the others did before this solve began must not matter.
                solve.stale = BODY
                # Where the others' heads are is known well enough without; the last round verifies.
                for fraction in self._one(solve, playing, rough=turn < ROUNDS - 1):
                    yield (turn + (k + fraction) / len(group)) / ROUNDS
                if solve.track is not None:
                    now[solve] = solve.track
            tracks = now

    def _plays_under(self, other: LookAtSolve, solve: LookAtSolve) -> bool:
        """Whether one of a circle is in motion while another is sampled: not itself, nor what is added on top of it."""
        if other.look_at.armature != solve.look_at.armature:
            return True
        return self.solves.index(other) < self.solves.index(solve)

    def _playing(self, solves: Sequence[LookAtSolve]) -> list[tuple[bpy.types.Object, Track]]:
        playing = []
        for solve in solves:
            if solve.track is not None:
                self.install(solve.look_at, solve.number)
                playing.append((solve.look_at.armature, solve.track))
        return playing

    # Who depends on whom

    def _below(self, solve: LookAtSolve, among: Sequence[LookAtSolve]) -> tuple[list[LookAtSolve], list[LookAtSolve]]:
        """Those that a part's rig depends on, and those that only its target depends on; with what these need."""
        body = [other for other in among if self._needs[solve][0].get(other, False)]
        target = [other for other in among if other not in body and self._needs[solve][1].get(other, False)]
        return body, target

    def _order(self, wanted: Sequence[LookAtSolve]) -> list[list[LookAtSolve]]:
        """The parts needed for those wanted, in groups: each depends on groups before it, or on its own members."""
        solves = self.solves
        if not self._needs:
            self._needs = {solve: self._find_needs(solve) for solve in solves}
        needs = np.zeros((len(solves), len(solves)), dtype=bool)
        for n, solve in enumerate(solves):
            for m, other in enumerate(solves):
                needs[n, m] = any(needed.get(other, False) for needed in self._needs[solve])
        for m in range(len(solves)):
            needs |= needs[:, m : m + 1] & needs[m : m + 1]
        for n, solve in enumerate(solves):
            for m, other in enumerate(solves):
                if needs[n, m] and other is not solve and not self._needs[solve][0].get(other, False):
                    # What moves that which moves the target moves the target.
                    self._needs[solve][1][other] = True
        chosen = {int(m) for solve in wanted for m in np.flatnonzero(needs[solves.index(solve)])}
        chosen |= {solves.index(solve) for solve in wanted}
        groups: list[list[int]] = []
        for n in sorted(chosen, key=lambda n: (int(needs[n].sum()), n)):
            group = next((g for g in groups if needs[n, g[0]] and needs[g[0], n]), None)
            if group is None:
                groups.append([n])
            else:
                group.append(n)
        return [[solves[n] for n in group] for group in groups]

    def _find_needs(self, solve: LookAtSolve) -> tuple[dict[LookAtSolve, bool], dict[LookAtSolve, bool]]:
        if len(self.solves) == 1:
            # To find what a rig depends on takes long.
            return {}, {}
        armature = solve.look_at.armature
        body = fingerprint.dependencies(self.scene, [armature])
        targets = fingerprint.dependencies(self.scene, solve.look_at.surroundings)
        before = self.solves[: self.solves.index(solve)]
        own: dict[LookAtSolve, bool] = {}
        seen: dict[LookAtSolve, bool] = {}
        for other in self.solves:
            if other is solve:
                continue
            moves = other.look_at.armature
            own[other] = other in before if moves == armature else fingerprint.identity(moves) in body
            seen[other] = moves != armature and fingerprint.identity(moves) in targets
        return own, seen


def _tracks(solves: Sequence[LookAtSolve]) -> list[Track]:
    return [solve.track for solve in solves if solve.track is not None]
