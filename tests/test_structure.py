"""The project keeps its own rules: which package may import which, and nothing stays behind in Blender."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import bpy
import pytest
from registry import left_behind, snapshot

from extension import load

ROOT = Path(__file__).resolve().parent.parent

# What each package may import from; "cli" stands beside the operators, both on top of the rig.
MAY_KNOW = {
    "lookat_pd": set(),
    "rig": {"lookat_pd"},
    "translations": {"lookat_pd"},
    "operators": {"assets", "rig", "lookat_pd", "translations"},
    "panels": {"operators", "rig", "lookat_pd", "translations"},
    "lookat_pd_batch": set(),
    "cli": {"rig", "lookat_pd", "lookat_pd_batch"},
}
PACKAGES = [package for package in MAY_KNOW if list((ROOT / package).rglob("*.py"))]


def architecture() -> str:
    return (ROOT / "docs/architecture.md").read_text("utf-8")


def told(package: str) -> dict[str, set[str]]:
    """What each package within a package may import from, by the tables of the architecture page."""
    rows = re.findall(rf"^\| `{package}/(\w+)/` \|[^|]*\|([^|]*)\|$", architecture(), re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", arrows)) for name, arrows in rows}


WITHIN = {package: told(package) for package in ("lookat_pd", "rig")}
"""The layers of packages of the solvers and of the bridge."""
LOOSE = {
    "rig": {"project", "settings", "whole_file"},
    "lookat_pd": {
        *("__init__", "checks", "curve_fit", "curves", "errors", "inertialize"),
        *("message", "progress", "rotation", "skeleton"),
    },
}
"""Files that are in no package: those that several solvers share, and the former name of `transitions`."""


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def read(path: Path) -> tuple[list[ast.Import | ast.ImportFrom], list[str]]:
    """The imports of a file, and the names of the public classes that it defines."""
    tree = ast.parse(path.read_text("utf-8"))
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)], classes


def imports(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Level and dotted names, split, of each import in a file; level 0 is an absolute import."""
    for node in read(path)[0]:
        if isinstance(node, ast.Import):
            yield from ((0, alias.name.split(".")) for alias in node.names)
        elif node.module:
            yield node.level, node.module.split(".")
        else:
            yield from ((node.level, alias.name.split(".")) for alias in node.names)


@cache
def files_known(path: Path) -> tuple[Path, ...]:
    """Files of the checkout that a file imports by relative imports."""
    package, known = path.relative_to(ROOT).parts[:-1], []
    for node in read(path)[0]:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ROOT.joinpath(*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            for alias in node.names:
                files = (base / alias.name).with_suffix(".py"), base.with_suffix(".py"), base / "__init__.py"
                known += [file for file in files if file.exists()][:1]
    return tuple(known)


def packages_known(path: Path) -> set[str]:
    """Packages that a file imports from by relative imports, its own among them."""
    package = path.relative_to(ROOT).parts[:-1]
    return {(*package[: len(package) - level + 1], *names)[0] for level, names in imports(path) if level}


PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def written(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of the strings in a file, values in them as {}, without docstrings and the reasons of asserts."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    left_out = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    left_out |= {id(node.msg) for node in nodes if isinstance(node, ast.Assert)}
    left_out |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr) and id(node) not in left_out:
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, PLACEHOLDER.sub("{}", "".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.lineno, PLACEHOLDER.sub("{}", node.value)


def test_no_package_offers_a_name_that_one_of_its_modules_has() -> None:
    """Whoever imports the module later would put it in the place of what the package offers."""
    taken = []
    for init in (path for package in PACKAGES for path in (ROOT / package).rglob("__init__.py")):
        modules = {path.stem for path in init.parent.iterdir()}
        for node in ast.walk(ast.parse(init.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = {alias.asname or alias.name for alias in node.names}
                taken += [f"{init.relative_to(ROOT)}: {name}" for name in sorted(names & modules)]
    assert not taken


def test_solvers_import_numpy_and_python_only() -> None:
    allowed = sys.stdlib_module_names | {"numpy"}
    foreign = {
        f"{path.relative_to(ROOT)}: {names[0]}"
        for path in sources("lookat_pd")
        for level, names in imports(path)
        if not level and names[0] not in allowed | ({"mujoco"} if path.parent.name == "dynamics" else set())
    }
    assert not foreign


def test_solvers_load_where_there_is_no_blender() -> None:
    program = """
import sys, pkgutil, importlib
sys.path.insert(0, sys.argv[1])
sys.modules.update(bpy=None, mathutils=None, bmesh=None, mujoco=None)
import lookat_pd
for module in pkgutil.walk_packages(lookat_pd.__path__, "lookat_pd."):
    importlib.import_module(module.name)
"""
    folder = str(Path(load("lookat_pd").__file__).parent.parent)
    # Blender sets variables for its own Python that a plain one must not see; -I also ignores the user's.
    run = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_those_below(package: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {sorted(unknown)}"
        for path in sources(package)
        if (unknown := packages_known(path) - MAY_KNOW[package] - {package})
    }
    assert not wrong


@pytest.mark.parametrize("package", WITHIN)
def test_layers_within_a_package(package: str) -> None:
    """Packages within the solvers and the bridge import from those below only, files beside them from none."""
    wrong = set()
    for path in sources(package):
        own = path.relative_to(ROOT / package).parts
        here = own[0] if len(own) > 1 else ""
        for known in files_known(path):
            if known.is_relative_to(ROOT / package):
                parts = known.relative_to(ROOT / package).parts
                there = parts[0] if len(parts) > 1 else ""
                if there not in {here, ""} | WITHIN[package].get(here, set()) and path.stem not in LOOSE[package]:
                    wrong.add(f"{path.relative_to(ROOT)} imports {known.relative_to(ROOT)}")
    assert not wrong
    assert {path.parent.name for path in (ROOT / package).glob("*/*.py")} == set(WITHIN[package])
    assert {path.stem for path in (ROOT / package).glob("*.py")} == LOOSE[package]


def test_no_feature_may_import_another() -> None:
    below = {"guards", "animation", "sampling", "detection", "controls", "layers", "feet"}
    assert set().union(*WITHIN["rig"].values()) == below


def test_no_circle_of_imports() -> None:
    known = {path: set(files_known(path)) for package in PACKAGES for path in sources(package)}
    done: set[Path] = set()

    def circle(path: Path, way: tuple[Path, ...]) -> tuple[Path, ...]:
        if path in way:
            return (*way[way.index(path) :], path)
        if path in done:
            return ()
        for other in known.get(path, ()):
            # A package's own file gathers what is in it.
            if other.name != "__init__.py" and (found := circle(other, (*way, path))):
                return found
        done.add(path)
        return ()

    for path in known:
        if path.name != "__init__.py":
            assert not [str(file.relative_to(ROOT)) for file in circle(path, ())]


def test_a_public_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = {}
    for package in PACKAGES:
        for path in sources(package):
            for name in read(path)[1]:
                places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_a_sentence_stands_once() -> None:
    """What is said in two places is a constant, or a function that makes the error, the message or the property."""
    places: dict[str, list[str]] = {}
    for path in (path for package in PACKAGES for path in sources(package)):
        for line, text in written(path):
            if len(text) > 25 and text.count(" ") > 3:
                places.setdefault(text, []).append(f"{path.relative_to(ROOT)}:{line}")
    assert not {text: found for text, found in places.items() if len(found) > 1}


def test_the_architecture_page_shows_what_packages_may_import() -> None:
    rows = re.findall(r"^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", architecture(), re.MULTILINE)
    shown = {name: set(re.findall(r"`(\w+)`", arrows)) for name, arrows in rows}
    assert {name: shown.get(name) for name in MAY_KNOW} == MAY_KNOW


def test_the_architecture_page_names_files_that_exist() -> None:
    """Every module of the bridge is on the page, and every module and path on the page is in the checkout."""
    page = architecture()
    named = {word for code in re.findall(r"`([^`\n]+)`", page) for word in re.split(r"[^\w]+", code)}
    assert not {path.stem for path in sources("rig")} - {"__init__"} - named
    gone = {
        f"{package}/{name}"
        for package, contents in re.findall(r"^\| `((?:lookat_pd|rig)/\w+)/` \|([^|]*)\|", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)/?`", contents)
        if not (ROOT / package / f"{name}.py").exists() and not (ROOT / package / name).exists()
    }
    beginnings = ("", "rig", "rig/look_at", "rig/look_at/body", "lookat_pd")
    for path in re.findall(r"`((?:\w+/)+\w+(?:\.\w+)?)`", page):
        places = [ROOT / beginning / path for beginning in beginnings]
        if not path.startswith("build/") and not any(p.exists() or p.with_suffix(".py").exists() for p in places):
            gone.add(path)
    assert not gone


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_each_other_relatively(package: str) -> None:
    """Inside Blender the package is below bl_ext: a plain `import lookat_pd` would not be found there."""
    wrong = {
        f"{path.relative_to(ROOT)} imports {'.'.join(names)}"
        for path in sources(package)
        if path.name != "__main__.py"  # a program started from the checkout
        for level, names in imports(path)
        if not level and names[0] in MAY_KNOW
    }
    assert not wrong


def committed_texts() -> Iterator[tuple[str, str]]:
    """Names and contents of the text files under version control."""
    try:
        listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    for name in listing.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file():
            content = path.read_bytes()
            if b"\0" not in content:
                yield name, content.decode("utf-8", "replace")


def test_no_file_names_a_place_on_one_machine() -> None:
    folders = "|".join(("home", "Users", "root", "work", "tmp"))
    machine = re.compile(rf"(?<![\w.~$}}:/*]){'/'}(?:{folders})/\w|[A-Z]:\\Users|{re.escape(str(ROOT))}")
    found = [
        f"{name}: {line.strip()[:100]}"
        for name, text in committed_texts()
        for line in text.splitlines()
        if machine.search(line)
    ]
    assert not found


def test_no_file_has_a_conflict_in_it() -> None:
    marker = re.compile("^(?:" + "<" * 7 + " |" + ">" * 7 + " )", re.MULTILINE)
    assert not [name for name, text in committed_texts() if marker.search(text)]


_FILES_OF_BLENDER = re.compile(
    r"libraries\.(?:load|write)|save_(?:as_)?mainfile|\bos\.(?:replace|rename)|shutil\.move|mmap"
)


def test_only_the_command_line_writes_files_of_blender() -> None:
    """Blender keeps files mapped while they are open, and dies where somebody writes into one.

    `rig/whole_file` puts another file in the place of one, which stays mapped.
    """
    found = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        if package != "cli"
        for path in (ROOT / package).rglob("*.py")
        if path != ROOT / "rig/whole_file.py"
        if _FILES_OF_BLENDER.search(path.read_text("utf-8"))
    ]
    assert not found


def test_blender_itself_puts_another_file_in_the_place_of_one(tmp_path) -> None:
    """What is saved over a file that another Blender, or a library, has open: it stays whole for those."""
    path = tmp_path / "saved.blend"
    item = bpy.data.objects.new("Kept", None)

    def save() -> None:
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)

    for write in (save, lambda: bpy.data.libraries.write(str(path), {item})):
        write()
        with path.open("rb") as file:
            before = path.stat().st_ino
            write()
            assert path.stat().st_ino != before
            assert len(file.read()) == os.fstat(file.fileno()).st_size > 0


def test_blender_runs_the_installed_extension() -> None:
    """In a real Blender the zip is tested, not the checkout that the tests come from."""
    if not bpy.app.binary_path:
        pytest.skip("no real Blender")
    from lookat_pd import errors

    assert load().__name__.startswith("bl_ext.")
    assert errors is load("lookat_pd.errors")
    assert not Path(errors.__file__).is_relative_to(ROOT / "lookat_pd")


def test_solvers_exist_once() -> None:
    from lookat_pd import errors

    assert load("lookat_pd.errors").LookAtError is errors.LookAtError


def test_registering_leaves_nothing_behind() -> None:
    package = load()
    package.unregister()
    try:
        before = snapshot()
        assert not left_behind(package.__name__)
        for _ in range(10):
            package.register()
            package.unregister()
        assert snapshot() == before
        assert not left_behind(package.__name__)
    finally:
        package.register()


@pytest.mark.skipif(not (ROOT / "tools").exists(), reason="not a checkout")
def test_the_zips_have_every_package() -> None:
    """Of the product: those at the root, and `rig`, which only gathers packages."""
    listed = re.search(r'^rooms="(.*)"', (ROOT / "tools" / "build").read_text("utf-8"), re.MULTILINE)
    assert listed is not None
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= set(listed[1].split())
