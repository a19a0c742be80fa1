"""Presets: look-at settings as JSON files in assets/presets, the file's stem being the preset's name.

{"settle_time": 0.6, "damping": "RESPONSIVE", "max_speed": 3.0}
"""

import json
from pathlib import Path
from typing import Any

from ..lookat_pd.errors import FileError
from .arguments import Misuse

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "presets"
_ABOUT = {"name", "description", "version"}


def available() -> dict[str, Path]:
    """Name to file, for each preset that comes with the add-on."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.json"))}


def read(name: str) -> dict[str, Any]:
    """The settings of a preset, whatever the case of its name. Raises Misuse, which lists the presets there are."""
    found = {key.casefold(): path for key, path in available().items()}
    path = found.get(name.casefold())
    if path is None:
        choice = f"there is {', '.join(available())}" if found else "this version has none"
        raise Misuse(f"there is no preset {name!r}; {choice}")
    settings = json.loads(path.read_text("utf-8"))
    return {key: value for key, value in settings.items() if key not in _ABOUT}


def apply(preset: dict[str, Any], settings: Any) -> None:
    """Give a pose bone's look-at the preset's settings. Raises FileError on one that does not exist."""
    for key, value in preset.items():
        if key not in settings.bl_rna.properties:
            raise FileError(f"The preset has a setting '{key}' that look-ats do not have; mend the preset's file.")
        setattr(settings, key, value)
