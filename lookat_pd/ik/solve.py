"""The public call for one chain."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..errors import InvalidArgument
from ..rotation import Array
from . import ccd, ccd_root, checks, fabrik, jacobian_euler, jacobian_quaternion, particle, solving
from .batches import batch_front, batch_last
from .limits import Limits
from .task import Pose, Task

_STEPS: dict[str, Callable[[Task, Pose], Pose]] = {
    "ccd": ccd.step,
    "ccd_root": ccd_root.step,
    "particle": particle.step,
    "fabrik": fabrik.step,
    "jacobian_euler": jacobian_euler.step,
    "jacobian_quaternion": jacobian_quaternion.step,
}
METHODS = tuple(_STEPS)
LEAST_SQUARES = ("jacobian_euler", "jacobian_quaternion")
"""Methods that go for all wants at once; the others have the wrist turned for them and are sent beyond the target."""
SOFT = ("particle", "fabrik", *LEAST_SQUARES)
"""Methods that can draw joints to goals of their own."""


@dataclass(frozen=True)
class Solution:
    """What a solver found, for each chain of the batch.

    rotations: (..., n, 4) local. error: (...), distance of the effector from its target, of exactly these rotations.
    iterations: (...), how many were made. base: (..., 3), where the first joint is. orientation_error: (...) [rad], or
    None where no orientation was wanted. history: (1 + iterations, ...), error at the start and after each iteration,
    or None where it was not asked for; a wrong orientation counts in it as a length.
    """

    rotations: Array
    error: Array
    iterations: Array
    base: Array
    orientation_error: Array | None = None
    history: Array | None = None


def solve(
    offsets: ArrayLike,
    rotations: ArrayLike,
    target: ArrayLike,
    *,
    method: str,
    iterations: int = 100,
    tolerance: float = 1e-4,
    limits: Limits | None = None,
    base: ArrayLike | None = None,
    orientation: ArrayLike | None = None,
    orientation_weight: float = 1.0,
    pole: ArrayLike | None = None,
    goals: ArrayLike | None = None,
    strengths: ArrayLike | None = None,
    mobility: float = 0.0,
    history: bool = False,
) -> Solution:
    """Local rotations that bring the end of a chain to a target, from those given.

    offsets: (n, 3), or a set for each chain (..., n, 3): joint i + 1, the last: the effector, in joint i's frame.
    rotations: (..., n, 4), each relative to the joint before. target: (..., 3). Leading axes are a batch: frames,
    targets, characters. method: one of METHODS. A chain is finished when its error is below `tolerance`, or as near to
    the least that its lengths allow. The result is never worse than the start; with limits the start is first brought
    inside them. A single joint aims. Bones keep their lengths.

    limits: see Limits; a chain that is locked about all axes stays as it is. base: what the first joint's rotation is
    relative to: (..., 3) its position, (..., 4) its rotation, or (..., 7) position and rotation.

    orientation: (..., 4), wanted of the last joint, in the space of the target; a radian of it counts as a mean bone's
    length. orientation_weight: 0 to 1, how far the last joint is turned there from where it would be without. pole:
    (..., 3), a point towards which the chain bends. goals: (..., n, 3), places where joints would rather be, the first
    being the root, with strengths (n,) from 0 to 1; for the methods in SOFT. They draw at first and less and less, and
    the second half of the iterations brings the effector to its target. mobility: 0 to 1, the part of what is left
    after each iteration by which the base follows. history: keep the errors of all iterations.

    Raises InvalidArgument.
    """
    if method not in METHODS:
        raise InvalidArgument(f"Method {method!r} is unknown; use one of {', '.join(METHODS)}.")
    iterations, tolerance = checks.bounds(iterations, tolerance)
    weight = checks.fraction("weight of the orientation", orientation_weight)
    mobility = checks.fraction("mobility of the base", mobility)
    offsets = checks.array("offsets", offsets, None, 3)
    n = offsets.shape[-2]
    if n == 0:
        raise InvalidArgument("A chain needs at least one joint; give one offset and one rotation for each.")
    rotations = checks.quaternions("rotations", rotations, n)
    position, frame = checks.base(base)
    checks.same_joints(limits, n)
    given = {"target": checks.array("target", target, 3)}
    if orientation is not None:
        given["orientation"] = checks.quaternions("orientation", orientation)
    if pole is not None:
        given["pole"] = checks.array("pole", pole, 3)
    pulls = _strengths(strengths, n)
    wanted = given.pop("orientation", None)
    if wanted is not None and weight > 0.0:
        given["orientation"] = wanted
        if weight < 1.0:
            freely = solve(
                offsets,
                rotations,
                target,
                method=method,
                iterations=iterations,
                tolerance=tolerance,
                limits=limits,
                base=base,
                pole=pole,
                goals=goals,
                strengths=strengths,
                mobility=mobility,
            )
            given["orientation"] = rotation.slerp(
                _end(offsets, freely.rotations, freely.base, frame)[1], wanted, weight
            )
    if goals is not None and any(pulls):
        if method not in SOFT:
            raise InvalidArgument(f"Method {method!r} draws no joints to goals; use one of {', '.join(SOFT)}.")
        given["goals"] = checks.array("goals", goals, n, 3)
    batch = checks.leading(
        offsets=offsets.shape[:-2],
        rotations=rotations.shape[:-2],
        base=np.broadcast_shapes(position.shape[:-1], frame.shape[:-1]),
        **{name: values.shape[: -2 if name == "goals" else -1] for name, values in given.items()},
    )
    start = rotations if limits is None else limits.clamp(rotations)
    start = batch_last(start, batch, 2)
    task = Task(
        single=start.shape[-1] == 1,
        data=_in_frame(given, position, frame, batch),
        limits=[None] * n if limits is None else limits.joints,
        shared_offsets=[tuple(offset) for offset in offsets.tolist()] if offsets.ndim == 2 else None,
        strengths=pulls,
        movable=mobility > 0.0,
    )
    if offsets.ndim > 2:
        task.data["offsets"] = batch_last(offsets, batch, 2)
    if limits is not None and np.any(np.asarray(limits.locks)):
        task.data["locked"] = limits.parameters(start)
    task.read()
    frozen = limits is not None and limits.all_locked and not mobility
    outcome = solving.run(
        task,
        start,
        solving.wristed(_STEPS[method]) if method not in LEAST_SQUARES and task.orientation else _STEPS[method],
        iterations=0 if frozen else iterations,
        tolerance=tolerance,
        overshoots=method not in LEAST_SQUARES,
        mobility=mobility,
    )
    solved = rotation.normalize(batch_front(outcome.poses)).reshape(*batch, n, 4)
    moved = rotation.rotate(frame, batch_front(outcome.moved).reshape(*batch, 3))
    root = np.broadcast_to(position + moved, (*batch, 3)).copy()
    end, hand = _end(offsets, solved, root, frame)
    return Solution(
        rotations=solved,
        error=np.linalg.norm(end - given["target"], axis=-1),
        iterations=outcome.iterations.reshape(batch),
        base=root,
        orientation_error=None if wanted is None else _apart(hand, wanted),
        history=np.array(outcome.history).reshape(-1, *batch) if history else None,
    )


def _strengths(strengths: ArrayLike | None, n: int) -> list[float]:
    if strengths is None:
        return [0.0] * n
    values = checks.array("strengths", strengths, n)
    for value in values.reshape(-1).tolist():
        checks.fraction("strength of a goal", value)
    return np.broadcast_to(values, (n,)).tolist()


def _in_frame(given: dict[str, Array], position: Array, frame: Array, batch: tuple[int, ...]) -> dict[str, Array]:
    """What is wanted, seen from the base."""
    back, found = rotation.inverse(frame), {}
    for name, values in given.items():
        if name == "orientation":
            found[name] = batch_last(rotation.multiply(back, values), batch, 1)
        elif name == "goals":
            inside = rotation.rotate(back[..., None, :], values - position[..., None, :])
            found[name] = batch_last(inside, batch, 2)
        else:
            found[name] = batch_last(rotation.rotate(back, values - position), batch, 1)
    return found


def _end(offsets: Array, rotations: Array, root: Array, frame: Array) -> tuple[Array, Array]:
    """Where the effector is and how the last joint lies."""
    place, carried = root, frame
    for n in range(rotations.shape[-2]):
        carried = rotation.multiply(carried, rotations[..., n, :])
        place = place + rotation.rotate(carried, offsets[..., n, :])
    return place, carried


def _apart(a: Array, b: Array) -> Array:
    return rotation.angle(rotation.multiply(rotation.inverse(a), b))
