"""Which shape keys of a face close the eyes, read from their names, whatever the convention.

Names come as `eyeBlinkLeft`, `Blink_L`, `Eyes_Closed`, `Fcl_EYE_Close`, `vrc.blink`, `CTRL_expressions_eyeBlinkL`,
`まばたき`.
"""

import re
from collections.abc import Sequence

from . import vocabulary as words

_SIGNS, _JOINS, _ENDS = ("|".join(parts) for parts in (words.KEY_SIGNS, words.KEY_JOINED, words.KEY_SIDES))
_RUN = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|{_SIGNS}|[^\W\d_a-zA-Z左右]+")
_JOINED = re.compile(rf"(?:{_JOINS})*(?:{_ENDS})?")
_PART = re.compile(f"{_JOINS}|{_ENDS}")


def closing(names: Sequence[str]) -> list[str]:
    """Of one mesh's shape keys the one that closes both eyes, or else the one of the left and the one of the right."""
    keys: dict[str, list[tuple[int, str]]] = {"": [], "L": [], "R": []}
    for name in names:
        said = _words(name)
        closes = said & words.KEY_BLINK or (said & words.KEY_EYE and said & words.KEY_CLOSED)
        if closes and not said & words.KEY_OTHERWISE:
            side = "L" if said & words.KEY_LEFT else "R" if said & words.KEY_RIGHT else ""
            keys[side].append((len(said), name))
    both, left, right = (min(keys[side])[1:] if keys[side] else () for side in ("", "L", "R"))
    return [*both] or [*left, *right] if both or (left and right) else []


def _words(name: str) -> frozenset[str]:
    """The words of a name in lower case; known ones that are written together are cut."""
    return frozenset(words_in_order(name))


def words_in_order(name: str) -> list[str]:
    """The same, as often and in the order in which they stand."""
    words: list[str] = []
    for run in _RUN.findall(name):
        word = run.lower()
        words += _PART.findall(word) if _JOINED.fullmatch(word) else [word]
    return words
