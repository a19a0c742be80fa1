"""Baking look-ats: sample the animation, solve, write keys; where controls act through constraints, verify and correct.

`bake` is a generator, so that an operator can show progress and stop at any step: it yields the fraction done, and
however it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..lookat_pd import carry, gaze, refine, rotation
from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array
from . import actions, channels, unkeyed
from .look_at import LookAt
from .sample import Sampler, Samples, channel
from .working import Working

VERIFICATIONS = 2
_GOOD = np.radians(0.02)
_PROBE = np.radians(10.0)
_BAKED = " look-at"
_COPIED = re.compile(r"\.\d{3}$")
_DEAF = 0.02
_LAST_SOLVES = 3
_SMALL = np.radians(0.3)
_MORE = 3
"""Verifications on top where the last correction was not small: behind bones scaled unevenly, or half tracking."""


@dataclass(frozen=True)
class Options:
    """What to bake. first, last: whole frames, both included. into: "NEW", "CURRENT" or "LAYER"."""

    first: int
    last: int
    into: str = "NEW"
    name: str = ""


@dataclass(frozen=True)
class Result:
    """What was baked of one look-at.

    solution: as solved for the last write. settled_error: largest angle [rad] between aim axis and target over frames
    that are settled with the target in reach, nan where there is none; measured on the evaluated rig where `measured`,
    else predicted.
    """

    look_at: LookAt
    action: bpy.types.Action
    solution: gaze.Solution
    frames: Array
    settled_error: float
    measured: bool
    passes: int


def seconds_per_frame(scene: bpy.types.Scene) -> float:
    """Time from one key frame to the next [s]: frame rate, its base, and the scene's time stretching."""
    render = scene.render
    return render.fps_base / render.fps * render.frame_map_new / render.frame_map_old


def check_range(first: int, last: int) -> None:
    if last < first:
        raise RigError(f"The frame range {first} to {last} is reversed; put the smaller number first.")
    if last == first:
        raise RigError(f"The frame range holds only frame {first}; a bake needs at least two.")


def bake(scene: bpy.types.Scene, look_ats: Sequence[LookAt], options: Options) -> Generator[float, None, list[Result]]:
    """Bake look-ats in order, later ones on the result of earlier ones, yielding the fraction done.

    Raises LookAtError.
    """
    check_range(options.first, options.last)
    if not look_ats:
        raise RigError("There is no look-at to bake; add one to the head bone first.")
    armatures = list(dict.fromkeys(look_at.armature for look_at in look_ats))
    for armature in armatures:
        actions.check(armature, options.into)
    for look_at in look_ats:
        modes = {name: look_at.armature.pose.bones[name].rotation_mode for name in look_at.bones}
        actions.check_curves(look_at.armature, modes, options.into)
    frames = np.arange(options.first, options.last + 1)
    undone = [unkeyed.bring_back(look_at.armature, look_at.bone) for look_at in look_ats]
    still = [_unkeyed_bones(look_at) for look_at in look_ats]
    works: dict[bpy.types.Object, Working] = {}
    done: list[_Bake] = []
    try:
        for number, look_at in enumerate(look_ats):
            work = works.get(look_at.armature)
            if work is None:
                work = works[look_at.armature] = Working(look_at.armature)
            job = _Bake(scene, look_at, frames, work)
            done.append(job)
            for fraction in job.steps():
                yield (number + fraction) / len(look_ats)
        kept = {}
        for armature, work in works.items():
            kept[armature] = work.commit(options.into, options.name or _name(armature, options.into))
    except BaseException:
        for work in works.values():
            work.rollback()
        for undo in undone:
            undo()
        raise
    for look_at, bones in zip(look_ats, still, strict=True):
        unkeyed.remember(look_at.armature, look_at.bone, bones)
    return [job.result(kept[job.look_at.armature]) for job in done]


def _unkeyed_bones(look_at: LookAt) -> dict[str, Array]:
    """How the bones of the chain that have no keys stand: name to channel values."""
    bones = look_at.armature.pose.bones
    free = [name for name in look_at.bones if not unkeyed.is_keyed(look_at.armature, name)]
    return {name: np.array(getattr(bones[name], channel(bones[name].rotation_mode)[0]), float) for name in free}


def _name(armature: bpy.types.Object, into: str) -> str:
    data = armature.animation_data
    source = data.action if data else None
    name = armature.name if into == "LAYER" or source is None else source.name
    # The source may be a copy, or baked before.
    return _COPIED.sub("", name).removesuffix(_BAKED) + _BAKED


class _Bake:
    """One look-at on its way into a working action."""

    def __init__(self, scene: bpy.types.Scene, look_at: LookAt, frames: Array, work: Working) -> None:
        self.look_at, self.frames, self.work = look_at, frames, work
        self.scene, self.dt = scene, seconds_per_frame(scene)
        self.measured, self.passes = False, 0
        self.error = np.nan

    def steps(self) -> Iterator[float]:
        look_at = self.look_at
        share = 1.0 if look_at.plain else 1.0 / (1 + VERIFICATIONS)
        aim = look_at.chain.forward[0]
        with Sampler(self.scene, look_at.armature, look_at.bones, look_at.targets, aim) as sampler:
            samples = yield from self._sample(sampler, 0.0, share)
            self.samples = samples
            self.between = yield from self._sample_between(sampler, 0.999 * share)
            self.solution = self._solve(samples.targets, 0.0)
            if look_at.plain and not samples.sheared:
                self._write(self.solution.offsets)
                self.error = self._settled_error(self.solution.error)
                return
            yield from self._verify(sampler, share)

    def _sample(self, sampler: Sampler, begin: float, share: float) -> Generator[float, None, Samples]:
        self.passes += 1
        samples = None
        for k, samples in enumerate(sampler.sample(self.frames.tolist(), self.look_at.bone)):  # noqa: B007
            yield min(begin + share * (k + 1) / len(self.frames), 0.999)
        assert samples is not None
        return samples

    def _sample_between(self, sampler: Sampler, done: float) -> Generator[float, None, refine.Between | None]:
        """Look between the frames where the animation has corners, so that the frame rate does not matter there."""
        s, tuning = self.samples, self.look_at.tuning
        count = gaze.samples_per_frame(tuning, self.dt)
        doubtful = np.flatnonzero(refine.doubtful(s.rotations, s.positions, s.targets))
        if count == 1 or not len(doubtful):
            return None
        places = (doubtful[:, None] * count + np.arange(1, count)).ravel()
        seen = None
        for seen in sampler.sample((self.frames[0] + places / count).tolist()):  # noqa: B007
            yield done
        assert seen is not None
        return refine.Between(places, seen.rotations, seen.positions, seen.targets)

    def _solve(self, targets: Array, shift: Array | float) -> gaze.Solution:
        s = self.samples
        return gaze.solve(
            self.look_at.chain,
            self.look_at.tuning,
            s.rotations,
            s.positions,
            targets,
            self.dt,
            self._events(),
            s.influence,
            shift,
            self.between,
        )

    def _events(self) -> list[gaze.Event]:
        schedule = self.look_at.schedule
        if schedule is not None:
            return [gaze.Event((frame - self.frames[0]) * self.dt, target) for frame, target in schedule]
        use = self.samples.use
        changes = np.flatnonzero(use[1:] != use[:-1]) + 1
        first = gaze.Event(-1.0, 0 if use[0] else None)
        return [first, *(gaze.Event(k * self.dt, 0 if use[k] else None) for k in changes)]

    def _write(self, offsets: Array) -> None:
        s = self.samples
        for n, (bone, mode) in enumerate(zip(s.bones, s.modes, strict=True)):
            raw = s.raw[mode if mode in s.raw else "EULER"][:, n]
            self.work.write(bone, mode, self.frames, channels.turned(raw, mode, offsets[:, n]), raw)

    # Controls that act through constraints

    def _verify(self, sampler: Sampler, share: float) -> Iterator[float]:
        """Measure how the controls carry each other, then evaluate the result and correct it until it is right."""
        s = self.samples
        measured_carry = self._probe(sampler)
        correction = rotation.identity(*s.rotations.shape[:2])
        homing = carry.Homing(self.look_at.chain.forward[0], carry.own_answer(measured_carry, 0))
        shift: Array = np.zeros((len(self.frames), 3))
        offsets = carry.realize(self.solution.wanted, s.rotations, measured_carry, correction, self._active())
        for turn in range(1, VERIFICATIONS + 1 + _MORE):
            self._write(offsets)
            seen = yield from self._sample(sampler, share * min(turn, VERIFICATIONS), share)
            if self._is_right(seen):
                return
            if turn < VERIFICATIONS:
                correction = carry.correct(seen.rotations, s.rotations, offsets, measured_carry)
                shift = self._solve_again(seen, shift)
                offsets = carry.realize(self.solution.wanted, s.rotations, measured_carry, correction, self._active())
                continue
            # The last word is the aiming bone's alone: what was measured below it, and of the target, holds then.
            for _ in range(_LAST_SOLVES):
                shift = self._solve_again(seen, shift)
            step, missing = homing.step(seen.rotations[:, 0], self.solution.wanted[:, 0])
            offsets[:, 0] = rotation.multiply(offsets[:, 0], step)
            offsets = np.where(self._active()[:, None, None], offsets, rotation.IDENTITY)
            if missing < _SMALL:
                break
        self._write(offsets)

    def _active(self) -> Array:
        """(F,) frames at which anything turns."""
        return np.any(self.solution.offsets != rotation.IDENTITY, axis=(1, 2))

    def _solve_again(self, seen: Samples, shift: Array) -> Array:
        """Solve with the targets and the head's place as they were seen; what moves the head beyond the model."""
        moved = shift + seen.positions[:, 0] - self.solution.position
        shift = np.where(self._active()[:, None], moved, 0.0)
        self.solution = self._solve(seen.targets, shift)
        return shift

    def _is_right(self, seen: Samples) -> bool:
        """Keep what the evaluated rig says about the aim, and tell whether it is as solved."""
        aim = rotation.rotate(seen.rotations[:, 0], self.look_at.chain.forward[0])
        aim_error = self._aim_error(aim, seen)
        self.measured, self.error = True, self._settled_error(aim_error)
        away = rotation.angle(rotation.multiply(rotation.inverse(seen.rotations[:, 0]), self.solution.wanted[:, 0]))
        moved = np.abs(aim_error - self.solution.error)
        return bool(max(away.max(), np.nanmax(np.append(moved, 0.0))) < _GOOD)

    def _probe(self, sampler: Sampler) -> Array:
        """carry[n, m]: how much of control m's turn control n receives, told by a small turn at the first frame."""
        s, bones = self.samples, self.look_at.bones
        frame = self.frames[:1]
        received = np.eye(len(bones))
        for m, bone in enumerate(bones):
            offset = rotation.exp(_PROBE * self.look_at.chain.up[m])
            self._try(m, offset)
            turned = next(sampler.sample(frame.tolist())).rotations[0]
            received[:, m] = carry.measure(s.rotations[0], turned, offset, m)
            self._try(m, rotation.IDENTITY)
            if abs(received[m, m]) < _DEAF:
                raise RigError(
                    f"Bone '{bone}' does not answer to an offset, a constraint overrides it; take it out of the chain "
                    "or put the bone that drives it in."
                )
        return received

    def _try(self, bone: int, offset: Array) -> None:
        """Turn one bone at the first frame, to see what comes of it."""
        s = self.samples
        mode = s.modes[bone]
        raw = s.raw[mode if mode in s.raw else "EULER"][:1, bone]
        self.work.try_out(s.bones[bone], mode, self.frames[:1], channels.turned(raw, mode, offset[None]))

    def _aim_error(self, aim: Array, seen: Samples) -> Array:
        looked_at = self.solution.looked_at
        direction = seen.targets[np.maximum(looked_at, 0), np.arange(len(looked_at))] - seen.positions[:, 0]
        angle = rotation.angle_between(aim, direction)
        return np.where(looked_at >= 0, angle, np.nan)

    def _settled_error(self, error: Array) -> float:
        chosen = error[self.solution.settled & self.solution.reachable & (self.samples.influence >= 1.0)]
        return float(chosen.max()) if len(chosen) else np.nan

    def result(self, action: bpy.types.Action) -> Result:
        return Result(self.look_at, action, self.solution, self.frames, self.error, self.measured, self.passes)
