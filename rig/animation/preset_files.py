"""Files of presets: those that come with the extension, and the user's own in Blender's preset folders."""

from pathlib import Path

import bpy

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


def is_shipped(path: Path) -> bool:
    """Whether a preset comes with the extension."""
    return path.is_relative_to(SHIPPED)
