"""Python in the documents: it runs, and prints what the page shows; and a script writer finds all operators by name."""

import re
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from . import pages
from .pages import Block

SCRIPTS = [block for block in pages.blocks() if block.language == "python"]
PRELUDE = f"""
import math, os, sys
sys.path.insert(0, {str(pages.ROOT)!r})
import bpy
"""
IN_DEMO = """
from standalone import load
load().register()
bpy.ops.wm.open_mainfile(filepath={file!r})
armature = bpy.data.objects["Human"]
"""
_NOISE = re.compile(r"^(Read blend|Info: Saved|scripts disabled for|\d\d:\d\d\.\d+ ).*\n", re.MULTILINE)


def _printed(code: str, before: str) -> str:
    """What a script prints in a Blender of its own, whose own words about files are left out."""
    whole = f"{PRELUDE}{before}\ntry:\n    exec({code!r}, globals())\nfinally:\n    sys.stdout.flush()\n"
    done = subprocess.run([sys.executable, "-c", whole], text=True, capture_output=True, timeout=300, cwd=pages.ROOT)
    assert done.returncode == 0, done.stderr
    return _NOISE.sub("", done.stdout)


def _needs_demo(block: Block) -> bool:
    return bool(re.search(r'objects\["Human"\]|\barmature\b', block.text)) and "read_homefile" not in block.text


@pytest.mark.parametrize("block", [block for block in SCRIPTS if not _needs_demo(block)], ids=lambda block: block.place)
def test_a_script_compiles(block) -> None:
    compile(block.text, block.place, "exec")


@pages.on_the_newest
def test_scripts_print_what_the_pages_show(demo, subtests) -> None:
    """Those that need numpy only are run by tests/lookat_pd."""
    wanted = [block for block in SCRIPTS if "import bpy" in block.text and block.output]
    assert len(wanted) > 2
    for block in wanted:
        with subtests.test(block.place):
            before = IN_DEMO.format(file=str(demo / "look_at.blend")) if _needs_demo(block) else ""
            pages.compare(block.place, block.output, _printed(block.text, before))


@pages.on_the_newest
def test_fragments_run(demo, subtests) -> None:
    """Lines about `armature`, a character with a look-at, without anything printed."""
    wanted = [block for block in SCRIPTS if _needs_demo(block) and not block.output]
    assert wanted
    for block in wanted:
        with subtests.test(block.place):
            _printed(block.text, IN_DEMO.format(file=str(demo / "look_at.blend")))


# Names


PAGE = (Path(pages.ROOT) / "docs/scripting.md").read_text("utf-8")


def test_all_operators_are_named_for_script_writers() -> None:
    named = set(re.findall(r"`(?:lookat_pd)?\.([a-z_]+)`", PAGE))
    operators = set(dir(bpy.ops.lookat_pd))
    assert operators <= named, sorted(operators - named)
    # One is the number of a look-at of a shot.
    called = set(re.findall(r"`lookat_pd\.([a-z_]+)`", PAGE)) - {"shot"}
    assert called <= operators, sorted(called - operators)


def test_their_arguments_are_those_that_they_have(subtests) -> None:
    """What begins the second cell of a row about one operator, or follows a comma in it, is an argument of it."""
    for row in re.findall(r"^\| `lookat_pd\.([a-z_]+)` \| (.*) \|$", PAGE, re.MULTILINE):
        name, cell = row
        known = {prop.identifier for prop in getattr(bpy.ops.lookat_pd, name).get_rna_type().properties}
        said = re.findall(r"(?:^|, |; )`([a-z_]+)`", re.sub(r"\([^()]*\)", "", cell.split("The result")[0]))
        with subtests.test(name):
            assert set(said) <= known


def test_modules_are_named_for_any_repository() -> None:
    odd = [str(path) for path in pages.PAGES if re.search(r"bl_ext\.(?!<repository>)\w", path.read_text("utf-8"))]
    assert not odd
