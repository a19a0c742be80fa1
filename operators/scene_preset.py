"""Presets of the settings in the scene: those of the next transition and of inverse kinematics."""

from collections.abc import Mapping
from typing import Any, ClassVar

import bpy

from ..rig.ik import settings as ik
from ..rig.settings import choice
from ..rig.transitions import settings as transitions

Presets = Mapping[str, tuple[str, str, Mapping[str, Any]]]
"""Name, tooltip and values of the settings, by identifier."""


def of_presets(presets: Presets) -> Any:
    """The property that chooses a preset."""
    return choice("Preset", "", [(key, *texts) for key, (*texts, _) in presets.items()])


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


class LOOKAT_PD_OT_transition_preset(ScenePreset, bpy.types.Operator):
    """Set the blend time and the method of the next transition"""

    bl_idname = "lookat_pd.transition_preset"
    bl_label = "Transition Preset"

    presets, group = transitions.PRESETS, "lookat_pd_transition"
    preset: of_presets(transitions.PRESETS)


class LOOKAT_PD_OT_ik_preset(ScenePreset, bpy.types.Operator):
    """Set the chain, orientation and solver of inverse kinematics"""

    bl_idname = "lookat_pd.ik_preset"
    bl_label = "IK Preset"

    presets, group = ik.PRESETS, "lookat_pd_ik"
    preset: of_presets(ik.PRESETS)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_transition_preset, LOOKAT_PD_OT_ik_preset))
