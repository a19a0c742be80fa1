"""The zips of the extension and the repository that Blender installs them from, as built by tools/build."""

import json
import os
import re
import subprocess
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from extension import load

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the first bash on Windows is not that of Git")

# Whoever does this in Blender's process does it to all other add-ons, too.
_OF_OTHERS = re.compile(r"\bsys\s*\.\s*(path|meta_path|path_hooks)\b|\bos\s*\.\s*_exit\b|\bsys\s*\.\s*exit\b")
_NETWORK = re.compile(r"^\s*(import|from) (urllib\.request|http|socket|ssl|ftplib|requests|aiohttp)\b", re.MULTILINE)
_LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"')


def _built(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", ROOT / "tools/build", *words]
    return subprocess.run(command, capture_output=True, text=True, env=_without_blender() | environment)


def _without_blender() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "BLENDER"}


@pytest.fixture(scope="module")
def packed() -> Iterator[zipfile.ZipFile]:
    """The zip of a platform that has no engine: all but the wheels, and nothing is fetched."""
    done = _built("macos-x64")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(ROOT / done.stdout.strip()) as file:
        yield file


@pytest.fixture(scope="module")
def code(packed) -> dict[str, str]:
    return {name: packed.read(name).decode() for name in packed.namelist() if name.endswith(".py")}


@pytest.fixture(scope="module")
def manifest(packed) -> dict:
    return tomllib.loads(packed.read("blender_manifest.toml").decode())


def test_nothing_in_it_touches_what_all_add_ons_share(code) -> None:
    assert not [name for name, text in code.items() if _OF_OTHERS.search(text)]


def test_nothing_in_it_starts_where_there_is_no_checkout(code) -> None:
    assert not [name for name, text in code.items() if name.endswith("__main__.py") or "__main__" in text]
    assert not [name for name, text in code.items() if re.search(r"(import|from) standalone\b", text)]


def test_it_has_the_packages_and_papers_and_no_more(packed) -> None:
    names = packed.namelist()
    tops = {name.partition("/")[0] for name in names}
    papers = {"blender_manifest.toml", "LICENSE", "CHANGELOG.md", "README.md", "__init__.py", "docs"}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {"rig"}
    assert tops == packages | papers
    assert all(name.startswith("docs/images/") for name in names if name.startswith("docs/"))


def test_its_readme_stands_alone(packed, manifest) -> None:
    """Pictures are in the zip; pages are addresses on the web, of this version, and those pages exist."""
    text = packed.read("README.md").decode()
    source = load("rig.project").REPOSITORY
    pictures = set()
    for link in (first or second for first, second in _LINK.findall(text)):
        if link.startswith(source):
            kind, version, path = link.removeprefix(source + "/").partition("#")[0].split("/", 2)
            assert (kind, version) in {("blob", f"v{manifest['version']}"), ("tree", f"v{manifest['version']}")}, link
            assert (ROOT / path).exists(), link
        elif "://" not in link and not link.startswith("#"):
            pictures.add(link)
    assert pictures == {name for name in packed.namelist() if name.startswith("docs/images/")}
    assert pictures


def test_it_writes_nothing_beside_itself(code) -> None:
    """Its folder may be read-only, and an update removes what is in it: its own place is for reading data only."""
    writes = re.compile(r"\.write_(text|bytes)\(|\.mkdir\(|\bopen\(|\.touch\(")
    assert not [name for name, text in code.items() if "__file__" in text and writes.search(text)]


def test_it_has_code_that_can_be_read_and_a_name_of_its_own(packed, manifest) -> None:
    assert {Path(name).suffix for name in packed.namelist()} <= {".py", ".json", ".toml", ".md", ".png", ".webp", ""}
    assert "blender" not in manifest["name"].lower()


def test_its_permissions_are_those_that_it_needs(code, manifest) -> None:
    asked = manifest["permissions"]
    copies = [name for name, text in code.items() if re.search(r"\.clipboard\b", text)]
    assert ("clipboard" in asked) == bool(copies)
    assert ("network" in asked) == bool([name for name, text in code.items() if _NETWORK.search(text)])
    # VRM files, sounds, subtitles, presets, profiles, and whatever is named on the command line.
    assert set(asked) == {"files", "clipboard"}


def test_version_maintainer_and_website_stand_in_the_manifest_alone(manifest) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["dynamic"] == ["version"]
    assert not {"authors", "maintainers", "version"} & set(project)
    assert "urls" not in project
    assert project["name"].replace("-", "_") == manifest["id"]
    assert manifest["website"].startswith("https://")
    assert all(manifest["maintainer"] in line for line in manifest["copyright"])


@pytest.mark.thorough
def test_a_warning_of_blender_is_an_error(tmp_path) -> None:
    blender = tmp_path / "blender"
    blender.write_text("#!/bin/sh\necho 'WARN: something is odd'\n")
    blender.chmod(0o755)
    done = _built("linux-nowhere", BLENDER=str(blender))
    assert done.returncode
    assert "something is odd" in done.stderr
    assert not list((ROOT / "build").glob("*nowhere*"))


@pytest.mark.slow
def test_a_repository_has_one_zip_for_each_platform_and_python() -> None:
    done = _built("--repository")
    if "cannot be fetched" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    index = ROOT / done.stdout.strip()
    rows = json.loads(index.read_text("utf-8"))["data"]
    engine = {"linux-x64", "linux-arm64", "windows-x64", "macos-arm64"}
    fits = Counter((row["platforms"][0], python) for row in rows for python in row.get("python_versions", ["*"]))
    assert all(len(row["platforms"]) == 1 for row in rows)
    every = {(platform, python) for platform in engine for python in ("3.11", "3.13", "3.14")}
    assert fits == Counter(every | {("macos-x64", "*"), ("windows-arm64", "*")})
    assert {index.parent / row["archive_url"] for row in rows} == set(index.parent.glob("*.zip"))
    assert (index.parent / "index.html").exists()
    for row in rows:
        with zipfile.ZipFile(index.parent / row["archive_url"]) as file:
            wheels = [name for name in file.namelist() if name.endswith(".whl")]
            assert len(wheels) == len(row.get("python_versions", ()))
            assert bool(wheels) == any("DeepMind" in line for line in row["copyright"])
