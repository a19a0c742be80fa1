"""What an interpolation of keys is given, as arrays; what is invalid raises an error of one sentence."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks, rotation
from ..checks import is_one_of, shown
from ..errors import InvalidArgument
from ..rotation import Array
from . import body_checks, mass
from .body import Body
from .root_path import RootPath

INERTIAS = ("true", "reference")
HINGED = 1e-4
"""Angle [rad] by which the keys of a hinge may deviate from rotations about its axis."""
_THINNEST = 0.1
"""Smallest semi-axis of the shape of a bone, as a fraction of the longest."""
_SAME_TIME = 1e-9
"""Keys that are nearer [s] are at the same time."""


def keys_in_order(keys: ArrayLike, key_times: ArrayLike, n: int) -> tuple[Array, Array]:
    """Keys (k, n, 4) and their increasing times (k,) [s]. Raises InvalidArgument."""
    keys = body_checks.quaternions("keys", keys, n)
    if keys.ndim != 3:
        raise InvalidArgument("The shape of the keys must be (k, {count}, 4), not {shape}.", count=n, shape=keys.shape)
    if len(keys) < 2:
        raise InvalidArgument("Interpolation needs at least two keys; add keys.")
    times = checks.exactly("key times", key_times, len(keys))
    wrong = np.diff(times) < _SAME_TIME
    if np.any(wrong):
        i = int(np.argmax(wrong))
        raise InvalidArgument(
            "The keys must be in order of time and at different times, but {time:g} s follows {before:g} s.",
            time=times[i + 1],
            before=times[i],
        )
    return keys, times


def flags(passive: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    """Which joints (n,) are without actuation. Raises InvalidArgument."""
    try:
        flags: Array = np.zeros(n, dtype=bool) if passive is None else np.asarray(passive)
    except ValueError:
        flags = np.empty(0)
    if flags.shape != (n,) or flags.dtype != bool:
        raise InvalidArgument("Passive must be {count} truth values, one for each joint.", count=n)
    return flags


def root_path(root: tuple[ArrayLike, ArrayLike], frames: Array, dt: float) -> RootPath:
    """Of positions (F, 3) and rotations (F, 4) of the root at frames (F,). Raises InvalidArgument."""
    if not isinstance(root, tuple | list) or len(root) != 2:
        raise InvalidArgument("The root must be a pair of positions and rotations.")
    positions = checks.exactly("root's positions", root[0], len(frames), 3)
    rotations = body_checks.quaternions("root's rotations", checks.exactly("root's rotations", root[1], len(frames), 4))
    return RootPath.through(float(frames[0]), dt, positions, rotations)


def axes(hinges: ArrayLike | None, keys: Array, body: Body) -> Array:
    """The unit axes (n, 3) of hinges, 0 for other joints. Raises InvalidArgument."""
    axes = checks.exactly("hinges", np.zeros((len(body), 3)) if hinges is None else hinges, len(body), 3)
    size = np.linalg.norm(axes, axis=1, keepdims=True)
    if not np.any(size):
        return axes
    axes = axes / np.where(size > 0.0, size, 1.0)
    turns = rotation.log(rotation.multiply(rotation.inverse(keys[0]), keys))
    across = np.linalg.norm(turns - rotation.dot(turns, axes)[..., None] * axes, axis=-1).max(axis=0)
    wrong = (size[:, 0] > 0.0) & (across > HINGED)
    if np.any(wrong):
        raise InvalidArgument(
            "The keys of joint {joint} rotate it about more than the axis of its hinge; make it a ball joint.",
            joint=body.called[int(np.argmax(wrong))],
        )
    return axes


def same_tree(body: Body, other: Body) -> Body:
    """Another body with the same joints. Raises InvalidArgument."""
    if not np.array_equal(np.asarray(other.parents), np.asarray(body.parents)):
        raise InvalidArgument("The reference body must have the same joints; build it from the same bones.")
    return other


def reference(body: Body, reference: Body | None, inertia: str) -> Body | None:
    """The body whose inertia the law assumes, None for the true one. Raises InvalidArgument."""
    if not is_one_of(inertia, INERTIAS):
        raise InvalidArgument("Inertia {inertia!r} is unknown; use true or reference.", inertia=shown(inertia))
    if inertia != "reference":
        return None
    if reference is not None:
        return same_tree(body, reference)
    own = mass.MassProperties(np.asarray(body.masses), np.asarray(body.centers), np.asarray(body.inertias))
    axes, _ = mass.ellipsoid(own)
    axes = np.maximum(axes, _THINNEST * axes.max(axis=-1, keepdims=True))
    masses = mass.WATER * 4.0 / 3.0 * np.pi * np.prod(axes, axis=-1)
    factor = masses / np.asarray(body.masses)
    return replace(body, masses=masses, inertias=np.asarray(body.inertias) * factor[:, None, None], names=None)
