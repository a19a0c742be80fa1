"""What happens when a setting of a look-at is changed."""

from collections.abc import Callable

import bpy

from ..layers.controller_settings import changed

listeners: list[Callable[[], None]] = []
"""Called when a look-at may have been added or removed, needs other bones, or has another target."""
keepers: list[Callable[[bpy.types.PropertyGroup, str], None]] = []
"""Called with the settings and the name of a setting that can be keyed, to write its value where its keys are."""


def needs_others(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Update callback of settings that decide what is solved."""
    for listener in listeners:
        listener()
    changed(settings, context)


def keyable(name: str) -> Callable[[bpy.types.PropertyGroup, bpy.types.Context], None]:
    """The update callback of a setting that can be keyed."""

    def update(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
        for keep in keepers:
            keep(settings, name)
        changed(settings, context)

    return update
