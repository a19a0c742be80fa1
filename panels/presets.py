"""The presets of a look-at and of dynamics, in the headers of their panels."""

import bpy
from bl_ui.utils import PresetPanel

from ..operators import preset
from ..rig.dynamics import presets as dynamics
from ..rig.look_at import presets as look_at


class LOOKAT_PD_PT_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Look-at Presets"
    preset_subdir = look_at.PRESETS.subfolder
    preset_operator = "lookat_pd.preset"
    preset_add_operator = "lookat_pd.preset_add"


class LOOKAT_PD_PT_dynamics_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Dynamics Presets"
    preset_subdir = dynamics.PRESETS.subfolder
    preset_operator = "lookat_pd.dynamics_preset"
    preset_add_operator = "lookat_pd.dynamics_preset_add"


assert LOOKAT_PD_PT_presets.__name__ == preset.MENU
assert LOOKAT_PD_PT_dynamics_presets.__name__ == preset.DYNAMICS_MENU


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_PT_presets, LOOKAT_PD_PT_dynamics_presets))
