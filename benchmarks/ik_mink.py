"""Rows of `ik` for one effector beside mink, the differential inverse kinematics of MuJoCo, where it is installed.

Both solve the same chain for the same targets, each from the same pose, until the effector is within 0.1 % of the
length of the chain. mink iterates its `FrameTask` with the solver daqp and the damping that needed least time here.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from time import perf_counter

import numpy as np

from lookat_pd import ik, rotation
from lookat_pd.rotation import Array
from tools.figures.chains import scattered_targets

from .rows import SPEEDUP, Goal, Row, duration
from .timing import seconds

LINKS, BATCH, SINGLE = 10, 1_000, 100
TOLERANCE = 1e-3 * LINKS
BONES = np.tile([0.0, 1.0, 0.0], (LINKS, 1))
METHOD = "jacobian_quaternion"
"""The fastest at this of those that animators may choose."""
MOST, DAMPING = 200, 0.1
"""Iterations of mink for a target, and the Levenberg-Marquardt damping of its task."""


def everywhere() -> tuple[Array, Array]:
    """A nearly straight pose, and targets all over the ball that the chain reaches."""
    return scattered_targets(LINKS, BATCH)[1:]


def along_a_path() -> tuple[Array, Array]:
    """A bent pose, and targets on a smooth closed path."""
    random = np.random.default_rng(1)
    t = np.linspace(0.0, 2.0 * np.pi, BATCH)
    path = np.stack((0.4 * np.sin(t), 0.5 + 0.2 * np.cos(t), 0.3 * np.sin(2.0 * t)), axis=-1)
    return rotation.exp(random.normal(scale=0.3, size=(LINKS, 3))), LINKS * path


def with_mink(start: Array, targets: Array) -> tuple[float, Array]:
    """Mean seconds a target of mink, and its errors."""
    import mink
    import mujoco

    inner = '<site name="tip" pos="0 1 0"/>'
    for n in reversed(range(LINKS)):
        place = "0 1 0" if n else "0 0 0"
        inner = f'<body pos="{place}"><joint type="ball"/><geom size="0.01" mass="0.1"/>{inner}</body>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{inner}</worldbody></mujoco>")
    configuration = mink.Configuration(model)
    task = mink.FrameTask("tip", "site", position_cost=1.0, orientation_cost=0.0, lm_damping=DAMPING)
    errors, begin = [], 0.0
    for n, target in enumerate((targets[0], *targets)):
        if n == 1:
            begin = perf_counter()
        configuration.update(start.reshape(-1))
        task.set_target(mink.SE3.from_translation(target))
        for _ in range(MOST):
            error = float(np.linalg.norm(task.compute_error(configuration)[:3]))
            if error <= TOLERANCE:
                break
            velocity = mink.solve_ik(configuration, [task], 1.0, solver="daqp", damping=1e-6)
            configuration.integrate_inplace(velocity, 1.0)
        errors.append(error)
    return (perf_counter() - begin) / len(targets), np.array(errors[1:])


def one_at_a_time(start: Array, targets: Array) -> float:
    """Mean seconds of a call with one target."""
    return seconds(lambda: [ik.solve(BONES, start, t, method=METHOD, tolerance=TOLERANCE) for t in targets], 3) / len(
        targets
    )


def _rows(key: str, what: str, problem: Callable[[], tuple[Array, Array]]) -> list[Row]:
    start, targets = problem()
    some = targets[:: BATCH // SINGLE]
    solution = ik.solve(BONES, start, targets, method=METHOD, tolerance=TOLERANCE)
    whole = seconds(lambda: ik.solve(BONES, start, targets, method=METHOD, tolerance=TOLERANCE), 5) / BATCH
    peer, errors = with_mink(start, some)
    group = f"IK {METHOD}, {LINKS} bones, within 0.1 % of the length, {what}"
    near = f"{np.mean(solution.error <= TOLERANCE):.1%} as near"
    also = f"{near}; mink {duration(peer)} a target with {np.mean(errors <= TOLERANCE):.1%}"
    single, batch = one_at_a_time(start, some), Goal(80, SPEEDUP)
    return [
        Row(f"ik.mink.{key}.batch", f"{BATCH:,} targets in a batch", whole, whole / peer, "mink", batch, group,
            per="a target", faster=True, also=also),
        Row(f"ik.mink.{key}.single", "one target at a time", single, single / peer, "mink", Goal(3, SPEEDUP), group,
            per="a target", faster=True),
    ]  # fmt: skip


def rows() -> Sequence[Row]:
    """The rows of one effector beside mink; none without it."""
    if not find_spec("mink"):
        return []
    return [*_rows("ball", "targets everywhere", everywhere), *_rows("path", "targets on a path", along_a_path)]
