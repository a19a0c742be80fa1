"""One look-at being solved: sample, solve, verify where controls act through constraints, and let the body answer.

Everything that takes time is a generator of the fraction done, so that it can be done in slices.
"""

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..lookat_pd import body, carry, gaze, idle, refine, rotation
from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array
from . import channels, inputs, offsets
from .body import answer
from .look_at import KEYABLE, LookAt
from .sample import LOCATION, Sampler, Samples, Target, seen_from
from .unkeyed import Channels

if TYPE_CHECKING:
    from .solving import Shot

VERIFICATIONS = 2
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
_LEVEL = 1e-5
"""How far off [m] the height of the hips may be."""

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
        self.answer: answer.Answer | None = None
        self._run: tuple[gaze.Run, gaze.Shot] | None = None

    @property
    def _chain(self) -> tuple[Array, Array]:
        """Orientations (F, b, 4) and positions (F, b, 3) of the chain as animated; sampled bones beyond it left out."""
        assert self.samples is not None
        count = len(self.look_at.bones)
        return self.samples.rotations[:, :count], self.samples.positions[:, :count]

    def steps(self, shot: "Shot", playing: Playing, *, rough: bool = False) -> Iterator[float]:
        """Bring the solution up to date; `rough`: but do not verify it yet. Raises LookAtError."""
        look_at = self.look_at
        self.shot, self.playing = shot, playing
        answering = look_at.body
        predicted = look_at.plain and (answering is None or answering.plain)
        share = 1.0 if predicted else 1.0 / (1 + VERIFICATIONS)
        aim = look_at.chain.forward[0]
        with closing(shot.sampler(look_at, aim)) as sampler:
            if self.samples is None or self.stale == BODY:
                self.passes, self._carry, self.between, self.samples = 0, None, None, None
                self.samples = yield from self._sample(sampler, 0.0, share)
                self._keyed = {name: self._is_keyed(name) for name in KEYABLE}
            elif self.stale == TARGETS:
                yield from self._sample_targets(0.9 * share)
            self.between = yield from self._sample_between(sampler, 0.999 * share)
            self.solution = yield from self._solve_slowly(self.samples.targets, share)
            self.measured, self.rough, self.answer = False, False, None
            way = self._shifted() if answering is not None else None
            if predicted and not self.samples.sheared:
                self.error = self._settled_error(self.solution.error)
                if way is None:
                    self._keep(self.solution.offsets)
                else:
                    self._answer(self.solution.offsets, way, None)
            else:
                yield from self._verify(sampler, share, way, rough=rough)
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
            self._doubts = s, np.flatnonzero(refine.doubtful(*self._chain, s.targets))
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
        count = len(self.look_at.bones)
        return refine.Between(places, seen.rotations[:, :count], seen.positions[:, :count], seen.targets)

    def _is_keyed(self, setting: str) -> bool:
        armature = self.look_at.armature
        return inputs.animates(armature, f"{inputs.bone_path(self.look_at.bone)}.lookat_pd.{setting}")

    # Solving

    def _setting(self, name: str) -> Array:
        """A setting that may be keyed at every frame: as sampled where it is keyed, else as it stands."""
        assert self.samples is not None
        sampled = getattr(self.samples, {"active_target": "active"}.get(name, name))
        settings = self.look_at.armature.pose.bones[self.look_at.bone].lookat_pd
        return sampled if self._keyed[name] else np.full_like(sampled, getattr(settings, name))

    def _solve(self, targets: Array, shift: Array | float) -> gaze.Solution:
        look_at = self.look_at
        shot = self._known_shot(targets) if isinstance(shift, float) else None
        if shot is None:
            shot = gaze.prepare(look_at.tuning, *self._chain, targets, self.shot.dt, shift, self.between)
            self._prepared = ((targets, self.between), shot) if isinstance(shift, float) else None
        events, influence = self._events(), self._setting("influence")
        answering = look_at.body
        if answering is not None:
            # The eyes set out first.
            events = [replace(e, time=e.time + answering.head_delay if e.time >= 0.0 else e.time) for e in events]
            if answering.drift:
                times = self._begin + np.arange(len(shot.positions)) * self.shot.dt / shot.count
                shot = replace(shot, targets=self._drifting(shot.targets, shot.positions[:, 0], times))
        if answering is None or not isinstance(shift, float):
            return gaze.solve_shot(look_at.chain, look_at.tuning, shot, events, influence)
        self._run = gaze.run_shot(look_at.chain, look_at.tuning, shot, events), shot
        return self._run[0].solution(*gaze.of_frames(shot, influence))

    @property
    def _begin(self) -> float:
        """Time of the first frame [s]: what is by chance depends on the time alone."""
        return float(self.shot.frames[0]) * self.shot.dt

    def _drifting(self, targets: Array, head: Array, times: Array) -> Array:
        answering = self.look_at.body
        assert answering is not None
        up = np.array(answering.upright)
        return idle.wander(targets, head, up, times, answering.drift, answering.seed)

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
        active = self._setting("active_target")
        there = np.array([target != Target() for target in self.look_at.targets])
        # A number beyond the list, or of a line that names nothing, is no target.
        known = (active >= 0) & (active < len(there)) & there[np.clip(active, 0, len(there) - 1)]
        looked_at = np.where(self._setting("use") & known, active, -1)
        changes = np.flatnonzero(np.diff(looked_at)) + 1
        aims = [None if n < 0 else int(n) for n in looked_at[[0, *changes]]]
        return [gaze.Event(time, aim) for time, aim in zip([-1.0, *(changes * dt)], aims, strict=True)]

    def _keep(self, found: Array, way: Array | None = None) -> None:
        """Make the offsets (F, b, 4) of the chain, and the answer of the body, the track.

        way: (F, 3) of the hips, where nothing else of the body is known yet. The same again leaves the track the same
        object, so that nobody is disturbed.
        """
        look_at, frames = self.look_at, len(found)
        rest, moves, closing = rotation.identity(frames, len(look_at.turned) - len(look_at.bones)), None, None
        if self.answer is not None:
            rest, moves, closing = self.answer.offsets, self.answer.moves, self.answer.closing
        elif look_at.body is not None and way is not None:
            assert self.samples is not None
            moves = answer.hips_only(look_at.body, self.samples, way)
        first = int(self.shot.frames[0])
        every = np.concatenate((found, rest), axis=1) if rest.shape[1] else found
        track = offsets.Track(self.number, look_at.turned, first, every, look_at.moved, moves, closing)
        if not track.same_as(self.track):
            self.track = track

    # The rest of the body

    def _shifted(self) -> Array:
        """Solve again where the hips shift and go down, and so take the head along; their way (F, 3)."""
        assert self.samples is not None and self.solution is not None
        answering = self.look_at.body
        assert answering is not None
        animated = answer.posed(answering, self.samples)
        turn = body.head_turn(self.look_at.chain, self.solution.offsets)
        way = answer.shifted(answering, animated, turn, self.shot.dt)
        if answering.reaching and answering.mover:
            now = answer.carried(answering, self.samples, self._carrying(self.solution.offsets, way))
            down = answer.lowered(answering, animated, now, self.shot.dt)
            way = way - down[:, None] * answering.upright
        if np.any(way):
            assert self._run is not None
            self.solution = gaze.solve_shifted(*self._run, way, self._setting("influence"))
        self._run = None
        return way

    def _carrying(self, found: Array, way: Array) -> body.Carrying:
        return body.Carrying.of(*self._chain, found, way)

    def _answer(self, found: Array, way: Array, seen: Samples | None) -> None:
        """What the body does on top of the chain's offsets and the way of the hips, and the track of all.

        seen: the rig sampled with these, where forward kinematics does not predict it.
        """
        s, look_at = self.samples, self.look_at
        answering = look_at.body
        assert s is not None and self.solution is not None and answering is not None
        animated, targets = answer.posed(answering, s), s.targets
        if seen is None:
            now = answer.carried(answering, s, self._carrying(found, way))
            head = self.solution.wanted[:, 0]
        else:
            moving = np.any(found != rotation.IDENTITY, axis=(1, 2)) | np.any(way != 0.0, axis=1)
            now = answer.where(moving, answer.posed(answering, seen), animated)
            head = np.where(moving[:, None], seen.rotations[:, 0], s.rotations[:, 0])
            targets = seen.targets
        if answering.drift:
            times = self._begin + np.arange(len(s.frames)) * self.shot.dt
            targets = self._drifting(targets, s.positions[:, 0], times)
        influence = self._setting("influence")
        self.answer = answer.answer(answering, s, head, now, way, targets, self._events(), self.shot.dt, influence)
        if self.answer.gaze is not None:
            self.error = self._settled_error(self.answer.gaze.error)
        self._keep(found)

    # Controls that act through constraints

    def _verify(self, sampler: Sampler, share: float, way: Array | None, *, rough: bool) -> Iterator[float]:
        """Measure how the controls carry each other, then evaluate the result and correct it until it is right.

        way: (F, 3) of the hips, where a body answers; it does once the chain is right.
        """
        s = self.samples
        assert s is not None and self.solution is not None
        self.shot.install(self)
        if self._carry is None:
            self._carry = self._probe(sampler)
        animated, _ = self._chain
        correction = rotation.identity(*animated.shape[:2])
        homing = carry.Homing(self.look_at.chain.forward[0], carry.own_answer(self._carry, 0))
        shift: Array = np.zeros((len(self.shot.frames), 3)) if way is None else way
        found = carry.realize(self.solution.wanted, animated, self._carry, correction, self._active())
        self.rough = True
        if rough:
            self._keep(found, way)
            return
        for turn in range(1, VERIFICATIONS + 1 + _MORE):
            self._keep(found.copy(), way)
            yield share
            seen = yield from self._sample(sampler, share * min(turn, VERIFICATIONS), share, turned=True)
            seen_chain = seen.rotations[:, : len(self.look_at.bones)]
            right = self._is_right(seen)
            lower = way if way is None else self._lower(seen, way)
            if right and lower is way:
                break
            way = lower
            if turn < VERIFICATIONS:
                correction = carry.correct(seen_chain, animated, found, self._carry)
                shift = self._solve_again(seen, shift)
                found = carry.realize(self.solution.wanted, animated, self._carry, correction, self._active())
                continue
            # The last word is the aiming bone's alone: what was measured below it, and of the target, holds then.
            for _ in range(_LAST_SOLVES):
                shift = self._solve_again(seen, shift)
            step, missing = homing.step(seen.rotations[:, 0], self.solution.wanted[:, 0])
            found[:, 0] = rotation.multiply(found[:, 0], step)
            found = np.where(self._active()[:, None, None], found, rotation.IDENTITY)
            right = False
            if missing < _SMALL:
                break
        if way is not None:
            if not right:
                self._keep(found.copy(), way)
                yield share
                seen = yield from self._sample(sampler, share * VERIFICATIONS, share, turned=True)
            self._answer(found, way, seen)
        else:
            self._keep(found)
        self.rough = False

    def _lower(self, seen: Samples, way: Array) -> Array:
        """The way of the hips with as much downwards as legs need, seen where they are; the same one if it is right."""
        answering = self.look_at.body
        assert answering is not None and self.samples is not None
        if not (answering.mover and answering.reaching):
            return way
        up = np.array(answering.upright)
        before = np.maximum(-(way @ up), 0.0)
        now = answer.risen(answer.posed(answering, seen), before[:, None] * up)
        moving = self._active() | np.any(way != 0.0, axis=1)
        animated = answer.posed(answering, self.samples)
        down = answer.lowered(answering, animated, answer.where(moving, now, animated), self.shot.dt)
        if np.abs(down - before).max() < _LEVEL:
            return way
        return way + (before - down)[:, None] * up

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
        animated, received = self._chain[0][0], np.eye(len(bones))
        for m, bone in enumerate(bones):
            offset = rotation.exp(_PROBE * look_at.chain.up[m])
            row = rotation.identity(1, len(bones))
            row[0, m] = offset
            angles = offsets.angles(row)[0]

            def before(at: float, angles=angles) -> None:
                self._before(at)
                offsets.put(look_at.armature, self.number, look_at.written, angles)

            turned = next(sampler.sample(frame, "", before)).rotations[0, : len(bones)]
            received[:, m] = carry.measure(animated, turned, offset, m)
            if abs(received[m, m]) < _DEAF:
                raise RigError(
                    f"Bone '{bone}' does not answer to an offset, a constraint overrides it; take it out of the chain "
                    "or put the bone that drives it in."
                )
        offsets.put(look_at.armature, self.number, look_at.written, None)
        return received

    def _aim_error(self, aim: Array, seen: Samples) -> Array:
        assert self.solution is not None
        looked_at = self.solution.looked_at
        direction = seen.targets[np.maximum(looked_at, 0), np.arange(len(looked_at))] - seen.positions[:, 0]
        angle = rotation.angle_between(aim, direction)
        return np.where(looked_at >= 0, angle, np.nan)

    def _settled_error(self, error: Array) -> float:
        assert self.solution is not None
        # Eyes that look away have no error, while the head has not set out yet.
        wanted = self.solution.settled & self.solution.reachable & np.isfinite(error)
        chosen = error[wanted & (self._setting("influence") >= 1.0)]
        return float(chosen.max()) if len(chosen) else np.nan

    # Results

    def turned(self, frames: Array, raw: dict[Channels, Array]) -> dict[Channels, tuple[Array, Array]]:
        """What a bake keys: a bone and the kind of its channels to their values (n, 3 or 4), and as they were.

        frames: (n,) those to key, one after the other, of the shot's. raw: channels as they are by then, where others
        were baked before.
        """
        s, track = self.samples, self.track
        assert s is not None and track is not None
        first = int(frames[0] - self.shot.frames[0])
        chosen = slice(first, first + len(frames))
        rows = {bone: n for n, bone in enumerate(s.bones)}
        result = {}
        for n, bone in enumerate(track.turned):
            mode = s.modes[rows[bone]]
            before = raw.get((bone, mode))
            if before is None:
                before = s.raw[mode if mode in s.raw else "EULER"][chosen, rows[bone]]
            result[bone, mode] = channels.turned(before, mode, track.offsets[chosen, n]), before
        for n, bone in enumerate(track.moved):
            before = raw.get((bone, LOCATION))
            if before is None:
                before = s.raw[LOCATION][chosen, rows[bone]]
            result[bone, LOCATION] = before + track.moves[chosen, n], before
        return result
