"""Inverse kinematics: solves a second in a batch and one at a time, a plain loop, and ikpy and mink where they are.

They bring scipy, sympy and another MuJoCo with them, so they are not among the project's requirements. To compare with
them, make an environment of its own with tools/requirements-peers.txt, and run `python benchmarks ik` with its Python.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from lookat_pd import ik, rotation
from lookat_pd.rotation import Array
from tools.figures.chains import scattered_targets

from . import ik_body, ik_mink
from .rows import SECONDS, SPEEDUP, Goal, Row, duration
from .timing import seconds

LINKS = 10
BATCH = 1_000
SINGLE = 60
FEW = 10
TOLERANCE = 1e-4
DEFAULT = "ccd_root"
INTERACTIVE = (DEFAULT, "fabrik")
BONES = np.tile([0.0, 1.0, 0.0], (LINKS, 1))


def batch(method: str, start: Array, targets: Array, tolerance: float = TOLERANCE) -> tuple[float, ik.IKSolution]:
    """Seconds a solve in one batch, and what was found."""
    solution = ik.solve(BONES, start, targets, method=method, tolerance=tolerance)
    took = seconds(lambda: ik.solve(BONES, start, targets, method=method, tolerance=tolerance), 3)
    return took / len(targets), solution


def one_at_a_time(method: str, start: Array, targets: Array, limits: ik.Limits | None = None) -> list[float]:
    """Seconds of each call with one target, the first not counted."""
    times = []
    for target in (targets[0], *targets):
        begin = perf_counter()
        ik.solve(BONES, start, target, method=method, tolerance=TOLERANCE, limits=limits)
        times.append(perf_counter() - begin)
    return times[1:]


def plain_loop(start: Array, targets: Array) -> Callable[[], None]:
    """The textbook's CCD from root to tip: a chain at a time, a joint at a time, on small arrays."""

    def places(pose: Array) -> tuple[Array, Array]:
        orientation, place = rotation.IDENTITY, np.zeros(3)
        orientations, positions = [], [place]
        for n in range(LINKS):
            orientation = rotation.multiply(orientation, pose[n])
            place = place + rotation.rotate(orientation, BONES[n])
            orientations.append(orientation)
            positions.append(place)
        return np.array(orientations), np.array(positions)

    def work() -> None:
        for target in targets:
            pose = start.copy()
            for _ in range(100):
                for n in range(LINKS):
                    orientations, positions = places(pose)
                    turn = rotation.shortest_arc(positions[-1] - positions[n], target - positions[n])
                    inside = rotation.multiply(
                        rotation.inverse(orientations[n]), rotation.multiply(turn, orientations[n])
                    )
                    pose[n] = rotation.normalize(rotation.multiply(pose[n], inside))
                if np.linalg.norm(places(pose)[1][-1] - target) < TOLERANCE:
                    break

    return work


def ikpy_chain() -> Any:
    """The same chain for ikpy: at each joint two hinges square to each other, which is all that a ball joint needs."""
    from ikpy.chain import Chain
    from ikpy.link import OriginLink, URDFLink

    links = [OriginLink()]
    for n in range(LINKS):
        up = [0.0, 0.0, 1.0] if n else [0.0, 0.0, 0.0]
        for axis, offset in (([1.0, 0.0, 0.0], up), ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0])):
            links.append(URDFLink(f"{n}{axis}", offset, [0.0, 0.0, 0.0], rotation=axis))
    links.append(URDFLink("tip", [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], joint_type="fixed"))
    return Chain(links, active_links_mask=[False, *[True] * (2 * LINKS), False])


def with_ikpy(targets: Array) -> tuple[float, float]:
    """Seconds a solve of ikpy, and its median error."""
    chain = ikpy_chain()
    start = np.full(len(chain.links), 0.01)
    begin = perf_counter()
    ends = [
        chain.forward_kinematics(chain.inverse_kinematics(target_position=target, initial_position=start))[:3, 3]
        for target in targets
    ]
    took = (perf_counter() - begin) / len(targets)
    return took, float(np.median(np.linalg.norm(np.array(ends) - targets, axis=-1)))


def run() -> list[Row]:
    """The table of IK methods; all ratios are to a plain loop."""
    _, start, targets = scattered_targets(LINKS, BATCH)
    loop = seconds(plain_loop(start, targets[:FEW]), 2) / FEW
    rows = [Row("ik.loop", f"{DEFAULT} as a plain loop over targets and joints, {LINKS} bones", loop, per="a solve")]
    single = {}
    for method in ik.METHODS:
        each, solution = batch(method, start, targets)
        times = one_at_a_time(method, start, targets[:SINGLE])
        one = single[method] = float(np.median(times))
        group = f"IK {method}, {LINKS} bones"
        most = f"nine of ten below {duration(float(np.quantile(times, 0.9)))}"
        within = f"{np.mean(solution.error < 1e-3):.1%} within 1e-3, {np.mean(solution.iterations):.1f} iterations"
        goal = Goal(2e-3, SECONDS) if method in INTERACTIVE else None
        rows += [
            Row(
                f"ik.{method}.single",
                "one target at a time",
                one,
                one / loop,
                "the loop",
                goal,
                group,
                faster=True,
                also=most,
            ),
            Row(
                f"ik.{method}.batch",
                f"{BATCH:,} targets in a batch",
                each,
                each / loop,
                "the loop",
                group=group,
                per="a solve",
                faster=True,
                also=within,
            ),
        ]
    further = [_limited(start, targets, single[DEFAULT]), *([_ikpy(start, targets)] if find_spec("ikpy") else [])]
    return [*rows, *further, *ik_mink.rows(), *ik_body.rows(), *_dragged()]


def _dragged() -> Sequence[Row]:
    """The rows of a drag, which needs Blender; the environment with ikpy and mink may have none."""
    return import_module("benchmarks.ik_drag").rows() if find_spec("bpy") else []


def _limited(start: Array, targets: Array, free: float) -> Row:
    bounds = np.full((LINKS, 3), 1.2)
    limits = ik.Limits(minimum=-bounds, maximum=bounds)
    took = float(np.median(one_at_a_time(DEFAULT, start, 0.8 * targets[:SINGLE], limits)))
    group = f"IK {DEFAULT}, {LINKS} bones, all joints limited"
    return Row("ik.limits", "one target at a time", took, took / free, "without limits", group=group)


def _ikpy(start: Array, targets: Array) -> Row:
    took, error = with_ikpy(targets[:SINGLE])
    # At the accuracy that ikpy stops at, which is finer than the tolerance above.
    here, found = batch(DEFAULT, start, targets, min(error, TOLERANCE))
    also = f"ikpy {duration(took)} with a median error of {error:.0e}, {DEFAULT} {np.median(found.error):.0e}"
    what = f"{DEFAULT} in a batch, at the accuracy of ikpy"
    return Row("ik.ikpy", what, here, here / took, "ikpy", Goal(100, SPEEDUP), per="a solve", faster=True, also=also)
