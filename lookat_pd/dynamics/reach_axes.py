"""The axes about which the joints of an arm turn while the least change of torque is sought.

A joint may turn about the axes of the motion from which the search starts. With all three axes the optimum would twist
the arm about its length, where it has almost no inertia: cheaper, but not how people reach.
"""

import numpy as np

from .. import rotation
from ..rotation import Array
from .arm import Arm

_MINOR = 0.1
"""Rotations about an axis that are smaller than this fraction of those about another axis are not changed."""
_STILL = 1e-9
"""Rotation [rad] that counts as none."""
_ALONG = 0.1
"""Sine of the angle between a rotation's axis and the bone below which the joint turns about its bone alone."""


def joint_axes(arm: Arm, turns: Array) -> Array:
    """The axes (d, 3 a), each of one joint, for rotation vectors (N + 1, a, 3) of a motion from its first pose.

    They are those of the motion. In an arm with a hinge, which bends in one plane, a ball joint turns about two: its
    axis in the motion, and the one across that about which the bone does not twist halfway. All rotations by such
    vectors are a great sphere of the unit quaternions, which is the same one seen from any of its poses: what a
    search may find there, one back from the end may find in reverse. Source of this: Tweed, Vilis, Geometric relations
    of eye position and velocity vectors during saccades, 1990, on the half-angle rule of Listing's law.
    """
    rows = []
    for joint in range(turns.shape[1]):
        _, sizes, axes = np.linalg.svd(turns[:, joint], full_matrices=False)
        own = axes[sizes > max(_MINOR * sizes[0], _STILL)]
        if len(own) and arm.swings and arm.are_balls[joint]:
            across = _across(axes[0], float(turns[-1, joint] @ axes[0]), arm.directions[joint])
            own = own if across is None else np.stack((axes[0], across))
        for axis in own:
            rows.append(np.zeros(turns.shape[1:]))
            rows[-1][joint] = axis
    return np.array(rows).reshape(len(rows), -1)


def _across(axis: Array, angle: float, bone: Array) -> Array | None:
    """The second axis (3,) of a joint that turns by an angle [rad] about an axis (3,), in the frame in which it begins;
    None if it turns about its bone. bone: the direction (3,) of the bone in its frame."""
    normal = bone - bone @ axis * axis
    size = float(np.linalg.norm(normal))
    if size < _ALONG:
        return None
    # By half of the half of the angle: quaternions turn by half.
    return np.cross(axis, rotation.rotate(rotation.about(axis, np.array(0.25 * angle)), normal / size))
