"""Presets of a look-at: how it moves."""

from typing import Any

import bpy

from ..animation import setting_presets
from ..animation.preset_files import shown_name as shown_name
from ..animation.setting_presets import apply as apply
from ..animation.setting_presets import value as value
from .body import shape_table
from .setting_paths import KEYABLE
from .settings import TUNING

_OF_SHOT = (*KEYABLE, "use_mix", "let_go_distance", "let_go_angle")
"""Settings of the chain that say what is looked at, and when."""
SETTINGS = tuple(name for name in (*TUNING, "soft_edge") if name not in _OF_SHOT)
"""How the chain of a look-at moves, as presets set it."""
GROUPS = ("body", "eyes")
"""Groups of settings that presets also set, except those of one rig or one scene."""
_OF_ONE_SHOT = ("seed", "turned_by", "control_order")
"""Settings that belong to one scene or one rig."""
SHAPE_MAP = "eyes.shape_map"
"""The table of what turns the eyes."""
TABLE = (SHAPE_MAP, "eyes.control_order")
"""What a preset contains where there is such a table."""


def contents() -> tuple[str, ...]:
    """What a preset may set: how chain, body and eyes move, and never what is looked at, with which bones, or when.

    The settings of the body and the eyes as `body.torso_from`.
    """
    return (*SETTINGS, *(f"{group}.{name}" for group in GROUPS for name in motion_settings(group)))


def motion_settings(group: str) -> list[str]:
    """The settings of a group that say how it moves: all numbers and switches that do not change with the frame."""
    properties = _type().properties[group].fixed_type.properties
    return [
        name
        for name, prop in properties.items()
        if prop.type in ("BOOLEAN", "INT", "FLOAT", "ENUM")
        and not (prop.is_animatable or prop.is_hidden or name in _OF_ONE_SHOT or getattr(prop, "is_array", False))
    ]


def _type() -> Any:
    return bpy.types.PoseBone.bl_rna.properties["lookat_pd"].fixed_type


def _is_table(text: Any) -> bool:
    if not isinstance(text, str):
        return False
    try:
        shape_table.parsed(text)
    except (ValueError, RecursionError):
        return False
    return True


PRESETS = setting_presets.SettingPresets(
    "lookat_pd",
    "look_at",
    "bpy.context.active_pose_bone.lookat_pd",
    _type,
    contents,
    dict.fromkeys(TABLE) | {SHAPE_MAP: _is_table},
)
available, about, read, write = PRESETS.available, PRESETS.about, PRESETS.read, PRESETS.write
