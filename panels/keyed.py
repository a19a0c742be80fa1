"""A setting of a look-at that can be keyed, with its decorator."""

import bpy

from ..rig.look_at import edit as look_at_edit

ICONS = {"NONE": "DECORATE", "ANIMATED": "DECORATE_ANIMATE", "KEYED": "DECORATE_KEYFRAME"}


def draw(
    layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone, setting: str, *, text: str = ""
) -> None:
    """setting: its name, or the path of one of an item of a list. text: shown instead of its label, untranslated."""
    row = layout.row(align=True)
    *path, name = setting.split(".")
    owner = bone.lookat_pd.path_resolve(".".join(path)) if path else bone.lookat_pd
    if text:
        row.prop(owner, name, slider=True, text=text, translate=False)
    else:
        row.prop(owner, name, slider=True)
    state = look_at_edit.key_state(bone.id_data, bone.name, setting, context.scene.frame_current)
    row.operator("lookat_pd.key", text="", icon=ICONS[state], emboss=False).setting = setting
