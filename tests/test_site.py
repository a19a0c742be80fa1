"""The documents: every link and picture leads somewhere, on GitHub and on the site, and a page is read in one go."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
contents = pytest.importorskip("website.contents")
sys.path.pop(0)

DOCS = ROOT / "docs"
MOST_WORDS, WORDS_A_PICTURE = 1500, 500
DOCUMENTS = [*(f"docs/{page}" for page in contents.pages()), "README.md", "README.ja.md", "CONTRIBUTING.md"]


def read(document: str) -> str:
    return (ROOT / document).read_text("utf-8")


def leads_nowhere(document: str, target: str) -> bool:
    """Whether a link within the repository has no file, or no such heading there."""
    if re.match(r"\w+:", target):
        return False
    file, _, anchor = target.partition("#")
    path = (ROOT / document).parent / file if file else ROOT / document
    if anchor and path.suffix == ".md" and path.exists():
        return anchor not in contents.anchors(path.read_text("utf-8"))
    return not path.exists()


def test_links_and_pictures_lead_somewhere() -> None:
    broken = [
        f"{document}: {target}"
        for document in DOCUMENTS
        for text in [read(document)]
        for target in (*contents.links(text), *(file for _, file in contents.pictures(text)))
        if leads_nowhere(document, target)
    ]
    assert not broken


def test_pictures_say_what_they_show() -> None:
    assert not [
        f"{document}: {file}" for document in DOCUMENTS for said, file in contents.pictures(read(document)) if not said
    ]


def test_every_picture_is_in_a_document() -> None:
    shown = {
        ((ROOT / document).parent / file).resolve()
        for document in DOCUMENTS
        for _, file in contents.pictures(read(document))
    }
    kept = {path for path in (DOCS / "images").glob("*") if path.suffix in (".png", ".webp")}
    assert not sorted(path.name for path in kept - shown)


def test_every_page_is_in_the_contents_once() -> None:
    listed = Counter(page for hub in contents.pages() for pages in contents.contents(hub).values() for page in pages)
    assert listed == Counter(page for page in contents.pages() if page != contents.INDEX)


def test_pages_for_users_are_short_and_have_pictures() -> None:
    found = []
    for page in sorted(set(contents.pages()) - contents.reference()):
        text = read(f"docs/{page}")
        words, pictures = contents.words(text), len(contents.pictures(text))
        if words > MOST_WORDS or pictures < words // WORDS_A_PICTURE:
            found.append(f"{page}: {words} words, {pictures} pictures")
    assert not found


@pytest.mark.parametrize("document", ["README.md", "README.ja.md"])
def test_readme_is_one_screen_with_installation_first(document) -> None:
    text = read(document)
    assert len(text.splitlines()) <= 60
    assert text.index("![") < text.index("\n## ")
    install = text.split("\n## ")[1]
    assert "/repository/index.json" in install
    assert "make demo " in text
    assert "make test " in text
    assert "README.ja.md" in text or "README.md" in text


def test_words_are_those_that_are_read() -> None:
    text = "# Two words\n\n```\nnot counted\n```\n![nor this](a.png) [one](b.md#x) `code` | a | - |\n\n- [c](d.md)\n"
    assert contents.words(text) == 6
    assert list(contents.links(text)) == ["b.md#x", "d.md"]
    assert contents.pictures(text) == [("nor this", "a.png")]
    assert contents.anchors("# A `b.py`, (c)\n## A\n## A\n") == {"a-bpy-c", "a", "a-1"}
