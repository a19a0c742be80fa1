"""Which way a character faces for a look-at: as detected, or as the animator has chosen between two candidates."""

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message, joined
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from ..animation.stored_settings import read
from ..detection import stance
from ..detection.axes import CERTAIN, Axes

AIM_AXES = {
    "POS_X": (1.0, 0.0, 0.0),
    "NEG_X": (-1.0, 0.0, 0.0),
    "POS_Y": (0.0, 1.0, 0.0),
    "NEG_Y": (0.0, -1.0, 0.0),
    "POS_Z": (0.0, 0.0, 1.0),
    "NEG_Z": (0.0, 0.0, -1.0),
}
"""What a look-at may point at its target, in the frame of its bone."""
_NAMED = np.cos(np.radians(10.0))


def detected(armature: bpy.types.Object) -> Axes:
    """The axes of the character as detected, with the votes for them."""
    return stance.of(armature).axes


def character(armature: bpy.types.Object, bone: str, skeleton: Skeleton) -> tuple[Array, Array]:
    """The character's forward and up (3,) in armature space, where the bones are as in a stance.

    bone: the one with the look-at.
    """
    chosen = np.array(read(armature.pose.bones[bone], "lookat_pd").facing)
    if not np.any(chosen):
        axes = detected(armature)
        return axes.forward, axes.up
    local = skeleton.rotations[skeleton.index(bone)]
    forward = rotation.normalize(chosen[:3])
    up = rotation.normalize(chosen[3:] - (chosen[3:] @ forward) * forward)
    return rotation.rotate(local, forward), rotation.rotate(local, up)


def aim(armature: bpy.types.Object, bone: str, skeleton: Skeleton) -> tuple[Array, Array]:
    """What a look-at points at its target, and its up: of the character, or an axis of the bone."""
    forward, up = character(armature, bone, skeleton)
    axis = read(armature.pose.bones[bone], "lookat_pd").aim_axis
    if axis == "AUTO":
        return forward, up
    front = forward
    forward = rotation.rotate(skeleton.rotations[skeleton.index(bone)], np.array(AIM_AXES[axis]))
    # Where the axis points up or down at rest, the character's front is up for the look-at.
    return forward, front if abs(np.dot(forward, up)) > 0.99 else up


def is_uncertain(armature: bpy.types.Object, bone: str) -> bool:
    """Whether a look-at faces where nothing but a doubtful detection says so."""
    return _uncertain(armature, bone) is not None


def _uncertain(armature: bpy.types.Object, bone: str) -> Axes | None:
    """The doubtful detection that alone says where a look-at faces; None where it is sure enough or chosen."""
    settings = read(armature.pose.bones[bone], "lookat_pd")
    if settings.aim_axis != "AUTO" or any(settings.facing):
        return None
    found = detected(armature)
    return found if found.confidence < CERTAIN else None


_LITTLE = Message(
    "The forward axis of '{bone}' is uncertain ({percent} %), because little in the rig shows it; choose one of the "
    "two directions in the Look-at panel."
)
_DISAGREEING = Message(
    "The forward axis of '{bone}' is uncertain ({percent} %), because these parts disagree: {sources}; choose one of "
    "the two directions in the Look-at panel."
)


def doubt(armature: bpy.types.Object, bone: str) -> Message | None:
    """How sure the detection is and what disagrees with it, as a sentence; None where it is sure enough."""
    axes = _uncertain(armature, bone)
    if axes is None:
        return None
    percent = f"{100.0 * axes.confidence:.0f}"
    if not axes.against:
        return Message(_LITTLE.template, bone=bone, percent=percent)
    return Message(_DISAGREEING.template, bone=bone, percent=percent, sources=joined(", ", axes.against))


def is_doubt(note: str) -> bool:
    """Whether a note is what `doubt` says of some bone."""
    return isinstance(note, Message) and note.template in (_LITTLE.template, _DISAGREEING.template)


def choose(armature: bpy.types.Object, bone: str, candidate: int) -> None:
    """Let a look-at face the first or second candidate of the detection, or what is detected (-1). Raises RigError."""
    settings = read(armature.pose.bones[bone], "lookat_pd")
    if candidate < 0:
        settings.property_unset("facing")
        settings.id_data.update_tag(refresh={"OBJECT"})
        return
    if candidate > 1:
        raise RigError("There is no candidate {number} for the forward axis; choose 1 or 2.", number=candidate + 1)
    of_rig = stance.of(armature)
    forward, up = of_rig.axes.candidates[candidate]
    back = rotation.inverse(of_rig.skeleton.rotations[of_rig.skeleton.index(bone)])
    settings.aim_axis = "AUTO"
    settings.facing = (*rotation.rotate(back, forward).tolist(), *rotation.rotate(back, up).tolist())


def labels(armature: bpy.types.Object) -> tuple[str, str]:
    """The two candidates as directions of the armature."""
    (one, up), (other, other_up) = detected(armature).candidates
    if one @ other > _NAMED or up @ other_up < _NAMED:
        return f"{_direction(one)} ({_direction(up)})", f"{_direction(other)} ({_direction(other_up)})"
    return _direction(one), _direction(other)


def _direction(v: Array) -> str:
    """A direction (3,) by the axis that is near, or its numbers."""
    axis = int(np.argmax(np.abs(v)))
    if abs(v[axis]) > _NAMED:
        return f"{'-' if v[axis] < 0.0 else ''}{'XYZ'[axis]}"
    x, y, z = v
    return f"{x:.2f}, {y:.2f}, {z:.2f}"
