"""Joints driven by the law of motion under disturbances: torque limits, friction, stops, passive joints.

The law is applied relative to its undisturbed motion, which is known in closed form: without disturbance the simulation
follows it up to rounding, for any step. Feedback, friction and springs are implicit in the step, so that no gain or
mass ratio makes it unstable (Stable PD: Tan, Liu, Turk 2011). The step does not depend on the frame rate, and all keys
are at steps.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..curves import late_slope, smooth_step
from ..ik import Limits
from ..rotation import Array
from .body import Body
from .engine import Engine
from .hinges import HingedLimits
from .law import Motion, rates, turning
from .muscles import Muscles
from .reference import Reference
from .root_path import RootPath
from .samples import HeldSamples
from .stops import Stops

SUBSTEP = 1.0 / 240.0
"""Longest step [s]."""
_FASTEST = 25.0
"""Largest speed [rad/s] of a joint, or twice that of the undisturbed motion."""
_NO_TIME = 1e-9
"""Time [s] that is rounding: forces in a step of this length would be arbitrary."""
_SUM = np.ones(3)
_OVER = 1e-9
"""Fraction of a torque limit by which rounding may exceed it."""


@dataclass(frozen=True)
class Disturbances:
    """Disturbances of n joints.

    torque_limit: (n, 1) or (n, 3) or None. passive: (n,), joints without actuation. damping, stiffness: (n,) [N m
    s/rad, N m/rad]; springs only at passive joints, towards the pose of the law. limits: of the joints. reference: the
    body whose inertia the law assumes, None for the true one. free: (n, 3), degrees of freedom; hinges have X alone.
    """

    torque_limit: Array | None
    passive: NDArray[np.bool_]
    damping: Array
    stiffness: Array
    limits: Limits | HingedLimits | None
    reference: Body | None
    free: NDArray[np.bool_]


class Simulation:
    """The simulation of a body through the keys of a motion."""

    def __init__(
        self,
        body: Body,
        motion: Motion,
        gravity: Array,
        disturbances: Disturbances,
        root: RootPath | None,
        *,
        keeps_speed: bool = False,
    ) -> None:
        """keeps_speed: whether joints that are strong enough pass their keys at the speed of the motion."""
        self.body, self.motion, self.gravity, self.given, self.root = body, motion, gravity, disturbances, root
        n = len(body)
        self.engine = engine = Engine(body, gravity, moving_root=root is not None)
        self.order = engine.order
        self.keeps_speed = keeps_speed and disturbances.torque_limit is None
        extra = 0 if root is None else 6
        self.extra = extra

        def degrees(values: Any, base: Any) -> Array:
            """Values (n,) of joints as values (nv,) of degrees of freedom, those of the root being `base`."""
            return np.concatenate((np.full(extra, base), np.repeat(np.asarray(values)[engine.order], 3)))

        limit = disturbances.torque_limit
        weak = np.zeros(n, dtype=bool) if limit is None else np.isfinite(limit).any(axis=1)
        stopped = np.zeros(n, dtype=bool)
        if disturbances.limits is not None:
            stopped = np.array([joint is not None for joint in disturbances.limits.joints])
        soft = weak | stopped | (disturbances.damping > 0.0) | (disturbances.reference is not None)
        free = np.concatenate((np.ones(extra, dtype=bool), disturbances.free[engine.order].ravel()))
        self.passive = degrees(disturbances.passive, False) & free
        self.hard = degrees(~soft & ~disturbances.passive, True) | ~free
        self.soft = ~self.hard & ~self.passive
        self.reference = None
        if disturbances.reference is not None:
            driven = disturbances.free & ~disturbances.passive[:, None]
            self.reference = Reference(body, disturbances.reference, driven, moving_root=extra > 0)
        self.damping = degrees(disturbances.damping, 0.0) * free
        self.stiffness = degrees(np.where(disturbances.passive, disturbances.stiffness, 0.0), 0.0) * free
        self.any_passive = bool(np.any(self.passive))
        self.resisted = bool(np.any(self.damping) or np.any(self.stiffness))
        self.drag, self.pull, self.firm, self.strength = np.zeros((4, 3 * n + extra))
        self.factors: Array | float = self.firm
        self.fastest = _FASTEST
        self.rough = self.soft & (self.damping > 0.0)
        self.any_rough = bool(np.any(self.rough))
        self.stops = None if disturbances.limits is None else Stops(disturbances.limits, engine, extra)
        engine.q[1 if extra else 0 :] = motion.at(motion.times[:1])[0][0][engine.order]
        self.muscles = None
        if limit is not None:
            mobile = disturbances.free[engine.order]
            loose = disturbances.passive[engine.order]
            self.muscles = Muscles(engine, limit[engine.order], self.soft[extra::3], loose, mobile)
        bare = disturbances.limits is None and disturbances.reference is None and not np.any(disturbances.damping)
        self.on_course = bare and not self.any_passive and root is None
        self.before = np.zeros(3 * n + extra)
        self.before[extra:] = motion.at(motion.times[:1])[1][0][engine.order].ravel()
        engine.w[:] = self.before
        self.none = np.zeros(n, dtype=bool)

    def run(self, last: float) -> Generator[float, None, HeldSamples]:
        """The intervals between all keys, and one after the last key up to `last` [s]; yields the completed
        fraction."""
        times = np.append(self.motion.times, last)
        parts = []
        for interval in range(len(times) - 1):
            length = times[interval + 1] - times[interval]
            if length <= _NO_TIME:
                continue
            steps = max(1, int(np.ceil(length / SUBSTEP - 1e-9)))
            grid = times[interval] + length / steps * np.arange(steps + 1)
            part = yield from self._part(interval, grid, times[0], last)
            parts.append(part)
        return HeldSamples.joined(parts)

    def _part(self, interval: int, times: Array, first: float, last: float) -> Generator[float, None, HeldSamples]:
        engine, steps = self.engine, len(times) - 1
        h = (times[-1] - times[0]) / steps
        wanted = self.motion.poses(times, np.full(steps + 1, interval))
        there, velocity = self._coordinates(times, wanted, h)
        if interval == 0 and self.extra:
            # The root is already moving.
            engine.position[:], engine.q[0] = there[0, :3], there[0, 3:7]
            self.before[: self.extra] = (2.0 * velocity[0] - velocity[min(1, steps - 1)])[: self.extra]
            engine.w[: self.extra] = self.before[: self.extra]
        turning = velocity[:, self.extra :].reshape(steps, -1, 3)
        fastest = np.maximum(_FASTEST, 2.0 * np.sqrt(rotation.dot(turning, turning).max(axis=1)))
        frequency = np.concatenate((np.ones(self.extra), np.repeat(self.motion.frequency[interval][self.order], 3)))
        # The factors by which implicit feedback resists a change of velocity, and of the distance from the motion.
        self.firm, self.strength = h * frequency * (h * frequency + 2.0), h * frequency**2
        if self.reference is not None:
            self.factors = self.reference.factors(self.firm[None])[0]
        begun = self._sorted(self.before[self.extra :].reshape(1, -1, 3))[0]
        if self.on_course:
            # While the torques suffice for the undisturbed motion, nothing needs to be simulated.
            torques, over = self._needed(times, wanted, np.zeros((steps, *begun.shape)), begun)
            if not np.any(over):
                self._skip(wanted[-1], velocity[-1])
                left = np.linalg.norm(self.motion.left[interval], axis=-1)
                return _part(times, rotation.identity(*wanted.shape[:-1]), torques, left)
            self.on_course = False
        poses = np.empty((steps + 1, len(self.order), 4))
        torques, clipped = np.empty((steps, len(self.before))), np.zeros((steps, len(self.order)), dtype=bool)
        for step in range(steps):
            poses[step] = engine.q[-len(self.order) :]
            self.fastest = fastest[step]
            torques[step], clipped[step] = self._step(h, there[step], velocity[step])
            if step % 50 == 49:
                yield float((times[step] - first) / (last - first))
        poses[steps] = engine.q[-len(self.order) :]
        poses, torques = self._sorted(poses), self._sorted(torques[:, self.extra :].reshape(steps, -1, 3))
        left = np.zeros(len(self.order))
        if interval < len(self.motion.times) - 1:
            error = rotation.log(rotation.multiply(rotation.inverse(wanted[-1]), poses[-1]))
            left = np.linalg.norm(error, axis=-1)
            rate = self._rate(interval, times[-1], error)
            poses, torques = self._corrected(times, poses, torques, self._sorted(clipped), error, rate, begun)
        return _part(times, rotation.multiply(rotation.inverse(wanted), poses), torques, left)

    def _coordinates(self, times: Array, wanted: Array, h: float) -> tuple[Array, Array]:
        """The target states of the engine (s + 1, nq), and the velocities (s, nv) that lead there."""
        q, position = wanted[:, self.order], None
        if self.root is not None:
            position, turn = self.root.at(times)
            q = np.concatenate((turn[:, None], q), axis=1)
        velocity = rotation.log(rotation.multiply(rotation.inverse(q[:-1]), q[1:])).reshape(len(times) - 1, -1) / h
        if position is not None:
            velocity = np.concatenate((np.diff(position, axis=0) / h, velocity), axis=1)
        return self.engine.coordinates(q, position), velocity

    def _step(self, h: float, there: Array, velocity: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Step by h; returns the applied torques (nv,), and which joints (n,) were too weak."""
        engine, v = self.engine, self.engine.w
        engine.place()
        difference = engine.difference(there)
        if self.resisted:
            self.drag = self.damping + h * self.stiffness
            self.pull = self.stiffness * (difference + h * velocity)
        drag, pull = self.drag, self.pull
        wanted = self._law(h, difference, velocity)
        if self.any_rough:
            engine.factor(h * drag, ~self.rough)
            wanted = wanted - engine.solve(np.where(self.rough, drag * (v + h * wanted), 0.0)[None])[0]
        if self.any_passive:
            wanted[self.passive] = 0.0
            engine.factor(h * drag, ~self.passive)
            wanted = wanted - engine.solve(np.where(self.passive, self._needed_for(wanted, h), 0.0)[None])[0]
        torques, weak = self._needed_for(wanted, h), self.none
        if self.muscles is not None:
            wanted, torques, weak = self.muscles.weakened(wanted, torques, h * drag if self.resisted else None)
        v += h * wanted
        self._slowed()
        engine.advance(h)
        if self.stops is not None:
            self.stops.hold(h * drag, self.hard)
        self.before = velocity
        if self.any_passive:
            torques = np.where(self.passive, pull - h * self.stiffness * v - self.damping * v, torques)
        return torques, weak

    def _slowed(self) -> None:
        """Limit the speed of the joints: light bones next to weak heavy ones could otherwise reach any speed."""
        speeds, most = self.engine.w[self.extra :].reshape(-1, 3), self.fastest
        square = (speeds * speeds) @ _SUM
        if square.max() > most * most:
            speeds *= np.minimum(1.0, most / np.sqrt(np.maximum(square, 1e-300)))[:, None]

    def _needed_for(self, wanted: Array, h: float) -> Array:
        """The torques (nv,) of the joints for accelerations (nv,), without those of springs and friction."""
        if not self.resisted:
            return self.engine.inverse(wanted)
        return self.engine.inverse(wanted) + self.drag * (self.engine.w + h * wanted) - self.pull

    def _law(self, h: float, difference: Array, velocity: Array) -> Array:
        """Accelerations (nv,) required by the law; `difference` (nv,) is the distance to its undisturbed motion."""
        v = self.engine.w
        firm, pull = self.firm, self.strength * difference
        if self.reference is None:
            return (velocity - v + (v - self.before + pull) / (1.0 + firm)) / h
        ahead, behind = velocity - self.before + pull, velocity - v
        return (behind + self.reference.gap(self.engine.data.qpos, ahead / firm, behind, self.factors)) / h

    def _sorted(self, values: Array) -> Array:
        """Values (s, n, ...) from the order of MuJoCo to that of the body."""
        result = np.empty_like(values)
        result[:, self.order] = values
        return result

    def _corrected(
        self, times: Array, poses: Array, torques: Array, clipped: Array, error: Array, rate: Array, begun: Array
    ) -> tuple[Array, Array]:
        """The interval corrected by a quintic towards its key, from where the torques suffice again, if they suffice
        for that too. rate: (n, 3), of the correction at the key."""
        reached = ~self.given.passive & (np.any(error, axis=-1) | np.any(rate, axis=-1))
        since = np.where(clipped.any(axis=0), len(clipped) - np.argmax(clipped[::-1], axis=0), 0)
        reached &= since < len(clipped)
        for _ in range(4):
            if not np.any(reached):
                return poses, torques
            begin = times[np.minimum(since, len(clipped) - 1)]
            share = np.clip((times[:, None] - begin) / (times[-1] - begin), 0.0, 1.0)
            part, late = smooth_step(share)[0], (times[-1] - begin) * late_slope(share)[0]
            bend = (part * reached)[..., None] * error + (late * reached)[..., None] * rate
            turn = rotation.exp(-bend)
            led = rotation.normalize(rotation.multiply(poses, turn))
            needed, over = self._needed(times, led, torques, begun)
            if not np.any(over):
                self._put(led[-1], turn[-1], reached[:, None] * rate)
                return led, needed
            if not np.any(reached & over):
                break
            reached &= ~over
        return poses, torques

    def _needed(self, times: Array, poses: Array, torques: Array, begun: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Torques (s, n, 3) for these poses, and the joints (n,) whose limits they exceed."""
        h = (times[-1] - times[0]) / len(torques)
        w = rotation.log(rotation.multiply(rotation.inverse(poses[:-1]), poses[1:])) / h
        before = np.concatenate((begun[None], w[:-1]))
        root = None if self.root is None else self.root.motion(times[:-1])
        found = self.body.inverse(poses[:-1], before, (w - before) / h, self.gravity, root=root)
        found = np.where(self.given.passive[:, None], torques, found + self.given.damping[:, None] * w)
        limit = self.given.torque_limit
        if limit is None:
            return found, np.zeros(len(self.order), dtype=bool)
        acting = found * self.given.free
        size = np.linalg.norm(acting, axis=-1, keepdims=True) if limit.shape[1] == 1 else np.abs(acting)
        return found, np.any(size > limit * (1.0 + _OVER), axis=(0, 2))

    def _skip(self, pose: Array, velocity: Array) -> None:
        """Continue from a pose (n, 4) at the end of an undisturbed interval."""
        self.engine.q[-len(self.order) :] = pose[self.order]
        self.engine.w[:] = self.before = velocity

    def _put(self, pose: Array, turn: Array, rate: Array) -> None:
        """Continue from a pose (n, 4) that was rotated by `turn` (n, 4), which changes by -rate (n, 3)."""
        self.engine.q[-len(self.order) :] = pose[self.order]
        speeds = self.engine.w[self.extra :].reshape(-1, 3)
        speeds[:] = rotation.rotate(rotation.inverse(turn[self.order]), speeds)
        speeds += turning(rotation.log(turn), -rate, np.zeros_like(rate))[0][self.order]

    def _rate(self, interval: int, time: float, error: Array) -> Array:
        """How fast (n, 3) the correction that ends with `error` changes at the key, for the speed of the motion."""
        if not self.keeps_speed:
            return np.zeros_like(error)
        speeds = np.empty_like(error)
        speeds[self.order] = self.engine.w[self.extra :].reshape(-1, 3)
        wanted = self.motion.at(np.array([time]), np.array([interval]))[1][0]
        return -rates(-error, wanted - rotation.rotate(rotation.exp(error), speeds))


def _part(times: Array, relative: Array, torques: Array, left: Array) -> HeldSamples:
    """An interval: `times` (s + 1,), rotations (s + 1, n, 4) from the law's motion, torques (s, n, 3), angles (n,)."""
    return HeldSamples.of_interval(times, relative, np.concatenate((torques, torques[-1:])), left)
