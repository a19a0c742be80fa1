"""Keep a foot or hand fixed in world space during contacts."""

import bpy
from bpy.props import EnumProperty, IntProperty

from ..lookat_pd.message import Message
from ..rig.animation.bake_options import BakeOptions
from ..rig.ik import contacts
from ..rig.ik import setup as ik_setup
from ..translations import messages
from . import current, job
from .ik_bake import why_no_chain

_FEW = 6


class LOOKAT_PD_OT_ik_contacts(job.Bake, bpy.types.Operator):
    """Keep the head of a foot or hand bone fixed in world space while it touches something"""

    bl_idname = "lookat_pd.ik_contacts"
    bl_label = "Clean Up Contacts"
    why_not = staticmethod(why_no_chain)

    where: EnumProperty(
        name="Contacts",
        description="Frames in which the effector touches something",
        items=(
            ("FOUND", "Detected", "Detect contacts by the speed and height of the effector"),
            ("MARKED", "Frame Range", "Use a contact from the start frame to the end frame"),
        ),
    )
    contact_start: IntProperty(name="Contact Start", description="First frame of the contact", default=1)
    contact_end: IntProperty(name="End", description="Last frame of the contact", default=20)

    def draw(self, context: bpy.types.Context) -> None:
        layout = current.prepared(self.layout)
        layout.prop(self, "where")
        column = layout.column(align=True)
        column.active = self.where == "MARKED"
        column.prop(self, "contact_start")
        column.prop(self, "contact_end")
        super().draw(context)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Baking IK: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context.scene)
        settings = context.scene.lookat_pd_ik
        chain = ik_setup.contact_chain(current.armature(context), current.bone(context).name, settings)
        what = contacts.Detection(settings.contact_speed, settings.contact_height)
        if self.where == "MARKED":
            what = [(self.contact_start, self.contact_end)]
        options = BakeOptions(self.frame_start, self.frame_end, self.into)
        self.job = contacts.clean_up(
            context.scene, chain, what, settings.contact_blend, ik_setup.tuning(settings), options
        )

    def finish(self, context: bpy.types.Context, result: contacts.ContactsResult) -> None:
        named = ", ".join(f"{first}-{last}" for first, last in result.intervals[:_FEW])
        if len(result.intervals) > _FEW:
            named += " ..."
        missed = 1000.0 * float(result.baked.error.max()) * context.scene.unit_settings.scale_length
        bone = result.baked.chain.effector
        current.report_info(
            self,
            Message(
                "Locked '{bone}' during its contacts at frames {frames}; the largest error is {missed:.2f} mm.",
                bone=bone,
                frames=named,
                missed=missed,
            ),
        )


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_ik_contacts,))
