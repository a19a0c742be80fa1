"""Whether the pose of an armature can be changed."""

from collections.abc import Iterable

import bpy

from ...lookat_pd.errors import RigError


def check_armature(armature: bpy.types.Object | None) -> bpy.types.Object:
    """Raise RigError unless this is an armature whose pose can be changed."""
    if armature is None:
        raise RigError("There is no armature; select one and try again.", code="rig-missing")
    if armature.type != "ARMATURE":
        raise RigError("'{armature}' is not an armature; select the character's armature.", armature=armature.name)
    check_local(armature)
    if not armature.pose or not len(armature.pose.bones):
        raise RigError(
            "Armature '{armature}' has no bones; add bones, or reload its library.",
            armature=armature.name,
            code="bone-missing",
        )
    return armature


def check_bones(armature: bpy.types.Object | None, bones: Iterable[str]) -> bpy.types.Object:
    """Raise RigError unless this is an armature with these bones that shows its pose, which can be changed."""
    armature = check_armature(armature)
    for name in bones:
        check_exists(armature, name)
    if armature.mode == "EDIT":
        raise RigError(
            "Armature '{armature}' is in edit mode; leave edit mode (Tab) and try again.", armature=armature.name
        )
    check_posed(armature)
    return armature


def check_local(item: bpy.types.ID) -> None:
    """Raise RigError unless an item can be animated in this file."""
    if item.library is not None:
        raise RigError(
            "'{armature}' is linked from a library; create a library override first (Object > Library Override).",
            armature=item.name,
        )


def check_changeable(item: bpy.types.ID) -> None:
    """Raise RigError unless an item can be changed in the window: also overrides made for others cannot."""
    check_local(item)
    if item.override_library is not None and item.override_library.is_system_override:
        raise RigError(
            "'{armature}' is a library override that is not editable; make it editable first (Object > Library "
            "Override > Make).",
            armature=item.name,
        )


def check_exists(armature: bpy.types.Object, bone: str) -> None:
    """Raise RigError unless the armature has a bone of that name."""
    if bone not in armature.pose.bones:
        raise RigError(
            "Armature '{armature}' has no bone '{name}'; choose one that exists.",
            armature=armature.name,
            name=bone,
            code="bone-missing",
        )


def check_posed(armature: bpy.types.Object) -> None:
    """Raise RigError unless the armature shows its pose."""
    if armature.data.pose_position == "REST":
        raise RigError("Armature '{armature}' is in rest position; switch it to pose position.", armature=armature.name)


def check_tweak_mode(item: bpy.types.ID) -> None:
    """Raise RigError if what has the keys of an item cannot be told."""
    animation = item.animation_data
    if animation is not None and animation.use_tweak_mode:
        raise RigError(
            "'{armature}' is in NLA tweak mode; leave tweak mode (Tab in the NLA editor) and try again.",
            armature=item.name,
        )
