"""What the panels in the sidebar of the 3D viewport have in common."""

from typing import TYPE_CHECKING

import bpy

from ..operators import inertialize, polling


class SidebarPanel:
    """A panel of the tab, closed at first."""

    if TYPE_CHECKING:
        layout: bpy.types.UILayout
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Look-at PD"
    bl_options = {"DEFAULT_CLOSED"}


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
