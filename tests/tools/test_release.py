"""A release: what it checks before anything is published, and the forms and workflows of GitHub beside it."""

import hashlib
import re
import sys
from pathlib import Path

import pytest

from extension import load

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import release  # noqa: E402

yaml = pytest.importorskip("yaml")
FORMS = ROOT / ".github/ISSUE_TEMPLATE"
LOG = "# Changelog\n\n## 0.2.0\n\n### Look-at\n\n- Better.\n\n## 0.1.0\n\n- First.\n"


def test_notes_are_what_the_changelog_says_of_the_version() -> None:
    assert release.notes(LOG, "0.2.0") == "### Look-at\n\n- Better.\n"


@pytest.mark.parametrize(
    "log", ["", "# Changelog\n", LOG.replace("## 0.2.0", "## Unreleased"), LOG.replace("- B", "B")]
)
def test_a_changelog_that_says_nothing_of_the_version_stops_a_release(log) -> None:
    with pytest.raises(release.NotReady, match=r"CHANGELOG\.md"):
        release.notes(log, "0.2.0")


def test_the_changelog_is_ready_for_the_version_in_the_manifest() -> None:
    assert release.notes((ROOT / "CHANGELOG.md").read_text("utf-8"), release.version())


@pytest.mark.parametrize(
    ("tag", "version", "former", "complaint"),
    [
        (None, "0.2.0", ["v0.1.0", "v0.1.9"], None),
        ("v0.2.0", "0.2.0", ["v0.1.0", "v0.2.0"], None),
        ("v0.10.0", "0.10.0", ["v0.9.0"], None),
        ("v0.2.1", "0.2.0", [], r"v0\.2\.1 and blender_manifest\.toml has 0\.2\.0"),
        ("0.2.0", "0.2.0", [], "The tag is"),
        (None, "0.2.0", ["v0.2.0"], "newer version"),
        ("v0.2.0", "0.2.0", ["v0.10.0"], "newer version"),
    ],
)
def test_tag_and_version_agree_and_are_new(tag, version, former, complaint) -> None:
    if complaint is None:
        release.check_tag(tag, version, former)
    else:
        with pytest.raises(release.NotReady, match=complaint):
            release.check_tag(tag, version, former)


def test_checksums_are_as_sha256sum_reads_them(tmp_path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(b"zip")
    assert release.checksums([file]) == f"{hashlib.sha256(b'zip').hexdigest()}  a.zip\n"


# GitHub


def test_workflows_make_what_there_is() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            for step in job["steps"]:
                made = re.match(r"make ([a-z-]+)", step.get("run", ""))
                assert made is None or made[1] in targets, (path.name, step)


def _fields(path: Path) -> list[tuple[str, bool]]:
    """Names of a form's fields, and whether they are required."""
    body = yaml.safe_load(path.read_text("utf-8"))["body"]
    return [(part["id"], part.get("validations", {}).get("required", False)) for part in body if "id" in part]


@pytest.mark.parametrize("name", ["problem", "idea"])
def test_forms_ask_the_same_in_both_languages(name) -> None:
    english, japanese = FORMS / f"{name}.yml", FORMS / f"{name}.ja.yml"
    assert _fields(english) == _fields(japanese)
    assert not re.search(r"[぀-ヿ一-鿿]", english.read_text("utf-8"))
    labels = [part["attributes"].get("label", "") for part in yaml.safe_load(japanese.read_text("utf-8"))["body"]]
    assert sum(bool(re.search(r"[぀-ヿ一-鿿]", label)) for label in labels) > len(labels) / 2


def test_forms_take_what_the_extension_fills_in() -> None:
    operator = load("operators.report_problem")
    filled = operator.fields()
    for name in (operator.FORM, operator.JAPANESE_FORM):
        assert set(filled) <= {field for field, _ in _fields(FORMS / name)}


def test_every_form_has_what_github_requires() -> None:
    paths = [path for path in FORMS.glob("*.yml") if path.name != "config.yml"]
    assert len(paths) == 4
    names = set()
    for path in paths:
        form = yaml.safe_load(path.read_text("utf-8"))
        assert form["name"]
        assert form["description"]
        assert all(part["type"] in {"markdown", "input", "textarea"} for part in form["body"])
        assert len({name for name, _ in _fields(path)}) == len(_fields(path))
        names.add(form["name"])
    assert len(names) == 4
