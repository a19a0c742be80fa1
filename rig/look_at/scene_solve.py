"""Solving the look-ats of a scene over frames, in the order in which they depend on each other.

The live look-at and the bake both solve with this. Everything that takes time is a generator of the fraction done, so
that it can be done in slices; between two of them call `sample.park_all`, and the file holds nothing of the work.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import bpy
import numpy as np

from ..lookat_pd.errors import LookAtError
from ..lookat_pd.rotation import Array
from . import inputs, offsets
from .look_at import LookAt
from .part import BODY, FRESH, TARGETS, Part, Playing
from .sample import Sampler, seconds_per_frame

ROUNDS = 3
"""How often look-ats in a circle look where the others' heads were found to be: first where they are as animated."""


class Shot:
    """Look-ats of a scene over whole frames, solved in the order in which they depend on each other.

    A look-at depends on those before it on its rig, and on those that move its target or its rig. Look-ats that depend
    on each other in a circle, two characters who look at each other, are solved in rounds, all of them at once: in the
    first every one looks where the others are as animated, in the next where they were found to be. So the order in
    which they are listed does not matter.
    """

    def __init__(self, scene: bpy.types.Scene, first: int, last: int, parts: Sequence[Part]) -> None:
        self.scene, self.parts = scene, list(parts)
        self.frames = np.arange(first, last + 1)
        self.dt = seconds_per_frame(scene)
        self._needs: dict[Part, tuple[dict[Part, bool], dict[Part, bool]]] = {}
        self._installed = ExitStack()

    def steps(
        self, wanted: Sequence[Part], failed: Callable[[Part, LookAtError], None] | None = None
    ) -> Iterator[float]:
        """Bring these parts, and those that they depend on, up to date.

        failed: told of each part that cannot be solved, and the others go on; without it that raises LookAtError.
        """
        self._failed = failed
        groups = self._order(wanted)
        count = sum(len(group) for group in groups)
        done = 0
        for group in groups:
            for fraction in self._alone(group[0]) if len(group) == 1 else self._circle(group):
                yield (done + len(group) * fraction) / count
            done += len(group)

    def forget_order(self) -> None:
        """Something that look-ats depend on has changed: find out anew who depends on whom."""
        self._needs.clear()

    def sampler(self, look_at: LookAt, aim: Array | None, bones: Sequence[str] | None = None) -> Sampler:
        if bones is None:
            beyond = look_at.body.sampled if look_at.body is not None else ()
            bones = tuple(dict.fromkeys((*look_at.bones, *beyond)))
        located = bool(bones) and bool(look_at.moved)
        return Sampler(self.scene, look_at.armature, bones, look_at.targets, aim, located=located)

    def close(self) -> None:
        """At the end, however it came: take away what the work needed in the file."""
        self._installed.close()

    def install(self, part: Part) -> None:
        """Give a look-at its constraints until `close`, if it has none that stay."""
        armature, look_at = part.look_at.armature, part.look_at
        if not offsets.is_installed(armature, part.number, look_at.turned, look_at.moved):
            self._installed.callback(offsets.remove, armature, part.number)
            offsets.install(armature, part.number, look_at.turned, look_at.something, look_at.moved)

    def _alone(self, part: Part) -> Iterator[float]:
        body, target = self._below(part, self.parts)
        below = [*body, *target]
        self._see_below(part, body, below)
        if part.stale != FRESH:
            yield from self._one(part, self._playing(below))

    def _one(self, part: Part, playing: Playing, *, rough: bool = False) -> Iterator[float]:
        try:
            yield from part.steps(self, playing, rough=rough)
        except LookAtError as error:
            if self._failed is None:
                raise
            part.track, part.stale = None, FRESH
            self._failed(part, error)

    def _see_below(self, part: Part, body: Sequence[Part], below: Sequence[Part]) -> None:
        """Note what has changed of the look-ats that a part depends on."""
        tracks = [other.track for other in below if other.track is not None]
        if [id(t) for t in tracks] != [id(t) for t in part.below]:
            moved = body or not part.look_at.plain
            part.stale = max(part.stale, BODY if moved else TARGETS)
        part.below = tracks

    def _circle(self, group: Sequence[Part]) -> Iterator[float]:
        outside = [part for part in self.parts if part not in group]
        below = {part: self._below(part, outside) for part in group}
        for part in group:
            self._see_below(part, below[part][0], [*below[part][0], *below[part][1]])
        if all(part.stale == FRESH for part in group):
            return
        found: dict[Part, offsets.Track] = {}
        for turn in range(ROUNDS):
            now = {}
            for k, part in enumerate(group):
                others = [other for other in group if other in found and self._plays_under(other, part, group)]
                playing = [*self._playing([*below[part][0], *below[part][1]])]
                for other in others:
                    self.install(other)
                    playing.append((other.look_at.armature, found[other]))
                # Whatever the others did before this solve began must not matter.
                part.stale = BODY
                # Where the others' heads are is known well enough without; the last round verifies.
                for fraction in self._one(part, playing, rough=turn < ROUNDS - 1):
                    yield (turn + (k + fraction) / len(group)) / ROUNDS
                if part.track is not None:
                    now[part] = part.track
            found = now

    def _plays_under(self, other: Part, part: Part, group: Sequence[Part]) -> bool:
        """Whether one of a circle is in motion while another is sampled: not itself, nor what is added on top of it."""
        if other.look_at.armature != part.look_at.armature:
            return True
        return self.parts.index(other) < self.parts.index(part)

    def _playing(self, parts: Sequence[Part]) -> list[tuple[bpy.types.Object, offsets.Track]]:
        playing = []
        for part in parts:
            if part.track is not None:
                self.install(part)
                playing.append((part.look_at.armature, part.track))
        return playing

    # Who depends on whom

    def _below(self, part: Part, among: Sequence[Part]) -> tuple[list[Part], list[Part]]:
        """Those that a part's rig depends on, and those that only its target depends on; with what these need."""
        body = [other for other in among if self._needs[part][0].get(other, False)]
        target = [other for other in among if other not in body and self._needs[part][1].get(other, False)]
        return body, target

    def _order(self, wanted: Sequence[Part]) -> list[list[Part]]:
        """The parts needed for those wanted, in groups: each depends on groups before it, or on its own members."""
        parts = self.parts
        if not self._needs:
            self._needs = {part: self._find_needs(part) for part in parts}
        needs = np.zeros((len(parts), len(parts)), dtype=bool)
        for n, part in enumerate(parts):
            for m, other in enumerate(parts):
                needs[n, m] = any(found.get(other, False) for found in self._needs[part])
        for m in range(len(parts)):
            needs |= needs[:, m : m + 1] & needs[m : m + 1]
        for n, part in enumerate(parts):
            for m, other in enumerate(parts):
                if needs[n, m] and other is not part and not self._needs[part][0].get(other, False):
                    # What moves that which moves the target moves the target.
                    self._needs[part][1][other] = True
        chosen = {int(m) for part in wanted for m in np.flatnonzero(needs[parts.index(part)])}
        chosen |= {parts.index(part) for part in wanted}
        groups: list[list[int]] = []
        for n in sorted(chosen, key=lambda n: (int(needs[n].sum()), n)):
            group = next((g for g in groups if needs[n, g[0]] and needs[g[0], n]), None)
            if group is None:
                groups.append([n])
            else:
                group.append(n)
        return [[parts[n] for n in group] for group in groups]

    def _find_needs(self, part: Part) -> tuple[dict[Part, bool], dict[Part, bool]]:
        armature = part.look_at.armature
        body = inputs.reach(self.scene, [armature])
        targets = inputs.reach(self.scene, [target.object for target in part.look_at.targets])
        before = self.parts[: self.parts.index(part)]
        own: dict[Part, bool] = {}
        seen: dict[Part, bool] = {}
        for other in self.parts:
            if other is part:
                continue
            moves = other.look_at.armature
            own[other] = other in before if moves == armature else inputs.identity(moves) in body
            seen[other] = moves != armature and inputs.identity(moves) in targets
        return own, seen
