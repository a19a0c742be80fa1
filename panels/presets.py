"""The presets of a look-at, in the header of its panel."""

import bpy
from bl_ui.utils import PresetPanel

from ..operators import preset
from ..rig.look_at import presets


class LOOKAT_PD_PT_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Look-at Presets"
    preset_subdir = presets.SUBFOLDER
    preset_operator = "lookat_pd.preset"
    preset_add_operator = "lookat_pd.preset_add"


assert LOOKAT_PD_PT_presets.__name__ == preset.MENU


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_PT_presets,))
