"""Contacts: hold feet and hands in world space, or on what they touch, and all feet that skate."""

from functools import partial

import bpy

from ..lookat_pd.body import foot_lock
from ..lookat_pd.body.contacts import Detection, Interval
from ..lookat_pd.errors import LookAtError
from ..lookat_pd.message import Message
from ..rig.feet import contact_settings, skate
from ..rig.feet.contact_plan import Contact
from ..rig.feet.contact_report import ContactReport
from ..rig.ik import contacts
from ..rig.ik import setup as ik_setup
from ..rig.settings import choice, integer, switch
from ..translations import messages
from . import drawing, job, polling, reporting, selection
from .ik_bake import BakeIK, why_no_chain

_FEW = 6


class _Contacts(job.Bake):
    """A bake of contacts that are detected, or that are marked by a range of frames."""

    where: choice(
        "Contacts",
        "Frames in which the effector touches something",
        (
            ("FOUND", "Detected", "Detect contacts by the speed and height of the effector"),
            ("MARKED", "Frame Range", "Use a contact from the start frame to the end frame"),
        ),
    )
    contact_start: integer("Contact Start", "First frame of the contact", 1)
    contact_end: integer("End", "Last frame of the contact", 20)

    def draw_contacts(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "where")
        column = layout.column(align=True)
        column.active = self.where == "MARKED"
        column.prop(self, "contact_start")
        column.prop(self, "contact_end")

    @property
    def marked(self) -> list[Interval]:
        """The contact that is marked; none where contacts are detected."""
        return [(self.contact_start, self.contact_end)] if self.where == "MARKED" else []

    def finish(self, context: bpy.types.Context, result: ContactReport) -> None:
        in_mm = partial(reporting.millimetres, context.scene)
        for bone, spans in result.contacts.items():
            named = ", ".join(f"{first}-{last}" for first, last in spans[:_FEW])
            if not spans:
                reporting.report_info(self, Message("'{bone}' has no contact and stays as animated.", bone=bone))
                continue
            if len(spans) > _FEW:
                named += " ..."
            reporting.report_info(
                self, Message("Locked '{bone}' during its contacts at frames {frames}.", bone=bone, frames=named)
            )
        bone, frame, slip, share = result.worst
        reporting.report_info(
            self,
            Message(
                "'{bone}' misses its contact by up to {missed:.2f} mm, {share:.2f} % of its limb, at frame {frame}; "
                "bones missed theirs by up to {before:.2f} mm.",
                bone=bone,
                frame=frame,
                missed=in_mm(slip),
                share=100.0 * share,
                before=in_mm(result.before),
            ),
        )
        if result.lowered.max() > 0.0:
            lowered = in_mm(float(result.lowered.max()))
            reporting.report_info(self, Message("The hips were lowered by up to {lowered:.1f} mm.", lowered=lowered))


def _bones(context: bpy.types.Context) -> list[str]:
    """The selected bones, or the active one if it is not selected."""
    selected, active = [bone.name for bone in selection.selected_bones(context)], selection.bone(context)
    if active is not None and active.name not in selected:
        return [active.name]
    return selected


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no contact can be cleaned up, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    bones = _bones(context)
    if not bones:
        return "Select the bones that touch something, such as the feet"
    try:
        if contacts.is_body(selection.armature(context), bones):
            return None
    except LookAtError as error:
        return messages.translate(str(error))
    return why_no_chain(context)


class LOOKAT_PD_OT_ik_contacts(_Contacts, BakeIK, bpy.types.Operator):
    """Hold the selected feet and hands where they touch the ground, a prop or another character"""

    bl_idname = "lookat_pd.ik_contacts"
    bl_label = "Clean Up Contacts"
    why_not = staticmethod(why_not)

    lower_hips: switch(
        "Lower Hips",
        "Lower the hips smoothly where a leg does not reach its contact; all other feet stay in place",
        True,
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        self.draw_contacts(layout)
        layout.prop(self, "lower_hips")
        super().draw(context)

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        settings, armature, bones = context.scene.lookat_pd_ik, selection.armature(context), _bones(context)
        touch = contacts.Touch(ik_setup.contact(settings, self.marked), ik_setup.contact_surface(settings))
        options = self.bake_options(context)
        if contacts.is_body(armature, bones, lower_hips=self.lower_hips):
            self.job = contacts.clean_up_body(
                context.scene,
                armature,
                dict.fromkeys(bones, touch),
                options,
                lower_hips=self.lower_hips,
                soft_reach=settings.soft_reach,
            )
            return
        chain = ik_setup.contact_chain(armature, bones[0], settings)
        self.job = contacts.clean_up(context.scene, chain, touch, ik_setup.tuning(settings), options)


def why_no_feet(context: bpy.types.Context) -> str | None:
    """The reason why there are no feet to clean, as a sentence; None if there can be."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    armature = selection.armature(context)
    reason = polling.why_no_action(armature, or_strips=True)
    if reason is not None:
        return reason
    return "Leave NLA tweak mode" if armature.animation_data.use_tweak_mode else None


class LOOKAT_PD_OT_clean_foot_skate(_Contacts, bpy.types.Operator):
    """Keep the feet on their places while they are on the ground; legs and hips are corrected"""

    bl_idname = "lookat_pd.clean_foot_skate"
    bl_label = "Clean Foot Skate"
    why_not = staticmethod(why_no_feet)

    speed: contact_settings.speed()
    height: contact_settings.height()
    release: contact_settings.blend(foot_lock.RELEASE)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        self.draw_contacts(layout)
        for name in ("speed", "height", "release"):
            layout.prop(self, name)
        super().draw(context)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Cleaning foot skate: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        options = self.bake_options(context)
        contact = Contact(self.marked or Detection(self.speed, self.height), self.release)
        self.job = skate.clean(context.scene, selection.armature(context), options, contact)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_ik_contacts, LOOKAT_PD_OT_clean_foot_skate))
