"""Set dynamics up in one go."""

import bpy

from ..rig.dynamics.presets import PRESETS
from .scene_preset import ScenePreset, choice


class LOOKAT_PD_OT_dynamics_preset(ScenePreset, bpy.types.Operator):
    """Set tension, strength and gravity of the next motion"""

    bl_idname = "lookat_pd.dynamics_preset"
    bl_label = "Dynamics Preset"
    bl_options = {"REGISTER", "UNDO"}

    presets, group = PRESETS, "lookat_pd_dynamics"
    preset: choice(PRESETS)


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_dynamics_preset)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_dynamics_preset)
