"""Presets of a look-at: how it moves, as files that Blender's own preset menus list, save and remove.

A preset is a Python file as Blender writes them, `look_at.settle_time = 0.45` a line. It is read and never run, so that
one from somebody else can do no harm: what is more than such a line is an error.
"""

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import FileError
from ..animation import preset_files
from ..animation.preset_files import shown_name as shown_name
from .body import shape_table

SETTINGS = (
    "settle_time",
    "damping",
    "damping_ratio",
    "max_speed",
    "feed_forward",
    "method",
    "integrator",
    "soft_edge",
    "release_angle",
    "release_speed",
    "release_time",
    "level_head",
)
"""How the chain of a look-at moves, as presets set it."""
GROUPS = ("body", "eyes")
"""Groups of settings that presets also set, except those of one rig or one scene."""
_OF_ONE_SHOT = ("seed", "turned_by", "control_order")
"""Settings that belong to one scene or one rig."""
SHAPE_MAP = "eyes.shape_map"
"""The table of what turns the eyes."""
TABLE = (SHAPE_MAP, "eyes.control_order")
"""What a preset contains where there is such a table."""
SUBFOLDER = "lookat_pd"
"""Below each of Blender's preset folders: the user's own, and those that come with extensions."""
_HEAD = "import bpy\n\nlook_at = bpy.context.active_pose_bone.lookat_pd\n\n"
_NAME = "look_at"
_LONGEST_FILE = 1_000_000
_DEEPEST = 2
"""How many names a setting has: that of its group, and its own."""
_LARGEST = 1e9
"""What Blender's properties hold; they have bounds of their own."""


def available() -> dict[str, Path]:
    """Name to file of every preset there is, those that come with the add-on first; a user's own wins over these."""
    return preset_files.available(SUBFOLDER, ".py")


def about(path: Path) -> str:
    """What the file says of itself in its first line; nothing where it says nothing or cannot be read."""
    try:
        return ast.get_docstring(_parsed(path)) or ""
    except FileError:
        return ""


def contents() -> tuple[str, ...]:
    """What a preset may set: how chain, body and eyes move, and never what is looked at, with which bones, or when.

    The settings of the body and the eyes as `body.torso_from`.
    """
    return (*SETTINGS, *(f"{group}.{name}" for group in GROUPS for name in motion_settings(group)))


def _known() -> tuple[str, ...]:
    """What a preset may contain: its settings, and the table of what turns the eyes."""
    return (*contents(), *TABLE)


def motion_settings(group: str) -> list[str]:
    """The settings of a group that say how it moves: all numbers and switches that do not change with the frame."""
    properties = _property(group).fixed_type.properties
    return [
        name
        for name, prop in properties.items()
        if prop.type in ("BOOLEAN", "INT", "FLOAT", "ENUM")
        and not (prop.is_animatable or prop.is_hidden or name in _OF_ONE_SHOT or getattr(prop, "is_array", False))
    ]


def value(settings: Any, key: str) -> Any:
    """A setting of a look-at, of its body or its eyes: `settle_time`, `body.torso_from`."""
    owner, name = _place(settings, key)
    return getattr(owner, name)


def _place(settings: Any, key: str) -> tuple[Any, str]:
    *groups, name = key.split(".")
    for group in groups:
        settings = getattr(settings, group)
    return settings, name


def _property(key: str) -> Any:
    """The definition of a setting."""
    *groups, name = key.split(".")
    owner = bpy.types.PoseBone.bl_rna.properties["lookat_pd"].fixed_type
    for group in groups:
        owner = owner.properties[group].fixed_type
    return owner.properties[name]


def read(path: Path) -> dict[str, Any]:
    """The settings of a preset. Raises FileError."""
    found: dict[str, Any] = {}
    for line in _parsed(path).body:
        setting = _setting(line)
        if setting is not None:
            found |= dict([setting])
        elif not _is_preamble(line):
            raise FileError(
                "Line {line} of the preset '{preset}' is not a setting; fix or delete its file.",
                line=line.lineno,
                preset=shown_name(path),
            )
    allowed = _known()
    for key, word in found.items():
        _check(shown_name(path), key, word, allowed)
    return found


def apply(preset: dict[str, Any], settings: Any) -> None:
    """Give a look-at the settings of a preset that was read."""
    for key, word in preset.items():
        owner, name = _place(settings, key)
        setattr(owner, name, word)


def write(settings: Any, path: Path) -> None:
    """Save how a look-at moves, with its body and eyes, as a preset."""
    values = ((key, value(settings, key)) for key in contents())
    # Blender keeps single precision: 0.45, not 0.44999998807907104.
    lines = (f"{_NAME}.{key} = {np.float32(v) if isinstance(v, float) else repr(v)!s}\n" for key, v in values)
    table = TABLE if value(settings, SHAPE_MAP) else ()
    last = (f"{_NAME}.{key} = {value(settings, key)!r}\n" for key in table)
    path.write_text(_HEAD + "".join((*lines, *last)), "utf-8")


def _parsed(path: Path) -> ast.Module:
    try:
        if path.stat().st_size > _LONGEST_FILE:
            raise ValueError("too long for a preset")
        return ast.parse(path.read_text("utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        raise FileError(
            "The preset '{preset}' cannot be read; fix or delete its file.", preset=shown_name(path)
        ) from None


def _setting(line: ast.stmt) -> tuple[str, Any] | None:
    """Name and value where a line gives the look-at a number or a word."""
    if not isinstance(line, ast.Assign) or len(line.targets) != 1:
        return None
    place, names = line.targets[0], []
    while isinstance(place, ast.Attribute) and len(names) < _DEEPEST:
        names.insert(0, place.attr)
        place = place.value
    if not names or not isinstance(place, ast.Name) or place.id != _NAME:
        return None
    try:
        return ".".join(names), ast.literal_eval(line.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _is_preamble(line: ast.stmt) -> bool:
    """Whether a line says what the file is about or, for Blender itself, which look-at is meant."""
    if isinstance(line, ast.Assign):
        return [getattr(place, "id", "") for place in line.targets] == [_NAME]
    return isinstance(line, ast.Import) or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))


def _check(name: str, key: str, word: Any, allowed: Sequence[str]) -> None:
    """Raise FileError unless a look-at can have that value."""
    if key not in allowed:
        raise FileError(
            "The preset '{preset}' sets '{key}', which is not allowed in presets; fix or delete its file.",
            preset=name,
            key=key,
        )
    prop = _property(key)
    if key == SHAPE_MAP:
        fits = isinstance(word, str) and _is_table(word)
    elif prop.type == "ENUM":
        fits = isinstance(word, str) and word in prop.enum_items.keys()
    elif prop.type == "BOOLEAN":
        fits = isinstance(word, bool)
    else:
        kinds = int if prop.type == "INT" else int | float
        fits = isinstance(word, kinds) and not isinstance(word, bool) and abs(word) <= _LARGEST
    if not fits:
        raise FileError(
            "The preset '{preset}' has an invalid value for '{key}'; fix or delete its file.", preset=name, key=key
        )


def _is_table(text: str) -> bool:
    try:
        shape_table.parsed(text)
    except (ValueError, RecursionError):
        return False
    return True


def register() -> None:
    bpy.utils.register_preset_path(str(preset_files.SHIPPED))


def unregister() -> None:
    bpy.utils.unregister_preset_path(str(preset_files.SHIPPED))
