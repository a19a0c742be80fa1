"""Targets of look-ats: an additional one, and which objects are targets.

No postponed annotations: Blender reads them.
"""

import bpy

from ..animation.stored_settings import read
from ..layers.controller_settings import EDITABLE
from ..sampling.targets import Target, listed
from ..settings import Properties
from .setting_changes import keyable, needs_others

TARGET_BONE = "Bone of the target armature to look at"


def _named_after_target(item: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Library overrides identify the items of a collection by name."""
    item.name = item.label
    needs_others(item, context)


_own = Properties(override=EDITABLE, update=_named_after_target)


class LookAtTarget(bpy.types.PropertyGroup):
    """An additional target of a look-at."""

    object: _own.pointer(
        bpy.types.Object,
        "Target",
        "Object to look at while this target is active; leave empty to switch the look-at off",
    )
    bone: _own.text("Bone", TARGET_BONE)

    weight: _own.factor(
        "Weight",
        "Weight of this target in the mix; insert keys to change it over time",
        1.0,
        update=keyable("weight"),
        options={"ANIMATABLE"},
    )

    @property
    def label(self) -> str:
        """Its name in lists and messages."""
        return Target(self.object, self.bone).label


def is_target(item: bpy.types.Object) -> bool:
    """Whether a look-at may look at an object or at one of its bones."""
    return any(
        target.object == item
        for armature in bpy.data.objects
        if armature.pose
        for bone in armature.pose.bones
        if read(bone, "lookat_pd").exists
        for target in listed(bone.lookat_pd)
    )
