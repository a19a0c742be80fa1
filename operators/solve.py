"""Stop or restart solving the live look-at, which takes long over many frames."""

import bpy

from ..rig.layers import live
from ..rig.settings import switch
from . import polling


class LOOKAT_PD_OT_solve(polling.OfLookAt, bpy.types.Operator):
    """Solve all live look-ats of the scene again"""

    bl_idname = "lookat_pd.solve"
    bl_label = "Solve"
    bl_options = {"INTERNAL"}

    stop: switch("Stop", "Stop solving instead of starting again", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        if properties.stop:
            return bpy.app.translations.pgettext_tip("Stop solving and keep the current offsets of the rigs")
        return bpy.app.translations.pgettext_tip(cls.__doc__)

    def execute(self, context: bpy.types.Context) -> set[str]:
        (live.stop if self.stop else live.resume)(context.scene)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_solve,))
