"""Presets of the look-at and of dynamics: apply one, save the settings as one, remove one."""

from pathlib import Path
from typing import Any, ClassVar

import bpy
from bl_operators.presets import AddPresetBase
from bpy.app.translations import pgettext_tip as tip_

from ..rig.animation import preset_files, setting_presets
from ..rig.dynamics import presets as dynamics
from ..rig.look_at import presets as look_at
from ..rig.settings import text
from . import polling, selection

MENU, DYNAMICS_MENU = "LOOKAT_PD_PT_presets", "LOOKAT_PD_PT_dynamics_presets"
"""The panels that list them."""


class _Of:
    """Mixin: the presets of one kind, and the settings they are for."""

    presets: ClassVar[setting_presets.SettingPresets]

    @staticmethod
    def settings(context: bpy.types.Context) -> Any:
        raise NotImplementedError


class _OfLookAt(_Of, polling.OfLookAt):
    presets = look_at.PRESETS

    @staticmethod
    def settings(context: bpy.types.Context) -> Any:
        return selection.look_at_bone(context).lookat_pd


class _OfDynamics(_Of):
    presets = dynamics.PRESETS

    @staticmethod
    def settings(context: bpy.types.Context) -> Any:
        return context.scene.lookat_pd_dynamics


class _ApplyPreset(_Of):
    """Mixin of an operator that applies a preset."""

    bl_options = {"REGISTER", "UNDO"}

    filepath: text("File", "Preset to apply", subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return tip_(cls.presets.about(Path(properties.filepath)))

    def execute(self, context: bpy.types.Context) -> set[str]:
        setting_presets.apply(self.presets.read(Path(self.filepath)), self.settings(context))
        return {"FINISHED"}


class _AddPreset(_Of, AddPresetBase):
    """Mixin of an operator that saves a preset or removes one."""

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = self.presets.available().get(self.name)
        if self.remove_name and path is not None:
            preset_files.check_own(path, self.name)
        return super().execute(context)

    def add(self, context: bpy.types.Context, filepath: str) -> None:
        """Called by Blender instead of writing the preset itself."""
        self.presets.write(self.settings(context), Path(filepath))


class LOOKAT_PD_OT_preset(_ApplyPreset, _OfLookAt, bpy.types.Operator):
    """Apply the settings of this preset to the look-at; target, chain and keys are kept"""

    bl_idname = "lookat_pd.preset"
    bl_label = "Look-at Preset"


class LOOKAT_PD_OT_preset_add(_AddPreset, _OfLookAt, bpy.types.Operator):
    """Save the motion settings of the look-at as a preset, or remove a preset"""

    bl_idname = "lookat_pd.preset_add"
    bl_label = "Add Look-at Preset"

    preset_menu, preset_subdir = MENU, look_at.PRESETS.subfolder


class LOOKAT_PD_OT_dynamics_preset(_ApplyPreset, _OfDynamics, bpy.types.Operator):
    """Apply the settings of this preset to the next motion; bones, keys and goals are kept"""

    bl_idname = "lookat_pd.dynamics_preset"
    bl_label = "Dynamics Preset"


class LOOKAT_PD_OT_dynamics_preset_add(_AddPreset, _OfDynamics, bpy.types.Operator):
    """Save the settings of dynamics as a preset, or remove a preset"""

    bl_idname = "lookat_pd.dynamics_preset_add"
    bl_label = "Add Dynamics Preset"

    preset_menu, preset_subdir = DYNAMICS_MENU, dynamics.PRESETS.subfolder


_register, _unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_preset,
        LOOKAT_PD_OT_preset_add,
        LOOKAT_PD_OT_dynamics_preset,
        LOOKAT_PD_OT_dynamics_preset_add,
    )
)


def register() -> None:
    setting_presets.register()
    _register()


def unregister() -> None:
    _unregister()
    setting_presets.unregister()
