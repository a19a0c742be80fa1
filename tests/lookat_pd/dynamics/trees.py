"""Random bodies, and the same bodies in MuJoCo, built here from a description of their own."""

from typing import Any

import numpy as np
import pytest

from lookat_pd import rotation
from lookat_pd.dynamics import Body
from lookat_pd.rotation import Array


def body(n: int, seed: int, *, chain: bool = False, spread: float = 1.0) -> Body:
    """Bones of random shapes; masses from 10**-spread to 10**spread kg."""
    random = np.random.default_rng(seed)
    parents = [joint - 1 if chain else int(random.integers(-1, joint)) if joint else -1 for joint in range(n)]
    masses = 10.0 ** random.uniform(-spread, spread, n)
    axes = rotation.to_matrix(rotation.normalize(random.normal(size=(n, 4))))
    square = random.uniform(0.02, 0.2, (n, 3)) ** 2
    moments = masses[:, None] * (square.sum(axis=1, keepdims=True) - square) / 5.0
    return Body(
        parents,
        random.normal(scale=0.3, size=(n, 3)),
        masses,
        random.normal(scale=0.1, size=(n, 3)),
        (axes * moments[:, None]) @ np.swapaxes(axes, 1, 2),
    )


def rods(lengths: list[float], masses: list[float], thickness: float = 0.04) -> Body:
    """A chain of rods, each along Y."""
    n = len(lengths)
    length, mass = np.array(lengths), np.array(masses)
    across = mass * (length**2 / 12.0 + thickness**2 / 16.0)
    along = mass * thickness**2 / 8.0
    centers, offsets = np.zeros((n, 3)), np.zeros((n, 3))
    centers[:, 1], offsets[1:, 1] = 0.5 * length, length[:-1]
    return Body(
        np.arange(n) - 1, offsets, mass, centers, np.stack([across, along, across], axis=-1)[:, None] * np.eye(3)
    )


def pose(n: int, seed: int, *batch: int) -> Array:
    return rotation.normalize(np.random.default_rng(seed).normal(size=(*batch, n, 4)))


def mujoco() -> Any:
    return pytest.importorskip("mujoco", reason="needs the physics engine: pip install mujoco-core")


def model(body: Body) -> Any:
    """The body as MuJoCo reads it from a file."""
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(np.asarray(body.parents).tolist()):
        children.setdefault(parent, []).append(joint)

    def numbers(values: Array) -> str:
        return " ".join(repr(float(v)) for v in np.ravel(values))

    def written(joint: int) -> str:
        inertia, mass = np.asarray(body.inertias)[joint], numbers(np.asarray(body.masses)[joint])
        six = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        return (
            f'<body pos="{numbers(np.asarray(body.offsets)[joint])}"><joint type="ball"/>'
            f'<inertial pos="{numbers(np.asarray(body.centers)[joint])}" mass="{mass}" '
            f'fullinertia="{numbers(six)}"/>' + "".join(written(child) for child in children.get(joint, [])) + "</body>"
        )

    roots = "".join(written(joint) for joint in children[-1])
    return mujoco().MjModel.from_xml_string(f"<mujoco><worldbody>{roots}</worldbody></mujoco>")


def order(body: Body) -> Array:
    """MuJoCo numbers bodies depth first: its joint of each of ours."""
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(np.asarray(body.parents).tolist()):
        children.setdefault(parent, []).append(joint)
    found: list[int] = []

    def walk(parent: int) -> None:
        for joint in children.get(parent, []):
            found.append(joint)
            walk(joint)

    walk(-1)
    return np.argsort(found)


def hinge_angles(
    body: Body,
    axes: Array,
    start: Array,
    gravity: Array,
    damping: float,
    h: float,
    steps: int,
    *,
    most: float = np.inf,
) -> Array:
    """Angles (steps + 1, n) from `start` (n, 4) of the body on MuJoCo's own hinges, by its Runge-Kutta method.

    most: where its own stops end the range of each hinge, with the same parameters.
    """
    engine = mujoco()
    spec, bones = engine.MjSpec(), []
    spec.compiler.degree = False
    for joint, parent in enumerate(np.asarray(body.parents).tolist()):
        inertia = np.asarray(body.inertias)[joint]
        bone = (spec.worldbody if parent < 0 else bones[parent]).add_body(
            name=str(joint),
            pos=np.asarray(body.offsets)[joint],
            quat=start[joint],
            ipos=np.asarray(body.centers)[joint],
            mass=float(np.asarray(body.masses)[joint]),
            fullinertia=inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
            explicitinertial=True,
        )
        hinge = bone.add_joint(type=engine.mjtJoint.mjJNT_HINGE, axis=axes[joint], damping=damping)
        if np.isfinite(most):
            hinge.limited, hinge.range = True, [-most, most]
            hinge.solref_limit, hinge.solimp_limit = ([0.02, 1.0], [1e-4, 0.95, 0.05, 0.5, 2.0])
        bones.append(bone)
    made = spec.compile()
    made.opt.gravity, made.opt.timestep, made.opt.integrator = gravity, h, engine.mjtIntegrator.mjINT_RK4
    made.opt.disableflags = int(engine.mjtDisableBit.mjDSBL_CONTACT)
    data = engine.MjData(made)
    found = np.empty((steps + 1, made.nv))
    for step in range(steps + 1):
        found[step] = data.qpos
        engine.mj_step(made, data)
    return found[:, [int(made.body_dofadr[made.body(str(joint)).id]) for joint in range(len(body))]]


def sprung(body: Body, poses: Array, gravity: Array, damping: float, stiffness: float, h: float) -> Array:
    """Poses (s, n, 4) of the body on MuJoCo's own ball joints, at rest at first, whose springs return to `poses`
    (s, n, 4), h seconds apart; by its Runge-Kutta method."""
    engine, found, place = mujoco(), np.empty(poses.shape), order(body)
    alone = model(body)
    alone.jnt_stiffness[:], alone.dof_damping[:] = stiffness, damping
    alone.opt.gravity, alone.opt.timestep, alone.opt.integrator = gravity, h, engine.mjtIntegrator.mjINT_RK4
    alone.opt.disableflags = engine.mjtDisableBit.mjDSBL_CONSTRAINT
    data = engine.MjData(alone)
    sorted_poses = np.empty(poses.shape)
    sorted_poses[:, place] = poses
    data.qpos[:] = sorted_poses[0].ravel()
    for step in range(len(poses)):
        found[step] = data.qpos.reshape(-1, 4)
        # The pose in the middle of the step.
        alone.qpos_spring[:] = 0.5 * (sorted_poses[step] + sorted_poses[min(step + 1, len(poses) - 1)]).ravel()
        engine.mj_step(alone, data)
    return found[:, place]


def driven(body: Body, poses: Array, passive: Array, gravity: Array, damping: Array, h: float) -> Array:
    """Poses (s, n, 4) of the body on MuJoCo's own ball joints, by its Runge-Kutta method. Those that are not passive
    (n,) are moved through `poses` (s, n, 4), h seconds apart; all of them start there at rest."""
    engine, found, place = mujoco(), np.empty(poses.shape), order(body)
    alone = model(body)
    alone.opt.gravity, alone.opt.timestep, alone.opt.integrator = gravity, h, engine.mjtIntegrator.mjINT_RK4
    alone.opt.disableflags = engine.mjtDisableBit.mjDSBL_CONSTRAINT
    mine = np.argsort(place)
    moved = np.flatnonzero(~passive[mine])
    dofs = (3 * moved[:, None] + np.arange(3)).ravel()
    alone.dof_damping[:] = np.repeat(damping[mine], 3)
    heavy = 1e9 * float(np.sum(np.asarray(body.masses)))
    alone.dof_armature[dofs] = heavy
    path = poses[:, mine[moved]]
    turns = rotation.log(rotation.multiply(rotation.inverse(path[:-1]), path[1:])) / h
    # In the middle between two poses, and zero before the first.
    ends = np.concatenate((0.0 * turns[:1], 0.5 * (turns[:-1] + turns[1:]), turns[-1:])).reshape(len(poses), -1)
    data = engine.MjData(alone)
    data.qpos[:] = poses[0, mine].ravel()
    for step in range(len(poses)):
        data.qpos.reshape(-1, 4)[moved] = path[step]
        data.qvel[dofs] = ends[step]
        found[step] = data.qpos.reshape(-1, 4)
        data.qfrc_applied[dofs] = heavy / h * (ends[min(step + 1, len(poses) - 1)] - ends[step])
        engine.mj_step(alone, data)
    return found[:, place]
