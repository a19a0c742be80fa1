"""The VRM file of a character, which operators ask for."""

from pathlib import Path

import bpy

from ..rig.settings import text


class VRMFile:
    """Mixin of an operator that asks for the VRM file of a character."""

    filepath: text(
        "VRM File",
        "File from which this character comes",
        subtype="FILE_PATH",
        options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    filter_glob: text(default="*.vrm", options={"HIDDEN"})

    @property
    def path(self) -> Path:
        return Path(bpy.path.abspath(self.filepath))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}
