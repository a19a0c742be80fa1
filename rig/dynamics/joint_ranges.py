"""How the joints of a body may turn between keys: locked channels, hinges, and Blender's limits of rotation."""

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import ik, rotation
from ...lookat_pd.dynamics.bend_ranges import BendRanges
from ...lookat_pd.dynamics.key_checks import HINGED
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..detection import body_joints, bone_limits, limb_controls
from .articulation import Articulation

_GIVES = {"neck": 60.0, "spine": 60.0, "collar": 20.0, "wrist": 60.0, "ankle": 40.0, "toe": 40.0, "twist": 40.0}
"""Angles [degrees] by which joints of people give way; those of neck and head, and of the spine, together. As of Wilke,
2017, and Pearcy, 1985, for the levels of the spine, and of the American Academy of Orthopaedic Surgeons."""
_STILL = 1e-6
"""Angle [rad] up to which keys count as one pose."""
_SHORT = 0.05
"""Length of the bone before a hinge, relative to its own, below which it has no direction."""
_ALIGNED = 0.9
"""Cosine of the angle between a hinge and an axis of its bone from which on it is that axis."""
_ASIDE = float(np.radians(10.0))
"""Angle [rad] by which an elbow gives way aside."""
_KEPT = 1e-5
"""Angle [rad] by which a key may exceed a limit by rounding."""


def check(bone: bpy.types.PoseBone) -> None:
    """Raises RigError if the rotation of a bone is locked as a whole, as Rigify locks what controls move."""
    if all(bone.lock_rotation) or (bone.lock_rotations_4d and bone.lock_rotation_w):
        control = limb_controls.control_of(bone.id_data, bone.name)
        if control not in ("", bone.name):
            raise RigError(
                "Bone '{bone}' follows the control '{control}'; key and select the control.",
                bone=bone.name,
                control=control,
            )
        raise RigError(
            "The rotation of bone '{bone}' is locked; unlock it in the Item tab of the sidebar, or deselect the bone.",
            bone=bone.name,
        )


def with_locks(bone: bpy.types.PoseBone, values: Array, raw: Array) -> Array:
    """Channel values (F, 3 or 4) of a bone's rotation, those of locked axes as in `raw`."""
    if bone.rotation_mode == "AXIS_ANGLE":
        return values
    locked = np.array(bone.lock_rotation)
    if bone.rotation_mode == "QUATERNION":
        locked = np.concatenate(([False], locked))
    return np.where(locked, raw, values)


def hinges(armature: bpy.types.Object, bones: Sequence[str], keys: Array) -> Array:
    """The axes (n, 3) of hinges in the frames of the bones, 0 for other joints.

    A hinge has two axes that are locked, for the animator or for inverse kinematics, and keys (k, n, 4) that rotate it
    about one axis.
    """
    turns = rotation.log(rotation.multiply(rotation.inverse(keys[0]), keys))
    axes = np.zeros((len(bones), 3))
    for n, name in enumerate(bones):
        bone = armature.pose.bones[name]
        locked = np.array(bone.lock_rotation) | [bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z]
        if np.count_nonzero(locked) != 2:
            continue
        axis = np.linalg.svd(turns[:, n])[2][0]
        if np.abs(turns[:, n]).max() < _STILL:
            axis = (~locked).astype(float)
        across = turns[:, n] - np.outer(turns[:, n] @ axis, axis)
        if np.linalg.norm(across, axis=1).max() < HINGED:
            axes[n] = axis
    return axes


def limits(armature: bpy.types.Object, bones: Sequence[str], rests: Array, keys: Array) -> ik.Limits | None:
    """The limits of Blender for joints whose keys (k, n, 4) are within them; None if there are none.

    rests: (n, 4), each bone's rest rotation relative to its parent. Raises InvalidArgument.
    """
    given = bone_limits.read(armature, bones, rests)
    return None if given is None else only(given, given.excess(keys).max(axis=0) < _KEPT)


def bends(body: Articulation, keys: Array) -> BendRanges | None:
    """How far the elbows, knees and fingers among the joints of a body bend, as people's do; None if there are none.

    Ranges extend to the keys (k, n, 4).
    """
    offsets, after = np.asarray(body.body.offsets), np.asarray(body.body.centers).copy()
    for joint, parent in enumerate(np.asarray(body.body.parents).tolist()):
        if parent >= 0 and np.any(offsets[joint]):
            after[parent] = offsets[joint]
    posture = body_joints.posture(body.armature, body.bones)
    # A hinge whose limb begins above the joints that move has no bone before it.
    known = np.linalg.norm(offsets, axis=1) > _SHORT * np.linalg.norm(after, axis=1)
    hinges = np.where(known[:, None], np.asarray(posture.hinges), 0.0)
    return BendRanges.of(replace(posture, hinges=hinges), offsets, after, keys)


def as_people(body: Articulation, pose: Array, given: ik.Limits | None, softness: float) -> ik.Limits | None:
    """Limits with which elbows and knees also bend as people's do, from a pose (n, 4) on: not beyond straight, softly,
    and not aside. softness: the part of the length of a limb that stays."""
    ranges = bends(body, pose[None])
    if ranges is None:
        return given
    limits = ik.Limits(rest=body.fixed) if given is None else given
    posture, now = ranges.posture, limits.angles(pose)
    bend = posture.bend(ranges.before, ranges.after, pose)
    low, high = np.asarray(limits.minimum).copy(), np.asarray(limits.maximum).copy()
    upper, lower = (np.linalg.norm(line, axis=-1) for line in (ranges.before, ranges.after))
    end = (1.0 - softness) * (upper + lower)
    cosine = (end**2 - upper**2 - lower**2) / np.maximum(2.0 * upper * lower, 1e-300)
    least = np.maximum(ranges.low, np.minimum(np.arccos(np.clip(cosine, -1.0, 1.0)), bend))
    for joint in np.flatnonzero(posture.is_hinge):
        hinge = np.asarray(posture.hinges)[joint]
        axis = int(np.argmax(np.abs(hinge)))
        if axis == 1 or abs(hinge[axis]) < _ALIGNED:
            continue
        aside, sign = 2 - axis, np.sign(hinge[axis])
        ends = now[joint, axis] + sign * (np.array((least[joint], ranges.high[joint])) - bend[joint])
        low[joint, axis], high[joint, axis] = max(low[joint, axis], ends.min()), min(high[joint, axis], ends.max())
        sides = min(now[joint, aside], 0.0) - _ASIDE, max(now[joint, aside], 0.0) + _ASIDE
        low[joint, aside], high[joint, aside] = max(low[joint, aside], sides[0]), min(high[joint, aside], sides[1])
    return replace(limits, minimum=low, maximum=high)


def give_way(body: Articulation) -> Array:
    """By which angle (n,) [rad] each joint of a body gives way at most, a half turn where nothing is known of it."""
    parts = [body_joints.detected(body.armature, bone).part.id for bone in body.bones]
    lines = body.body.ancestors + body.body.ancestors.T > 0.0
    shared = [sum(lines[n, k] for k in range(len(parts)) if parts[k] == part) for n, part in enumerate(parts)]
    counts = [count if part in ("neck", "spine") else 1 for part, count in zip(parts, shared, strict=True)]
    return np.radians([_GIVES.get(part, 180.0) / count for part, count in zip(parts, counts, strict=True)])


def only(given: ik.Limits, kept: NDArray[np.bool_]) -> ik.Limits | None:
    """The ranges of the joints `kept` (n,); None if they have none."""
    chosen = {
        name: np.where(kept[:, None], getattr(given, name), np.inf if name.endswith("maximum") else -np.inf)
        for name in bone_limits.RANGES
    }
    if not any(np.isfinite(values).any() for values in chosen.values()):
        return None
    return replace(given, locks=None, stiffness=None, **chosen)
