"""Sentences that Blender cannot look up, because names and numbers stand in them, in the language of the interface."""

import re
from functools import cache
from itertools import pairwise

import bpy

from . import ja

_HOLE = "{}"


def translate(text: str) -> str:
    """The sentence in Blender's language; as it came where that is not Japanese or the sentence is unknown."""
    return japanese(text) if _wants_japanese() else text


def japanese(text: str) -> str:
    """The sentence in Japanese, with what stands in its holes; as it came where it is unknown."""
    if text in ja.SENTENCES:
        return ja.SENTENCES[text]
    for pattern, quoted, translated in _sentences():
        if match := pattern.fullmatch(text):
            holes = zip(match.groups(), quoted, strict=True)
            return translated.format(*(hole if is_name else _fill(hole) for hole, is_name in holes))
    return text


def _wants_japanese() -> bool:
    view = bpy.context.preferences.view
    return bpy.app.translations.locale == "ja_JP" and view.use_translate_reports


def _fill(hole: str) -> str:
    """What stands in a hole: words are translated, names in quotes and all else kept."""
    if hole in ja.PIECES:
        return ja.PIECES[hole]
    for pattern, translated in _pieces():
        hole = pattern.sub(lambda match, translated=translated: translated.format(*match.groups()), hole)
    return re.sub(r"'([^']*)'", r"「\1」", hole)


@cache
def _sentences() -> list[tuple[re.Pattern[str], list[bool], str]]:
    """Patterns of sentences, the most specific first; whether each hole is in quotes; the sentence in Japanese."""
    found = []
    for template in sorted(ja.SENTENCES, key=_literal_length, reverse=True):
        parts = template.split(_HOLE)
        if len(parts) > 1:
            quoted = [part.endswith("'") for part in parts[:-1]]
            found.append((_pattern(parts), quoted, ja.SENTENCES[template]))
    return found


@cache
def _pieces() -> list[tuple[re.Pattern[str], str]]:
    """Patterns of the pieces with holes, and the Japanese. One that begins or ends with a hole is all there is."""
    found = []
    for template in sorted(ja.PIECES, key=_literal_length, reverse=True):
        parts = template.split(_HOLE)
        if len(parts) > 1:
            pattern = _pattern(parts).pattern
            begin, end = "" if parts[0] else r"\A", "" if parts[-1] else r"\Z"
            found.append((re.compile(begin + pattern + end, re.DOTALL), ja.PIECES[template]))
    return found


def _pattern(parts: list[str]) -> re.Pattern[str]:
    """Parts of a template with something in between; in a hole in parentheses there are no others."""
    pattern = re.escape(parts[0])
    for before, after in pairwise(parts):
        pattern += (r"([^()]*?)" if before.endswith("(") else "(.*?)") + re.escape(after)
    return re.compile(pattern, re.DOTALL)


def _literal_length(template: str) -> int:
    return len(template.replace(_HOLE, ""))
