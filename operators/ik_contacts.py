"""Keep a foot or hand fixed in the world while it touches something."""

import bpy
from bpy.props import EnumProperty, IntProperty

from ..rig.bake import Options
from ..rig.ik import contacts
from ..rig.ik import setup as ik_setup
from ..translations import messages
from . import current, job
from .ik_bake import INTO, why_no_chain

_FEW = 6


class LOOKAT_PD_OT_ik_contacts(job.Job, job.Frames, bpy.types.Operator):
    """Keep the head of the bone, a foot or hand, fixed in the world while it touches something"""

    bl_idname = "lookat_pd.ik_contacts"
    bl_label = "Clean Up Contacts"
    bl_options = {"REGISTER", "UNDO"}

    where: EnumProperty(
        name="Contacts",
        description="When the effector touches something",
        items=(
            ("FOUND", "Found", "Wherever it is slow and low, as Speed and Height say"),
            ("MARKED", "Marked", "From the first to the last frame given here"),
        ),
    )
    contact_start: IntProperty(name="Contact Start", description="First frame of the contact", default=1)
    contact_end: IntProperty(name="End", description="Last frame of the contact", default=20)
    into: EnumProperty(name="Into", description="Where the keys go; all other bones stay as they are", items=INTO)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_no_chain(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "where")
        column = layout.column(align=True)
        column.active = self.where == "MARKED"
        column.prop(self, "contact_start")
        column.prop(self, "contact_end")
        layout.prop(self, "into")
        self.draw_frames(layout)

    def progress(self, percent: str) -> str:
        return messages.translate(f"Baking IK: {percent} %   Esc: cancel")

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context.scene)
        settings = context.scene.lookat_pd_ik
        chain = ik_setup.contact_chain(current.armature(context), current.bone(context).name, settings)
        what = contacts.Detection(settings.contact_speed, settings.contact_height)
        if self.where == "MARKED":
            what = [(self.contact_start, self.contact_end)]
        options = Options(self.frame_start, self.frame_end, self.into)
        self.job = contacts.clean_up(
            context.scene, chain, what, settings.contact_blend, ik_setup.tuning(settings), options
        )

    def finish(self, context: bpy.types.Context, result: contacts.Result) -> None:
        named = ", ".join(f"{first}-{last}" for first, last in result.intervals[:_FEW])
        if len(result.intervals) > _FEW:
            named += " ..."
        missed = 1000.0 * float(result.baked.error.max()) * context.scene.unit_settings.scale_length
        bone = result.baked.chain.effector
        current.tell(
            self,
            f"'{bone}' stays where it touches, frames {named}; at most {missed:.2f} mm are left.",
        )


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_ik_contacts)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_ik_contacts)
