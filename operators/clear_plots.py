"""Clear what the plots of dynamics show."""

import bpy

from ..rig.dynamics import hitting, reaching
from . import polling, selection


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be cleared, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    if reason is None and not any(kept.of(selection.armature(context)) for kept in (reaching.kept, hitting.kept)):
        reason = "There are no plots"
    return reason


class LOOKAT_PD_OT_clear_plots(polling.Explained, bpy.types.Operator):
    """Remove the plots of reaches and hits, and what they are compared with"""

    bl_idname = "lookat_pd.clear_plots"
    bl_label = "Clear Plots"
    bl_options = {"REGISTER"}
    why_not = staticmethod(why_not)

    def execute(self, context: bpy.types.Context) -> set[str]:
        for kept in (reaching.kept, hitting.kept):
            kept.clear(selection.armature(context))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_clear_plots,))
