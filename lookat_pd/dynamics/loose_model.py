"""The engine's model of loose bones: what they hang on is driven by rotors, so that its motion is what is asked for.

A base with six degrees of freedom stands for each driven bone that carries loose ones. Like the driven joints behind
passive ones it has so large a rotor that the applied torques alone determine its motion.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .body import Body
from .engine import UNMOVED, add_bone, load, made, numbers, rollouts

STOP = [0.02, 1.0], [1e-4, 0.95, 0.05, 0.5, 2.0]
"""The engine's parameters of stops: without bounce, and hard 0.05 rad beyond the range, which the clamped result does
not show. Harder ones would need shorter steps."""

_FASTEST = 1000.0
"""Speed [rad/s] above which a motion counts as diverged."""
FOLLOWED = 3
"""Steps between two updates of the pose that a moving spring returns to; odd, so that one of them is in the middle."""


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
class Guide:
    """What is driven, at s times: places (s, b, 3) of the bases, and turns (s, b + d, 4) of bases and driven joints."""

    places: Array
    turns: Array

    def __getitem__(self, rows: Any) -> "Guide":
        return Guide(self.places[rows], self.turns[rows])

    def rates(self, h: float) -> tuple[Array, Array]:
        """Mean velocities (s - 1, ...) between times that are h apart."""
        turned = rotation.multiply(rotation.inverse(self.turns[:-1]), self.turns[1:])
        return np.diff(self.places, axis=0) / h, rotation.log(turned) / h

    def halved(self) -> "Guide":
        """What is driven at the times between (s + 1,) evenly spaced ones too: (2 s + 1, ...)."""
        turns = _between(rotation.align_hemisphere(self.turns))
        return Guide(_between(self.places), rotation.normalize(turns))


_INNER = np.array([3.0, -25.0, 150.0, 150.0, -25.0, 3.0]) / 256.0
_OUTER = np.array([[63.0, 315.0, -210.0, 126.0, -45.0, 7.0], [-7.0, 105.0, 210.0, -70.0, 21.0, -3.0]]) / 256.0
"""Weights of six values at a distance of 1 for those in the middle, and those at 0.5 and 1.5 from the first."""


def _between(values: Array) -> Array:
    """Values (s + 1, ...), s of at least 5, and those in the middle between two, by polynomials of fifth degree."""
    result = np.empty((2 * len(values) - 1, *values.shape[1:]))
    result[::2] = values
    middle = result[1::2]
    middle[2:-2] = sum(weight * values[at : len(values) - 5 + at] for at, weight in enumerate(_INNER))
    middle[:2] = np.tensordot(_OUTER, values[:6], 1)
    middle[:-3:-1] = np.tensordot(_OUTER, values[:-7:-1], 1)
    return result


class LooseModel:
    """The passive joints of a body and what is behind them, in the engine. `start` (n, 4) is the first pose of all
    joints; moving_root: whether what hangs on no bone hangs on the frame of the roots.

    A state (1 + nq + nv,) has the time, the coordinates and the velocities; `q` and `v` are its parts.
    """

    def __init__(self, body: Body, start: Array, gravity: Array, given: Loose, *, moving_root: bool) -> None:
        self._mujoco = mujoco = load()
        self._given, self._start = given, start
        parents = np.asarray(body.parents)
        hangs = body.ancestors @ given.passive > 0.0
        joints = np.flatnonzero(hangs)
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        nodes: dict[int, Any] = {} if moving_root else {-1: spec.worldbody}
        self.carriers = [int(p) for p in np.unique(parents[joints]) if p not in nodes and not (p >= 0 and hangs[p])]
        for carrier in self.carriers:
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
            bone.quat = start[joint]
            limited = bool(np.isfinite(given.ranges[joint]).any())
            hinge = bone.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[1.0, 0.0, 0.0], limited=limited)
            hinge.range = np.clip(given.ranges[joint], -1e3, 1e3)
            hinge.solref_limit, hinge.solimp_limit = STOP
        self._model = model = made(spec, body, joints)
        model.opt.gravity = gravity
        self.limited = bool(np.any(model.jnt_limited))
        flags = mujoco.mjtDisableBit
        self._off = flags.mjDSBL_AUTORESET | (flags.mjDSBL_CONTACT if self.limited else flags.mjDSBL_CONSTRAINT)
        model.opt.disableflags = int(self._off)
        self._data = mujoco.MjData(model)
        self._rollout, self._inverse = rollouts(), np.zeros((0, 0))
        self.q, self.v = slice(1, 1 + model.nq), slice(1 + model.nq, 1 + model.nq + model.nv)
        self._addresses(joints)
        self._rotor = 0.0

    def _addresses(self, joints: NDArray[np.int_]) -> None:
        """Where coordinates and velocities of joints and bases are."""
        model, given = self._model, self._given
        bodies = numbers(model, joints)
        q, v = model.jnt_qposadr[model.body_jntadr[bodies]], model.body_dofadr[bodies]
        passive, hinged = given.passive[joints], given.hinges[joints]
        at_balls, at_hinges = passive & ~hinged, passive & hinged
        self.balls, self.hinges, self.driven = joints[at_balls], joints[at_hinges], joints[~passive]
        four, three = np.arange(4), np.arange(3)
        self.ball_q, self._ball_v = q[at_balls][:, None] + four, v[at_balls][:, None] + three
        self.hinge_q, self._hinge_v = q[at_hinges], v[at_hinges]
        bases = np.array([model.body(f"base {carrier}").id for carrier in self.carriers], dtype=int)
        base_q = model.jnt_qposadr[model.body_jntadr[bases]] if len(bases) else np.zeros(0, dtype=int)
        base_v = model.body_dofadr[bases] if len(bases) else np.zeros(0, dtype=int)
        self._place_q, self._place_v = base_q[:, None] + three, base_v[:, None] + three
        self._turn_q = np.concatenate((base_q[:, None] + 3 + four, q[~passive][:, None] + four))
        self._turn_v = np.concatenate((base_v[:, None] + 3 + three, v[~passive][:, None] + three))
        self._free = np.concatenate((self._ball_v.ravel(), self._hinge_v))
        own = np.concatenate((np.repeat(self.balls, 3), self.hinges))
        model.jnt_stiffness[model.dof_jntid[self._free]] = given.stiffness[own]
        self._damping, self._stiffness = given.damping[own], given.stiffness[own]
        self._stiff_balls, self._stiff_hinges = given.stiffness[self.balls], given.stiffness[self.hinges]

    def begin(self, velocities: Array, guide: Guide) -> Array:
        """The first state, in which the joints have these velocities (n, 3); locks what is driven."""
        mujoco, model, data = self._mujoco, self._model, self._data
        state = np.zeros(1 + model.nq + model.nv)
        q, v = state[self.q], state[self.v]
        q[self.ball_q] = self._start[self.balls]
        v[self._ball_v], v[self._hinge_v] = velocities[self.balls], velocities[self.hinges, 0]
        q[self._place_q], q[self._turn_q] = guide.places[0], guide.turns[0]
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        mass = np.empty((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        self._rotor = UNMOVED * max(float(np.trace(mass)), 1.0)
        model.dof_armature[self._place_v] = model.dof_armature[self._turn_v] = self._rotor
        self._inverse = np.linalg.inv(mass[np.ix_(self._free, self._free)])
        return state

    def rate(self) -> float:
        """The fastest rate [1/s] of springs and friction in the first pose."""

        def fastest(rates: Array) -> float:
            root = np.sqrt(rates)
            return float(np.linalg.eigvalsh(root[:, None] * self._inverse * root)[-1])

        return fastest(self._damping) + np.sqrt(fastest(self._stiffness))

    def explicit(self, h: float) -> None:
        """Steps of h seconds of the fourth-order Runge-Kutta method."""
        self._steps(h, self._mujoco.mjtIntegrator.mjINT_RK4, self._damping, 0.0)

    def implicit(self, h: float, *, careful: bool) -> None:
        """Steps of h seconds of the linearly implicit Euler method; careful: the velocities in all forces are implicit,
        those of friction and springs alone otherwise.

        With (M + h D + h^2 K) a = f - (D + h K) v the friction of the engine remains explicit, and the rotors of the
        joints are h (D + h K): the only matrix that is factorized is the mass matrix with these.
        """
        drag = self._damping + h * self._stiffness
        if careful:
            self._steps(h, self._mujoco.mjtIntegrator.mjINT_IMPLICIT, drag, 0.0)
        else:
            self._steps(h, self._mujoco.mjtIntegrator.mjINT_EULER, drag, h * drag)

    def _steps(self, h: float, kind: Any, drag: Array, rotors: Array | float) -> None:
        model, flags = self._model, self._mujoco.mjtDisableBit
        model.opt.timestep, model.opt.integrator = h, kind
        model.dof_damping[self._free], model.dof_armature[self._free] = drag, rotors
        model.opt.disableflags = int(self._off | flags.mjDSBL_EULERDAMP)

    def torques(self, before: tuple[Array, ...], after: tuple[Array, ...], h: float) -> Array:
        """Torques (s, nv) that change the velocities (s, ...) of what is driven in steps of h seconds."""
        result = np.zeros((len(after[0]), self._model.nv))
        for first, last, at in zip(before, after, (self._place_v, self._turn_v), strict=True):
            result[:, at] = self._rotor / h * (last - first)
        return result

    def drive(self, state: Array, guide: Guide, velocities: tuple[Array, ...], row: int) -> Array:
        """A state in which what is driven is at a row of a guide and has the velocities (s, ...) in that row."""
        result = state.copy()
        q, v = result[self.q], result[self.v]
        q[self._place_q], q[self._turn_q] = guide.places[row], guide.turns[row]
        v[self._place_v], v[self._turn_v] = velocities[0][row], velocities[1][row]
        return result

    def stepped(self, state: Array, torques: Array, springs: Array | None = None) -> Array:
        """The states (s, 1 + nq + nv) after steps under torques (s, nv). springs: coordinates (w, nq) to which springs
        return, each during `FOLLOWED` steps; None if they do not move."""
        kind = self._mujoco.mjtState.mjSTATE_QFRC_APPLIED.value
        part = len(torques) if springs is None else FOLLOWED
        found = np.empty((len(torques), len(state)))
        for first in range(0, len(torques), part):
            if springs is not None:
                self.set_springs(springs[first // part])
            own, out = torques[None, first : first + part], found[None, first : first + part]
            self._rollout.rollout(
                [self._model],
                [self._data],
                state[None],
                own,
                control_spec=kind,
                skip_checks=True,
                nstep=own.shape[1],
                state=out,
            )
            state = out[0, -1]
        return found

    def spring_poses(self, poses: Array) -> Array:
        """Coordinates (s, nq) to which springs return for poses (s, n, 4) of the joints."""
        result = np.tile(self._model.qpos_spring, (len(poses), 1))
        result[:, self.ball_q] = poses[:, self.balls]
        turned = rotation.multiply(rotation.inverse(self._start[self.hinges]), poses[:, self.hinges])
        result[:, self.hinge_q] = rotation.log(turned)[..., 0]
        return result

    def pulls(self, springs: Array) -> tuple[Array, Array]:
        """Coordinates (w, nq) to which springs return during `FOLLOWED` steps each, and the torques (s, nv) in addition
        if in each step they return to `springs` (s, nq)."""
        count = len(springs)
        held = springs[np.minimum(np.arange(FOLLOWED // 2, count + FOLLOWED // 2, FOLLOWED), count - 1)]
        at = np.repeat(held, FOLLOWED, axis=0)[:count]
        torques = np.zeros((count, self._model.nv))
        turns = rotation.multiply(rotation.inverse(at[:, self.ball_q]), springs[:, self.ball_q])
        torques[:, self._ball_v] = self._stiff_balls[:, None] * rotation.log(turns)
        torques[:, self._hinge_v] = self._stiff_hinges * (springs - at)[:, self.hinge_q]
        return held, torques

    def set_springs(self, coordinates: Array) -> None:
        self._model.qpos_spring[:] = coordinates

    def fastest(self, states: Array) -> float:
        """The fastest speed [rad/s] of a passive joint in states (s, 1 + nq + nv)."""
        return float(np.abs(states[:, self.v][:, self._free]).max(initial=0.0))

    def diverged(self, states: Array) -> bool:
        """Whether a motion is so fast that it has no meaning."""
        return not np.isfinite(states).all() or self.fastest(states) > _FASTEST

    def apart(self, states: Array, others: Array) -> float:
        """The largest difference [rad] between coordinates of passive joints in states (s, 1 + nq + nv) that are nearly
        the same."""
        difference = np.abs(states - others)[:, self.q]
        # Quaternions are half of the angles.
        balls, hinges = difference[:, self.ball_q.ravel()], difference[:, self.hinge_q]
        return max(2.0 * float(balls.max(initial=0.0)), float(hinges.max(initial=0.0)))

    def normalize(self, states: Array) -> None:
        q = states[:, self.q]
        q[:, self.ball_q] = rotation.normalize(q[:, self.ball_q])

    def joints(self, states: Array) -> tuple[Array, Array]:
        """Poses (s, n, 4) and velocities (s, n, 3) of the passive joints in states."""
        n, q, v = len(self._start), states[:, self.q], states[:, self.v]
        poses, velocities = np.tile(rotation.IDENTITY, (len(states), n, 1)), np.zeros((len(states), n, 3))
        poses[:, self.balls] = rotation.normalize(q[:, self.ball_q])
        velocities[:, self.balls] = v[:, self._ball_v]
        turns = np.zeros((len(states), len(self.hinges), 3))
        turns[..., 0] = q[:, self.hinge_q]
        poses[:, self.hinges] = rotation.multiply(self._start[self.hinges], rotation.exp(turns))
        velocities[:, self.hinges, 0] = v[:, self._hinge_v]
        return poses, velocities
