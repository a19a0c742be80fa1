"""A setting of a look-at that can be keyed, with its decorator."""

import bpy

from ..rig.look_at import edit as look_at_edit

_ICONS = {"NONE": "DECORATE", "ANIMATED": "DECORATE_ANIMATE", "KEYED": "DECORATE_KEYFRAME"}


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone, setting: str) -> None:
    row = layout.row(align=True)
    row.prop(bone.lookat_pd, setting, slider=True)
    state = look_at_edit.key_state(bone.id_data, bone.name, setting, context.scene.frame_current)
    row.operator("lookat_pd.key", text="", icon=_ICONS[state], emboss=False).setting = setting
