"""Drivers by which settings of look-ats follow the items that keys of the shot animate."""

from collections.abc import Iterator
from typing import Any

import bpy

from .shot_home import ITEMS, Home

_OF_LOOK_AT = ".lookat_pd."
"""What data paths of settings of look-ats contain."""


def driver_of(armature: bpy.types.Object, path: str) -> Any:
    data = armature.animation_data
    return data.drivers.find(path) if data is not None else None


def is_own(driver: Any) -> bool:
    """Whether a driver lets a setting follow an item of the shot."""
    if _OF_LOOK_AT not in driver.data_path:
        return False
    sources = [target.data_path for variable in driver.driver.variables for target in variable.targets]
    return len(sources) == 1 and sources[0].startswith(f"{ITEMS}[")


def own_drivers(armature: bpy.types.Object) -> Iterator[Any]:
    data = armature.animation_data
    return (driver for driver in (data.drivers if data is not None else ()) if is_own(driver))


def follows(armature: bpy.types.Object, path: str) -> bool:
    """Whether a setting follows an item of the shot."""
    found = driver_of(armature, path)
    return found is not None and is_own(found)


def exists(armature: bpy.types.Object, path: str) -> bool:
    try:
        armature.path_resolve(path)
    except ValueError:
        return False
    return True


def follow(armature: bpy.types.Object, path: str, shot: Home) -> None:
    """Let a setting follow an item of the shot, without any Python."""
    driver = armature.driver_add(path)
    for modifier in list(driver.modifiers):
        driver.modifiers.remove(modifier)
    driver.driver.type = "SUM"
    variable = driver.driver.variables.new()
    source = variable.targets[0]
    source.id_type, source.id, source.data_path = "ARMATURE", shot.owner, shot.path


def let_go(armature: bpy.types.Object, driver: Any) -> None:
    """Delete a driver; the setting keeps the value that it has, or that its item has without keys."""
    source, own = driver.driver.variables[0].targets[0], Home(armature, driver.data_path)
    value = None
    if exists(armature, own.path):
        value = own.value
        if source.id is not None and exists(source.id, source.data_path):
            value = Home(source.id, source.data_path).value
    armature.animation_data.drivers.remove(driver)
    if value is not None:
        own.set(value)
