"""Names of any convention and language: chain, limbs and forward are right, or what is not known is said uncertain."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from extension import load

from . import skeletons

axes = load("rig.detection.axes")
detect = load("rig.detection.detect")
lines = load("rig.detection.limb_chains")
names = load("rig.detection.names")
rotation = load("lookat_pd.rotation")
vocabulary = load("rig.detection.vocabulary")

TRUNK = ("hips", "spine", "spine1", "chest", "neck", "head")
ARM, LEG = ("shoulder", "upper_arm", "forearm", "hand"), ("thigh", "shank", "foot", "toe")

SCHEMES = {
    "{0}.{1}": ("L", "R"),
    "{0}_{1}": ("L", "R"),
    "{0}-{1}": ("l", "r"),
    "{1}_{0}": ("L", "R"),
    "{1}{2}": ("l", "r"),
    "{2}{1}": ("L", "R"),
    "mixamorig:{1}{2}": ("Left", "Right"),
    "Bip01 {1} {2}": ("L", "R"),
    "ValveBiped.Bip01_{1}_{2}": ("L", "R"),
    "J_Bip_{1}_{2}": ("L", "R"),
    "CC_Base_{1}_{2}": ("L", "R"),
    "b_{1}_{0}": ("l", "r"),
    "c_{0}.{1}": ("l", "r"),
    "DEF-{0}.{1}": ("L", "R"),
    "{0}_{1}_jnt": ("L", "R"),
    "{0}_{1}_JNT": ("lf", "rt"),
    "{0}_ctrl_{1}": ("L", "R"),
    "{0}_{1}_GRP": ("L", "R"),
    "{0}_offset_{1}": ("L", "R"),
    "{0}_{1}_proxy": ("L", "R"),
    "{0}_{1}_null": ("L", "R"),
    "{0}_{1}_bend": ("L", "R"),
    "hero:{0}_{1}": ("left", "right"),
    "{0}.{1}.001": ("L", "R"),
    "{0}_{1}_015": ("L", "R"),
    "{1} {0}": ("left", "right"),
    "{1}.{0}": ("L", "R"),
    "Character1_{1}{2}": ("Left", "Right"),
    "ORG-{0}.{1}": ("L", "R"),
    "jnt_{0}_{1}": ("L", "R"),
    "SK_{2}_{1}": ("L", "R"),
}
"""How a word {0}, in title case {2}, and a side {1} make a name. Words of the trunk have no side."""
CONVENTIONS_OF_AXES = {
    "Z up, facing -Y": ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "Z up, facing X": (rotation.about([0.0, 0.0, 1.0], np.radians(90.0)), (0.0, 0.0, 1.0)),
    "Y up, facing Z": (rotation.about([1.0, 0.0, 0.0], np.radians(-90.0)), (0.0, 1.0, 0.0)),
    "X up, facing -Y": (rotation.about([0.0, 1.0, 0.0], np.radians(90.0)), (1.0, 0.0, 0.0)),
}
LANGUAGES = [convention.name for convention in vocabulary.CONVENTIONS]


def word(language: str, part: str, choice: int = 0) -> str:
    """A word for a part of the body; spine1 is the word for the spine with a number."""
    row = next(convention for convention in vocabulary.CONVENTIONS if convention.name == language)
    plain = part.rstrip("1")
    said = row.parts.get(plain) or vocabulary.ENGLISH.parts[plain]
    options = said.split()
    return options[choice % len(options)] + part[len(plain) :]


def figure(call: Callable[[str], str], scheme: str) -> tuple[Any, skeletons.Convention]:
    """A human, and its names."""
    sides = SCHEMES[scheme]

    def sided(part: str) -> str:
        said = call(part)
        return scheme.format(said, "{}", said.title().replace("_", ""))

    convention = skeletons.Convention(
        "|".join(map(call, TRUNK)), "|".join(map(sided, ARM)), "|".join(map(sided, LEG)), sides, below=call("root")
    )
    return skeletons.human(convention), convention


def wrong(body, convention, vertical) -> Iterator[str]:
    """What is not found as it is."""
    hints = detect.RigHints(vertical=vertical)
    chain = [link.bone for link in detect.find_chain(body, detect.find_head(body, hints), hints)]
    if chain != convention.chain:
        yield f"chain {chain}"
    found = lines.find(body, vertical=vertical)
    for kind, limbs, names_of in (("legs", found.legs, convention.leg), ("arms", found.arms, convention.arm)):
        expected = [[bone.format(side) for bone in names_of.split("|")] for side in convention.sides]
        if limbs != expected:
            yield f"{kind} {limbs}"


def faces(body, turn, vertical) -> bool:
    """Whether forward is right, or said uncertain."""
    found = detect.read_axes(body, detect.RigHints(vertical=vertical))
    right = found.forward @ rotation.rotate(turn, (0.0, -1.0, 0.0)) > np.cos(np.radians(10.0))
    return bool(right) or found.confidence < axes.CERTAIN


@pytest.mark.parametrize("further", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_in_every_scheme(language: str, further: int) -> None:
    """With each of its words, along all axes in turn; further: by how many conventions of axes each comes later."""
    failed = []
    turns = [*CONVENTIONS_OF_AXES.items()]
    for n, scheme in enumerate(SCHEMES):
        convention, (turn, vertical) = turns[(n + LANGUAGES.index(language) + further) % len(turns)]
        body, expected = figure(lambda part, n=n: word(language, part, n // 5), scheme)
        body = skeletons.moved(body, turn)
        failed += [f"{scheme}, {convention}: {said}" for said in wrong(body, expected, vertical)]
        if not faces(body, turn, vertical):
            failed.append(f"{scheme}, {convention}: faces elsewhere for sure")
    assert not failed, "\n".join(failed[:20])


SPELLINGS: dict[str, Callable[[str], str]] = {
    "upper case": str.upper,
    "without accents": lambda name: load("rig.detection.languages").folded(name),
    "umlauts spelled out": lambda name: name.translate(str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})),
}


@pytest.mark.thorough
@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_every_language_with_its_own_sides(language: str, subtests) -> None:
    """Words and letters for left and right, before and behind the name, however it is spelled."""
    row = next(convention for convention in vocabulary.CONVENTIONS if convention.name == language)
    left, right = row.left.split(), row.right.split()
    pairs = [(left[0], right[0]), (left[-1], right[-1])]
    for (one, other), scheme in ((pair, scheme) for pair in pairs for scheme in ("{0}_{1}", "{1}_{0}", "{0}.{1}")):
        if not one or not other or len({len(one) == 1, len(other) == 1}) > 1:
            continue
        arm, leg = ("|".join(scheme.format(word(language, part), "{}") for part in limb) for limb in (ARM, LEG))
        for spelling, spell in {"as it is": str, **SPELLINGS}.items():
            with subtests.test(f"{scheme}, {one}, {spelling}"):
                trunk = "|".join(spell(word(language, part)) for part in TRUNK)
                said = skeletons.Convention(trunk, spell(arm), spell(leg), (spell(one), spell(other)))
                body = skeletons.human(said)
                assert not [*wrong(body, said, (0.0, 0.0, 1.0))]
                assert detect.read_axes(body).forward @ np.array([0.0, -1.0, 0.0]) > 0.99


@pytest.mark.thorough
@pytest.mark.parametrize("known", [*ARM, *LEG, "arms", "legs", "neck", "head"])
def test_a_language_that_is_not_known_may_share_words_with_english(known: str, subtests) -> None:
    """Shape and hierarchy say the rest, and feet are never taken for hands."""
    shared = {"arms": ARM[1:], "legs": LEG}.get(known, (known,))

    def call(part: str) -> str:
        return word("English", part) if part in shared else "".join(chr(ord(letter) * 5 % 23 + 97) for letter in part)

    for scheme in ("{0}.{1}", "{1}_{0}", "{0}_{1}_jnt", "{0}_{1}_GRP", "{0}_offset_{1}"):
        with subtests.test(scheme):
            body, convention = figure(call, scheme)
            found = lines.find(body)
            expected = [
                [[bone.format(side) for bone in names_of.split("|")] for side in convention.sides]
                for names_of in (convention.leg, convention.arm)
            ]
            assert found.legs == expected[0]
            assert [[bone for bone in arm if bone][-3:] for arm in found.arms] == [arm[-3:] for arm in expected[1]]
            chain = [link.bone for link in detect.find_chain(body, detect.find_head(body))]
            assert chain == convention.chain
            assert faces(body, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def test_a_japanese_spider_has_legs() -> None:
    """Its few words are written as in Chinese, where the word for leg means foot."""
    trunk = ["頭部", "頭胸部", "腹部"]
    legs = [f"{side}脚{n}{joint}" for side in "左右" for n in range(4) for joint in "abc"]
    assert all("leg" in name.words and "foot" not in name.words for name in names.read_names(trunk + legs)[3:])


def test_a_word_that_every_bone_has_says_nothing() -> None:
    """Also one that else is that of a helper, before or behind the name."""
    plain = skeletons.CONVENTIONS["unreal"]
    body = skeletons.human(plain)
    expected = lines.find(body)
    for ending in ("bend", "ctrl", "offset", "end", "proxy", "ik", "twist", "null"):
        for rename in (lambda name, e=ending: f"{name}_{e}", lambda name, e=ending: f"{e}_{name}"):
            other = skeletons.renamed(body, rename)
            assert lines.find(other).legs == [[*map(rename, leg)] for leg in expected.legs]
            assert lines.find(other).arms == [[*map(rename, arm)] for arm in expected.arms]
            chain = [link.bone for link in detect.find_chain(other, detect.find_head(other))]
            assert chain == [*map(rename, plain.chain)]


def test_a_helper_is_the_part_where_no_other_bone_is() -> None:
    """Daz Genesis names a thigh lThighBend, and its twist bone lThighTwist."""
    read = dict(zip(GENESIS, names.read_names(GENESIS), strict=True))
    for bone, part in (("lThighBend", vocabulary.THIGH), ("rForearmBend", vocabulary.FOREARM)):
        assert read[bone].has(part) and not read[bone].has(vocabulary.HELPER)
    for bone in ("lThighTwist", "rForearmTwist", "lShldrTwist"):
        assert read[bone].has(vocabulary.HELPER)
    both = [*GENESIS, "lThigh", "rThigh"]
    assert names.read_names(both)[GENESIS.index("lThighBend")].has(vocabulary.HELPER), "there is a thigh besides"


GENESIS = [
    "hip",
    "pelvis",
    "abdomenLower",
    "abdomenUpper",
    "chestLower",
    "chestUpper",
    "neckLower",
    "neckUpper",
    "head",
]
GENESIS += [side + bone for side in "lr" for bone in ("ThighBend", "ThighTwist", "Shin", "Foot", "Metatarsals", "Toe")]
GENESIS += [side + bone for side in "lr" for bone in ("Collar", "ShldrBend", "ShldrTwist", "ForearmBend")]
GENESIS += [side + bone for side in "lr" for bone in ("ForearmTwist", "Hand")]


def test_groups_offsets_and_controls_of_one_joint_are_one() -> None:
    """As in Maya: the control is the joint."""
    plain = skeletons.human(skeletons.CONVENTIONS["no_neck"])
    rows: list[skeletons.Row] = []
    for n, name in enumerate(plain.names):
        above = None if plain.parents[n] < 0 else f"{plain.names[plain.parents[n]]}_CTRL"
        for kind in ("GRP", "offset", "CTRL"):
            rows.append((f"{name}_{kind}", above, plain.heads[n], plain.tails[n]))
            above = f"{name}_{kind}"
    body = skeletons.build(rows)
    expected = lines.find(plain)
    assert lines.find(body).legs == [[f"{bone}_CTRL" for bone in leg] for leg in expected.legs]
    assert lines.find(body).arms == [[f"{bone}_CTRL" for bone in arm] for arm in expected.arms]
    chain = [link.bone for link in detect.find_chain(body, detect.find_head(body))]
    assert chain == [f"{bone}_CTRL" for bone in skeletons.CONVENTIONS["no_neck"].chain]
