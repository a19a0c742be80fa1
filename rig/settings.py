"""How a setting is declared, and how its declaration is read.

    own = Properties(override={"LIBRARY_OVERRIDABLE"}, update=changed)

    class Settings(bpy.types.PropertyGroup):
        hold: own.number("Hold", "Time in seconds for which the pose is held", 0.0, max=60.0, soft_max=5.0)

A declaration is the only place of a setting's default, bounds, choices and texts. Requests to the bakes are dataclasses
that are made of it (`plain`), and flags of the command line read it from the registered class. No `from __future__
import annotations` where settings are declared: Blender reads the annotations.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field, make_dataclass
from inspect import get_annotations
from math import radians
from typing import Any

from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .guards import callbacks

EDITABLE = {"LIBRARY_OVERRIDABLE"}
"""Editable on a library override as well, and saved with it."""
_FACTORIES = {"BoolProperty": False, "FloatProperty": 0.0, "IntProperty": 0, "StringProperty": ""}
"""What a property has that is declared without a default."""


class Properties:
    """Declares properties that have keywords in common, such as `override`, `update` and `options`.

    Further keywords, and others than the common ones, are those of `bpy.props`. Common options about
    animation are those of values; texts and pointers do not take them.
    """

    def __init__(self, **common: Any) -> None:
        self._common = common

    def but(self, **common: Any) -> "Properties":
        """The same with other common keywords."""
        return Properties(**{**self._common, **common})

    def switch(self, name: str = "", description: str = "", default: bool = False, **own: Any) -> Any:
        return self._made(BoolProperty, name, description, default=default, **own)

    def number(
        self,
        name: str = "",
        description: str = "",
        default: float = 0.0,
        max: float | None = None,
        min: float | None = 0.0,
        **own: Any,
    ) -> Any:
        """A floating-point number, not negative unless `min` says so; None for no bound."""
        return self._made(FloatProperty, name, description, default=default, max=max, min=min, **own)

    def factor(self, name: str = "", description: str = "", default: float = 0.0, **own: Any) -> Any:
        """A number from 0 to 1, as a slider."""
        return self.number(name, description, default, 1.0, subtype="FACTOR", **own)

    def angle(
        self,
        name: str = "",
        description: str = "",
        default: float = 0.0,
        max: float = 360.0,
        min: float = 0.0,
        **own: Any,
    ) -> Any:
        """An angle, stored in radians and declared in degrees."""
        degrees = {"default": default, "max": max, "min": min}
        degrees |= {key: own.pop(key) for key in ("soft_min", "soft_max") if key in own}
        turned = {key: radians(value) for key, value in degrees.items()}
        return self._made(FloatProperty, name, description, subtype="ANGLE", **turned, **own)

    def integer(
        self,
        name: str = "",
        description: str = "",
        default: int = 0,
        max: int | None = None,
        min: int | None = None,
        **own: Any,
    ) -> Any:
        return self._made(IntProperty, name, description, default=default, max=max, min=min, **own)

    def choice(
        self, name: str, description: str, items: Iterable[Sequence[Any]], default: str | None = None, **own: Any
    ) -> Any:
        """One of items (identifier, label, tooltip), the first without a default. A number after these is what files
        store; without one, the place in the list."""
        return self._made(EnumProperty, name, description, items=tuple(map(tuple, items)), default=default, **own)

    def text(self, name: str = "", description: str = "", default: str = "", **own: Any) -> Any:
        return self._of_reference()._made(StringProperty, name, description, default=default, **own)

    def pointer(self, type: type, name: str = "", description: str = "", **own: Any) -> Any:
        """Data of Blender, or a group of settings."""
        return self._of_reference()._made(PointerProperty, name, description, type=type, **own)

    def collection(self, type: type, name: str = "", description: str = "", **own: Any) -> Any:
        """Items of a group of settings; on a library override, further ones can be added where items can be changed."""
        common = {key: value for key, value in self._common.items() if key == "override"}
        if "LIBRARY_OVERRIDABLE" in common.get("override", ()):
            common["override"] = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
        return Properties(**common)._made(CollectionProperty, name, description, type=type, **own)

    def vector(self, name: str = "", description: str = "", default: Sequence[float] | None = None, **own: Any) -> Any:
        """Several floating-point numbers."""
        return self._made(FloatVectorProperty, name, description, default=default, **own)

    def switches(self, name: str = "", description: str = "", default: Sequence[bool] | None = None, **own: Any) -> Any:
        """Several booleans."""
        return self._made(BoolVectorProperty, name, description, default=default, **own)

    def _of_reference(self) -> "Properties":
        is_hidden = "HIDDEN" in self._common.get("options", ())
        return self if is_hidden else Properties(**{k: value for k, value in self._common.items() if k != "options"})

    def _made(self, kind: Any, name: str, description: str, **own: Any) -> Any:
        given = {**self._common, "name": name, "description": description, **own}
        if given.get("update") is not None:
            given["update"] = callbacks.guarded(given["update"])
        return kind(**{key: value for key, value in given.items() if value is not None and value != ""})


_alone = Properties()
switch, number, factor, angle, integer = _alone.switch, _alone.number, _alone.factor, _alone.angle, _alone.integer
choice, text, pointer, collection = _alone.choice, _alone.text, _alone.pointer, _alone.collection
vector, switches = _alone.vector, _alone.switches


def declared(owner: type) -> dict[str, Any]:
    """Function of `bpy.props` and keywords of each property that a class and its bases declare, by name."""
    properties: dict[str, Any] = {}
    for kind in reversed(owner.__mro__):
        properties |= {name: made for name, made in get_annotations(kind).items() if hasattr(made, "keywords")}
    return properties


def default(owner: type, name: str) -> Any:
    """The value that a property has when nobody has set it."""
    made = declared(owner)[name]
    if "default" in made.keywords:
        return made.keywords["default"]
    return made.keywords["items"][0][0] if "items" in made.keywords else _FACTORIES[made.function.__name__]


def plain(owner: type) -> Any:
    """A frozen dataclass with the settings of a mixin as keyword arguments, with their names and defaults."""
    fields = [(name, Any, field(default=default(owner, name))) for name in declared(owner)]
    return make_dataclass(f"Plain{owner.__name__}", fields, frozen=True, kw_only=True)


def values(settings: Any, owner: type) -> dict[str, Any]:
    """The values of the settings that a mixin declares, by name."""
    return {name: getattr(settings, name) for name in declared(owner)}
