"""Passive joints behind driven ones that move by the law exactly: the engine steps them by itself.

Only the passive joints and their descendants are in its model. What they hang on is known beforehand: a base with six
degrees of freedom for each driven bone that carries some, which like the driven joints behind passive ones has so large
a rotor that the applied torques alone determine its motion. The method is the fourth-order Runge-Kutta method, with
steps short enough for springs, friction and speeds. Where friction or springs are so stiff that this would take many
steps, they are implicit in the step, and the results of steps of three lengths are extrapolated to steps of no length
(Deuflhard, Recent progress in extrapolation methods for ordinary differential equations, 1985).
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .body import Body
from .engine import UNMOVED, add_bone, load, made, numbers, rollouts
from .law import Motion
from .root_path import RootPath

LONGEST, SHORTEST = 1.0 / 120.0, 1.0 / 960.0
"""Longest and shortest step [s]."""
_IMPLICIT = 1.0 / 120.0
"""Longest of the three steps [s] with implicit friction and springs."""
_WEIGHTS = np.array([1.0, -6.0, 8.0]) / 3.0
"""Weights of the results of steps h, h / 2 and h / 4 that cancel the errors of first and second order."""
_WITHOUT = np.array([-1.0, 2.0])
"""Weights of steps h and h / 2 alone, by which the error is estimated."""
_INACCURATE = 0.005
"""Estimated error [rad] above which the steps are halved; at last, the method is one that is stable at any speed."""
_AT_ONCE = 12
"""Longest steps after which the extrapolated state is the start of the next ones."""
_MOMENT = 1e-5
"""Time [s] over which a position is differentiated."""
_AT_STOPS = 1.0 / 240.0
"""Longest step [s] if a joint has stops."""
_STIFF = 1.0
"""Largest product of the step with the fastest rate of springs and friction."""
_TURN = 0.2
"""Largest rotation [rad] of a joint in one step."""
_FASTEST = 1000.0
"""Speed [rad/s] above which a motion counts as diverged."""
STOP = [0.02, 1.0], [1e-4, 0.95, 0.05, 0.5, 2.0]
"""The engine's parameters of stops: without bounce, and hard 0.05 rad beyond the range, which the clamped result does
not show. Harder ones would need shorter steps."""
_FOLLOWED = 4
"""Steps between two updates of the pose that a moving spring returns to."""


@dataclass(frozen=True)
class Loose:
    """What hangs loosely on n joints. passive: (n,). damping, stiffness: (n,) [N m s/rad, N m/rad]. hinges: (n,), those
    that rotate about X alone. ranges: (n, 2) [rad] of the angles of passive hinges from the first pose, infinite for no
    limit."""

    passive: NDArray[np.bool_]
    damping: Array
    stiffness: Array
    hinges: NDArray[np.bool_]
    ranges: Array


@dataclass(frozen=True)
class Swing:
    """Poses (s + 1, n, 4) and velocities (s + 1, n, 3) of the passive joints at times (s + 1,)."""

    times: Array
    poses: Array
    velocities: Array

    def at(self, t: Array, joints: NDArray[np.int_]) -> tuple[Array, Array, Array]:
        """Poses (m, j, 4), velocities and accelerations (m, j, 3) of these joints at times (m,)."""
        low = np.clip(np.searchsorted(self.times, t + 1e-9, side="right") - 1, 0, len(self.times) - 2)
        span = (self.times[low + 1] - self.times[low])[:, None, None]
        part = np.clip((t - self.times[low])[:, None, None] / span, 0.0, 1.0)
        begin, end = self.poses[low][:, joints], self.poses[low + 1][:, joints]
        slow, fast = self.velocities[low][:, joints], self.velocities[low + 1][:, joints]
        turn = rotation.log(rotation.multiply(rotation.inverse(begin), end))
        rest = 1.0 - part
        bent = part * part * (3.0 - 2.0 * part) * turn + part * rest * span * (rest * slow - part * fast)
        return rotation.multiply(begin, rotation.exp(bent)), rest * slow + part * fast, (fast - slow) / span


class LooseSimulation:
    """The passive joints of a body whose other joints follow a motion."""

    def __init__(self, body: Body, motion: Motion, gravity: Array, given: Loose, root: RootPath | None) -> None:
        self._mujoco = mujoco = load()
        self._body, self._motion, self._given, self._root = body, motion, given, root
        parents = np.asarray(body.parents)
        hangs = body.ancestors @ given.passive > 0.0
        joints = np.flatnonzero(hangs)
        self._start, _, _ = (values[0] for values in motion.at(motion.times[:1]))
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        nodes: dict[int, Any] = {} if root is not None else {-1: spec.worldbody}
        self._carriers = [int(p) for p in np.unique(parents[joints]) if p not in nodes and not (p >= 0 and hangs[p])]
        for carrier in self._carriers:
            nodes[carrier] = base = spec.worldbody.add_body(
                name=f"base {carrier}", mass=1.0, inertia=[1.0, 1.0, 1.0], explicitinertial=True
            )
            for axis in np.eye(3):
                base.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
            base.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
        for joint in joints.tolist():
            bone = nodes[joint] = add_bone(nodes[int(parents[joint])], body, joint)
            if not (given.passive[joint] and given.hinges[joint]):
                bone.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
                continue
            bone.quat = self._start[joint]
            limited = bool(np.isfinite(given.ranges[joint]).any())
            hinge = bone.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[1.0, 0.0, 0.0], limited=limited)
            hinge.range = np.clip(given.ranges[joint], -1e3, 1e3)
            hinge.solref_limit, hinge.solimp_limit = STOP
        self.model = model = made(spec, body, joints)
        model.opt.gravity = gravity
        flags = mujoco.mjtDisableBit
        limited = bool(np.any(model.jnt_limited))
        off = flags.mjDSBL_AUTORESET | (flags.mjDSBL_CONTACT if limited else flags.mjDSBL_CONSTRAINT)
        model.opt.disableflags = int(off)
        self._implicit = self._careful = self._moving = False
        self._longest = _AT_STOPS if limited else LONGEST
        self.data = mujoco.MjData(model)
        self._rollout = rollouts()
        self._addresses(joints)
        guiding = [joint for carrier in self._carriers if carrier >= 0 for joint in body.chain(carrier)]
        self._guiding = np.array(sorted({*guiding, *self._driven.tolist()}), dtype=int)
        self._guide = motion.of(self._guiding)

    def _addresses(self, joints: NDArray[np.int_]) -> None:
        """Where coordinates and velocities of joints and bases are."""
        model, given = self.model, self._given
        bodies = numbers(model, joints)
        q, v = model.jnt_qposadr[model.body_jntadr[bodies]], model.body_dofadr[bodies]
        passive, hinged = given.passive[joints], given.hinges[joints]
        balls, hinges = passive & ~hinged, passive & hinged
        self._balls, self._hinges, self._driven = joints[balls], joints[hinges], joints[~passive]
        four, three = np.arange(4), np.arange(3)
        self._ball_q, self._ball_v = q[balls][:, None] + four, v[balls][:, None] + three
        self._hinge_q, self._hinge_v = q[hinges], v[hinges]
        bases = np.array([model.body(f"base {carrier}").id for carrier in self._carriers], dtype=int)
        base_q = model.jnt_qposadr[model.body_jntadr[bases]] if len(bases) else np.zeros(0, dtype=int)
        base_v = model.body_dofadr[bases] if len(bases) else np.zeros(0, dtype=int)
        self._place_q, self._place_v = base_q[:, None] + three, base_v[:, None] + three
        self._turn_q = np.concatenate((base_q[:, None] + 3 + four, q[~passive][:, None] + four))
        self._turn_v = np.concatenate((base_v[:, None] + 3 + three, v[~passive][:, None] + three))
        ball_joints, hinge_joints = model.dof_jntid[self._ball_v[:, 0]], model.dof_jntid[self._hinge_v]
        self._springs = ball_joints, hinge_joints
        model.jnt_stiffness[ball_joints] = given.stiffness[self._balls]
        model.jnt_stiffness[hinge_joints] = given.stiffness[self._hinges]
        model.dof_damping[self._ball_v] = given.damping[self._balls, None]
        model.dof_damping[self._hinge_v] = given.damping[self._hinges]

    def run(self, last: float) -> Generator[float, None, Swing | None]:
        """The motion up to `last` [s]; None if it needs steps that are too short."""
        data = self.data
        data.qpos[self._ball_q] = self._start[self._balls]
        data.qpos[self._hinge_q] = 0.0
        w = self._motion.at(self._motion.times[:1])[1][0]
        data.qvel[self._ball_v], data.qvel[self._hinge_v] = w[self._balls], w[self._hinges, 0]
        places, turns = self._guided(self._motion.times[:1], np.zeros(1, dtype=int))
        data.qpos[self._place_q], data.qpos[self._turn_q] = places[0], turns[0]
        begin = np.concatenate((data.qpos, data.qvel))
        h = self._largest_step()
        found = None
        if h >= SHORTEST:
            found = yield from self._through(begin, h, last)
        self._implicit = True
        for self._careful in (False, True):
            if found is None:
                found = yield from self._through(begin, _IMPLICIT, last)
        return found

    def _through(self, begin: Array, longest: float, last: float) -> Generator[float, None, Swing | None]:
        """The motion from a state (nq + nv,) in steps of `longest` seconds, or shorter where the motion is fast."""
        times = np.append(self._motion.times, last)
        grid, states = [times[:1]], [begin[None]]
        for interval in range(len(times) - 1):
            length = times[interval + 1] - times[interval]
            if length <= 1e-9:
                continue
            found, h = None, longest
            while found is None:
                steps = max(1, int(np.ceil(length / h - 1e-9)))
                t = times[interval] + length / steps * np.arange(steps + 1)
                found = self._interval(interval, t, states[-1][-1])
                h *= 0.5
                if found is None and (self._implicit or h < SHORTEST):
                    return None
            grid.append(found[0])
            states.append(found[1])
            yield float((times[interval + 1] - times[0]) / (last - times[0]))
        return self._swing(np.concatenate(grid), np.concatenate(states))

    def _largest_step(self) -> float:
        """The step [s] that friction and springs allow; locks what is driven."""
        mujoco, model, data = self._mujoco, self.model, self.data
        mujoco.mj_forward(model, data)
        mass = np.empty((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        self._rotor = UNMOVED * max(float(np.trace(mass)), 1.0)
        free = np.concatenate((self._ball_v.ravel(), self._hinge_v))
        model.dof_armature[self._place_v] = model.dof_armature[self._turn_v] = self._rotor
        inverse = np.linalg.inv(mass[np.ix_(free, free)])
        stiffness = model.jnt_stiffness[model.dof_jntid[free]]

        def fastest(rates: Array) -> float:
            root = np.sqrt(rates)
            return float(np.linalg.eigvalsh(root[:, None] * inverse * root)[-1])

        rate = fastest(model.dof_damping[free]) + np.sqrt(fastest(stiffness))
        h = self._longest
        while h * rate > _STIFF and h >= SHORTEST:
            h *= 0.5
        return h

    def _guided(self, times: Array, interval: NDArray[np.int_]) -> tuple[Array, Array]:
        """Positions (s, b, 3) of the bases, and rotations (s, b + d, 4) of bases and driven joints."""
        poses = self._guide.poses(times, interval)
        place, turn = np.zeros((len(times), 3)), np.tile(rotation.IDENTITY, (len(times), 1))
        if self._root is not None:
            place, turn = self._root.at(times)
        places, turns = [], []
        for carrier in self._carriers:
            chain = self._body.chain(carrier) if carrier >= 0 else []
            turned = rotation.accumulate(turn, poses[:, np.searchsorted(self._guiding, chain)])
            moved = rotation.rotate(turned[:, :-1], np.asarray(self._body.offsets)[chain])
            places.append(place + moved.sum(axis=1))
            turns.append(turned[:, -1])
        turns += [poses[:, index] for index in np.searchsorted(self._guiding, self._driven)]
        return (
            np.stack(places, axis=1) if places else np.zeros((len(times), 0, 3)),
            np.stack(turns, axis=1) if turns else np.zeros((len(times), 0, 4)),
        )

    def _interval(self, interval: int, times: Array, begin: Array) -> tuple[Array, Array] | None:
        """Times (s,) and states (s, nq + nv) of the steps at `times` after `begin`; None if they are too long."""
        self._moving = self._springs_move(interval)
        if not self._implicit:
            guides = self._guided(times, np.full(len(times), interval))
            velocities = tuple(_at_ends(means) for means in _rates(guides, float(times[1] - times[0])))
            found = self._guided_by(interval, times, tuple(g[0] for g in guides), velocities, begin)
            return None if found is None else (times[1:], found)
        return self._extrapolating(interval, times, begin)

    def _extrapolating(self, interval: int, times: Array, begin: Array) -> tuple[Array, Array] | None:
        """As `_interval`, with implicit forces; the steps are halved where that is not accurate enough."""
        finest = 2 ** (len(_WEIGHTS) - 1)
        fine = np.interp(np.arange(finest * (len(times) - 1) + 1) / finest, np.arange(len(times)), times)
        guides = self._guided(fine, np.full(len(fine), interval))
        moments = (times[:-1:_AT_ONCE, None] + _MOMENT * np.arange(3)).ravel()
        near = self._guided(moments, np.full(len(moments), interval))
        # With implicit forces a step moves at the velocity at its end; the first one begins with that just after it.
        starts = tuple(1.5 * rates[::3] - 0.5 * rates[1::3] for rates in _rates(near, _MOMENT))
        long, all_parts = float(times[1] - times[0]), [2**level for level in range(len(_WEIGHTS))]
        means = [_rates(tuple(g[:: finest // parts] for g in guides), long / parts) for parts in all_parts]
        grid, found = [], [begin[None]]
        for first in range(0, len(times) - 1, _AT_ONCE):
            last, block = min(first + _AT_ONCE, len(times) - 1), first // _AT_ONCE
            levels = []
            for parts, rates in zip(all_parts, means, strict=True):
                velocities = tuple(
                    np.concatenate((start[block : block + 1], own[parts * first : parts * last]))
                    for start, own in zip(starts, rates, strict=True)
                )
                t, now = fine[finest * first : finest * last + 1 : finest // parts], finest * first
                states = self._guided_by(interval, t, tuple(g[now] for g in guides), velocities, found[-1][-1])
                if states is None:
                    break
                levels.append(states[parts - 1 :: parts])
            both = np.stack(levels) if len(levels) == len(_WEIGHTS) else None
            extrapolated, error = (None, np.inf) if both is None else self._extrapolated(both)
            if extrapolated is not None and (self._careful or error < _INACCURATE):
                grid.append(times[first + 1 : last + 1])
                found.append(extrapolated)
                continue
            if self._careful or times[first + 1] - times[first] < SHORTEST:
                return None
            halves = np.interp(
                np.arange(2 * (last - first) + 1) / 2.0, np.arange(last - first + 1), times[first : last + 1]
            )
            refined = self._extrapolating(interval, halves, found[-1][-1])
            if refined is None:
                return None
            grid.append(refined[0])
            found.append(refined[1])
        return np.concatenate(grid), np.concatenate(found[1:])

    def _extrapolated(self, levels: Array) -> tuple[Array, float]:
        """States (s, nq + nv) from those of all lengths of steps (l, s, nq + nv), and the largest difference [rad] of
        angles from the extrapolation without the last length."""
        result = np.tensordot(_WEIGHTS, levels, 1)
        difference = np.abs(np.tensordot(np.append(_WITHOUT, 0.0) - _WEIGHTS, levels, 1))
        # The rotations are so close that their quaternions may be added up, too; they are half of the angles.
        halves, angles = (difference[:, at].max(initial=0.0) for at in (self._ball_q, self._hinge_q))
        result[:, self._ball_q] = rotation.normalize(result[:, self._ball_q])
        error = max(2.0 * float(halves), float(angles))
        return result, error

    def _guided_by(
        self, interval: int, times: Array, start: tuple[Array, ...], velocities: tuple[Array, ...], begin: Array
    ) -> Array | None:
        """As `_interval` in steps of one length, from places and turns of what is driven, and for their velocities
        (s + 1, ...) at the ends of the steps."""
        model, data, steps, given = self.model, self.data, len(times) - 1, self._given
        h = (times[-1] - times[0]) / steps
        data.qpos[:], data.qvel[:] = begin[: model.nq], begin[model.nq :]
        data.qpos[self._place_q], data.qpos[self._turn_q] = start
        torques = np.zeros((steps, model.nv))
        for own, at in zip(velocities, (self._place_v, self._turn_v), strict=True):
            data.qvel[at] = own[0]
            torques[:, at] = self._rotor * np.diff(own, axis=0) / h
        kinds = self._mujoco.mjtIntegrator
        model.opt.timestep = h
        implicit = kinds.mjINT_IMPLICIT if self._careful else kinds.mjINT_IMPLICITFAST
        model.opt.integrator = implicit if self._implicit else kinds.mjINT_RK4
        drag = given.damping + h * given.stiffness * self._implicit
        model.dof_damping[self._ball_v] = drag[self._balls, None]
        model.dof_damping[self._hinge_v] = drag[self._hinges]
        return self._stepped(interval, times, torques, self._moving)

    def _stepped(self, interval: int, times: Array, torques: Array, moving: bool) -> Array | None:
        mujoco, model, data, steps = self._mujoco, self.model, self.data, len(torques)
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS.value
        size, nq = mujoco.mj_stateSize(model, kind), model.nq
        state = np.empty(size)
        mujoco.mj_getState(model, data, state, kind)
        found = np.empty((1, steps, size))
        part = _FOLLOWED if moving else steps
        for first in range(0, steps, part):
            last = min(first + part, steps)
            if moving:
                self._set_springs(interval, 0.5 * (times[first] + times[last]))
            piece, _ = self._rollout.rollout(
                model,
                data,
                state[None],
                torques[None, first:last],
                control_spec=mujoco.mjtState.mjSTATE_QFRC_APPLIED.value,
            )
            found[:, first:last] = piece
            state = piece[0, -1]
        result = found[0, :, 1 : 1 + nq + model.nv]
        speeds = np.abs(result[:, nq:][:, np.concatenate((self._ball_v.ravel(), self._hinge_v))])
        most = speeds.max() if np.isfinite(result).all() else np.inf
        turn = 0.0 if self._implicit else most * model.opt.timestep
        return None if most > _FASTEST or turn > _TURN else result

    def _springs_move(self, interval: int) -> bool:
        """Whether springs return to a moving pose in an interval; sets the pose otherwise."""
        sprung = self._given.passive & (self._given.stiffness > 0.0)
        if not np.any(sprung):
            return False
        start = self._motion.times[interval]
        ends = start + np.array([0.0, 0.4, 1.0]) * min(self._motion.lengths[interval], 1.0)
        poses = self._motion.poses(ends, np.full(3, interval))[:, sprung]
        moves = bool(np.any(rotation.distance(poses[0], poses[1:]) > 1e-9))
        if not moves:
            self._set_springs(interval, start)
        return moves

    def _set_springs(self, interval: int, time: float) -> None:
        model = self.model
        pose = self._motion.poses(np.array([time]), np.array([interval]))[0]
        model.qpos_spring[self._ball_q] = pose[self._balls]
        turned = rotation.multiply(rotation.inverse(self._start[self._hinges]), pose[self._hinges])
        model.qpos_spring[self._hinge_q] = rotation.log(turned)[:, 0]

    def _swing(self, times: Array, states: Array) -> Swing:
        n, nq = len(self._body), self.model.nq
        poses = np.tile(rotation.IDENTITY, (len(times), n, 1))
        velocities = np.zeros((len(times), n, 3))
        poses[:, self._balls] = rotation.normalize(states[:, self._ball_q])
        velocities[:, self._balls] = states[:, nq + self._ball_v]
        turns = np.zeros((len(times), len(self._hinges), 3))
        turns[..., 0] = states[:, self._hinge_q]
        poses[:, self._hinges] = rotation.multiply(self._start[self._hinges], rotation.exp(turns))
        velocities[:, self._hinges, 0] = states[:, nq + self._hinge_v]
        return Swing(times, poses, velocities)


def _rates(guides: tuple[Array, ...], h: float) -> tuple[Array, Array]:
    """Mean velocities (s, ...) in the steps of places and turns (s + 1, ...)."""
    places, turns = guides
    return (
        np.diff(places, axis=0) / h,
        rotation.log(rotation.multiply(rotation.inverse(turns[:-1]), turns[1:])) / h,
    )


def _at_ends(middle: Array) -> Array:
    """Values (s + 1, ...) at the ends of steps from those (s, ...) in their middle."""
    if len(middle) == 1:
        return np.concatenate((middle, middle))
    inner = 0.5 * (middle[:-1] + middle[1:])
    return np.concatenate((1.5 * middle[:1] - 0.5 * middle[1:2], inner, 1.5 * middle[-1:] - 0.5 * middle[-2:-1]))
