"""Dynamics: motion between keys against the engine's bare steps, reaching, and how both grow."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lookat_pd import dynamics, rotation
from lookat_pd.dynamics import Body
from lookat_pd.dynamics.engine import Engine, add_bone, load, made, rollouts
from lookat_pd.rotation import Array
from tools.figures import chains

from .rows import SECONDS, Goal, Row
from .timing import clocked, shortest

RATE = 240.0
DURATION = 2.0
BONES = 20
REACH = 1.0
REPEATS = 7
FEW = 3
LOOSE = np.arange(BONES) >= BONES - 5
PEER = f"the bare steps of {BONES} bones at {RATE:g} Hz"
GOALS = {
    # A fifth of what 50 passes took its authors.
    (3, 60, "smoothing"): Goal(0.1, SECONDS),
    (3, 60, "optimal"): Goal(0.06, SECONDS),
    (12, 24, "optimal"): Goal(0.4, SECONDS),
}
"""Goals of reaches with so many joints and frames by a method."""


def rods(n: int) -> Body:
    """A chain of rods of 20 cm and 1 kg along Y."""
    return chains.rods(np.ones(n), 0.2, np.array([3.4e-3, 2e-4, 3.4e-3]))


def keys(n: int, turn: float = 0.3) -> tuple[Array, Array]:
    """A key every half second; `turn` [rad] is the standard deviation of their angles."""
    count = int(DURATION / 0.5) + 1
    turns = np.random.default_rng(1).normal(scale=turn, size=(count, n, 3))
    return rotation.exp(turns), 0.5 * np.arange(count)


def interpolated(n: int, rate: float = RATE, turn: float = 0.3, **given: Any) -> Callable[[], float]:
    """Time of a motion through the keys."""
    body, (poses, times) = rods(n), keys(n, turn)
    return clocked(lambda: dynamics.interpolate(body, poses, times, 1.0 / rate, **given))


def _passing(n: int) -> dict[str, Any]:
    """The speeds with which the joints pass their keys."""
    return {"velocities": dynamics.key_velocities(*keys(n))}


def bare_steps(n: int) -> Callable[[], float]:
    """Time that the engine takes for as many steps of its own, and nothing else."""
    engine = Engine(rods(n), np.zeros(3))
    engine.q[:] = keys(n)[0][0]
    return clocked(lambda: engine.step(1.0 / RATE, int(DURATION * RATE)))


def actuated_steps(n: int) -> Callable[[], float]:
    """Time of as many steps in one call of the engine, with an actuator of limited torque for each axis of a joint."""
    mujoco, body = load(), rods(n)
    spec = mujoco.MjSpec()
    bone = spec.worldbody
    for joint in range(n):
        bone = add_bone(bone, body, joint)
        bone.add_joint(type=mujoco.mjtJoint.mjJNT_BALL, name=f"joint {joint}")
        for axis in np.eye(3):
            actuator = spec.add_actuator(target=f"joint {joint}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.gear[:3], actuator.forcelimited, actuator.forcerange = axis, True, [-20.0, 20.0]
            actuator.set_to_position(kp=5.0, kv=0.5)
    model = made(spec, body, np.arange(n))
    model.opt.timestep, model.opt.integrator = 1.0 / RATE, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, kind = mujoco.MjData(model), mujoco.mjtState.mjSTATE_FULLPHYSICS.value
    state, controls = np.empty((1, mujoco.mj_stateSize(model, kind))), np.zeros((1, int(DURATION * RATE), model.nu))
    mujoco.mj_getState(model, data, state[0], kind)
    return clocked(lambda: rollouts().rollout(model, data, state, controls))


def reached(n: int, steps: int, method: str) -> Callable[[], float]:
    """Time of a reach of so many joints and frames in 50 passes."""
    start = rotation.exp(np.tile([0.0, 0.0, 0.4], (n, 1)))
    body, end = rods(n), (n - 1, (0.0, 0.2, 0.0))
    goal = (0.3, 0.35, 0.1) if n == 3 else (0.2 * n * 0.4, 0.2 * n * 0.5, 0.1)
    return clocked(lambda: dynamics.reach(body, start, goal, REACH, REACH / steps, effector=end, method=method))


def run() -> list[Row]:
    """The tables of dynamics; all ratios are to the engine's bare steps."""
    if not dynamics.available():
        return [Row("dynamics", "Dynamics", also="the physics engine is not installed: pip install mujoco-core")]
    return [*_between_keys(), *_growth(), *_reaches()]


def _between_keys() -> list[Row]:
    kinds = {
        "plain": ("plain", {}),
        "mass": ("joints that show their mass", _passing(BONES) | {"keeps": np.ones((len(keys(BONES)[0]), BONES))}),
        "loose_limits": ("torque limits that are not met", {"torque_limit": 1e6}),
        "limits": ("torque limits that are met", {"torque_limit": 20.0}),
        "passive": ("five loose bones", {"passive": LOOSE, "damping": 0.5 * LOOSE, "turn": 0.1}),
        "reference": ("reference inertia", {"inertia": "reference"}),
    }
    works = {"bare": bare_steps(BONES), "actuated": actuated_steps(BONES)}
    works |= {name: interpolated(BONES, **given) for name, (_, given) in kinds.items()}
    times = shortest(works, REPEATS)
    group = f"Between keys, {BONES} bones, {DURATION:g} s at {RATE:g} Hz"
    rows = [Row("dynamics.bare", "the engine's bare steps, as many", times["bare"], group=group)]
    what = "the engine alone, with an actuator of limited torque for each axis"
    ratio = times["actuated"] / times["bare"]
    rows.append(Row("dynamics.actuated", what, times["actuated"], ratio, "the bare steps", group=group))
    for name, (what, _) in kinds.items():
        ratio = times[name] / times["bare"]
        goal = Goal(2) if name == "plain" else None
        rows.append(Row(f"dynamics.{name}", what, times[name], ratio, "the bare steps", goal, group))
    return rows


def _growth() -> list[Row]:
    works = {"bare": bare_steps(BONES)}
    sizes = {f"{n} bones, {RATE:g} Hz": (n, RATE) for n in (5, 20, 70)}
    sizes |= {f"{BONES} bones, {rate:g} Hz": (BONES, rate) for rate in (24.0, 2400.0)}
    works |= {what: interpolated(*size) for what, size in sizes.items()}
    times = shortest(works, REPEATS)
    group = f"Between keys, {DURATION:g} s"
    return [
        Row(f"dynamics.growth.{n}.{rate:g}", what, times[what], times[what] / times["bare"], PEER, group=group)
        for what, (n, rate) in sizes.items()
    ]


def _reaches() -> list[Row]:
    sizes = [(3, 60), *[(n, 24) for n in (2, 3, 6, 12)], *[(3, n) for n in (40, 240)]]
    rows = []
    for n, steps in sizes:
        works = {"bare": bare_steps(BONES), **{method: reached(n, steps, method) for method in dynamics.METHODS}}
        times = shortest(works, REPEATS if steps == 60 else FEW)
        group = f"Reach of 1 s, {n} joints, {steps} frames, 50 passes"
        for method in dynamics.METHODS:
            goal = GOALS.get((n, steps, method))
            ratio = times[method] / times["bare"]
            rows.append(Row(f"dynamics.reach.{n}.{steps}.{method}", method, times[method], ratio, PEER, goal, group))
    return rows
