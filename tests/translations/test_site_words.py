"""The Japanese pages of the site name buttons and settings as the interface does."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CATALOGS = ROOT / "docs/locale/ja/LC_MESSAGES"
NAME = "Look-at PD"
"""The tab has a Japanese name, the extension in Blender's list has not."""


def labels(group: dict) -> Iterator[tuple[str, str]]:
    for text, said in group.items():
        if isinstance(said, dict):
            yield from labels(said)
        else:
            yield text, said


def sentences(path: Path) -> list[tuple[str, str]]:
    """English and Japanese of a catalog, as Babel writes them in one line each."""
    return re.findall(r'^msgid "(.*)"\nmsgstr "(.*)"$', path.read_text("utf-8"), re.MULTILINE)


def test_what_is_emphasized_is_the_word_of_the_interface() -> None:
    said: dict[str, set[str]] = {NAME: {NAME}}
    for text, word in labels(json.loads((ROOT / "translations/ja.json").read_text("utf-8"))):
        said.setdefault(text, set()).add(word)
    other, checked = [], 0
    for path in sorted(CATALOGS.rglob("*.po")):
        for english, japanese in sentences(path):
            for word in re.findall(r"\*{1,2}([A-Z][^*]*)\*{1,2}", english):
                checked += word in said
                if word in said and not any(one in japanese for one in said[word]):
                    other.append(f"{path.stem}: {word} is {' or '.join(sorted(said[word]))}, not in: {japanese}")
    assert checked > 50
    assert not other
