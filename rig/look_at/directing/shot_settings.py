"""The settings of look-ats that the keys of the shot change, stored with the armature's data: `lookat_pd_shot`.

No postponed annotations: Blender reads them.
"""

import bpy

from ...animation.stored_settings import declare, withdraw
from ...layers.controller_settings import EDITABLE
from ...settings import Properties, declared
from .. import setting_changes
from ..setting_paths import KEYABLE
from ..settings import LookAtSettings
from ..target_settings import LookAtTarget
from . import shot_keys

_own = Properties(override=EDITABLE)


def _changed(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Request an evaluation, which Blender does not start when a setting changes."""
    settings.id_data.update_tag()


def _like(owner: type, names: tuple[str, ...]) -> dict[str, object]:
    """Properties with the definitions that another group of settings has for them."""
    found = declared(owner)
    return {name: found[name].function(**{**found[name].keywords, "update": _changed}) for name in names}


class LookAtShotTarget(bpy.types.PropertyGroup):
    """The weight of an additional target of a look-at."""

    __annotations__ = _like(LookAtTarget, ("weight",))


class LookAtShot(bpy.types.PropertyGroup):
    """What keys of the shot change of one look-at, whose `shot` is the number of this item, counted from 1.

    Its name is what animation editors show in brackets; an item without a name is not in use.
    """

    __annotations__ = {
        **_like(LookAtSettings, (*KEYABLE, "target_weight")),
        "targets": _own.collection(LookAtShotTarget, "Additional Targets", "Weights of further targets"),
    }


CLASSES = (LookAtShotTarget, LookAtShot)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    keys = _own.collection(
        LookAtShot,
        "Keys of the Shot",
        "Settings of look-ats with keys that belong to the shot",
        options={"HIDDEN"},
    )
    declare(bpy.types.Armature, "lookat_pd_shot", keys)
    setting_changes.keepers.append(shot_keys.write_through)


def unregister() -> None:
    setting_changes.keepers.remove(shot_keys.write_through)
    withdraw(bpy.types.Armature, "lookat_pd_shot")
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
