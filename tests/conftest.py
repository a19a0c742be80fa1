"""One registered extension for the whole run, an empty Blender file for each test, and an end that cannot hang."""

import gc
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Generator
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attack
import every_blender
import pytest

TESTS = Path(__file__).parent
SOLVERS = TESTS / "lookat_pd"
USER_FOLDER = "BLENDER_USER_RESOURCES"
HAS_BLENDER = "bpy" in sys.modules or find_spec("bpy") is not None

exit_code = pytest.StashKey[int]()
throw_away = pytest.StashKey[list[str]]()

attack.load_profile()


def hands_out(config: pytest.Config) -> bool:
    """Whether this process only hands out tests to the others of pytest-xdist, and needs no Blender."""
    return config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[throw_away] = []
    if not HAS_BLENDER or hands_out(config):
        return
    if USER_FOLDER not in os.environ and "bpy" not in sys.modules:
        # The tester's own preferences and add-ons must not matter, nor be changed.
        os.environ[USER_FOLDER] = tempfile.mkdtemp(prefix="lookat_pd_user_")
        config.stash[throw_away].append(os.environ[USER_FOLDER])
    import bpy

    import extension

    config.stash[throw_away].append(bpy.app.tempdir)
    if extension.package().__name__ == extension.standalone.PACKAGE:
        extension.load().register()


@cache
def _is_of_solvers(path: Path) -> bool:
    return path.is_relative_to(SOLVERS)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: to look for garbage in it takes a seventh of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The marks that follow from where a test stands, by which tools/test_runs.py chooses."""
    for item in items:
        marked = item.get_closest_marker("blender") is not None
        if _is_of_solvers(item.path) and not marked:
            item.add_marker("solvers")
        elif not item.get_closest_marker("slow") and (marked or every_blender.is_close(item.path)):
            item.add_marker("every_blender")


def pytest_report_header(config: pytest.Config) -> str:
    if not HAS_BLENDER:
        return "Blender: none, only the solvers are tested"
    if hands_out(config):
        return f"Blender: {metadata.version('bpy')} (module)"
    import bpy

    import extension

    kind = "program" if bpy.app.binary_path else "module"
    return f"Blender: {bpy.app.version_string} ({kind}), extension: {extension.package().__name__}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """tools/test_runs.py says until when slow tests may begin."""
    if item.get_closest_marker("slow") and time.time() > float(os.environ.get("LOOKAT_PD_UNTIL", "inf")):
        pytest.skip("slow, and there is no time left")


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """The texts of a report as plain ones: a process cannot send the project's messages to the one that collects."""
    return _plain((yield))


@pytest.hookimpl(tryfirst=True)
def pytest_warning_recorded(warning_message: warnings.WarningMessage) -> None:
    """The same of a warning."""
    if isinstance(warning_message.message, Warning):
        warning_message.message.args = _plain(warning_message.message.args)


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {_plain(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return type(data)(_plain(value) for value in data)
    return str.__str__(data) if isinstance(data, str) else data


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    session.config.stash[exit_code] = int(session.exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process here: bpy 4.5 from PyPI can hang when the interpreter exits after some add-ons."""
    if "bpy" not in sys.modules or exit_code not in config.stash:
        return
    for folder in config.stash[throw_away]:
        shutil.rmtree(folder, ignore_errors=True)
    if not hasattr(config, "workerinput"):
        config.get_terminal_writer().flush()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(config.stash[exit_code])


@cache
def _empty() -> str:
    """A kept empty file: it opens in half the time of Blender's own, which is of an older version."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    path = Path(tempfile.mkdtemp(dir=bpy.app.tempdir), "empty.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    return str(path)


@pytest.fixture(autouse=True)
def empty_file(request: pytest.FixtureRequest) -> None:
    """An empty file before each test; those of the solvers get it only with the mark `blender`."""
    if _is_of_solvers(request.path) and not request.node.get_closest_marker("blender"):
        return
    pytest.importorskip("bpy", reason="needs Blender's Python module, bpy")
    sys.modules["bpy"].ops.wm.read_homefile(filepath=_empty())


@pytest.fixture(scope="session")
def rigs() -> Path:
    """The folder of rigs from other makers."""
    folder = os.environ.get("LOOKAT_PD_RIGS")
    if not folder:
        pytest.skip("LOOKAT_PD_RIGS names no folder of rigs")
    return Path(folder)
