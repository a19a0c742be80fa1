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
_FACTORS = np.array([[1, 2, 3], [0, 3, 2], [3, 0, 1], [2, 1, 0]])
_SIGNS = np.array([[-1.0, -1.0, -1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]])
"""Which components of a quaternion, and with which signs, multiply those of a vector in their product."""
AHEAD = {False: 0.25, True: 1.0}
"""Fraction of an implicit step, careful or not, by which the poses in the torques of springs are ahead."""
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
        off = flags.mjDSBL_AUTORESET | (flags.mjDSBL_CONTACT if self.limited else flags.mjDSBL_CONSTRAINT)
        model.opt.disableflags = int(off | flags.mjDSBL_EULERDAMP)
        self._data = mujoco.MjData(model)
        self._models, self._datas, self._rollout = [model], [self._data], rollouts()
        kind = mujoco.mjtIntegrator
        self._euler, self._careful, self._runge_kutta = kind.mjINT_EULER, kind.mjINT_IMPLICIT, kind.mjINT_RK4
        self._implicit: dict[tuple[float, bool], tuple[Array, Array | float]] = {}
        self._applied = mujoco.mjtState.mjSTATE_QFRC_APPLIED.value
        self._options, self._friction, self._armature = model.opt, model.dof_damping, model.dof_armature
        self.q, self.v = slice(1, 1 + model.nq), slice(1 + model.nq, 1 + model.nq + model.nv)
        self._addresses(joints)
        self._rotor, self._inverse = 0.0, np.zeros((0, 0))

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
        turn_q = np.concatenate((base_q[:, None] + 3 + four, q[~passive][:, None] + four))
        turn_v = np.concatenate((base_v[:, None] + 3 + three, v[~passive][:, None] + three))
        self._guided_q = np.concatenate(((base_q[:, None] + three).ravel(), turn_q.ravel()))
        self._guided_v = np.concatenate(((base_v[:, None] + three).ravel(), turn_v.ravel()))
        self._free = np.concatenate((self._ball_v.ravel(), self._hinge_v))
        self._driving_q, self._driving_v = 1 + self._guided_q, 1 + model.nq + self._guided_v
        self._free_q, self._free_v = np.concatenate((self.ball_q.ravel(), self.hinge_q)) + 1, 1 + model.nq + self._free
        # Quaternions are half of the angles.
        self._angles = np.where(np.arange(len(self._free_q)) < self.ball_q.size, 2.0, 1.0)
        balls = model.jnt_type == self._mujoco.mjtJoint.mjJNT_BALL
        self._rolling_q = 1 + model.jnt_qposadr[balls][:, None] + four
        self._rolling_v = 1 + model.nq + model.jnt_dofadr[balls][:, None] + three
        self._factors = self._rolling_q[:, _FACTORS]
        self._hinging_q, self._hinging_v = 1 + self.hinge_q, 1 + model.nq + self._hinge_v
        own = np.concatenate((np.repeat(self.balls, 3), self.hinges))
        model.jnt_stiffness[model.dof_jntid[self._free]] = given.stiffness[own]
        self._damping, self._stiffness = given.damping[own], given.stiffness[own]
        self._stiff_balls, self._stiff_hinges = given.stiffness[self.balls], given.stiffness[self.hinges]

    def begin(self, velocities: Array, coordinates: Array) -> Array:
        """The first state, in which the joints have velocities (n, 3) and what is driven these coordinates; locks the
        latter."""
        mujoco, model, data = self._mujoco, self._model, self._data
        state = np.zeros(1 + model.nq + model.nv)
        q, v = state[self.q], state[self.v]
        q[self.ball_q] = self._start[self.balls]
        v[self._ball_v], v[self._hinge_v] = velocities[self.balls], velocities[self.hinges, 0]
        q[self._guided_q] = coordinates
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        mass = np.empty((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        self._rotor = UNMOVED * max(float(np.trace(mass)), 1.0)
        self._armature[self._guided_v] = self._rotor
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
        self._steps(h, self._runge_kutta, self._damping, 0.0)

    def implicit(self, h: float, *, careful: bool) -> None:
        """Steps of h seconds that are implicit in friction and springs; careful: the engine's own, in all velocities.

        With (M + 3/4 h D + 1/2 h^2 K) a = f - (D + 1/4 h K) v the friction of the engine remains explicit, and the
        rotors of the joints are 3/4 h D + 1/2 h^2 K: the only matrix that is factorized is the mass matrix with these.
        """
        if (h, careful) not in self._implicit:
            stiff = h * self._stiffness
            rotors = 0.0 if careful else h * (0.75 * self._damping + 0.5 * stiff)
            self._implicit[h, careful] = self._damping + AHEAD[careful] * stiff, rotors
        self._steps(h, self._careful if careful else self._euler, *self._implicit[h, careful])

    def _steps(self, h: float, kind: Any, drag: Array, rotors: Array | float) -> None:
        self._options.timestep, self._options.integrator = h, kind
        self._friction[self._free], self._armature[self._free] = drag, rotors

    def torques(self, speeds: Array, h: Array | float) -> Array:
        """Torques (s, nv) with which what is driven has these speeds (s + 1, ...) at the begins and ends of steps of h
        (s, 1) seconds."""
        result = np.zeros((len(speeds) - 1, self._model.nv))
        result[:, self._guided_v] = self._rotor / h * np.diff(speeds, axis=0)
        return result

    def drive(self, states: Array, coordinates: Array, speeds: Array) -> None:
        """Give what is driven these coordinates and speeds in states (..., 1 + nq + nv)."""
        states[..., self._driving_q], states[..., self._driving_v] = coordinates, speeds

    def move(self, states: Array, t: Array) -> None:
        """Rotate all joints of states (..., 1 + nq + nv) at their velocities for times t (..., 1), to first order.

        The places of the bases remain: nothing depends on them.
        """
        turns = (states[..., self._factors] * _SIGNS @ states[..., self._rolling_v, None])[..., 0]
        states[..., self._rolling_q] += 0.5 * t[..., None] * turns
        if len(self._hinging_q):
            states[..., self._hinging_q] += t * states[..., self._hinging_v]

    def stepped(self, state: Array, torques: Array, springs: Array | None = None) -> Array:
        """The states (s, 1 + nq + nv) after steps under torques (s, nv). springs: coordinates (s, nq) to which springs
        return in each of them; None if they do not move."""
        found = np.empty((len(torques), len(state)))
        if springs is None:
            self._roll(state, torques, found)
            return found
        held, pulls = self._pulls(springs)
        torques = torques + pulls
        for first, coordinates in zip(range(0, len(torques), FOLLOWED), held, strict=True):
            self.set_springs(coordinates)
            part = slice(first, first + FOLLOWED)
            self._roll(state, torques[part], found[part])
            state = found[part][-1]
        return found

    def _roll(self, state: Array, torques: Array, found: Array) -> None:
        """Steps under torques (s, nv); `found` (s, 1 + nq + nv) becomes the states after them."""
        self._rollout.rollout(
            self._models,
            self._datas,
            state[None],
            torques[None],
            control_spec=self._applied,
            skip_checks=True,
            nstep=len(torques),
            state=found[None],
        )

    def spring_poses(self, poses: Array) -> Array:
        """Coordinates (s, nq) to which springs return for poses (s, n, 4) of the joints."""
        result = np.tile(self._model.qpos_spring, (len(poses), 1))
        result[:, self.ball_q] = poses[:, self.balls]
        turned = rotation.multiply(rotation.inverse(self._start[self.hinges]), poses[:, self.hinges])
        result[:, self.hinge_q] = rotation.log(turned)[..., 0]
        return result

    def _pulls(self, springs: Array) -> tuple[Array, Array]:
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
        """The fastest speed [rad/s] of a passive joint in states (s, 1 + nq + nv); not a number if one of them is
        not."""
        return float(np.abs(states[:, self._free_v]).max(initial=0.0))

    def diverged(self, states: Array) -> bool:
        """Whether a motion is so fast that it has no meaning."""
        return not self.fastest(states) < _FASTEST

    def apart(self, states: Array, others: Array) -> float:
        """The largest difference [rad] between coordinates of passive joints in states (s, 1 + nq + nv) that are nearly
        the same."""
        difference = (states - others)[:, self._free_q]
        return float((np.abs(difference, out=difference) * self._angles).max(initial=0.0))

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
