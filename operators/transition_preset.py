"""Set a transition up in one go."""

import bpy

from ..rig.transitions.settings import PRESETS
from .scene_preset import ScenePreset, choice


class LOOKAT_PD_OT_transition_preset(ScenePreset, bpy.types.Operator):
    """Set the blend time and the method of the next transition"""

    bl_idname = "lookat_pd.transition_preset"
    bl_label = "Transition Preset"

    presets, group = PRESETS, "lookat_pd_transition"
    preset: choice(PRESETS)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_transition_preset,))
