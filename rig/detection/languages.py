"""Which language a rig speaks besides English, and what its words mean.

Words are compared without accents, umlauts and upper case: exporters drop them in their own ways.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

from . import vocabulary as words
from .vocabulary import Convention

_PLAIN = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L",
    "đ": "d", "Đ": "D", "\u0131": "i", "İ": "I", "ə": "e"})  # fmt: skip
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC")
_LONG = 4
"""Letters of a word that is known wherever it stands; shorter ones count only in a rig that speaks the language."""
_SIGN, _SOME, _SPOKEN, _WELL = 0.5, 1.0, 1.5, 2.5
"""How many parts of the body words of a language have to name: that it is spoken where there are signs of a script
without gaps, where none is named in English, where some are, and for words with another meaning in English."""


_ENGLISH = words.HEAD | words.TORSO | words.ARM | words.LEG


@dataclass(frozen=True, eq=False)
class Language:
    """What is read in the names of a rig."""

    known: frozenset[str]
    """All words into which a name is cut."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """The English word for each word of another language; those of several parts with blanks."""
    left: frozenset[str] = words.LEFT
    right: frozenset[str] = words.RIGHT
    signs: tuple[str, ...] = ()
    """Words of a script that leaves no gaps between them, longest first."""
    letters: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    """Single letters for left and right, which count if as many bones have one as the other."""
    english: frozenset[str] = frozenset()
    """Words of the language that mean something else in English."""

    @cached_property
    def run(self) -> re.Pattern[str]:
        """What is cut on its own: a number, letters, or a word of signs with a number in it."""
        numbered = [re.escape(sign) for sign in self.signs if any(map(str.isdigit, sign))]
        return re.compile("|".join([*numbered, r"\d+", r"[^\W\d_]+"]))


def folded(text: str) -> str:
    """The text without accents, letters of full width made those of half width; upper case stays."""
    if text.isascii():
        return text
    return "".join(_base(letter) for letter in unicodedata.normalize("NFKC", text).translate(_PLAIN))


def _base(letter: str) -> str:
    """A letter of an alphabet without its accents; a sign of a syllable as it is."""
    if letter.isascii() or unicodedata.combining(letter):
        return letter if letter.isascii() else ""
    first = unicodedata.normalize("NFD", letter)[0]
    return first if first.isascii() or unicodedata.name(first, "").startswith(("CYRILLIC", "GREEK")) else letter


def is_sign(letter: str) -> bool:
    """Whether a letter is one of a script that leaves no gaps between words."""
    return not letter.isascii() and unicodedata.name(letter, "").startswith(_SCRIPTS)


@lru_cache(maxsize=256)
def spoken(runs: frozenset[str]) -> Language:
    """The language of a rig. runs: all runs of letters in its names, folded, in lower case."""
    text = "\n".join(sorted(runs))
    scores = [(_score(convention, runs, text), -n) for n, convention in enumerate(words.FOREIGN)]
    score, place = max(scores, default=(0.0, 0))
    least = _SPOKEN if runs & _ENGLISH else _SOME
    if any(map(is_sign, text)):
        # No other words are written so.
        least = _SIGN
    return language(-place if score >= least else None, well=score >= _WELL)


def _score(convention: Convention, runs: frozenset[str], text: str) -> float:
    """How many parts of the body words of a language name that are not English: those of a whole run count most."""
    said = _pattern(convention)
    found: dict[str, float] = {}
    parts = _meanings(convention)
    for word in set(said.findall(text)) | (runs & parts.keys()):
        if word not in words.KNOWN and word in parts:
            whole = word in runs and (len(word) >= _LONG or is_sign(word[0]))
            sign = is_sign(word[0])
            weight = 1.0 if whole or (sign and len(word) > 1) else 0.5
            found[parts[word]] = max(found.get(parts[word], 0.0), weight)
    return sum(found.values())


@cache
def _pattern_of(place: int) -> re.Pattern[str]:
    long = [word for word in _meanings(words.FOREIGN[place]) if len(word) >= _LONG or is_sign(word[0])]
    return re.compile("|".join(map(re.escape, sorted(long, key=len, reverse=True))) or r"(?!)")


def _pattern(convention: Convention) -> re.Pattern[str]:
    return _pattern_of(words.FOREIGN.index(convention))


@cache
def _meanings_of(place: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for part, text in words.FOREIGN[place].parts.items():
        english = words.ENGLISH.parts.get(part, part).split()[0]
        for word in _spellings(text.split()):
            found.setdefault(word, english)
    return found


def _meanings(convention: Convention) -> dict[str, str]:
    return _meanings_of(words.FOREIGN.index(convention))


def _spellings(said: Iterable[str]) -> list[str]:
    """Words as they are compared, with umlauts dropped and spelled out."""
    return [folded(form).lower() for word in said for form in (word, word.translate(_SPELLED))]


@cache
def language(place: int | None, *, well: bool) -> Language:
    """English, with the words of a convention in `vocabulary.FOREIGN`; only if it is spoken well, also with those that
    are English ones with another meaning."""
    if place is None:
        return Language(words.KNOWN)
    convention = words.FOREIGN[place]
    meanings = {word: part for word, part in _meanings(convention).items() if well or word not in words.KNOWN}
    sides = [_spellings(said.split()) for said in (convention.left, convention.right)]
    long = [frozenset(word for word in side if len(word) > 1 or is_sign(word)) for side in sides]
    letters = [frozenset(word for word in side if len(word) == 1 and not is_sign(word)) for side in sides]
    said = {*meanings, *long[0], *long[1]}
    signs = sorted((word for word in said if is_sign(word[0])), key=len, reverse=True)
    return Language(
        words.KNOWN | {word for word in said if "_" not in word},
        meanings,
        words.LEFT | long[0],
        words.RIGHT | long[1],
        tuple(signs),
        (letters[0], letters[1]),
        frozenset(word for word in meanings if word in words.KNOWN),
    )
