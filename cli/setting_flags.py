"""Flags of the command line that are settings: default, range, choices and help are those of the property.

    add(parser, "--hold", DynamicsSettings, "hold", "S")

The parsed value is stored under the name of the property, as the property has it: identifiers of choices, and angles in
radians.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..rig.settings import declared
from . import arguments as words


def add(
    parser: Any,
    flag: str,
    owner: Any,
    name: str,
    metavar: str | tuple[str, ...] | None = None,
    *,
    help: str = "",
    stored: bool = False,
    **more: Any,
) -> None:
    """Add a flag for a setting.

    owner: the registered class that has it. help: instead of the tooltip. stored: what the flag does not say is None,
    and stays as in the file. more: further arguments of argparse.
    """
    prop = owner.bl_rna.properties[name]
    default = _default(prop)
    kept = {"dest": name, "default": None if stored else default, **more}
    text = (help or _sentence(prop.description)).replace("%", "%%")
    if prop.type == "BOOLEAN":
        parser.add_argument(flag, action="store_const", const=not default, help=text, **kept)
    elif prop.type == "ENUM":
        kept = {"action": _Choice, "choices": tuple(_word(item.identifier) for item in prop.enum_items), **kept}
        parser.add_argument(flag, help=text if help else f"{text}: {_items(prop, stored=stored)}", **kept)
    else:
        shown = f"{math.degrees(default):.6g}°" if _is_angle(prop) else f"{default:.6g}"
        usual = f"default: the setting of the file, otherwise {shown}" if stored else f"default: {shown}"
        said = text if "(default" in text else f"{text} ({usual})"
        parser.add_argument(flag, metavar=metavar, help=said, **{"type": number(prop), **kept})


def number(prop: Any) -> Callable[[str], Any]:
    """A type for argparse: what a numeric property may hold, in degrees where it is an angle."""
    if prop.type == "INT":
        return words.whole_number(prop.hard_min, prop.hard_max)
    least, most = _decimal(prop.hard_min), _decimal(prop.hard_max)
    if not _is_angle(prop):
        return words.number(least, most)
    in_degrees = words.number(_degrees(least), _degrees(most))
    return lambda word: math.radians(in_degrees(word))


def given(options: argparse.Namespace, mixin: type) -> dict[str, Any]:
    """The settings of a mixin that the arguments say, by name."""
    values = {name: getattr(options, name, None) for name in declared(mixin)}
    return {name: value for name, value in values.items() if value is not None}


def apply(options: argparse.Namespace, settings: Any, names: Sequence[str]) -> None:
    """Give settings the values that the arguments say; others stay as they are."""
    for name in names:
        if getattr(options, name) is not None:
            setattr(settings, name, getattr(options, name))


class _Choice(argparse.Action):
    """Stores the identifier of a choice."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, values.upper().replace("-", "_"))


def _default(prop: Any) -> Any:
    if prop.type != "FLOAT":
        return prop.default
    return math.radians(_degrees(prop.default)) if _is_angle(prop) else _decimal(prop.default)


def _decimal(value: float) -> float:
    """The shortest number that Blender's single precision keeps as this one: 0.02, not 0.019999999552965164."""
    return float(str(np.float32(value)))


def _degrees(value: float) -> float:
    """The same for an angle in radians that was declared in degrees."""
    return round(math.degrees(value), 3)


def _is_angle(prop: Any) -> bool:
    # Blender warns where the subtype of a property with another unit is read.
    return prop.unit == "ROTATION"


def _word(identifier: str) -> str:
    return identifier.lower().replace("_", "-")


def _sentence(text: str) -> str:
    """A tooltip as the help of a flag, which begins with a small letter."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _items(prop: Any, *, stored: bool) -> str:
    """What the choices of a property mean."""
    usual = None if stored else prop.default
    choices = (
        f"{_word(item.identifier)}{' (default)' if item.identifier == usual else ''}, {_sentence(item.description)}"
        for item in prop.enum_items
    )
    return "; ".join(choices).replace("%", "%%")
