"""Stop the live look-at's solving, or start it again: over many frames it takes long."""

import bpy
from bpy.props import BoolProperty

from ..rig import live
from . import current


class LOOKAT_PD_OT_solve(bpy.types.Operator):
    """Solve the live look-ats of this scene again"""

    bl_idname = "lookat_pd.solve"
    bl_label = "Solve"
    bl_options = {"INTERNAL"}

    stop: BoolProperty(name="Stop", description="Stop solving instead", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        if properties.stop:
            return bpy.app.translations.pgettext_tip("Stop solving; the rigs keep the offsets they have")
        return bpy.app.translations.pgettext_tip(cls.__doc__)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_look_at(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        (live.stop if self.stop else live.resume)(context.scene)
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_solve)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_solve)
