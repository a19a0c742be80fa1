"""Online Manual leads from every operator and property to a page, and a heading on it, that exist."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import bpy
import pytest

from extension import load

manual = load("operators.manual")
project = load("rig.project")
ROOT = Path(__file__).resolve().parents[2]
OWN = load().__name__
WRAPPED = ("PoseBone", "Object", "Scene", "WindowManager", "Armature", "Action", "Key")


def groups(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith(f"{OWN}.") and getattr(kind, "is_registered", False):
            yield kind
        yield from groups(kind)


def asked() -> Iterator[str]:
    """What Blender looks up, in its lower-case words."""
    for name in dir(bpy.ops.lookat_pd):
        yield f"bpy.ops.lookat_pd.{name}"
    for base in (bpy.types.PropertyGroup, bpy.types.AddonPreferences):
        for kind in groups(base):
            own = set(kind.bl_rna.properties.keys()) - set(base.bl_rna.properties.keys())
            yield from (f"bpy.types.{kind.bl_rna.identifier}.{name}".lower() for name in own)
    for name in WRAPPED:
        for prop in getattr(bpy.types, name).bl_rna.properties.keys():
            if prop.startswith("lookat_pd"):
                yield f"bpy.types.{name}.{prop}".lower()


def anchors(page: str) -> set[str]:
    titles = re.findall(r"^#+ +(.*)$", (ROOT / "docs" / f"{page}.md").read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_everything_has_a_page() -> None:
    patterns = [pattern for pattern, _ in manual.targets()]
    assert not [name for name in asked() if not any(fnmatchcase(name, pattern) for pattern in patterns)]


def test_no_pattern_is_left_over() -> None:
    first, names = {}, list(asked())
    for name in names:
        first.setdefault(next(pattern for pattern, _ in manual.targets() if fnmatchcase(name, pattern)), name)
    assert not [pattern for pattern, _ in manual.targets() if pattern not in first]


def test_pages_and_headings_exist() -> None:
    for page in (project.MANUAL, project.FIRST_STEPS, *(page for _, page in manual.targets())):
        name, _, heading = page.partition("#")
        assert (ROOT / "docs" / f"{name}.md").exists(), page
        assert not heading or heading in anchors(name), page


@pytest.mark.every_blender
def test_blender_finds_the_page() -> None:
    from bl_operators.wm import WM_OT_doc_view_manual

    found = WM_OT_doc_view_manual._lookup_rna_url("bpy.ops.lookat_pd.bake", verbose=False)
    assert found == f"{project.website()}look-at/baking.html"
    found = WM_OT_doc_view_manual._lookup_rna_url("bpy.types.LookAtSettings.settle_time", verbose=False)
    assert found == f"{project.website()}look-at/switching.html#the-settle-time"


def test_japanese_pages_are_a_folder_of_the_site() -> None:
    assert project.pages("ja_JP") == f"{project.website()}ja/"
    assert project.pages("en_US") == project.pages("") == project.website()
