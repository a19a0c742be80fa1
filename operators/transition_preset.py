"""Set a transition up in one go."""

import bpy
from bpy.props import EnumProperty

from ..rig.transitions.settings import PRESETS


class LOOKAT_PD_OT_transition_preset(bpy.types.Operator):
    """Set blend time and method of the next transition"""

    bl_idname = "lookat_pd.transition_preset"
    bl_label = "Transition Preset"
    bl_options = {"REGISTER", "UNDO"}

    preset: EnumProperty(name="Preset", items=[(key, *texts) for key, (*texts, _) in PRESETS.items()])

    def execute(self, context: bpy.types.Context) -> set[str]:
        for name, value in PRESETS[self.preset][-1].items():
            setattr(context.scene.lookat_pd_transition, name, value)
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_transition_preset)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_transition_preset)
