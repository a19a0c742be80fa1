"""What a bone's name says: the words in it and the side it is on, whatever the convention.

Names come as `mixamorig:LeftUpLeg`, `J_Bip_L_UpperLeg`, `Bip01 L Thigh`, `lThigh`, `thigh.L.001`, `b_LeftLeg01_015`,
`左足`. Upper and lower case carry no meaning that survives every exporter, so runs of letters are cut by a vocabulary.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

HEAD = frozenset({"head", "skull", "kopf", "cabeza", "頭"})
NECK = frozenset({"neck", "cervical", "hals", "首"})
CHEST = frozenset({"chest", "thorax", "ribcage", "upperchest", "torso", "上半身2"})
SPINE = frozenset({"spine", "abdomen", "back", "lowerback", "waist", "stomach", "belly", "lumbar", "vertebra", "上半身"})
HIPS = frozenset({"hips", "hip", "pelvis", "腰"})
ROOT = frozenset({"root", "master", "ground", "cog", "armature", "world", "traj", "trajectory", "main", "センター", "親"})
ARM = frozenset(
    "arm upperarm uparm forearm lowerarm elbow hand wrist shoulder collar clavicle shldr scapula wing fin 腕 肩".split()
)
THIGH = frozenset("thigh upleg upperleg hip femur".split())
FOOT = frozenset("foot feet ankle paw hoof 足首".split())
TOE = frozenset("toe toes ball toebase つま先".split())
LEG = THIGH | FOOT | TOE | frozenset("leg knee shin calf lowerleg 足 ひざ".split())
FRONT = frozenset("front fore".split())
NOSE = frozenset("nose beak snout muzzle".split())
MOUTH = frozenset("jaw chin mouth tongue teeth lip".split())
EYE = frozenset("eye eyes eyeball 目".split())
FACE = NOSE | MOUTH | EYE | frozenset("face brow lid ear cheek forehead temple".split())
TAIL = frozenset({"tail"})
FIN = frozenset({"fin"})
DIGIT = frozenset("thumb index middle mid ring pinky finger little 指".split())

# A bone so called ends a limb, aims something or helps another bone: it is not a part of the body that turns.
LEAF = frozenset("tip end top nub effector leaf".split())
HELPER = frozenset(
    """tracker track target slot twist roll helper pole ik tweak ref fix offset space zero null grp group socket attach
    prop hair hat helmet mch org drv proxy pivot parent vis bend mech aim look lookat camera""".split()
)
CONTROL = frozenset("ctrl control controller con".split())
_FILLER = frozenset(
    """upper lower up low joint bone base rig def deform bip bipped biped mixamorig valve character char fk jnt cc
    ponytail pigtail coattail rear breast nail extension slot rotate""".split()
)
_LEFT = frozenset({"l", "left", "lft", "左"})
_RIGHT = frozenset({"r", "right", "rgt", "右"})
_LATIN = frozenset().union(
    HEAD, NECK, CHEST, SPINE, HIPS, ROOT, ARM, LEG, FRONT, FACE, TAIL, FIN, DIGIT, LEAF, HELPER, CONTROL, _FILLER
) | {"left", "right", "lft", "rgt"}
_KANJI = sorted((word for word in _LATIN | _LEFT | _RIGHT if not word.isascii()), key=len, reverse=True)
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
    numbered = sum(len(line) > 1 and line[-1].isdigit() and "_" in name for line, name in zip(tokens, stripped))
    if names and numbered > 0.8 * len(names):
        # glTF writers append a running number to every node; it would set left and right apart.
        tokens = [line[:-1] if len(line) > 1 and line[-1].isdigit() else line for line in tokens]
    return [_bone_name(line) for line in tokens]


def _bone_name(tokens: list[str]) -> BoneName:
    side = next(("L" if token in _LEFT else "R" for token in tokens if token in _LEFT | _RIGHT), "")
    key = tuple(token for token in tokens if token not in _LEFT | _RIGHT)
    return BoneName(tuple(token for token in key if not token.isdigit()), side, key)


def _without_common_prefix(names: list[str]) -> list[str]:
    prefix = os.path.commonprefix(names) if len(names) > 3 else ""
    if not prefix:
        return names
    shorter = [name[len(prefix) :] for name in names]

    def understood(candidates: list[str]) -> int:
        return sum(any(token in _LATIN for token in _tokens(name)) for name in candidates)

    ends_a_word = not prefix[-1].isalnum()
    gain = understood(shorter) - understood(names)
    return shorter if gain > 0 or (gain == 0 and ends_a_word) else names


@lru_cache(maxsize=4096)
def _tokens(name: str) -> list[str]:
    name = name.rsplit(":", 1)[-1].rsplit("|", 1)[-1]
    return [word for run in _RUN.findall(name) for word in _cut(run)]


def _cut(run: str) -> list[str]:
    """A run of letters cut into known words, else where lower case meets upper."""
    lower = run.lower()
    if lower in _LATIN or not lower.isascii() or lower.isdigit():
        return [lower]
    return _known_words(lower) or [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", run)]


def _known_words(run: str) -> list[str]:
    """Fewest known words that make up the whole run, or none; one letter may stand before or behind them: the side,
    or a prefix such as b or c."""
    best: list[list[str] | None] = [[], *[None] * len(run)]
    for end in range(1, len(run) + 1):
        for start in range(end):
            before, word = best[start], run[start:end]
            letter = end - start == 1 and (start == 0 or (end == len(run) and word in "lr"))
            if before is not None and (word in _LATIN or letter):
                candidate = [*before, word]
                if best[end] is None or len(candidate) < len(best[end]):
                    best[end] = candidate
    words = best[-1] or []
    return words if any(word in _LATIN for word in words) else []
