"""The physics engine, MuJoCo: forward dynamics of a body. Nothing else needs it.

Source: Todorov, Erez, Tassa, MuJoCo: A physics engine for model-based control, IROS 2012.
"""

import logging
from collections import deque
from functools import cache
from typing import Any, NamedTuple, TypeVar
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineMissing, InvalidArgument
from ..rotation import Array
from .body import Body

Result = TypeVar("Result")
_log = logging.getLogger(__name__)
_TIMESTEP = 0.002
"""Length [s] of the engine's steps where none is set."""
UNMOVED = 1e9
"""Factor of the largest inertia: a rotor of this inertia effectively locks a joint."""


@cache
def _module() -> Any:
    """The module of the engine, or the exception raised by importing it."""
    try:
        import mujoco  # pyright: ignore[reportMissingImports]
    except (ImportError, OSError) as problem:
        return problem
    engine: Any = mujoco
    if engine.get_mju_user_warning() is None:
        # Without this it would write a file into the current folder.
        engine.set_mju_user_warning(_log.info)
    return engine


def reason() -> str | None:
    """The reason why the engine is not available, as a sentence; None if it is."""
    problem = _module()
    if isinstance(problem, ModuleNotFoundError):
        return "The physics engine MuJoCo is not installed; install the extension's zip made for this platform."
    if isinstance(problem, Exception):
        return "The physics engine MuJoCo does not load; install the extension's zip made for this platform."
    return None


def available() -> bool:
    """Whether the engine is available."""
    return reason() is None


def load() -> Any:
    """The engine's module. Raises EngineMissing."""
    problem = reason()
    if problem is not None:
        raise EngineMissing(problem)
    return _module()


@cache
def rollouts() -> Any:
    """What makes many steps of the engine in one call, on the calling thread."""
    from mujoco import rollout  # pyright: ignore[reportMissingImports]

    return rollout.Rollout(nthread=0)


def _refused(reason: str) -> InvalidArgument:
    first = next(iter(reason.splitlines()), "")
    return InvalidArgument(
        "The physics engine cannot simulate this body ({reason}); choose larger masses, and bones of similar size.",
        reason=first.removeprefix("Error: "),
    )


def add_bone(parent: Any, body: Body, joint: int) -> Any:
    """Add a bone of a body, without a joint, to a parent in an MjSpec."""
    inertia = np.asarray(body.inertias)[joint]
    return parent.add_body(
        name=str(joint),
        pos=np.asarray(body.offsets)[joint],
        ipos=np.asarray(body.centers)[joint],
        iquat=body.principal[1][joint],
        mass=np.asarray(body.masses)[joint],
        inertia=np.full(3, np.trace(inertia) / 3.0),
        explicitinertial=True,
    )


def numbers(model: Any, joints: NDArray[np.int_]) -> NDArray[np.int_]:
    """The numbers of these joints' bones in a model."""
    find, kind = _module().mj_name2id, _module().mjtObj.mjOBJ_BODY
    return np.array([find(model, kind, str(joint)) for joint in joints], dtype=int)


def made(spec: Any, body: Body, joints: NDArray[np.int_]) -> Any:
    """The model of an MjSpec with these bones of a body. Raises InvalidArgument."""
    try:
        model = spec.compile()
    except (ValueError, RuntimeError) as error:
        raise _refused(str(error)) from None
    # The compiler would reject principal moments of inertia that no real body has; the arithmetic allows them.
    model.body_inertia[numbers(model, joints)] = body.principal[0][joints]
    if np.any(model.jnt_limited):
        # Nothing but constraints uses what depends on the moments of inertia.
        _module().mj_setConst(model, _module().MjData(model))
    return model


def finished(result: Result) -> Result:
    """What the engine has found, a dataclass. Raises InvalidArgument where it diverged."""
    for name, value in vars(result).items():
        # A pass of a reach that misses its goal costs infinitely much.
        wrong = np.isnan if name == "costs" else lambda numbers: ~np.isfinite(numbers)
        if isinstance(value, np.ndarray | float) and np.any(wrong(value)):
            raise InvalidArgument(
                "The motion cannot be computed with these masses, torques and times; use values of more similar size."
            )
    return result


class _Kept(NamedTuple):
    """A model, its state, and what it was made from."""

    model: Any
    data: Any
    source: tuple[bytes | bool, ...]


_SPARE: deque[_Kept] = deque(maxlen=4)
"""Models that no engine uses any more."""


def _taken(body: Body, free: NDArray[np.bool_], pose: Array | None, *, moving_root: bool) -> _Kept:
    """A model of a body that no other engine uses, and its state at rest."""
    mujoco = load()
    parts = body.parents, body.offsets, body.masses, body.centers, body.inertias, free, () if pose is None else pose
    source = (*(np.asarray(part).tobytes() for part in parts), moving_root)
    for kept in list(_SPARE):
        if kept.source == source:
            try:
                _SPARE.remove(kept)
            except ValueError:
                # Another thread has taken it.
                continue
            model = kept.model
            model.dof_armature[:] = model.dof_damping[:] = 0.0
            model.opt.timestep, model.opt.integrator = _TIMESTEP, mujoco.mjtIntegrator.mjINT_EULER
            mujoco.mj_resetData(model, kept.data)
            return kept
    model = _model(body, free, pose, moving_root=moving_root)
    model.opt.timestep = _TIMESTEP
    data = mujoco.MjData(model)
    mujoco.mj_resetData(model, data)
    return _Kept(model, data, source)


def _model(body: Body, free: NDArray[np.bool_], pose: Array | None, *, moving_root: bool) -> Any:
    mujoco = load()
    spec = mujoco.MjSpec()
    base = spec.worldbody
    if moving_root:
        base = base.add_body(name="base", mass=1.0, inertia=[1.0, 1.0, 1.0], explicitinertial=True)
        for axis in np.eye(3):
            base.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        base.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
    bones: list[Any] = []
    for joint, parent in enumerate(np.asarray(body.parents).tolist()):
        bone = add_bone(base if parent < 0 else bones[parent], body, joint)
        if free[joint]:
            bone.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
        elif pose is not None:
            bone.quat = pose[joint]
        bones.append(bone)
    model = made(spec, body, np.arange(len(body)))
    # A state that is no number is to be seen, and not to be replaced by the first one.
    off = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_AUTORESET
    model.opt.disableflags = int(off)
    return model


class Engine:
    """A body in MuJoCo, in one state: pose `q` (m, 4) and velocities `w` (3 m,), which may be written.

    joints: which of the body's joints are free (all by default); the others are fixed as in `pose`. moving_root:
    whether the frame of the root joints moves; its velocity (3,) then precedes those of the joints, its position is
    `position`, and its rotation is that of an additional first joint. Joints are in the order of MuJoCo; `order` has
    their indices in the body.

    Raises EngineMissing.
    """

    def __init__(
        self,
        body: Body,
        gravity: Array,
        *,
        joints: NDArray[np.bool_] | None = None,
        pose: Array | None = None,
        moving_root: bool = False,
    ) -> None:
        self._mujoco = load()
        free = np.ones(len(body), dtype=bool) if joints is None else joints
        fixed = None if pose is None or bool(free.all()) else pose
        kept = _taken(body, free, fixed, moving_root=moving_root)
        self.model, self.data = kept.model, kept.data
        # Whoever computes a motion again, as when a setting is changed, needs the same model.
        finalize(self, _SPARE.append, kept).atexit = False
        self.model.opt.gravity = gravity
        addresses = self.model.body_dofadr[numbers(self.model, np.arange(len(body)))]
        addresses = np.where(free, addresses, self.model.nv)
        self.order = np.argsort(addresses, kind="stable")[: np.count_nonzero(free)]
        self.root_size = 3 if moving_root else 0
        self._bind()

    def _bind(self) -> None:
        """Set what refers to the model and its state."""
        model, data = self.model, self.data
        self.position, self.q = data.qpos[: self.root_size], data.qpos[self.root_size :].reshape(-1, 4)
        self.w = data.qvel
        self._coordinates, self.entries = data.qpos, data.M
        self._armature = model.dof_armature
        self._size = model.nv
        self._heavy = 0.0
        self._diagonal = model.M_rowadr + model.M_rownnz - 1
        self._own, self._made = np.zeros(model.nv), False
        self._places, self._among = np.zeros((0, 0), dtype=int), np.zeros((0, 0))

    def put(self, coordinates: Array, velocities: Array) -> None:
        """Set MuJoCo's coordinates (nq,) and velocities (nv,); `place` comes next."""
        self.data.qpos[:], self.data.qvel[:] = coordinates, velocities

    def place(self) -> None:
        """Update everything that depends on the state; call it before the other methods."""
        self.place_still()
        self._mujoco.mj_comVel(self.model, self.data)

    def place_at(self, coordinates: Array) -> None:
        """As `place_still` at MuJoCo's coordinates (nq,)."""
        self._coordinates[:] = coordinates
        self.place_still()

    def place_still(self) -> None:
        """As `place`, at rest: the velocities have been 0 since `place` was last called."""
        self._mujoco.mj_fwdKinematics(self.model, self.data)
        self._made = False

    def inverse(self, acceleration: Array) -> Array:
        """Torques (3 m,) for the accelerations (3 m,)."""
        self.data.qacc[:] = acceleration
        torques = np.empty(self._size)
        self._mujoco.mj_rne(self.model, self.data, 1, torques)
        return torques

    def factor(self, extra: Array, driven: NDArray[np.bool_] | None = None) -> None:
        """Prepare `solve`: with `extra` (3 m,) on the diagonal of the mass matrix; driven degrees of freedom are
        locked."""
        data, armature = self.data, self._armature
        if not self._made or self._places.size:
            armature[:] = 0.0
            self._mujoco.mj_makeM(self.model, data)
            self._own, self._made = data.M[self._diagonal], True
            self._places = np.zeros((0, 0), dtype=int)
        armature[:] = extra
        if driven is not None:
            armature[driven] = self._unmoved()
        data.M[self._diagonal] = self._own + armature
        self._mujoco.mj_factorM(self.model, data)

    def blocks(self, first: int, size: int) -> NDArray[np.int_]:
        """Where `factor_blocks` adds to the mass matrix: the entries (b, e) on and below the diagonal, row by row, of
        blocks of so many degrees of freedom, of one joint each, from the first one on."""
        rows, columns = np.tril_indices(size)
        diagonal = self._diagonal[first:].reshape(-1, size)
        return diagonal[:, rows] - (rows - columns)

    def factor_blocks(self, extra: Array, places: NDArray[np.int_], blocks: Array) -> None:
        """As `factor`, with blocks (b, e) of symmetric matrices in addition; `places` as found by `blocks`. If it is
        repeated in one place, `extra` is that of the first time."""
        data = self.data
        if places is not self._places or not self._made:
            self._armature[:] = 0.0
            self._mujoco.mj_makeM(self.model, data)
            self._own, self._made = data.M[self._diagonal], True
            data.M[self._diagonal] += extra
            self._places, self._among = places, data.M[places]
        data.M[places] = self._among + blocks
        self._mujoco.mj_factorM(self.model, data)

    def products(self, values: Array) -> Array:
        """For each entry of the mass matrix that can differ from 0, on and below the diagonal, the product of the two
        `values` (nv,) of its degrees of freedom."""
        return np.repeat(values, self.model.M_rownnz) * values[self.model.M_colind]

    def multiplied(self, accelerations: Array) -> Array:
        """The mass matrix times accelerations (nv,); its entries are then in `entries`."""
        self._armature[:] = 0.0
        self._mujoco.mj_makeM(self.model, self.data)
        self._made = False
        product = np.empty(self._size)
        self._mujoco.mj_mulM(self.model, self.data, product, accelerations)
        return product

    def factor_sum(self, others: Array, extra: Array, locked: NDArray[np.bool_]) -> None:
        """As `factor`, after `multiplied`, with the entries of another mass matrix in addition."""
        entries = self.entries
        extra = extra + locked * (UNMOVED * float(entries[self._diagonal].sum()))
        entries += others
        entries[self._diagonal] += extra
        self._mujoco.mj_factorM(self.model, self.data)

    def _unmoved(self) -> float:
        if not self._heavy:
            self._heavy = UNMOVED * float(self._own.sum())
        return self._heavy

    def solve(self, torques: Array) -> Array:
        """Additional accelerations (k, 3 m) due to torques (k, 3 m)."""
        changes = np.empty(torques.shape)
        self._mujoco.mj_solveM(self.model, self.data, changes, torques)
        return changes

    def mass_matrix(self) -> Array:
        """The mass matrix (3 m, 3 m), with the diagonal of `factor`."""
        full = np.empty((self._size, self._size))
        self._made = False
        self._mujoco.mj_makeM(self.model, self.data)
        self._mujoco.mj_fullM(self.model, self.data, full)
        return full

    def energy(self) -> tuple[Array, float]:
        """The mass matrix (3 m, 3 m) and the potential energy [J]; sets the diagonal of `factor` to 0."""
        self._armature[:] = 0.0
        self._mujoco.mj_energyPos(self.model, self.data)
        return self.mass_matrix(), float(self.data.energy[0])

    def difference(self, there: Array) -> Array:
        """The rotation vectors (3 m,) from the state to MuJoCo's `coordinates`."""
        vectors = np.empty(self._size)
        self._mujoco.mj_differentiatePos(self.model, vectors, 1.0, self.data.qpos, there)
        return vectors

    def advance(self, h: float) -> None:
        """Integrate the velocities over h seconds."""
        self._mujoco.mj_integratePos(self.model, self.data.qpos, self.data.qvel, h)

    def moved(self, coordinates: Array, turn: Array) -> None:
        """Move coordinates (nq,), in place, by rotation vectors (nv,)."""
        self._mujoco.mj_integratePos(self.model, coordinates, turn, 1.0)

    def between(self, coordinates: Array, there: Array) -> Array:
        """The rotation vectors (nv,) from MuJoCo's coordinates to others."""
        vectors = np.empty(self._size)
        self._mujoco.mj_differentiatePos(self.model, vectors, 1.0, coordinates, there)
        return vectors

    def run(self, h: float, torques: Array, friction: Array) -> None:
        """One step of h seconds with the engine's fourth-order Runge-Kutta method, under torques (3 m,)."""
        model, data = self.model, self.data
        self._armature[:] = 0.0
        model.opt.timestep, model.dof_damping[:] = h, friction
        model.opt.integrator = self._mujoco.mjtIntegrator.mjINT_RK4
        data.qfrc_applied[:] = torques
        self._mujoco.mj_step(model, data)

    def push(self, torques: Array, h: float) -> None:
        """A step of h seconds under torques (3 m,), with the current diagonal of the mass matrix."""
        model = self.model
        model.opt.timestep, model.opt.integrator = h, self._mujoco.mjtIntegrator.mjINT_EULER
        self.data.qfrc_applied[:] = torques
        self._mujoco.mj_step(model, self.data)

    def step(self, h: float, count: int) -> None:
        """So many steps of h seconds by the engine's own integrator, and nothing else."""
        step, model, data = self._mujoco.mj_step, self.model, self.data
        model.opt.timestep = h
        for _ in range(count):
            step(model, data)

    def coordinates(self, q: Array, position: Array | None = None) -> Array:
        """MuJoCo's coordinates (..., 4 m) of joints (..., m, 4) in its order, preceded by the position of the root."""
        flat = q.reshape(*q.shape[:-2], -1)
        return flat if position is None else np.concatenate((position, flat), axis=-1)
