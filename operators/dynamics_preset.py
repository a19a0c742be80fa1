"""Set dynamics up in one go."""

import bpy

from ..rig.dynamics.presets import PRESETS
from .scene_preset import ScenePreset, choice


class LOOKAT_PD_OT_dynamics_preset(ScenePreset, bpy.types.Operator):
    """Set tension, torque limit and gravity of the next motion"""

    bl_idname = "lookat_pd.dynamics_preset"
    bl_label = "Dynamics Preset"

    presets, group = PRESETS, "lookat_pd_dynamics"
    preset: choice(PRESETS)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_dynamics_preset,))
