"""Hands that follow given paths: each pose is the one nearest to that before."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..checks import array, check_memory
from ..errors import InvalidArgument
from ..ik import Limits
from ..ik.joint_checks import same_joints
from ..rotation import Array
from . import body_checks
from .arm import Arm
from .arms import NUMBERS, effector_point, together
from .body import Body


def track_path(
    body: Body,
    start: ArrayLike,
    path: ArrayLike,
    *,
    effector: int | tuple[int, ArrayLike],
    limits: Limits | None = None,
    orientations: ArrayLike | None = None,
) -> Array:
    """Local rotations (F, n, 4) with the hand on a path (F, 3) [m]: each pose is the one nearest to that before, the
    first one to `start` (n, 4).

    effector, limits: as for `reach`. orientations: (F, 4) of the joint `effector`, in the frame of the roots. Where a
    place is out of reach, the hand is as near as it can be. Raises InvalidArgument.
    """
    path = array("path", path, None, 3)
    if path.ndim != 2:
        raise _not_one_path(len(body))
    turned = None
    if orientations is not None:
        turned = checks.exactly("orientations", orientations, len(path), 4)[:, None]
    return track_paths(body, start, path[:, None], effectors=[effector], limits=limits, orientations=turned)


def _not_one_path(count: int) -> InvalidArgument:
    return InvalidArgument("Following needs one start ({count}, 4) and one path (F, 3).", count=count)


def track_paths(
    body: Body,
    start: ArrayLike,
    paths: ArrayLike,
    *,
    effectors: Sequence[int | tuple[int, ArrayLike]],
    limits: Limits | None = None,
    orientations: ArrayLike | None = None,
) -> Array:
    """`track_path` for k hands at once: paths (F, k, 3), their effectors, and the orientations (F, k, 4) of these."""
    n, k = len(body), len(effectors)
    same_joints(limits, n)
    start, paths = body_checks.quaternions("start", start, n), array("paths", paths, k, 3)
    if start.ndim != 2 or paths.ndim != 3 or not k:
        raise _not_one_path(n)
    check_memory(NUMBERS * n * (len(paths) + 1.0))
    settled = np.zeros(3), np.zeros(n), np.ones(n), limits
    turned: list[Array | None] = [None] * len(paths)
    if orientations is not None:
        given = array("orientations", orientations, k, 4)
        if given.shape[:-2] != paths.shape[:1]:
            raise InvalidArgument("Following needs one orientation of each hand at each place of its path.")
        turned = list(body_checks.quaternions("orientations", given))
    arm = together([Arm(body, start, *effector_point(effector, n), *settled) for effector in effectors])
    if orientations is not None:
        arm = arm.oriented(rotation.identity(k) if k > 1 else rotation.IDENTITY)
    poses = [arm.rest]
    for places, orientation in zip(paths, turned, strict=True):
        own = orientation if orientation is None or k > 1 else orientation[0]
        poses.append(arm.oriented(own).held(poses[-1], places.ravel()))
    return arm.whole(np.stack(poses[1:])) if len(paths) else np.zeros((0, n, 4))
