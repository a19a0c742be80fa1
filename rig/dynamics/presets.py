"""Presets of the settings of dynamics."""

from typing import Any

import bpy

from ..animation import setting_presets

SETTINGS = (
    "between",
    "torque_cost",
    "at_keys",
    "tension",
    "swing_past",
    "limit",
    "strength",
    "torque",
    "friction",
    "use_gravity",
    "use_limits",
    "inertia",
    "weight",
    "passive",
    "stiffness",
    "damping",
    "settle",
    "joint_damping",
    "method",
)
"""How bodies move, as presets set it; never which keys or bones, or the goal of a reach."""


def _type() -> Any:
    return bpy.types.Scene.bl_rna.properties["lookat_pd_dynamics"].fixed_type


PRESETS = setting_presets.SettingPresets(
    "lookat_pd_dynamics", "dynamics", "bpy.context.scene.lookat_pd_dynamics", _type, lambda: SETTINGS
)


def apply(name: str, scene: bpy.types.Scene) -> None:
    """Give a scene the settings of a preset that comes with the extension."""
    setting_presets.apply(PRESETS.read(PRESETS.shipped()[name]), scene.lookat_pd_dynamics)
