"""What operators share that set the scene's settings up in one go."""

from collections.abc import Mapping
from typing import Any, ClassVar

import bpy
from bpy.props import EnumProperty

Presets = Mapping[str, tuple[str, str, Mapping[str, Any]]]
"""By key: name, tooltip, and values by setting."""


def choice(presets: Presets) -> Any:
    """The property that chooses among presets."""
    return EnumProperty(name="Preset", items=[(key, *texts) for key, (*texts, _) in presets.items()])


class ScenePreset:
    """Mixin. group: name of the scene's settings. The operator has a property `preset`, a `choice` of `presets`."""

    bl_options = {"REGISTER", "UNDO"}
    presets: ClassVar[Presets]
    group: ClassVar[str]
    preset: str

    def execute(self, context: bpy.types.Context) -> set[str]:
        for name, value in self.presets[self.preset][-1].items():
            setattr(getattr(context.scene, self.group), name, value)
        return {"FINISHED"}
