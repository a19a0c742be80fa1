"""What the panels in the sidebar of the 3D viewport have in common."""

from typing import TYPE_CHECKING, ClassVar

import bpy

from ..operators import inertialize, polling, preferences, selection


class SidebarPanel:
    """A panel of the tab, closed at first."""

    if TYPE_CHECKING:
        layout: bpy.types.UILayout
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Look-at PD"
    bl_options = {"DEFAULT_CLOSED"}


class FeaturePanel(SidebarPanel):
    """One that the preferences can switch off; in the tab where there is an armature."""

    feature: ClassVar[str]
    """Its name in `preferences.PANELS`."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = selection.armature(context)
        return preferences.shows(cls.feature) and item is not None and item.type == "ARMATURE"


class ArmaturePanel(SidebarPanel):
    """One that needs an armature."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polling.why_no_armature(context) is None


class TransitionsPanel(SidebarPanel):
    """One within *Transitions*."""

    bl_parent_id = "LOOKAT_PD_PT_transitions"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return inertialize.why_not(context) is None
