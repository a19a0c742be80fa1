"""The profile of the next transition in the scene, and presets of profiles as JSON files.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

from pathlib import Path
from typing import Any

import bpy

from ...lookat_pd.errors import FileError, InvalidArgument
from ...lookat_pd.transitions import profiles
from ...lookat_pd.transitions.profiles import ProfileRow
from ..animation import preset_files
from ..animation.preset_files import shown_name
from ..settings import choice, number, text

SUBFOLDER = "lookat_pd_profiles"
"""Below each of Blender's preset folders."""
ENDING = ".json"
_LONGEST_FILE = 1_000_000

KIND_ITEMS = (
    ("BONES", "Bones", "Bones with these names"),
    ("COLLECTION", "Bone Collection", "All bones of a bone collection and of those in it"),
    ("CURVES", "F-Curves", "Properties with these names or data paths, such as custom properties"),
)
FILTER_ITEMS = (
    ("BLEND", "Blend", "From the source to the destination"),
    ("SOURCE", "Source", "The source plays on, and the destination is not used"),
    ("DESTINATION", "Destination", "Only the destination plays, from the cut on"),
)
assert [key for key, *_ in KIND_ITEMS] == list(profiles.KINDS)
assert [key for key, *_ in FILTER_ITEMS] == list(profiles.FILTERS)


class ProfileRowItem(bpy.types.PropertyGroup):
    """A row of the profile, as `lookat_pd.transitions.profiles.ProfileRow`."""

    kind: choice("Kind", "What the row is for", KIND_ITEMS)
    pattern: text("Names", "Names, separated by commas; * stands for any characters and ? for one")
    factor: number(
        "Blend Factor",
        "Factor of the blend time: 0 cuts, 1 blends as the other bones, 2 takes twice as long",
        1.0,
        max=profiles.FACTORS[1],
        min=profiles.FACTORS[0],
        soft_max=2.0,
    )
    delay: number(
        "Delay",
        "Time in seconds for which the source plays on before the blend; only when actions are joined",
        0.0,
        max=profiles.DELAYS[1],
        min=profiles.DELAYS[0],
        soft_max=1.0,
    )
    filter: choice("Filter", "Which of the two clips play", FILTER_ITEMS)


def row_of(item: Any) -> ProfileRow | None:
    """A row of the scene's settings; None if it has no names."""
    if not item.pattern.strip(" ,"):
        return None
    return ProfileRow(item.kind, item.pattern, item.factor, item.delay, item.filter)


def rows(settings: Any) -> tuple[ProfileRow, ...]:
    """The rows of the scene's settings that have names."""
    return tuple(row for row in map(row_of, settings.profile_rows) if row is not None)


def used(settings: Any) -> str:
    """The profile of the settings as the argument of operators: JSON, empty where it is switched off."""
    return profiles.text_of(rows(settings)) if settings.use_profile else ""


def fill(settings: Any, wanted: tuple[ProfileRow, ...]) -> None:
    """Replace the rows of the settings, and use them."""
    settings.profile_rows.clear()
    for row in wanted:
        item = settings.profile_rows.add()
        for name in ("kind", "pattern", "factor", "delay", "filter"):
            setattr(item, name, getattr(row, name))
    settings.profile_index, settings.use_profile = 0, True


def available() -> dict[str, Path]:
    """Name to file of every preset there is."""
    return preset_files.available(SUBFOLDER, ENDING)


def read(path: Path) -> tuple[ProfileRow, ...]:
    """The rows of a file. Raises FileError."""
    try:
        if path.stat().st_size > _LONGEST_FILE:
            raise ValueError("too long for a profile")
        return profiles.read_text(path.read_text("utf-8-sig"))
    except InvalidArgument as error:
        raise FileError("The profile '{profile}': {error}", profile=shown_name(path), error=error) from None
    except (OSError, ValueError):
        raise FileError(
            "The profile '{profile}' cannot be read; fix or delete its file.", profile=shown_name(path)
        ) from None


def about(path: Path) -> str:
    """The rows of a file, one a line; nothing where it cannot be read."""
    try:
        return "\n".join(f"{row.pattern}: {_worded(row)}" for row in read(path))
    except FileError:
        return ""


def _worded(row: ProfileRow) -> str:
    if row.filter != "BLEND":
        return profiles.FILTERS[row.filter]
    return f"{row.factor:g}" + (f", {row.delay:g} s" if row.delay else "")
