"""Settings of inverse kinematics in files of earlier versions."""

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..animation.stored_settings import stored

VERSION = 1
_LATER = ({"soft_reach": 0.0},)
"""Settings that each version did not have yet, and the values with which it solved."""


@persistent
def _stamp(*_: object) -> None:
    """Let settings say which of them they know when the file is saved."""
    for settings in _all():
        settings.version = VERSION


@persistent
def _keep_as_saved(*_: object) -> None:
    """Let files that were saved before later settings existed solve as they did; new files start as they are."""
    if not bpy.data.filepath:
        return
    for settings in _all():
        for name, value in (pair for later in _LATER[settings.version :] for pair in later.items()):
            if not settings.is_property_set(name):
                setattr(settings, name, value)
        if settings.version < VERSION:
            settings.version = VERSION


def _all() -> Iterator[Any]:
    """The settings in the file that can be edited: those of chains, and those of bodies."""
    for items, name in ((bpy.data.scenes, "lookat_pd_ik"), (bpy.data.objects, "lookat_pd_ik_body")):
        for item in items:
            if item.is_editable and (settings := stored(item, name)) is not None:
                yield settings


def register() -> None:
    bpy.app.handlers.save_pre.append(_stamp)
    bpy.app.handlers.load_post.append(_keep_as_saved)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(_keep_as_saved)
    bpy.app.handlers.save_pre.remove(_stamp)
