"""The messages that the documents explain are messages that exist, in their present words."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from extension import load

from . import texts

DOCS = Path(load().__file__).parent / "docs"
PAGES = sorted(page.parent.name for page in DOCS.glob("*/messages.md"))


def _plain(text: str) -> str:
    return re.sub(r"['\"*`]", "", text)


def explained(page: str) -> Iterator[list[str]]:
    """The fixed parts of each message in the tables with messages; what stands for a value or the rest is "…"."""
    in_table = False
    for line in (DOCS / page / "messages.md").read_text("utf-8").splitlines():
        in_table = line.startswith("| message |") or (in_table and line.startswith("|"))
        cell = line.split("|")[1].strip() if in_table else ""
        if cell not in ("", "message") and not cell.startswith("---"):
            yield [part for part in (part.strip(" .,;") for part in _plain(cell).split("…")) if part]


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
def test_explained_messages_exist(page) -> None:
    messages = {_plain(re.sub(r"\{[^{}]*\}", "\0", text)) for text in texts.templates()}
    rows = list(explained(page))
    assert rows
    for parts in rows:
        # What is wrong with a thing may be a message of its own, within another one.
        parts = [part for part in parts if part not in messages]
        pattern = re.compile(".*".join(map(re.escape, parts)))
        assert any(pattern.search(message) for message in messages), " … ".join(parts)
