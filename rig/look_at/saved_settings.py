"""Settings of look-ats in files of earlier versions."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..animation import former_defaults
from ..animation.stored_settings import stored

_LATER = (
    {"body.weight_pitch": 0.0, "body.torso_more": 0.0},
    {"stabilize": 0.0},
    {"head_speed": 0.0, "let_go_angle": 0.0},
    {"aim_from": "BONE", "head_roll": float(np.pi)},
    {"aim_from": "EYES"},
    {"body.breathing_chest": 0.0, "stabilize": 0.9},
)
"""Settings that look-ats of each version did not have yet, and the values with which these move as they did."""
VERSION = len(_LATER)


@persistent
def _stamp(*_: object) -> None:
    """Let look-ats that scripts made say which settings they know when the file is saved."""
    for bone, settings in _look_ats():
        if not settings.exists and not _comes_from_library(bone):
            settings.version = VERSION


@persistent
def _keep_as_saved(*_: object) -> None:
    """Let look-ats that were saved before later settings existed move as they did."""
    for _bone, settings in _look_ats():
        # Those that scripts made said nothing in earlier versions, and moved as of version 1.
        known = settings.version if settings.exists else max(settings.version, 1)
        former_defaults.keep(settings, _LATER, known)


def _comes_from_library(bone: bpy.types.PoseBone) -> bool:
    """Whether the look-at of an override is that of the linked original, which may be of an earlier version."""
    override = bone.id_data.override_library
    original = override.reference.pose.bones.get(bone.name) if override and override.reference.pose else None
    return original is not None and _is_look_at(stored(original, "lookat_pd"))


def _is_look_at(settings: Any) -> bool:
    return settings is not None and (settings.exists or settings.target is not None)


def _look_ats() -> Iterator[tuple[bpy.types.PoseBone, Any]]:
    """The bones with look-ats in the file that can be edited, and their settings."""
    for item in bpy.data.objects:
        if item.type != "ARMATURE" or item.pose is None or not item.is_editable:
            continue
        for bone in item.pose.bones:
            settings = stored(bone, "lookat_pd")
            if _is_look_at(settings):
                yield bone, settings


register, unregister = former_defaults.handlers(_stamp, _keep_as_saved)
