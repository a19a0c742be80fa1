"""What other versions of Blender run is enough: of each feature, operator and verb at least one test."""

import ast
from functools import cache
from pathlib import Path

import every_blender
import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
MARK = "every_blender"
ASK = f"mark one of its tests with @pytest.mark.{MARK}"
PACKAGES = sorted(
    path.relative_to(ROOT / "rig")
    for path in (ROOT / "rig").rglob("*")
    if path.is_dir() and any(path.glob("[!_]*.py")) and (TESTS / path.relative_to(ROOT)).is_dir()
)


@cache
def marked(path: Path) -> list[str]:
    """The tests of a file that run in every Blender."""
    functions = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
    found = [node for node in functions if node.name.startswith("test_")]
    if not every_blender.is_close(path):
        found = [node for node in found if any(MARK in ast.unparse(one) for one in node.decorator_list)]
    return [node.name for node in found]


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_of_each_package_of_the_bridge(package: Path) -> None:
    assert any(map(marked, (TESTS / "rig" / package).rglob("test_*.py"))), ASK


@pytest.mark.parametrize("path", sorted((TESTS / "operators").glob("test_*.py")), ids=lambda path: path.stem)
def test_of_each_group_of_operators(path: Path) -> None:
    assert marked(path), ASK


@pytest.mark.parametrize("verb", sorted({path.stem for path in (ROOT / "cli/verbs").glob("[!_]*")}))
def test_of_each_verb(verb: str) -> None:
    files = (path for path in (TESTS / "cli").glob("test_*.py") if f'"{verb}"' in path.read_text("utf-8"))
    assert any(map(marked, files)), ASK
