"""Springs: tails, hair, ears and straps of the active armature that swing."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..lookat_pd.message import Message
from ..operators import drawing, springs, springs_bake
from ..rig.layers import live
from ..rig.springs import along_chain, chains, colliders, settings, springs_kind
from ..rig.springs.chains import SpringChain
from ..rig.springs.materials import BY_ID
from ..translations import messages
from . import advanced, rows, status
from .sidebar import FeaturePanel

_FURTHER = (
    "tip_factor",
    "tip_damping",
    "tip_gravity",
    "tip_drag",
    "falloff",
    "drag",
    "one_way",
    "inertia",
    "limit",
    "stretch",
    "wind",
    "turbulence",
    "fields",
    "collide",
    "collider_groups",
    "radius",
    "tip_radius",
    "floor",
    "influence",
    "cyclic",
)
_MOST = 12
"""Colliders that are listed."""


class LOOKAT_PD_PT_springs(FeaturePanel, bpy.types.Panel):
    bl_label = "Springs"
    feature = "springs"

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.operator("lookat_pd.add_springs", icon="ADD")
        reason = springs.why_no_character(context)
        if reason is not None:
            status.draw_reason(layout, context, reason)
            return
        chain = springs.shown(context)
        if chain is None or advanced.is_on(context):
            layout.operator("lookat_pd.springs_from_vrm", icon="IMPORT")
        if chain is None:
            return
        self._draw_chain(layout, context, chain)
        if advanced.is_on(context):
            self._draw_colliders(layout, context)
        self._draw_bake(layout, context, chain)

    @staticmethod
    def _draw_chain(layout: bpy.types.UILayout, context: bpy.types.Context, chain: SpringChain) -> None:
        s = chain.settings
        row = layout.row(align=True)
        count = len(chain.bones)
        name = Message("{name} (1 bone)" if count == 1 else "{name} ({count} bones)", name=chain.bone, count=count)
        row.label(text=messages.translate(name), icon="BONE_DATA", translate=False)
        row.prop(s, "mute", text="", icon="HIDE_ON" if s.mute else "HIDE_OFF", emboss=False)
        row.operator("lookat_pd.springs_remove", text="", icon="X", emboss=False)
        column = layout.column()
        column.active = not s.mute
        preset = BY_ID[s.preset].label if settings.is_as_preset(s) else "Custom"
        rows.labelled(column, "Preset").prop_menu_enum(s, "preset", text=iface_(preset), translate=False)
        column.prop(s, "settle_time", text="Settle Time (s)", slider=True)
        column.prop(s, "damping_ratio", slider=True)
        column.prop(s, "gravity", slider=True)
        if advanced.is_on(context):
            for setting in _FURTHER:
                _draw_further(column, chain, setting)
                if setting == "inertia":
                    column.prop_search(s, "center", chain.armature.data, "bones")
            _draw_bone(layout, context, chain)
            layout.operator("lookat_pd.springs_mirror", icon="MOD_MIRROR")
            layout.operator("lookat_pd.springs_write_vrm", icon="EXPORT")
        if springs.why_no_copy(context) is None:
            layout.operator("lookat_pd.springs_copy", icon="COPYDOWN")

    @staticmethod
    def _draw_colliders(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        column = layout.column(align=True)
        column.label(text="Colliders")
        column.operator_menu_enum("lookat_pd.add_spring_collider", "shape", icon="ADD")
        column.operator("lookat_pd.spring_bone_colliders", icon="BONE_DATA")
        column.operator("lookat_pd.spring_colliders_from_mesh", icon="OUTLINER_OB_MESH")
        every = colliders.on(context.scene)
        for collider in every[:_MOST]:
            _draw_collider(layout, collider)
        if len(every) > _MOST:
            more = Message("{count} more colliders", count=len(every) - _MOST)
            layout.label(text=messages.translate(more), translate=False)

    @staticmethod
    def _draw_bake(layout: bpy.types.UILayout, context: bpy.types.Context, chain: SpringChain) -> None:
        wrong = chains.swinging(chain.armature)[1].get(chain.bone, "")
        state = live.status(context.scene, chain.armature, "", springs_kind.NAME)
        for error in filter(None, dict.fromkeys((wrong, state.error))):
            status.draw_long(layout, context, messages.translate(error), "ERROR")
        for note in state.notes:
            status.draw_long(layout, context, messages.translate(note), "INFO")
        reason = springs_bake.why_not(context)
        status.draw_reason(layout, context, reason)
        rows.draw_bake(layout, "lookat_pd.springs_bake", reason)


def _draw_collider(layout: bpy.types.UILayout, collider: colliders.Collider) -> None:
    """Its name, which is often a long one, and below it its values."""
    column = layout.column(align=True)
    column.use_property_split = False
    row = column.row(align=True)
    row.label(text=collider.label, icon="BONE_DATA" if collider.bone else "EMPTY_AXIS", translate=False)
    remove = row.operator("lookat_pd.spring_collider_remove", text="", icon="X", emboss=False)
    remove.object, remove.bone = collider.object.name, collider.bone
    row = column.row(align=True)
    row.prop(collider.settings, "radius" if collider.bone else "shape", text="")
    if collider.shape == "CAPSULE" and not collider.bone:
        row.prop(collider.settings, "length", text="")
    row.prop(collider.settings, "groups", text="", placeholder="Groups")


def _draw_further(layout: bpy.types.UILayout, chain: SpringChain, setting: str) -> None:
    """A setting, with a button for its curve where it may change along the chain."""
    own = settings.DRAWN.get(setting)
    row = layout.row(align=True)
    row.prop(chain.settings, setting)
    if own is not None:
        button = row.operator(
            "lookat_pd.springs_curve", text="", icon="FCURVE", depress=along_chain.is_drawn(chain, own)
        )
        button.setting = own


def _draw_bone(layout: bpy.types.UILayout, context: bpy.types.Context, chain: SpringChain) -> None:
    """What the active bone has of its own."""
    active = context.active_pose_bone
    item = next((item for item in chain.items if active is not None and item.bone == active.name), None)
    if item is not None:
        column = layout.column(align=True)
        column.label(text=messages.translate(Message("Factors of {name}", name=item.bone)), translate=False)
        for name in settings.OF_BONE:
            column.prop(item, name)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_PT_springs,))
