"""What a bone's name says: the words in it and the side it is on, whatever the convention.

Names come as `mixamorig:LeftUpLeg`, `J_Bip_L_UpperLeg`, `Bip01 L Thigh`, `lThigh`, `thigh.L.001`, `b_LeftLeg01_015`,
`左足`. Upper and lower case have no meaning that survives every exporter, so runs of letters are cut by a vocabulary.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .vocabulary import KNOWN, LEFT, RIGHT

_KANJI = sorted((word for word in KNOWN | LEFT | RIGHT if not word.isascii()), key=len, reverse=True)
_RUN = re.compile("|".join([*map(re.escape, _KANJI), r"\d+", r"[^\W\d_]+"]))


@dataclass(frozen=True)
class BoneName:
    """A bone name, read."""

    words: tuple[str, ...]
    """The name's words in lower case, without side and number."""
    side: str
    """"L", "R" or ""."""
    key: tuple[str, ...]
    """What the bones of a left and right pair have in common."""

    def has(self, *vocabularies: frozenset[str]) -> bool:
        """Whether a word of the name stands in one of the vocabularies."""
        return any(word in vocabulary for vocabulary in vocabularies for word in self.words)


def read_names(names: Sequence[str]) -> list[BoneName]:
    """Names of all bones of one rig, read together: what all have in common says nothing about one."""
    stripped = _without_common_prefix(list(names))
    tokens = [_tokens(name) for name in stripped]
    running = [line[-1] for line in tokens if len(line) > 1 and line[-1].isdigit()]
    if len(running) > 0.8 * len(names) and len(set(running)) == len(running):
        # glTF writers append a running number to every node; it would set left and right apart.
        tokens = [line[:-1] if len(line) > 1 and line[-1].isdigit() else line for line in tokens]
    return [_bone_name(line) for line in tokens]


def other_side(name: str, all_names: Sequence[str]) -> str | None:
    """The name of the same bone on the other side of the rig; None where it has none, or it is not clear which."""
    read = dict(zip(all_names, read_names(all_names), strict=True))
    here = read[name]
    other = {"L": "R", "R": "L"}.get(here.side)
    candidates = [candidate for candidate, there in read.items() if there.side == other and there.key == here.key]
    if len(candidates) > 1:
        # Several conventions in one rig: the one that the name itself follows.
        candidates = [candidate for candidate in candidates if _punctuation(candidate) == _punctuation(name)]
    return candidates[0] if len(candidates) == 1 else None


def _punctuation(name: str) -> str:
    return re.sub(r"[^\W_]", "", name)


def _bone_name(tokens: list[str]) -> BoneName:
    side = next(("L" if token in LEFT else "R" for token in tokens if token in LEFT | RIGHT), "")
    key = tuple(token for token in tokens if token not in LEFT | RIGHT)
    return BoneName(tuple(token for token in key if not token.isdigit()), side, key)


def _without_common_prefix(names: list[str]) -> list[str]:
    prefix = _common_prefix(names) if len(names) > 3 else ""
    before = _understood(names) if prefix else 0
    for start in filter(None, (prefix, re.sub(r"[^\W_]*$", "", prefix))):
        shorter = [name[len(start) :] for name in names]
        # Behind `Hero_` little is lost; behind the `spine_` of spine_01, spine_02 … everything.
        loss = 0 if start[-1].isalnum() else len(names) // 2
        if _understood(shorter) > before - loss:
            return shorter
    return names


def _common_prefix(names: list[str]) -> str:
    first, last = min(names), max(names)
    differing = (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(differing, len(first))]


def _understood(names: list[str]) -> int:
    return sum(any(token in KNOWN for token in _tokens(name)) for name in names)


@lru_cache(maxsize=4096)
def _tokens(name: str) -> list[str]:
    name = name.rsplit(":", 1)[-1].rsplit("|", 1)[-1]
    return [word for run in _RUN.findall(name) for word in _cut(run)]


def _cut(run: str) -> list[str]:
    """A run of letters cut into known words, else where lower case meets upper."""
    lower = run.lower()
    if lower in KNOWN or not lower.isascii() or lower.isdigit():
        return [lower]
    return _known_words(lower) or [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", run)]


def _known_words(run: str) -> list[str]:
    """Fewest known words that make up the whole run, or none; one letter may stand before or behind them: the side,
    or a prefix such as b or c."""
    best: dict[int, list[str]] = {0: []}
    for end in range(1, len(run) + 1):
        for start in range(end):
            word = run[start:end]
            letter = len(word) == 1 and (start == 0 or (end == len(run) and word in "lr"))
            if start in best and (word in KNOWN or letter):
                candidate = [*best[start], word]
                best[end] = min(best.get(end, candidate), candidate, key=len)
    words = best.get(len(run), [])
    return words if any(word in KNOWN for word in words) else []
