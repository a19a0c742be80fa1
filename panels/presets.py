"""The presets of a look-at and of dynamics, with the name of the one that the settings are as."""

import bpy
from bl_ui.utils import PresetPanel

from ..operators import preset
from ..rig.animation.setting_presets import SettingPresets
from ..rig.dynamics import presets as dynamics
from ..rig.look_at import presets as look_at
from . import rows


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


def draw_look_at(layout: bpy.types.UILayout, settings) -> None:
    """The menu of presets, with the name of the one that the look-at is as."""
    _draw(layout, LOOKAT_PD_PT_presets, look_at.PRESETS, settings)


def draw_dynamics(layout: bpy.types.UILayout, settings) -> None:
    """The same for dynamics."""
    _draw(layout, LOOKAT_PD_PT_dynamics_presets, dynamics.PRESETS, settings)


def _draw(layout: bpy.types.UILayout, panel: type[bpy.types.Panel], presets: SettingPresets, settings) -> None:
    name = presets.name_of(settings) or ("Default" if presets.are_default(settings) else "Custom")
    rows.labelled(layout, "Preset").popover(panel.__name__, text=name)


assert LOOKAT_PD_PT_presets.__name__ == preset.MENU
assert LOOKAT_PD_PT_dynamics_presets.__name__ == preset.DYNAMICS_MENU


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_PT_presets, LOOKAT_PD_PT_dynamics_presets))
