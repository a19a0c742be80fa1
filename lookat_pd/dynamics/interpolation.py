"""Motion between keyed poses of limbs with mass that still arrive at the keys on time.

Source: Allen, Chu, Shapiro, Faloutsos, On the Beat! Timing and Tension for Dynamic Characters, SCA 2007.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..checks import LATEST, check_memory, number, time_step
from ..errors import InvalidArgument
from ..ik import Limits
from ..ik.joint_checks import same_joints
from ..progress import drained, subrange
from ..rotation import Array
from . import body_checks, exact, key_checks, law, succession
from .bend_ranges import BendRanges
from .body import Body
from .course import courses_of
from .engine import finished
from .exact import Interpolation
from .hinges import HingedLimits, Hinges
from .keyed_motion import KeyedMotion
from .limited import Limited
from .root_path import RootPath
from .samples import MotionSamples
from .simulation import Disturbances
from .succession import Bound
from .unlimited import Unlimited

KINDS = ("auto", "pass", "stop")
"""How joints pass a key, in the order of the law's numbers."""
_NUMBERS = 200
"""For each joint at each frame an interpolation holds at most so many numbers at a time."""
LONGEST = 3600.0
"""Time [s] that is simulated at most."""


def interpolating(
    body: Body,
    keys: ArrayLike,
    key_times: ArrayLike,
    dt: float,
    *,
    residual: ArrayLike = 0.001,
    torque_limit: ArrayLike | None = None,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    inertia: str = "true",
    reference: Body | None = None,
    passive: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    stiffness: ArrayLike | None = None,
    limits: Limits | None = None,
    hinges: ArrayLike | None = None,
    root: tuple[ArrayLike, ArrayLike] | None = None,
    settle: float = 0.0,
    velocities: ArrayLike | None = None,
    swing_past: float = 0.0,
    keeps: ArrayLike | None = None,
    felt: Body | None = None,
    bends: BendRanges | None = None,
) -> Generator[float, None, Interpolation]:
    """In-betweens of keys (k, n, 4) at increasing key_times (k,) [s], sampled every `dt` seconds.

    The frames are at key_times[0] + i dt, up to key_times[-1] + settle; the motion starts at rest. Between two keys the
    error of each joint decays critically damped, the remainder at the key is distributed over the interval, and the
    velocity is continuous at the key. residual: (n,) or one number, the fraction of the distance that remains at the
    key: small is tense, large is slack. gravity: (3,) [m/s^2], in the frame of the roots' offsets. settle: seconds
    after the last key in which the motion settles.

    By default, masses and gravity change the torques but not the motion. The following arguments let them change it and
    need the physics engine. torque_limit: one number, (n,) or (n, 3) [N m], limit of the length of the torque or of its
    components. inertia: "reference" computes the torques for the body `reference` (default: the same shape with the
    density of water) and applies them to this one. passive: (n,) bool, joints without actuation; they start at their
    first key. damping: (n,) or one number [N m s/rad], friction that the law does not compensate. stiffness: (n,) or
    one number [N m/rad], springs from passive joints to their keyed motion. limits: of the joints, as stops without
    bounce; keys are clamped to them. They need the engine only if the motion would leave them. hinges: (n, 3), axes in
    the frames of the bones about which hinges rotate, 0 for ball joints; a torque limit is that of the torque about
    the axis, and the keys of a hinge may differ only by rotations about it.

    root: positions (F, 3) and rotations (F, 4) of the frame of the root joints at each frame.

    velocities: (k, n, 3) [rad/s] with which the joints pass the keys, in their own frames, such as those of
    `key_velocities`. None: as published, each key is a goal at rest. swing_past: with velocities, how far the joints go
    beyond the last key, as a fraction of the last distance, before they return within `settle` seconds.

    keeps: (k, n), from 0 to 1, for motion that shows the masses (`succession`) instead of that of the law: how much of
    the speed that its lag leaves it a joint keeps at each key at which it would stop, if there is time after it. None:
    the law, as published. felt: the body whose masses show, such as one without a load; None for this one.
    bends: ranges within which hinges stay, whatever moves them.

    Yields the completed fraction. `interpolate` takes the same arguments and returns the Interpolation directly.

    Raises InvalidArgument; EngineMissing.
    """
    dt, gravity = time_step(body_checks.positive("time between frames", dt, "s")), body_checks.gravity(gravity)
    keys, times = key_checks.keys_in_order(keys, key_times, len(body))
    passing = _Passing.checked(body, times, gravity, dt, limits, residual, settle, swing_past, velocities, keeps)
    allowed = keys if limits is None else limits.clamp(keys)
    joints = Hinges.of(body, key_checks.axes(hinges, allowed, body))
    disturbances = _disturbances(
        body, joints, torque_limit, passive, damping, stiffness, limits, key_checks.reference(body, reference, inertia)
    )
    moved = body if felt is None else key_checks.same_tree(body, felt)
    swing = _Swing(passing, body, moved, joints, keys, allowed, [b for b in (limits, bends) if b is not None])
    motion, frames = swing.motion(), passing.frames(dt)
    path = None if root is None else key_checks.root_path(root, frames, dt)
    if exact.has_closed_form(disturbances):
        plan = exact.Plan(body, joints, keys, allowed, motion, frames, gravity, path, disturbances, limits)
        motion_between = plan.undisturbed()
        if motion_between is not None:
            yield 1.0
            return _bounded(motion_between, bends)
    found = yield from swing.simulated(motion, frames, path, disturbances)
    return finished(_bounded(found, bends))


@dataclass(frozen=True)
class _Passing:
    """How a body passes its keys."""

    times: Array
    """(k,) [s] of the keys."""
    gravity: Array
    residuals: Array
    """(n,), the fraction of the distance that remains at each key."""
    settle: float
    """[s]"""
    swing_past: float
    velocities: Array | None
    """(k, n, 3) [rad/s] at the keys, None for goals at rest."""
    keeps: Array | None
    """(k, n), how much of its speed each joint keeps where masses show, None for the law."""

    @classmethod
    def checked(
        cls,
        body: Body,
        times: Array,
        gravity: Array,
        dt: float,
        limits: Limits | None,
        residual: ArrayLike,
        settle: float,
        swing_past: float,
        velocities: ArrayLike | None,
        keeps: ArrayLike | None,
    ) -> "_Passing":
        """Of the arguments of `interpolating`. Raises InvalidArgument."""
        n, shape = len(body), (len(times), len(body))
        settle = number("settle time", settle, 0.0, LATEST)
        check_memory(_NUMBERS * n * ((times[-1] + settle - times[0]) / dt + 2.0))
        same_joints(limits, n)
        swing_past = number("swing past", swing_past, 0.0, 1.0)
        if velocities is not None:
            velocities = checks.exactly("velocities", velocities, *shape, 3)
        if swing_past and (velocities is None or not settle):
            raise InvalidArgument(
                "Swinging past the last key needs velocities at the keys, and time to settle after it."
            )
        if keeps is not None:
            keeps = np.clip(checks.exactly("kept speeds", keeps, *shape), 0.0, 1.0)
        residuals = body_checks.residuals(residual, n, body.called)
        return cls(times, gravity, residuals, settle, swing_past, velocities, keeps)

    @property
    def span(self) -> float:
        """The duration [s]."""
        return self.times[-1] + self.settle - self.times[0]

    def frames(self, dt: float) -> Array:
        """The times (F,) [s] of frames."""
        return self.times[0] + dt * np.arange(int(np.floor(self.span / dt + 1e-6)) + 1)

    def motion(self, bounds: Sequence[Bound], poses: Array, of: Body, speeds: Array | None) -> KeyedMotion:
        """The motion of a body through poses (k, n, 4) that it passes at speeds (k, n, 3), by the law or, where it
        shows masses, within bounds."""
        rest = self.settle, self.swing_past
        if self.keeps is None:
            return law.through(poses, self.times, self.residuals, speeds, *rest)
        passed = np.zeros((len(poses), len(of), 3)) if speeds is None else speeds
        return succession.within(bounds, of, poses, self.times, self.residuals, passed, self.keeps, self.gravity, *rest)


@dataclass(frozen=True)
class _Swing:
    """A body between its keys."""

    passing: _Passing
    body: Body
    felt: Body
    """The one whose masses show."""
    joints: Hinges
    keys: Array
    """(k, n, 4)"""
    allowed: Array
    """(k, n, 4), within the limits."""
    bounds: list[Bound]

    def motion(self) -> KeyedMotion:
        """That which nothing disturbs."""
        return self.passing.motion(self.bounds, self.allowed, self.felt, self.passing.velocities)

    def _of_joints(self, motion: KeyedMotion) -> KeyedMotion:
        """A motion in the space of joints some of which may be hinges."""
        joints, speeds = self.joints, self.passing.velocities
        if not np.any(joints.is_hinge):
            return motion
        bounds = [HingedLimits(bound, joints) for bound in self.bounds]
        speeds = None if speeds is None else joints.vectors(speeds)
        return self.passing.motion(bounds, joints.poses(self.allowed), joints.body(self.felt), speeds)

    def simulated(
        self, motion: KeyedMotion, frames: Array, path: RootPath | None, disturbances: Disturbances
    ) -> Generator[float, None, Interpolation]:
        """What becomes of the motion where something disturbs it. Raises InvalidArgument; EngineMissing."""
        passing, joints = self.passing, self.joints
        if passing.span > LONGEST:
            raise InvalidArgument(
                "The keys are {span:.6g} s apart, and at most {longest:g} s are simulated; use fewer keys at a time.",
                span=passing.span,
                longest=LONGEST,
            )
        motion = self._of_joints(motion)
        last = max(passing.times[-1] + passing.settle, frames[-1])
        given = joints.body(self.body), motion, passing.gravity, disturbances, path
        samples, left = yield from _simulated(*given, last=last, keeps_speed=passing.velocities is not None)
        found = _sampled(frames, joints.poses(self.keys), motion, samples, left, disturbances)
        return replace(
            found, rotations=joints.of_bones(found.rotations), torques=joints.vectors_of_bones(found.torques)
        )


def _disturbances(
    body: Body,
    joints: Hinges,
    torque_limit: ArrayLike | None,
    passive: ArrayLike | None,
    damping: ArrayLike | None,
    stiffness: ArrayLike | None,
    limits: Limits | None,
    reference: Body | None,
) -> Disturbances:
    """What `interpolating` is given, checked, for joints of which some are hinges. Raises InvalidArgument."""
    n = len(body)
    return Disturbances(
        torque_limit=joints.torque_limit(body_checks.torque_limits(torque_limit, n, body.called)),
        passive=key_checks.flags(passive, n),
        damping=body_checks.not_negative("damping", damping, n, body.called),
        stiffness=body_checks.not_negative("stiffness", stiffness, n, body.called),
        limits=joints.limits(limits),
        reference=None if reference is None else joints.body(reference),
        free=joints.free,
    )


def _bounded(found: Interpolation, bends: BendRanges | None) -> Interpolation:
    return found if bends is None else replace(found, rotations=bends.soften(found.rotations))


interpolate = drained("interpolate", interpolating)


def key_velocities(keys: ArrayLike, key_times: ArrayLike, kinds: ArrayLike | None = None) -> Array:
    """Velocities (k, n, 3) [rad/s] with which n joints pass keys (k, n, 4) at increasing key_times (k,) [s].

    kinds: (k,) or (k, n) of "auto", "pass" and "stop"; None for automatic keys. A joint stops at an automatic key where
    its direction turns around, and otherwise passes it with a mean of the speeds before and after that never makes it
    overshoot (Fritsch, Butland, A method for constructing local monotone piecewise cubic interpolants, 1984). A key to
    pass has the velocity of the parabola through it and its neighbors. The first and last key stop unless they are to
    be passed. Raises InvalidArgument.
    """
    shape = np.shape(np.asarray(keys, dtype=object))
    given, times = key_checks.keys_in_order(keys, key_times, shape[1] if len(shape) > 1 else 1)
    names = np.asarray("auto" if kinds is None else kinds)
    if names.ndim == 1:
        names = names[:, None]
    known = [names == kind for kind in KINDS]
    wrong = InvalidArgument("Kinds of keys are {kinds}, one for each key.", kinds=", ".join(KINDS))
    if names.dtype.kind != "U" or names.ndim > 2 or not np.all(np.any(known, axis=0)):
        raise wrong
    try:
        numbers = np.broadcast_to(np.argmax(known, axis=0), given.shape[:2])
    except ValueError:
        raise wrong from None
    return law.passing(given, times, numbers)


def _simulated(
    body: Body,
    motion: KeyedMotion,
    gravity: Array,
    given: Disturbances,
    root: RootPath | None,
    *,
    last: float,
    keeps_speed: bool,
) -> Generator[float, None, tuple[MotionSamples, Array]]:
    """The motion up to `last` [s], and the angles (k, n) that were left at the keys before the correction.

    Limits of torques come last: what the body follows with limited torques is the motion that it has without limits.
    """
    limit, left = given.torque_limit, np.zeros((len(motion.times), len(body)))
    hindered = not exact.has_closed_form(given) or given.limits is not None
    samples: MotionSamples | None = None
    if limit is None or hindered:
        unlimited = Unlimited(body, motion, gravity, given, root, keeps_speed=keeps_speed)
        laws = courses_of(motion, last, Unlimited.longest, Unlimited.stages)
        parts = yield from subrange(unlimited.run(laws), 0.0, 1.0 if limit is None else 0.4)
        courses, torques, missing = zip(*parts, strict=True)
        samples = MotionSamples.of(motion, courses, torques)
        left[1 : len(missing) + 1] = missing[: len(left) - 1]
    if limit is not None and (samples is None or given.exceeds(samples.torques)):
        laws = courses_of(motion, last, Limited.longest, Limited.stages)
        followed = laws
        if samples is not None:
            # Springs of passive joints return to the motion of the law.
            followed = [samples.followed(law, at).with_joints(law, given.passive) for at, law in enumerate(laws)]
        limited = Limited(body, motion, gravity, given, root)
        parts = yield from subrange(limited.run(followed), 0.4 if hindered else 0.0, 1.0)
        courses, torques, missing = zip(*parts, strict=True)
        left[1 : len(missing) + 1] = np.maximum(left[1 : len(missing) + 1], missing[: len(left) - 1])
        samples = MotionSamples.of(motion, courses, torques)
    assert samples is not None
    return samples, left


def _sampled(
    frames: Array, keys: Array, motion: KeyedMotion, samples: MotionSamples, left: Array, given: Disturbances
) -> Interpolation:
    k, n = keys.shape[:2]
    # The motion of the law is known between the steps; only the difference, which changes slowly, is interpolated.
    relative, torques = samples.at(frames)
    rotations = rotation.multiply(motion.poses(frames), relative)
    if given.limits is not None:
        rotations = given.limits.clamp(rotations)
    missed = np.zeros((k, n))
    ends, intervals = samples.lasts[: k - 1], np.arange(k - 1)
    at_keys = rotation.multiply(motion.poses(samples.times[ends], intervals), samples.relative[ends])
    missed[1:] = rotation.distance(keys[1:], at_keys)
    missed[:, given.passive] = left[:, given.passive] = 0.0
    return Interpolation(frames, rotation.normalize(rotations), torques, missed.max(axis=1), missed, left)
