"""The profile of the next transition: its rows, and its presets."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase

from ..lookat_pd.errors import RigError
from ..lookat_pd.transitions import profiles
from ..rig.animation import preset_files
from ..rig.settings import choice, switch, text
from ..rig.transitions import profile_settings
from . import inertialize, polling, selection


def why_no_row(context: bpy.types.Context) -> str | None:
    """The reason why no row can be edited, as a sentence; None if one can."""
    settings = context.scene.lookat_pd_transition
    if not 0 <= settings.profile_index < len(settings.profile_rows):
        return "Add a row to the profile first"
    return None


class LOOKAT_PD_OT_profile_row_add(polling.Explained, bpy.types.Operator):
    """Add a row to the profile, for the selected bones if there are any"""

    bl_idname = "lookat_pd.profile_row_add"
    bl_label = "Add Profile Row"
    why_not = staticmethod(inertialize.why_not)

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = context.scene.lookat_pd_transition
        item = settings.profile_rows.add()
        item.pattern = ", ".join(bone.name for bone in selection.selected_bones(context)) or "*"
        settings.profile_index, settings.use_profile = len(settings.profile_rows) - 1, True
        return {"FINISHED"}


class LOOKAT_PD_OT_profile_row_remove(polling.Explained, bpy.types.Operator):
    """Remove the highlighted row from the profile"""

    bl_idname = "lookat_pd.profile_row_remove"
    bl_label = "Remove Profile Row"
    why_not = staticmethod(why_no_row)

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = context.scene.lookat_pd_transition
        settings.profile_rows.remove(settings.profile_index)
        settings.profile_index = max(min(settings.profile_index, len(settings.profile_rows) - 1), 0)
        return {"FINISHED"}


class LOOKAT_PD_OT_profile_row_move(polling.Explained, bpy.types.Operator):
    """Move the highlighted row up or down; for a bone the first row that fits counts"""

    bl_idname = "lookat_pd.profile_row_move"
    bl_label = "Move Profile Row"
    why_not = staticmethod(why_no_row)

    direction: choice("Direction", "", (("UP", "Up", "Before the row above"), ("DOWN", "Down", "After the row below")))

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = context.scene.lookat_pd_transition
        end = settings.profile_index + (-1 if self.direction == "UP" else 1)
        if not 0 <= end < len(settings.profile_rows):
            return {"CANCELLED"}
        settings.profile_rows.move(settings.profile_index, end)
        settings.profile_index = end
        return {"FINISHED"}


class LOOKAT_PD_OT_profile_preset(bpy.types.Operator):
    """Replace the rows of the profile by those of this preset"""

    bl_idname = "lookat_pd.profile_preset"
    bl_label = "Blend Profile"
    bl_options = {"REGISTER", "UNDO"}

    filepath: text("File", "Profile to use", subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return profile_settings.about(Path(properties.filepath))

    def execute(self, context: bpy.types.Context) -> set[str]:
        profile_settings.fill(context.scene.lookat_pd_transition, profile_settings.read(Path(self.filepath)))
        return {"FINISHED"}


class LOOKAT_PD_OT_profile_preset_add(bpy.types.Operator):
    """Save the rows of the profile as a preset, or remove a preset"""

    bl_idname = "lookat_pd.profile_preset_add"
    bl_label = "Add Blend Profile"
    bl_options = {"REGISTER", "INTERNAL"}

    name: text("Name", "Name of the preset", maxlen=64, options={"SKIP_SAVE"})
    remove_name: switch("Remove", options={"HIDDEN", "SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        if self.remove_name:
            _remove(self.name)
        else:
            _save(self.name, profile_settings.rows(context.scene.lookat_pd_transition))
        return {"FINISHED"}


def _save(name: str, rows: tuple[profiles.ProfileRow, ...]) -> None:
    """Raises RigError."""
    file = AddPresetBase.as_filename(name)
    if not file or not rows:
        raise RigError("A preset needs a name and a profile with at least one row; enter both and save again.")
    folder = Path(bpy.utils.user_resource("SCRIPTS", path=f"presets/{profile_settings.SUBFOLDER}", create=True))
    path = folder / f"{file}{profile_settings.ENDING}"
    if preset_files.shown_name(path) in profile_settings.available():
        raise RigError("There is a profile '{name}' already; choose another name.", name=name)
    try:
        path.write_text(profiles.text_of(rows), "utf-8")
    except OSError as error:
        raise RigError("The profile '{name}' cannot be saved ({reason}).", name=name, reason=error.strerror) from None


def _remove(name: str) -> None:
    """Raises RigError."""
    path = profile_settings.available().get(name)
    if path is None:
        raise RigError("There is no profile '{name}'; choose one from the list.", name=name)
    preset_files.check_own(path, name)
    try:
        path.unlink()
    except OSError as error:
        raise RigError("The profile '{name}' cannot be removed ({reason}).", name=name, reason=error.strerror) from None


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_profile_row_add,
        LOOKAT_PD_OT_profile_row_remove,
        LOOKAT_PD_OT_profile_row_move,
        LOOKAT_PD_OT_profile_preset,
        LOOKAT_PD_OT_profile_preset_add,
    )
)
