"""Rows that several panels have: the controller's settings, a setting with its key, the button of a bake."""

import bpy

from ..rig.look_at import edit as look_at_edit
from ..rig.look_at.directing import shot_keys

ICONS = {"NONE": "DECORATE", "ANIMATED": "DECORATE_ANIMATE", "KEYED": "DECORATE_KEYFRAME"}


def draw_controller(layout: bpy.types.UILayout, settings) -> None:
    """How fast it settles, and how it is damped."""
    layout.prop(settings, "settle_time", text="Settle Time (s)", slider=True)
    layout.prop(settings, "damping")
    if settings.damping == "CUSTOM":
        layout.prop(settings, "damping_ratio")


def labelled(layout: bpy.types.UILayout, text: str) -> bpy.types.UILayout:
    """What stands beside a label of its own, as a setting stands beside its name."""
    split = layout.split(factor=0.4)
    label = split.row()
    label.alignment = "RIGHT"
    label.label(text=text)
    return split.row()


def draw_keyed(
    layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone, setting: str, *, text: str = ""
) -> None:
    """A setting of a look-at that can be keyed, with its decorator.

    setting: its name, or the path of one of an item of a list. text: shown instead of its label, untranslated.
    """
    row = layout.row(align=True)
    # A setting with keys of the shot is driven: what is edited is the property that has the keys.
    home = shot_keys.home(bone.id_data, bone.name, setting)
    owner, name = home.settings, home.name
    if text:
        row.prop(owner, name, slider=True, text=text, translate=False)
    else:
        row.prop(owner, name, slider=True)
    draw_dot(row, context, bone, setting)


def draw_dot(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone, setting: str) -> None:
    """The decorator that keys a setting."""
    state = look_at_edit.key_state(bone.id_data, bone.name, setting, context.scene.frame_current)
    layout.operator("lookat_pd.key", text="", icon=ICONS[state], emboss=False).setting = setting


def draw_list(
    layout: bpy.types.UILayout,
    owner,
    kind: str,
    items: str,
    index: str,
    operator: str,
    *,
    rows: int,
    removes: bool = True,
    moves: bool = False,
) -> None:
    """A list of an owner's items, of that kind of list, with the buttons that add, remove and move one.

    items, index: properties of the owner. operator: the begin of the names of the operators of these buttons.
    """
    row = layout.row()
    row.template_list(kind, "", owner, items, owner, index, rows=rows)
    column = row.column(align=True)
    column.operator(f"{operator}_add", text="", icon="ADD")
    if removes:
        column.operator(f"{operator}_remove", text="", icon="REMOVE")
    if moves:
        column.separator()
        column.operator(f"{operator}_move", text="", icon="TRIA_UP").direction = "UP"
        column.operator(f"{operator}_move", text="", icon="TRIA_DOWN").direction = "DOWN"


def draw_bake(layout: bpy.types.UILayout, operator: str, reason: str | None) -> None:
    """The button of a bake, with a menu of where its keys go.

    operator: one of `job.Bake`. reason: why nothing can be baked, or None.
    """
    row = layout.row(align=True)
    row.enabled = reason is None
    row.operator_context = "INVOKE_DEFAULT"
    row.operator(operator, text="Bake", icon="KEYFRAME_HLT").into = "NEW"
    row.operator_menu_enum(operator, "into", text="", icon="DOWNARROW_HLT")
