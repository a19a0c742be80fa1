"""Each thing has one word: the Japanese texts use the table of terms in the documents."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from extension import load

ja = load("translations.ja")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "terms.md"
TEXTS = [(text, done) for texts in (*ja.INTERFACE.values(), ja.MESSAGES) for text, done in texts.items()]


class Term(NamedTuple):
    english: str
    japanese: str
    others: list[str]


def terms() -> Iterator[Term]:
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| English"):
            english, japanese, others, _ = (cell.strip() for cell in line.strip("|").split("|"))
            yield Term(english, japanese, [other.strip() for other in others.split(",") if other.strip()])


TERMS = list(terms())


def used(word: str, text: str) -> bool:
    """Whether a text has a word; one in katakana not as a part of a longer one, as ターン is of パターン."""
    kana = r"[\u30a1-\u30f6\u30fc]"
    before, after = (f"(?<!{kana})", f"(?!{kana})") if re.fullmatch(f"{kana}+", word) else ("", "")
    return re.search(before + re.escape(word) + after, text) is not None


def test_the_table_is_read() -> None:
    assert {"Active", "share", "insert a keyframe"} <= {term.english for term in TERMS}
    assert used("ルック", "ルックを追加") and not used("ルック", "ルックアット")


@pytest.mark.parametrize("term", TERMS, ids=[term.english for term in TERMS])
def test_a_term_has_one_word(term: Term) -> None:
    assert any(used(term.japanese, done) or term.japanese in done for _, done in TEXTS), "nobody uses it"
    wrong = [(other, done) for other in term.others for _, done in TEXTS if used(other, done)]
    assert not wrong


def test_labels_are_the_terms() -> None:
    named = {term.english.lower(): term.japanese for term in TERMS}
    labels = {(text, done) for text, done in TEXTS if text.lower() in named and text[0].isupper()}
    assert len(labels) > 8
    assert not {(text, done) for text, done in labels if done != named[text.lower()]}
