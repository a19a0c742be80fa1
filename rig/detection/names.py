"""What a bone's name says: the words in it and the side it is on, whatever the convention.

Names come as `mixamorig:LeftUpLeg`, `J_Bip_L_UpperLeg`, `Bip01 L Thigh`, `lThigh`, `thigh.L.001`, `b_LeftLeg01_015`,
`左足`. Upper and lower case carry no meaning that survives every exporter, so runs of letters are cut by a vocabulary.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HEAD = frozenset({"head", "skull", "kopf", "cabeza", "頭"})
NECK = frozenset({"neck", "cervical", "hals", "首"})
CHEST = frozenset({"chest", "thorax", "ribcage", "upperchest", "torso", "上半身2"})
SPINE = frozenset(
    {"spine", "abdomen", "back", "lowerback", "waist", "stomach", "belly", "lumbar", "vertebra", "上半身"}
)
HIPS = frozenset({"hips", "hip", "pelvis", "腰"})
TORSO = NECK | CHEST | SPINE | HIPS
ROOT = frozenset(
    {"root", "master", "ground", "cog", "armature", "world", "traj", "trajectory", "main", "センター", "親"}
)
ARM = _words("""arm upperarm uparm forearm lowerarm elbow hand wrist shoulder shldr collar clavicle scapula wing
    fin 腕 肩 ひじ 手首""")
BUTTOCK = frozenset({"pelvis", "buttock"})
THIGH = _words("thigh upleg upperleg hip femur")
FOOT = _words("foot feet ankle paw hoof 足首")
TOE = _words("toe toes ball toebase つま先")
LEG = THIGH | FOOT | TOE | _words("leg knee shin calf lowerleg 足 ひざ")
FRONT = _words("front fore")
NOSE = _words("nose beak snout muzzle")
MOUTH = _words("jaw chin mouth tongue teeth lip")
EYE = _words("eye eyes eyeball 目")
FACE = NOSE | MOUTH | EYE | _words("face brow lid ear cheek forehead temple")
TAIL = frozenset({"tail"})
FIN = frozenset({"fin"})
DIGIT = _words("thumb index middle mid ring pinky finger little 指")

# A bone so called ends a limb, aims something or helps another bone: it is not a part of the body that turns.
LEAF = _words("tip end top nub effector leaf")
TWIST = frozenset({"twist", "roll"})
HELPER = (
    _words("""tracker track target slot helper pole ik tweak ref fix offset space zero null grp group socket attach
    prop hair hat helmet mch org drv proxy pivot parent vis bend mech aim look lookat camera""")
    | TWIST
)
CONTROL = _words("ctrl control controller con")
_FILLER = _words("""upper lower up low joint bone base rig def deform bip biped mixamorig valve character char fk jnt cc
    ponytail pigtail coattail rear breast nail extension rotate""")
_LEFT = frozenset({"l", "left", "lft", "左"})
_RIGHT = frozenset({"r", "right", "rgt", "右"})
_KNOWN = frozenset({"left", "right", "lft", "rgt"}).union(
    *(HEAD, NECK, CHEST, SPINE, HIPS, BUTTOCK, ROOT, ARM, LEG, FRONT, FACE, TAIL, FIN, DIGIT),
    *(LEAF, HELPER, CONTROL, _FILLER),
)
_KANJI = sorted((word for word in _KNOWN | _LEFT | _RIGHT if not word.isascii()), key=len, reverse=True)
_RUN = re.compile("|".join([*map(re.escape, _KANJI), r"\d+", r"[^\W\d_]+"]))


@dataclass(frozen=True)
class BoneName:
    """words: the name's words in lower case, without side and number. side: "L", "R" or "". key: what the bones of a
    left and right pair have in common."""

    words: tuple[str, ...]
    side: str
    key: tuple[str, ...]

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
    found = [candidate for candidate, there in read.items() if there.side == other and there.key == here.key]
    if len(found) > 1:
        # Several conventions in one rig: the one that the name itself follows.
        found = [candidate for candidate in found if _punctuation(candidate) == _punctuation(name)]
    return found[0] if len(found) == 1 else None


def _punctuation(name: str) -> str:
    return re.sub(r"[^\W_]", "", name)


def _bone_name(tokens: list[str]) -> BoneName:
    side = next(("L" if token in _LEFT else "R" for token in tokens if token in _LEFT | _RIGHT), "")
    key = tuple(token for token in tokens if token not in _LEFT | _RIGHT)
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
    return sum(any(token in _KNOWN for token in _tokens(name)) for name in names)


@lru_cache(maxsize=4096)
def _tokens(name: str) -> list[str]:
    name = name.rsplit(":", 1)[-1].rsplit("|", 1)[-1]
    return [word for run in _RUN.findall(name) for word in _cut(run)]


def _cut(run: str) -> list[str]:
    """A run of letters cut into known words, else where lower case meets upper."""
    lower = run.lower()
    if lower in _KNOWN or not lower.isascii() or lower.isdigit():
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
            if start in best and (word in _KNOWN or letter):
                candidate = [*best[start], word]
                best[end] = min(best.get(end, candidate), candidate, key=len)
    words = best.get(len(run), [])
    return words if any(word in _KNOWN for word in words) else []
