"""Set a transition up in one go."""

import bpy

from ..rig.transitions.settings import PRESETS
from .scene_preset import ScenePreset, choice


class LOOKAT_PD_OT_transition_preset(ScenePreset, bpy.types.Operator):
    """Set blend time and method of the next transition"""

    bl_idname = "lookat_pd.transition_preset"
    bl_label = "Transition Preset"
    bl_options = {"REGISTER", "UNDO"}

    presets, group = PRESETS, "lookat_pd_transition"
    preset: choice(PRESETS)


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_transition_preset)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_transition_preset)
