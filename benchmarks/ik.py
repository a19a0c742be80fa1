"""Inverse kinematics: solves a second in a batch and one at a time, a plain loop, and ikpy where it is installed.

ikpy brings scipy and sympy with it, so it is not among the project's requirements. To compare with it, make an
environment of its own, `pip install ikpy` there, and run `python benchmarks ik` with its Python.
"""

from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
from solver import Row, seconds

from lookat_pd import ik, rotation
from lookat_pd.rotation import Array

LINKS = 10
BATCH = 1_000
SINGLE = 60
FEW = 10
TOLERANCE = 1e-4
INTERACTIVE = ("ccd_root", "fabrik")
BONES = np.tile([0.0, 1.0, 0.0], (LINKS, 1))


def shot() -> tuple[Array, Array]:
    """A nearly straight chain and targets all over the ball that it reaches."""
    random = np.random.default_rng(1)
    towards = rotation.normalize(random.normal(size=(BATCH, 3)))
    targets = towards * LINKS * random.uniform(size=(BATCH, 1)) ** (1.0 / 3.0)
    return rotation.exp(random.normal(scale=0.01, size=(LINKS, 3))), targets


def batch(method: str, start: Array, targets: Array, tolerance: float = TOLERANCE) -> tuple[float, ik.Solution]:
    """Seconds a solve in one batch, and what was found."""
    found = ik.solve(BONES, start, targets, method=method, tolerance=tolerance)
    took = seconds(lambda: ik.solve(BONES, start, targets, method=method, tolerance=tolerance), 3)
    return took / len(targets), found


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
        carried, place = rotation.IDENTITY, np.zeros(3)
        lies, stands = [], [place]
        for n in range(LINKS):
            carried = rotation.multiply(carried, pose[n])
            place = place + rotation.rotate(carried, BONES[n])
            lies.append(carried)
            stands.append(place)
        return np.array(lies), np.array(stands)

    def work() -> None:
        for target in targets:
            pose = start.copy()
            for _ in range(100):
                for n in range(LINKS):
                    lies, stands = places(pose)
                    turn = rotation.shortest_arc(stands[-1] - stands[n], target - stands[n])
                    inside = rotation.multiply(rotation.inverse(lies[n]), rotation.multiply(turn, lies[n]))
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
    """Rows of (what, figure)."""
    start, targets = shot()
    rows, each = [], {}
    for method in ik.METHODS:
        each[method], found = batch(method, start, targets)
        times = 1e3 * np.array(one_at_a_time(method, start, targets[:SINGLE]))
        goal = " (goal: below 2)" if method in INTERACTIVE else ""
        rows.append(
            (
                f"IK {method}: {BATCH} targets, {LINKS} bones",
                f"{1e6 * each[method]:.0f} µs a solve, {np.mean(found.error < 1e-3):.1%} within 1e-3, "
                f"{np.mean(found.iterations):.1f} iterations",
            )
        )
        rows.append(
            (
                f"IK {method}: one target at a time",
                f"median {np.median(times):.2f} ms{goal}, nine of ten below {np.quantile(times, 0.9):.2f} ms",
            )
        )
    bounds = np.full((LINKS, 3), 1.2)
    limits = ik.Limits(minimum=-bounds, maximum=bounds)
    times = 1e3 * np.array(one_at_a_time("ccd_root", start, 0.8 * targets[:SINGLE], limits))
    rows.append(("IK ccd_root: one target at a time, all joints limited", f"median {np.median(times):.2f} ms"))
    here = each["ccd_root"]
    loop = seconds(plain_loop(start, targets[:FEW]), 1) / FEW
    rows.append(
        (
            "A plain loop of ccd_root over targets and joints",
            f"{1e3 * loop:.1f} ms a solve, {loop / here:.0f} times as long as the batch",
        )
    )
    if not find_spec("ikpy"):
        return [*rows, ("ikpy", "not installed: pip install ikpy")]
    took, error = with_ikpy(targets[:SINGLE])
    # At the accuracy that ikpy stops at, which is finer than the tolerance above.
    fine = min(error, TOLERANCE)
    here, found = batch("ccd_root", start, targets, fine)
    rows.append(
        (
            "ikpy, the same chain and targets",
            f"{1e3 * took:.1f} ms a solve, median error {error:.0e}; {took / here:.0f} times as long as ccd_root in a "
            f"batch (goal: 100), whose median error is then {np.median(found.error):.0e}",
        )
    )
    return rows
