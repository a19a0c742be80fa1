"""Which shape keys of a face close the eyes, read from their names, whatever the convention.

Names come as `eyeBlinkLeft`, `Blink_L`, `Eyes_Closed`, `Fcl_EYE_Close`, `vrc.blink`, `CTRL_expressions_eyeBlinkL`,
`まばたき`.
"""

import re
from collections.abc import Sequence

_RUN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|まばたき|瞬き|両目|[左右目閉]|[^\W\d_a-zA-Z左右]+")
_JOINED = re.compile(r"(?:eyelids?|eyes?|blink|closed?|shut|left|right|both)*[lr]?")
_PART = re.compile(r"eyelids?|eyes?|blink|closed?|shut|left|right|both|[lr]")
_BLINK = frozenset({"blink", "まばたき", "瞬き"})
_EYE = frozenset({"eye", "eyes", "eyelid", "eyelids", "目", "両目"})
_CLOSED = frozenset({"close", "closed", "shut", "閉", "閉じ"})
_LEFT = frozenset({"l", "left", "左"})
_RIGHT = frozenset({"r", "right", "右"})
_OTHERWISE = frozenset(
    ("half", "squint", "wide", "smile", "happy", "joy", "fun", "angry", "anger", "sad", "sorrow", "surprised", "wink"),
) | {"lower", "low", "upper", "inner", "outer", "brow", "brows", "look", "cheek", "mouth", "lip", "lips", "open", "not"}
"""A shape key with one of these words does not close an eye, or not that alone."""


def closing(names: Sequence[str]) -> list[str]:
    """Of one mesh's shape keys the one that closes both eyes, or else the one of the left and the one of the right."""
    found: dict[str, list[tuple[int, str]]] = {"": [], "L": [], "R": []}
    for name in names:
        words = _words(name)
        closes = words & _BLINK or (words & _EYE and words & _CLOSED)
        if closes and not words & _OTHERWISE:
            side = "L" if words & _LEFT else "R" if words & _RIGHT else ""
            found[side].append((len(words), name))
    both, left, right = (min(found[side])[1:] if found[side] else () for side in ("", "L", "R"))
    return [*both] or [*left, *right] if both or (left and right) else []


def _words(name: str) -> frozenset[str]:
    """The words of a name in lower case; known ones that are written together are cut."""
    words: list[str] = []
    for run in _RUN.findall(name):
        word = run.lower()
        words += _PART.findall(word) if _JOINED.fullmatch(word) else [word]
    return frozenset(words)
