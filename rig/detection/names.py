"""What a bone's name says: the words in it and the side it is on, whatever the convention.

Names come as `mixamorig:LeftUpLeg`, `J_Bip_L_UpperLeg`, `Bip01 L Thigh`, `lThighBend`, `thigh.L.001`,
`b_LeftLeg01_015`, `Oberschenkel.L`, `左足`. Upper and lower case have no meaning that survives every exporter, so runs
of letters are cut by a vocabulary, and where lower case meets upper only if that does not help.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from . import languages
from . import vocabulary as words
from .languages import Language

_LETTERS = re.compile(r"[^\W\d_]+")
_EVERY, _FEW = 0.8, 8
"""A word in the names of more than this part of at least so many bones says nothing about one of them."""
_ALONE = 0.8
"""Bones called groups are the joints where so many of them have no other bone of their name."""
_LONG = 6
"""Letters of a word of another language that is known in a longer one, as in Oberschenkelknochen."""


@dataclass(frozen=True)
class BoneName:
    """A bone name, read."""

    words: tuple[str, ...]
    """The name's words in lower case, without side and number; those of another language with the English ones."""
    side: str
    """"L", "R" or ""."""
    key: tuple[str, ...]
    """What the bones of a left and right pair have in common."""

    def has(self, *vocabularies: frozenset[str]) -> bool:
        """Whether a word of the name stands in one of the vocabularies."""
        return any(word in vocabulary for vocabulary in vocabularies for word in self.words)


def read_names(names: Sequence[str]) -> list[BoneName]:
    """Names of all bones of one rig, read together: what all have in common says nothing about one."""
    return list(_read(tuple(names)))


@lru_cache(maxsize=64)
def _read(names: tuple[str, ...]) -> tuple[BoneName, ...]:
    language = languages.spoken(frozenset(run for name in names for run in _runs(name)))
    stripped = _without_common_prefix(list(names), language)
    tokens = [_tokens(name, language) for name in stripped]
    running = [line[-1] for line in tokens if len(line) > 1 and line[-1].isdigit()]
    if len(running) > 0.8 * len(names) and len(set(running)) == len(running):
        # glTF writers append a running number to every node; it would set left and right apart.
        tokens = [line[:-1] if len(line) > 1 and line[-1].isdigit() else line for line in tokens]
    sides = _sides(tokens, language)
    return tuple(_standing_for(_without_common([_bone_name(line, sides, language) for line in tokens])))


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


# Words and sides


def _sides(tokens: Sequence[Sequence[str]], language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """The words for left and right in these names: letters of another language only where they come in pairs."""
    counts = [sum(any(token in letters for token in line) for line in tokens) for letters in language.letters]
    if not counts[0] or counts[0] != counts[1]:
        return language.left, language.right
    left, right = language.letters
    # A language may have for one side the letter that English has for the other.
    return (language.left - right) | left, (language.right - left) | right


def _bone_name(tokens: Sequence[str], sides: tuple[frozenset[str], frozenset[str]], language: Language) -> BoneName:
    left, right = sides
    side = next(("L" if token in left else "R" for token in tokens if token in left | right), "")
    key = tuple(token for token in tokens if token not in left | right)
    return BoneName(_meant([token for token in key if not token.isdigit()], language), side, key)


def _meant(tokens: list[str], language: Language) -> tuple[str, ...]:
    """Words with the English ones for them; the English meaning of a word of both languages is dropped."""
    if not language.meanings:
        return tuple(tokens)
    found: list[str] = []
    n = 0
    while n < len(tokens):
        length = next(
            (k for k in (3, 2) if "_".join(tokens[n : n + k]) in language.meanings and n + k <= len(tokens)), 1
        )
        word = "_".join(tokens[n : n + length])
        if word not in language.english:
            found.append(word)
        if word in language.meanings:
            found.append(language.meanings[word])
        n += length
    return tuple(found)


def _without_common(read: list[BoneName]) -> list[BoneName]:
    """Names without the words that nearly all of them have, where these do not say what a bone is."""
    counts = Counter(word for name in read for word in set(name.words))
    much = words.HELPER | words.CONTROL | words.LEAF | words.FILLER
    common = {word for word, count in counts.items() if count > _EVERY * len(read) and word in much}
    if len(read) < _FEW or not common:
        return read
    return [BoneName(tuple(w for w in name.words if w not in common), name.side, name.key) for name in read]


_PARTS = {
    word: part
    for part in ("head", "neck", "chest", "spine", "hips", "shoulder", "upper_arm", "arm", "forearm", "hand",
        "thigh", "shank", "leg", "foot", "toe")
    for word in words.part(part)
}  # fmt: skip


def _standing_for(read: list[BoneName]) -> list[BoneName]:
    """Names in which what is called as a helper of a part is that part, where no bone is called the part itself.

    `lThighBend` is a thigh that `lThighTwist` helps; a group called after a joint that has no other bone is the joint.
    """
    helping = words.HELPER | words.CONTROL | words.LEAF
    read = _themselves(read, _groups_alone(read, helping), helping)
    plain = {(part, name.side) for name in read if not name.has(helping) for part in _parts(name)}
    called = [name for name in read if _parts(name)]
    mostly_controls = sum(name.has(words.CONTROL, words.PLACED) for name in called) > 0.5 * len(called)
    best: dict[tuple[tuple[str, ...], str], tuple[int, int]] = {}
    allowed = words.PLACED | words.CONTROL if mostly_controls else words.PLACED
    for n, name in enumerate(read):
        helps = [word for word in name.words if word in helping]
        parts = _parts(name)
        if not helps or not parts or not set(helps) <= allowed or {(part, name.side) for part in parts} & plain:
            continue
        key = _own(name, helping)
        merit = 2 * any(word in words.CONTROL for word in helps) - len(helps), -n
        if key not in best or merit > best[key]:
            best[key] = merit
    return _themselves(read, {-n for _, n in best.values()}, helping)


def _groups_alone(read: list[BoneName], helping: frozenset[str]) -> set[int]:
    """The bones called groups, in words that nobody may know, where hardly any has another bone of its name."""
    plain = {(name.key, name.side) for name in read if not name.has(helping)}
    groups: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for n, name in enumerate(read):
        helps = {word for word in name.words if word in helping}
        own = _own(name, helping)
        if helps and helps <= words.PLACED and own[0]:
            groups.setdefault(own, []).append(n)
    alone = {group[0] for own, group in groups.items() if len(group) == 1 and own not in plain}
    return alone if len(alone) >= _ALONE * sum(map(len, groups.values())) else set()


def _own(name: BoneName, helping: frozenset[str]) -> tuple[tuple[str, ...], str]:
    """What a name has in common with that of the bone that it helps."""
    return tuple(word for word in name.key if word not in helping), name.side


def _themselves(read: list[BoneName], chosen: set[int], helping: frozenset[str]) -> list[BoneName]:
    """Names of which some are those of the bones that they help."""
    return [
        BoneName(tuple(w for w in name.words if w not in helping), name.side, name.key) if n in chosen else name
        for n, name in enumerate(read)
    ]


def _parts(name: BoneName) -> set[str]:
    """The parts of the body that a name tells, those of a trunk without a side."""
    return {_PARTS[word] for word in name.words if word in _PARTS}


# Cutting


def _without_common_prefix(names: list[str], language: Language) -> list[str]:
    prefix = _common_prefix(names) if len(names) > 3 else ""
    before = _understood(names, language) if prefix else 0
    for start in filter(None, (prefix, re.sub(r"[^\W_]*$", "", prefix))):
        shorter = [name[len(start) :] for name in names]
        # Behind `Hero_` little is lost; behind the `spine_` of spine_01, spine_02 … everything.
        loss = 0 if start[-1].isalnum() else len(names) // 2
        if _understood(shorter, language) > before - loss:
            return shorter
    return names


def _common_prefix(names: list[str]) -> str:
    first, last = min(names), max(names)
    differing = (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(differing, len(first))]


def _understood(names: list[str], language: Language) -> int:
    return sum(any(token in language.known for token in _tokens(name, language)) for name in names)


def _plain(name: str) -> str:
    """A name without namespaces and accents."""
    return languages.folded(name.rsplit(":", 1)[-1].rsplit("|", 1)[-1])


@lru_cache(maxsize=8192)
def _runs(name: str) -> frozenset[str]:
    """The runs of letters in a name and their pieces where lower case meets upper, in lower case."""
    runs = _LETTERS.findall(_plain(name))
    return frozenset(part.lower() for run in runs for part in (run, *_pieces(run)))


@lru_cache(maxsize=16384)
def _tokens(name: str, language: Language) -> tuple[str, ...]:
    return tuple(word for run in language.run.findall(_plain(name)) for word in _cut(run, language))


def _cut(run: str, language: Language) -> list[str]:
    """A run of letters cut into known words, else where lower case meets upper."""
    lower = run.lower()
    if lower in language.known or lower.isdigit():
        return [lower]
    if not lower.isascii() and any(map(languages.is_sign, lower)):
        return _signs(lower, language)
    whole = _known_words(lower, language)
    if whole:
        return whole
    pieces = _pieces(run)
    if len(pieces) > 1:
        return [word for piece in pieces for word in (_known_words(piece, language) or [piece])]
    return _within(lower, language)


def _within(run: str, language: Language) -> list[str]:
    """A long word of another language with what it is compounded with."""
    if language.meanings:
        for word in sorted((w for w in language.meanings if len(w) >= _LONG), key=len, reverse=True):
            if run.startswith(word) or run.endswith(word):
                rest = run.removeprefix(word) if run.startswith(word) else run.removesuffix(word)
                return [word, *(_known_words(rest, language) or [rest])]
    return [run]


def _pieces(run: str) -> list[str]:
    """A run of letters cut where lower case meets upper."""
    pieces = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", run) if run.isascii() else []
    if not pieces:
        last = 0
        for n in range(1, len(run)):
            if run[n].isupper() and not run[n - 1].isupper():
                pieces.append(run[last:n])
                last = n
        pieces.append(run[last:])
    return [piece.lower() for piece in pieces]


def _signs(run: str, language: Language) -> list[str]:
    """A run of a script without gaps cut into known words and what is between them."""
    found, rest, n = [], "", 0
    while n < len(run):
        word = next((sign for sign in language.signs if run.startswith(sign, n)), "")
        latin = re.match(r"[a-z]+", run[n:])
        if word or (latin and not rest.isascii()) or (latin and not rest):
            if rest:
                found.append(rest)
            word, rest = word or (latin.group() if latin else ""), ""
            found.append(word)
            n += len(word)
        else:
            rest, n = rest + run[n], n + 1
    return [*found, rest] if rest else found


def _known_words(run: str, language: Language) -> list[str]:
    """Fewest known words that make up the whole run, or none; one letter may stand before or behind them: the side,
    or a prefix such as b or c."""
    if run in language.known:
        return [run]
    best: dict[int, list[str]] = {0: []}
    for end in range(1, len(run) + 1):
        for start in range(end):
            word = run[start:end]
            letter = len(word) == 1 and (start == 0 or (end == len(run) and word in "lr"))
            known = word in language.known and (len(word) > 2 or word in words.KNOWN)
            if start in best and (known or letter):
                candidate = [*best[start], word]
                best[end] = min(best.get(end, candidate), candidate, key=len)
    found = best.get(len(run), [])
    return found if any(word in language.known for word in found) else []
