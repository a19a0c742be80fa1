"""Files of presets: those that come with the extension, and the user's own in Blender's preset folders."""

from pathlib import Path

import bpy

from ...lookat_pd.errors import RigError

SHIPPED = Path(__file__).resolve().parents[2] / "assets"
"""The folder of those that come with the extension."""


def available(subfolder: str, ending: str) -> dict[str, Path]:
    """Name to file of every preset there is, those that come with the extension first; a user's own wins over these."""
    files: dict[str, Path] = {}
    for folder in reversed(bpy.utils.preset_paths(subfolder)):
        files |= {shown_name(path): path for path in sorted(Path(folder).glob(f"*{ending}"))}
    return files


def shown_name(path: Path) -> str:
    """A preset's name as menus show it."""
    return bpy.path.display_name(path.name, title_case=False)


def check_own(path: Path, name: str) -> None:
    """Raise RigError where a preset comes with the extension, and cannot be removed."""
    if path.is_relative_to(SHIPPED):
        raise RigError(
            "The preset '{name}' is part of the extension and cannot be removed; choose a preset of your own.",
            name=name,
        )
