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

from ..lookat_pd import body, carry, gaze, idle, refine, rotation
from ..lookat_pd.errors import LookAtError, RigError
from ..lookat_pd.rotation import Array
from . import body_answer, channels, inputs, offsets
from .look_at import KEYABLE, LookAt
from .sample import LOCATION, Sampler, Samples, Target, seconds_per_frame, seen_from
from .unkeyed import Channels

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
        self.answer: body_answer.Answer | None = None
        self._run: tuple[gaze.Run, gaze.Shot] | None = None

    @property
    def _chain(self) -> tuple[Array, Array]:
        """Orientations (F, b, 4) and positions (F, b, 3) of the chain as animated; sampled bones beyond it left out."""
        assert self.samples is not None
        count = len(self.look_at.bones)
        return self.samples.rotations[:, :count], self.samples.positions[:, :count]

    def steps(self, shot: "Shot", playing: Playing) -> Iterator[float]:
        """Bring the solution up to date. Raises LookAtError."""
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
                yield from self._verify(sampler, share, way)
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
            moves = body_answer.hips_only(look_at.body, self.samples, way)
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
        animated = body_answer.posed(answering, self.samples)
        turn = body.head_turn(self.look_at.chain, self.solution.offsets)
        way = body_answer.shifted(answering, animated, turn, self.shot.dt)
        if answering.reaching and answering.mover:
            now = body_answer.carried(answering, self.samples, self._carrying(self.solution.offsets, way))
            down = body_answer.lowered(answering, animated, now, self.shot.dt)
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
        animated, targets = body_answer.posed(answering, s), s.targets
        if seen is None:
            now = body_answer.carried(answering, s, self._carrying(found, way))
            head = self.solution.wanted[:, 0]
        else:
            moving = np.any(found != rotation.IDENTITY, axis=(1, 2)) | np.any(way != 0.0, axis=1)
            now = body_answer.where(moving, body_answer.posed(answering, seen), animated)
            head = np.where(moving[:, None], seen.rotations[:, 0], s.rotations[:, 0])
            targets = seen.targets
        if answering.drift:
            times = self._begin + np.arange(len(s.frames)) * self.shot.dt
            targets = self._drifting(targets, s.positions[:, 0], times)
        influence = self._setting("influence")
        self.answer = body_answer.answer(answering, s, head, now, way, targets, self._events(), self.shot.dt, influence)
        if self.answer.gaze is not None:
            self.error = self._settled_error(self.answer.gaze.error)
        self._keep(found)

    # Controls that act through constraints

    def _verify(self, sampler: Sampler, share: float, way: Array | None) -> Iterator[float]:
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
        now = body_answer.risen(body_answer.posed(answering, seen), before[:, None] * up)
        moving = self._active() | np.any(way != 0.0, axis=1)
        animated = body_answer.posed(answering, self.samples)
        down = body_answer.lowered(answering, animated, body_answer.where(moving, now, animated), self.shot.dt)
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
