"""Whether the pose of an armature can be changed."""

import bpy

from ...lookat_pd.errors import RigError


def check_armature(armature: bpy.types.Object | None) -> bpy.types.Object:
    """Raise RigError unless this is an armature whose pose can be changed."""
    if armature is None:
        raise RigError("There is no armature; select one and try again.")
    if armature.type != "ARMATURE":
        raise RigError("'{armature}' is not an armature; select the character's armature.", armature=armature.name)
    if armature.library is not None:
        raise RigError(
            "'{armature}' is linked from a library; create a library override first (Object > Library Override).",
            armature=armature.name,
        )
    if not armature.pose or not len(armature.pose.bones):
        raise RigError("Armature '{armature}' has no bones; add bones, or reload its library.", armature=armature.name)
    return armature
