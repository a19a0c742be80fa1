"""Presets of the look-at: apply one, save the settings as one, remove one."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bpy.app.translations import pgettext_tip as tip_
from bpy.props import StringProperty

from ..lookat_pd.message import Message
from ..rig.animation import preset_files
from ..rig.look_at import presets
from . import current

MENU = "LOOKAT_PD_PT_presets"
"""The panel that lists them."""


class LOOKAT_PD_OT_preset(current.OfLookAt, bpy.types.Operator):
    """Apply the settings of this preset to the look-at; target, chain and keys are kept"""

    bl_idname = "lookat_pd.preset"
    bl_label = "Look-at Preset"

    filepath: StringProperty(
        name="File", description="Preset to apply", subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return tip_(presets.about(Path(properties.filepath)))

    @current.reports_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        presets.apply(presets.read(Path(self.filepath)), current.look_at_bone(context).lookat_pd)
        return {"FINISHED"}


class LOOKAT_PD_OT_preset_add(AddPresetBase, bpy.types.Operator):
    """Save the motion settings of the look-at as a preset, or remove a preset"""

    bl_idname = "lookat_pd.preset_add"
    bl_label = "Add Look-at Preset"

    preset_menu = MENU
    preset_subdir = presets.SUBFOLDER

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_look_at(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = presets.available().get(self.name)
        if self.remove_name and path is not None and preset_files.is_shipped(path):
            return current.report_error(
                self,
                Message(
                    "The preset '{name}' is part of the extension and cannot be removed; choose a preset of your own.",
                    name=self.name,
                ),
            )
        return super().execute(context)

    def add(self, context: bpy.types.Context, filepath: str) -> None:
        """Called by Blender instead of writing the preset itself."""
        presets.write(current.look_at_bone(context).lookat_pd, Path(filepath))


_register, _unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_preset, LOOKAT_PD_OT_preset_add))


def register() -> None:
    presets.register()
    _register()


def unregister() -> None:
    _unregister()
    presets.unregister()
