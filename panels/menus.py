"""Entries in Blender's own menus and panels; entries of menus are also found by the search (F3)."""

import bpy

from ..operators import selection
from ..rig.guards import callbacks
from ..rig.look_at import resolve as look_at

_DIRECTING = (
    "lookat_pd.look_here",
    "lookat_pd.glance",
    "lookat_pd.look_away",
    "lookat_pd.targets_from_markers",
    "lookat_pd.select_target",
    "lookat_pd.move_target",
    "lookat_pd.move_keys",
    "lookat_pd.converse",
)
_PD_FOLLOW = ("lookat_pd.pd_follow_add", "lookat_pd.pd_follow_remove", "lookat_pd.pd_follow_offset")
_SPRINGS = ("lookat_pd.add_springs", "lookat_pd.springs_remove", "lookat_pd.springs_mirror", "lookat_pd.springs_bake")
_IK = ("lookat_pd.ik_drag", "lookat_pd.ik_bake", "lookat_pd.ik_contacts", "lookat_pd.ik_pin")
_DYNAMICS = ("lookat_pd.interpolate_keys", "lookat_pd.reach")
_HELP = ("lookat_pd.open_example", "lookat_pd.report_problem")
_SHOT = ("lookat_pd.inertialize", "lookat_pd.smooth_pop", "lookat_pd.loop_action", "lookat_pd.chain_actions")


class LOOKAT_PD_MT_look_at(bpy.types.Menu):
    bl_label = "Look-at PD"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator("lookat_pd.add", icon="ADD")
        layout.operator("lookat_pd.remove", icon="REMOVE")
        layout.operator("lookat_pd.look_at_camera", icon="CAMERA_DATA")
        layout.separator()
        layout.operator("lookat_pd.copy", icon="COPYDOWN")
        layout.operator("lookat_pd.mirror", icon="MOD_MIRROR")
        layout.operator("lookat_pd.copy_settings")
        layout.operator("lookat_pd.chain_detect", icon="FILE_REFRESH")
        layout.separator()
        for name in _DIRECTING:
            layout.operator(name)
        layout.separator()
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("lookat_pd.follow", icon="RESTRICT_SELECT_OFF")
        layout.operator("lookat_pd.bake", icon="KEYFRAME_HLT")
        layout.operator("lookat_pd.compare", icon="ONIONSKIN_ON")
        layout.separator()
        for name in _PD_FOLLOW:
            layout.operator(name)
        layout.operator("lookat_pd.pd_follow_bake")
        layout.separator()
        for name in _SPRINGS:
            layout.operator(name)
        layout.separator()
        for name in (*_IK, *_DYNAMICS):
            layout.operator(name)
        layout.separator()
        for name in _SHOT:
            layout.operator(name)
        layout.separator()
        for name in _HELP:
            layout.operator(name)


@callbacks.guarded
def _in_menu(self, context: bpy.types.Context) -> None:
    if context.active_object is not None:
        self.layout.separator()
        self.layout.menu(LOOKAT_PD_MT_look_at.__name__)


@callbacks.guarded
def _beside_constraints(self, context: bpy.types.Context) -> None:
    """The button next to Blender's Add Bone Constraint, for the bone of the tab."""
    bone = selection.bone(context)
    if bone is not None and not look_at.exists_on(bone):
        self.layout.operator("lookat_pd.add", icon="ADD").bone = bone.name


_MENUS = (bpy.types.VIEW3D_MT_pose, bpy.types.VIEW3D_MT_object_animation)


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_MT_look_at)
    for menu in _MENUS:
        menu.append(_in_menu)
    bpy.types.BONE_PT_constraints.prepend(_beside_constraints)


def unregister() -> None:
    bpy.types.BONE_PT_constraints.remove(_beside_constraints)
    for menu in reversed(_MENUS):
        menu.remove(_in_menu)
    bpy.utils.unregister_class(LOOKAT_PD_MT_look_at)
