"""Solving look-ats over frames: sample the animation, solve, and verify where controls act through constraints.

The live look-at and the bake both solve with this. Everything that takes time is a generator of the fraction done, so
that it can be done in slices; between two of them call `sample.park_all`, and the file holds nothing of the work.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from operator import is_

import bpy
import numpy as np

from ..lookat_pd import carry, gaze, refine, rotation
from ..lookat_pd.errors import LookAtError, RigError
from ..lookat_pd.rotation import Array
from . import channels, inputs, offsets
from .look_at import LookAt
from .sample import Sampler, Samples, seconds_per_frame, seen_from

VERIFICATIONS = 2
ROUNDS = 3
"""How often look-ats in a circle look where the others' heads were found to be: first where they are as animated."""
FRESH, SETTINGS, TARGETS, BODY = range(4)
"""What of a part is out of date; each includes those before it."""
_GOOD = np.radians(0.02)
_PROBE = np.radians(10.0)
_DEAF = 0.02
_LAST_SOLVES = 3
_SMALL = np.radians(0.3)
_MORE = 3
"""Verifications on top where the last correction was not small: behind bones scaled unevenly, or half tracking."""
_LONG = 4000
"""A solve over more frames goes on in a thread of its own, so that the window stays alive."""

Playing = Sequence[tuple[bpy.types.Object, offsets.Track]]
"""Look-ats already solved that play on their rigs while others are sampled."""


class Part:
    """One look-at of a shot: its samples, kept for as long as they are right, and its solution.

    track: the offsets found, None as long as there are none; `rough` while they are still to be verified. error: the
    largest angle [rad] between aim axis and target over frames that are settled with the target in reach, nan where
    there is none; `measured` on the evaluated rig, else predicted. passes: how often the frames were sampled.
    """

    def __init__(self, look_at: LookAt, number: int) -> None:
        self.look_at, self.number = look_at, number
        self.stale = BODY
        self.samples: Samples | None = None
        self.between: refine.Between | None = None
        self.solution: gaze.Solution | None = None
        self.track: offsets.Track | None = None
        self.rough = self.measured = False
        self.error, self.passes = np.nan, 0
        self.below: list[offsets.Track] = []
        self._carry: Array | None = None
        self._prepared: tuple[tuple, gaze.Shot] | None = None
        self._doubts: tuple[Samples, Array] | None = None
        self._keyed: dict[str, bool] = {}

    def steps(self, shot: "Shot", playing: Playing) -> Iterator[float]:
        """Bring the solution up to date. Raises LookAtError."""
        look_at = self.look_at
        self.shot, self.playing = shot, playing
        share = 1.0 if look_at.plain else 1.0 / (1 + VERIFICATIONS)
        aim = look_at.chain.forward[0]
        with closing(shot.sampler(look_at, aim)) as sampler:
            if self.samples is None or self.stale == BODY:
                self.passes, self._carry, self.between, self.samples = 0, None, None, None
                self.samples = yield from self._sample(sampler, 0.0, share)
                self._keyed = {name: self._is_keyed(name) for name in ("use", "influence")}
            elif self.stale == TARGETS:
                yield from self._sample_targets(0.9 * share)
            self.between = yield from self._sample_between(sampler, 0.999 * share)
            self.solution = yield from self._solve_slowly(self.samples.targets, share)
            self.measured, self.rough = False, False
            if look_at.plain and not self.samples.sheared:
                self.error = self._settled_error(self.solution.error)
                self._keep(self.solution.offsets)
            else:
                yield from self._verify(sampler, share)
        self.stale = FRESH

    # Sampling

    def _before(self, frame: float) -> None:
        for armature, track in self.playing:
            track.put(armature, frame)

    def _before_verifying(self, frame: float) -> None:
        self._before(frame)
        assert self.track is not None
        self.track.put(self.look_at.armature, frame)

    def _sample(
        self, sampler: Sampler, begin: float, share: float, *, turned: bool = False
    ) -> Generator[float, None, Samples]:
        """Step through all frames; `turned`: with the offsets found so far."""
        self.passes += 1
        samples, frames = None, self.shot.frames
        before = self._before_verifying if turned else self._before
        for k, samples in enumerate(sampler.sample(frames.tolist(), self.look_at.bone, before)):  # noqa: B007
            yield min(begin + share * (k + 1) / len(frames), 0.999)
        assert samples is not None
        return samples

    def _sample_targets(self, done: float) -> Iterator[float]:
        """Step through all frames without the character: only the targets are elsewhere."""
        assert self.samples is not None
        points = None
        with closing(self.shot.sampler(self.look_at, None, bones=())) as sampler:
            for points in sampler.sample_points(self.shot.frames.tolist(), self._before):  # noqa: B007
                yield done
            assert points is not None
            self.samples = replace(self.samples, targets=seen_from(self.samples.worlds, points))

    def _sample_between(self, sampler: Sampler, done: float) -> Generator[float, None, refine.Between | None]:
        """Look between the frames where the animation has corners, so that the frame rate does not matter there."""
        s, tuning = self.samples, self.look_at.tuning
        assert s is not None
        count = gaze.samples_per_frame(tuning, self.shot.dt)
        if count == 1:
            return None
        if self._doubts is None or self._doubts[0] is not s:
            self._doubts = s, np.flatnonzero(refine.doubtful(s.rotations, s.positions, s.targets))
        doubtful = self._doubts[1]
        if not len(doubtful):
            return None
        places = (doubtful[:, None] * count + np.arange(1, count)).ravel()
        if self.stale < TARGETS and self.between is not None and np.array_equal(self.between.places, places):
            return self.between
        seen = None
        for seen in sampler.sample((self.shot.frames[0] + places / count).tolist(), "", self._before):  # noqa: B007
            yield done
        assert seen is not None
        return refine.Between(places, seen.rotations, seen.positions, seen.targets)

    def _is_keyed(self, setting: str) -> bool:
        armature = self.look_at.armature
        return inputs.animates(armature, f"{inputs.bone_path(self.look_at.bone)}.lookat_pd.{setting}")

    # Solving

    def _setting(self, name: str) -> Array:
        """`use` or `influence` at every frame: as sampled where it is keyed, else as it stands."""
        assert self.samples is not None
        sampled = getattr(self.samples, name)
        settings = self.look_at.armature.pose.bones[self.look_at.bone].lookat_pd
        return sampled if self._keyed[name] else np.full_like(sampled, getattr(settings, name))

    def _solve(self, targets: Array, shift: Array | float) -> gaze.Solution:
        s, look_at = self.samples, self.look_at
        assert s is not None
        shot = self._known_shot(targets) if isinstance(shift, float) else None
        if shot is None:
            shot = gaze.prepare(look_at.tuning, s.rotations, s.positions, targets, self.shot.dt, shift, self.between)
            self._prepared = ((targets, self.between), shot) if isinstance(shift, float) else None
        return gaze.solve_shot(look_at.chain, look_at.tuning, shot, self._events(), self._setting("influence"))

    def _known_shot(self, targets: Array) -> gaze.Shot | None:
        """The shot as it was prepared before, where only a setting has changed since."""
        if self._prepared is None or not all(map(is_, self._prepared[0], (targets, self.between))):
            return None
        shot = self._prepared[1]
        return shot if shot.count == gaze.samples_per_frame(self.look_at.tuning, self.shot.dt) else None

    def _solve_slowly(self, targets: Array, done: float) -> Generator[float, None, gaze.Solution]:
        """The same, in a thread where it takes long: it is numbers only, Blender goes on beside it."""
        if len(self.shot.frames) < _LONG:
            return self._solve(targets, 0.0)
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(self._solve, targets, 0.0)
            while not future.done():
                yield done
            return future.result()

    def _events(self) -> list[gaze.Event]:
        first, dt = self.shot.frames[0], self.shot.dt
        schedule = self.look_at.schedule
        if schedule is not None:
            return [gaze.Event((frame - first) * dt, target) for frame, target in schedule]
        use = self._setting("use")
        changes = np.flatnonzero(use[1:] != use[:-1]) + 1
        return [
            gaze.Event(-1.0, 0 if use[0] else None),
            *(gaze.Event(k * dt, 0 if use[k] else None) for k in changes),
        ]

    def _keep(self, found: Array) -> None:
        """Make the offsets (F, b, 4) the track; the same ones leave it the same object, so that nobody is disturbed."""
        if self.track is None or not np.array_equal(self.track.offsets, found):
            self.track = offsets.Track(self.number, self.look_at.bones, int(self.shot.frames[0]), found)

    # Controls that act through constraints

    def _verify(self, sampler: Sampler, share: float) -> Iterator[float]:
        """Measure how the controls carry each other, then evaluate the result and correct it until it is right."""
        s = self.samples
        assert s is not None and self.solution is not None
        self.shot.install(self)
        if self._carry is None:
            self._carry = self._probe(sampler)
        correction = rotation.identity(*s.rotations.shape[:2])
        homing = carry.Homing(self.look_at.chain.forward[0], carry.own_answer(self._carry, 0))
        shift: Array = np.zeros((len(self.shot.frames), 3))
        found = carry.realize(self.solution.wanted, s.rotations, self._carry, correction, self._active())
        self.rough = True
        for turn in range(1, VERIFICATIONS + 1 + _MORE):
            self._keep(found.copy())
            yield share
            seen = yield from self._sample(sampler, share * min(turn, VERIFICATIONS), share, turned=True)
            if self._is_right(seen):
                self.rough = False
                return
            if turn < VERIFICATIONS:
                correction = carry.correct(seen.rotations, s.rotations, found, self._carry)
                shift = self._solve_again(seen, shift)
                found = carry.realize(self.solution.wanted, s.rotations, self._carry, correction, self._active())
                continue
            # The last word is the aiming bone's alone: what was measured below it, and of the target, holds then.
            for _ in range(_LAST_SOLVES):
                shift = self._solve_again(seen, shift)
            step, missing = homing.step(seen.rotations[:, 0], self.solution.wanted[:, 0])
            found[:, 0] = rotation.multiply(found[:, 0], step)
            found = np.where(self._active()[:, None, None], found, rotation.IDENTITY)
            if missing < _SMALL:
                break
        self._keep(found)
        self.rough = False

    def _active(self) -> Array:
        """(F,) frames at which anything turns."""
        assert self.solution is not None
        return np.any(self.solution.offsets != rotation.IDENTITY, axis=(1, 2))

    def _solve_again(self, seen: Samples, shift: Array) -> Array:
        """Solve with the targets and the head's place as they were seen; what moves the head beyond the model."""
        assert self.solution is not None
        moved = shift + seen.positions[:, 0] - self.solution.position
        shift = np.where(self._active()[:, None], moved, 0.0)
        self.solution = self._solve(seen.targets, shift)
        return shift

    def _is_right(self, seen: Samples) -> bool:
        """Keep what the evaluated rig says about the aim, and tell whether it is as solved."""
        assert self.solution is not None
        aim = rotation.rotate(seen.rotations[:, 0], self.look_at.chain.forward[0])
        aim_error = self._aim_error(aim, seen)
        self.measured, self.error = True, self._settled_error(aim_error)
        away = rotation.angle(rotation.multiply(rotation.inverse(seen.rotations[:, 0]), self.solution.wanted[:, 0]))
        moved = np.abs(aim_error - self.solution.error)
        return bool(max(away.max(), np.nanmax(np.append(moved, 0.0))) < _GOOD)

    def _probe(self, sampler: Sampler) -> Array:
        """carry[n, m]: how much of control m's turn control n receives, told by a small turn at the first frame."""
        s, look_at = self.samples, self.look_at
        assert s is not None
        bones, frame = look_at.bones, self.shot.frames[:1].tolist()
        received = np.eye(len(bones))
        for m, bone in enumerate(bones):
            offset = rotation.exp(_PROBE * look_at.chain.up[m])
            row = rotation.identity(1, len(bones))
            row[0, m] = offset
            angles = offsets.angles(row)[0]

            def before(at: float, angles=angles) -> None:
                self._before(at)
                offsets.put(look_at.armature, self.number, bones, angles)

            turned = next(sampler.sample(frame, "", before)).rotations[0]
            received[:, m] = carry.measure(s.rotations[0], turned, offset, m)
            if abs(received[m, m]) < _DEAF:
                raise RigError(
                    f"Bone '{bone}' does not answer to an offset, a constraint overrides it; take it out of the chain "
                    "or put the bone that drives it in."
                )
        offsets.put(look_at.armature, self.number, bones, None)
        return received

    def _aim_error(self, aim: Array, seen: Samples) -> Array:
        assert self.solution is not None
        looked_at = self.solution.looked_at
        direction = seen.targets[np.maximum(looked_at, 0), np.arange(len(looked_at))] - seen.positions[:, 0]
        angle = rotation.angle_between(aim, direction)
        return np.where(looked_at >= 0, angle, np.nan)

    def _settled_error(self, error: Array) -> float:
        assert self.solution is not None
        chosen = error[self.solution.settled & self.solution.reachable & (self._setting("influence") >= 1.0)]
        return float(chosen.max()) if len(chosen) else np.nan

    # Results

    def turned(self, frames: Array, raw: dict[str, Array]) -> dict[str, tuple[str, Array, Array]]:
        """What a bake keys: name of a bone to its rotation mode, its channels (n, 3 or 4) turned, and as they were.

        frames: (n,) those to key, one after the other, of the shot's. raw: channels that bones have by then, where
        others were baked before.
        """
        s = self.samples
        assert s is not None and self.track is not None
        first = int(frames[0] - self.shot.frames[0])
        chosen = slice(first, first + len(frames))
        result = {}
        for n, (bone, mode) in enumerate(zip(s.bones, s.modes, strict=True)):
            values = s.raw[mode if mode in s.raw else "EULER"][chosen, n] if bone not in raw else raw[bone]
            result[bone] = mode, channels.turned(values, mode, self.track.offsets[chosen, n]), values
        return result


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
        return Sampler(self.scene, look_at.armature, look_at.bones if bones is None else bones, look_at.targets, aim)

    def close(self) -> None:
        """At the end, however it came: take away what the work needed in the file."""
        self._installed.close()

    def install(self, part: Part) -> None:
        """Give a look-at its constraints until `close`, if it has none that stay."""
        armature, bones = part.look_at.armature, part.look_at.bones
        if not offsets.is_installed(armature, part.number, bones):
            target = part.look_at.targets[0].object if part.look_at.targets else None
            self._installed.callback(offsets.remove, armature, part.number)
            offsets.install(armature, part.number, bones, target)

    def _alone(self, part: Part) -> Iterator[float]:
        body, target = self._below(part, self.parts)
        below = [*body, *target]
        self._see_below(part, body, below)
        if part.stale != FRESH:
            yield from self._one(part, self._playing(below))

    def _one(self, part: Part, playing: Playing) -> Iterator[float]:
        try:
            yield from part.steps(self, playing)
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
                for fraction in self._one(part, playing):
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
