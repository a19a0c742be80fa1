"""Legs, arms, eyes, lids and the hips control are found under any naming, or nothing rather than the wrong bone."""

import re
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
from hypothesis import given

from extension import load

from .. import scenes
from . import skeletons
from .skeletons import CONVENTIONS, build, human, line, moved, renamed
from .test_detect import (
    RENAMINGS,
    any_convention,
    any_scale,
    any_turn,
    blend,
    bvh,
    conventions,
    fbx,
    generated,
    gltf,
    metarig,
    only_armature,
    rigify,  # noqa: F401
)

anatomy = load("rig.detection.anatomy")
detect = load("rig.detection.detect")
face = load("rig.detection.face")
limbs = load("rig.detection.limbs")
lines = load("rig.detection.limb_chains")
rest = load("rig.detection.rest")

Eye, Leg, Arm = limbs.EyeBone, limbs.LegBones, limbs.ArmBones


def rows(body) -> list[skeletons.Row]:
    """A skeleton as the rows from which it can be built."""
    parents = [None if parent < 0 else body.names[parent] for parent in body.parents]
    return list(zip(body.names, parents, body.heads, body.tails, strict=True))


def both(names: str, sides: tuple[str, str]) -> list[list[str]]:
    return [[bone.format(side) for bone in names.split("|")] for side in sides]


@conventions
def test_legs_and_arms_are_found_in_every_convention(name: str) -> None:
    names = CONVENTIONS[name]
    found = lines.find(human(names))
    assert found.legs == both(names.leg, names.sides)
    assert found.arms == both(names.arm, names.sides)


@conventions
def test_case_prefix_and_suffix_of_all_names_do_not_matter(name: str, subtests) -> None:
    names = CONVENTIONS[name]
    body = human(names)
    for renaming, rename in RENAMINGS.items():
        if len({rename(bone) for bone in body.names}) < len(body):
            continue  # two bones of this rig differ by case alone
        with subtests.test(renaming):
            found = lines.find(renamed(body, rename))
            for limb, expected in ((found.legs, names.leg), (found.arms, names.arm)):
                assert limb == [[rename(bone) for bone in bones] for bones in both(expected, names.sides)]


@given(any_convention, any_turn, any_scale)
def test_limbs_are_the_same_however_the_rig_is_turned(name: str, turn, scale: float) -> None:
    for body in (human(CONVENTIONS[name]), skeletons.quadruped()):
        there = lines.find(moved(body, turn, scale, shift=(scale, -2.0 * scale, scale)))
        assert (there.legs, there.arms) == (lines.find(body).legs, lines.find(body).arms)


def test_symmetry_does_where_names_say_nothing() -> None:
    body, plain = skeletons.nameless(), human(CONVENTIONS["bvh"])
    found, expected = lines.find(body), lines.find(plain)
    for limb, known in ((found.legs, expected.legs), (found.arms, expected.arms)):
        assert [[body.index(bone) for bone in bones] for bones in limb] == [
            [plain.index(bone) for bone in bones] for bones in known
        ]


@pytest.mark.parametrize("body", [human(CONVENTIONS["bvh"]), skeletons.quadruped()], ids=["human", "quadruped"])
def test_sides_without_words_for_limbs_are_found_by_symmetry(body) -> None:
    """Names in a language that is not known, with left and right."""
    numbers: dict[str, int] = {}

    def unknown(name: str) -> str:
        (read,) = anatomy.read_names([name])
        number = numbers.setdefault(re.sub("Left|Right|_[LR]$", "", name), len(numbers))
        return f"zq{chr(97 + number)}" + (f".{read.side}" if read.side else "")

    known, strange = lines.find(body), renamed(body, unknown)
    found = lines.find(strange)
    for limb, expected in ((found.legs, known.legs), (found.arms, known.arms)):
        assert [[strange.index(bone) for bone in bones if bone] for bones in limb] == [
            [body.index(bone) for bone in bones if bone] for bones in expected
        ]


def test_symmetry_finds_legs_of_an_animal_too() -> None:
    plain = skeletons.quadruped()
    body = renamed(plain, lambda name: f"Bone.{plain.index(name):03d}")
    legs = lines.find(body).legs
    assert [[body.index(bone) for bone in leg] for leg in legs] == [
        [plain.index(bone) for bone in leg] for leg in lines.find(plain).legs
    ]


def test_symmetry_finds_the_eight_legs_of_a_spider() -> None:
    spider = line(["001", "002", "003"], [(0, 0.2, 0.3), (0, 0, 0.32), (0, -0.2, 0.3), (0, -0.35, 0.3)])
    for n in range(8):
        side, y = (1.0, -1.0)[n % 2], 0.15 - 0.1 * (n // 2)
        points = [(0.08, y, 0.3), (0.2, y, 0.4), (0.5, 2.0 * y, 0.55), (0.75, 3.0 * y, 0.15), (0.85, 3.4 * y, 0.0)]
        spider += line([f"{10 * (n + 1) + k:03}" for k in range(4)], [(side * x, y, z) for x, y, z in points], "002")
    found = lines.find(build(spider))
    assert len(found.legs) == 8 and not found.arms
    assert {leg[0][-1] for leg in found.legs} == {"1"}, "behind the short bones on the body"


def test_a_four_legged_animal_has_four_legs_and_no_arms() -> None:
    found = lines.find(skeletons.quadruped())
    hind, front = "Thigh_{}|Shin_{}|Foot_{}", "FrontLeg_{}|FrontShin_{}|FrontFoot_{}"
    assert found.legs == both(hind, ("L", "R")) + both(front, ("L", "R"))
    assert not found.arms


def legged(*leg: skeletons.Row) -> list[str]:
    """Bones of the left leg of a human whose legs are replaced by these rows, without sides."""
    plain = rows(human(CONVENTIONS["rigify_metarig"]))
    kept = [row for row in plain if not row[0].startswith(("thigh", "shin", "foot", "toe"))]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        mirror = np.array([sign, 1.0, 1.0])
        kept += [
            (f"{name}.{side}", f"{parent}.{side}" if parent else "spine", mirror * head, mirror * tail)
            for name, parent, head, tail in leg
        ]
    found = lines.find(build(kept)).legs
    assert [[bone.replace(".L", ".R") for bone in leg] for leg in found[:1]] == found[1:]
    return [bone.removesuffix(".L") for bone in found[0]] if found else []


HIP, KNEE, HOCK, ANKLE = (0.09, 0.0, 0.93), (0.09, -0.1, 0.6), (0.09, 0.15, 0.3), (0.09, 0.0, 0.1)
TOE, TIP = (0.09, -0.1, 0.02), (0.09, -0.2, 0.02)
HALF = (0.09, -0.05, 0.765)


@pytest.mark.parametrize("third", ["foot", "metatarsus", "lower_leg"])
def test_of_a_leg_with_four_bones_the_third_is_the_foot(third: str) -> None:
    assert legged(*line(["thigh", "shin", third, "paw"], [HIP, KNEE, HOCK, ANKLE, TOE])) == [
        "thigh",
        "shin",
        third,
        "paw",
    ]


LEGS = {
    "twist bones beside the line": (
        *line(["thigh", "shin", "foot", "toe"], [HIP, KNEE, ANKLE, TOE, TIP]),
        ("thigh_twist", "thigh", HALF, KNEE),
        ("shin_roll", "shin", KNEE, ANKLE),
    ),
    "twist bones in the line": line(
        ["thigh", "thigh_twist", "shin", "foot", "toe"], [HIP, HALF, KNEE, ANKLE, TOE, TIP]
    ),
    "pieces of one bone": line(["thigh", "thigh.001", "shin", "foot", "toe"], [HIP, HALF, KNEE, ANKLE, TOE, TIP]),
    "a bone from the spine to the hip": line(
        ["hip_joint", "thigh", "shin", "foot", "toe"], [(0.0, 0.0, 0.98), HIP, KNEE, ANKLE, TOE, TIP]
    ),
    "a buttock": line(["pelvis", "thigh", "shin", "foot", "toe"], [(0.0, 0.0, 0.98), HIP, KNEE, ANKLE, TOE, TIP]),
    "controls among them": (
        *line(["thigh", "shin", "foot", "toe"], [HIP, KNEE, ANKLE, TOE, TIP]),
        ("foot_ik", "", ANKLE, TOE),
        ("knee_pole", "", TOE, TIP),
        ("leg_ctrl", "", TOE, TIP),
    ),
}


@pytest.mark.parametrize("kind", LEGS)
def test_what_only_helps_is_no_part_of_a_leg(kind: str) -> None:
    assert legged(*LEGS[kind]) == ["thigh", "shin", "foot", "toe"]


def test_layers_of_bones_in_one_place_are_one_leg() -> None:
    points = [HIP, KNEE, ANKLE, TOE, TIP]
    names = ["thigh", "shin", "foot", "toe"]
    layers = [line([f"{name}{suffix}" for name in names], points) for suffix in ("_fk", "", "_D")]
    assert legged(*[row for layer in layers for row in layer]) == names


def test_a_leg_without_toes() -> None:
    assert legged(*line(["thigh", "shin", "foot"], [HIP, KNEE, ANKLE, TOE])) == ["thigh", "shin", "foot"]


@pytest.mark.parametrize("names", [["leg"], ["leg", "foot"], ["thigh", "shin"], ["thigh", "foot", "toe"]])
def test_a_leg_without_knee_or_foot_is_none(names: list[str]) -> None:
    assert legged(*line(names, [HIP, KNEE, ANKLE, TOE][: len(names) + 1])) == []


def test_a_leg_without_length_is_none() -> None:
    assert legged(*line(["thigh", "shin", "foot", "toe"], [HIP, HIP, ANKLE, TOE, TIP])) == []


def test_one_leg_is_one_leg() -> None:
    plain = human(CONVENTIONS["bvh"])
    kept = [
        n for n, name in enumerate(plain.names) if not name.startswith(("RightUp", "RightLeg", "RightFoot", "RightToe"))
    ]
    assert lines.find(lines.only(plain, kept)).legs == [["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"]]


@pytest.mark.parametrize("bones", [0, 1, 30])
def test_what_has_no_limbs_has_none(bones: int) -> None:
    body = skeletons.snake(bones) if bones else build([])
    found = lines.find(body)
    assert not found.legs and not found.arms
    assert not face.eyes(anatomy.Anatomy(body), None) and not face.upper_lids(anatomy.Anatomy(body))


FACES = {
    "mixamo": (["mixamorig:LeftEye", "mixamorig:RightEye"], []),
    "daz": (["lEye", "rEye"], ["lEyelidUpper", "lEyelidUpperInner", "lEyelidLower", "lEyebrow", "rEyelidUpper"]),
    "vrm": (["J_Adj_L_FaceEye", "J_Adj_R_FaceEye"], ["J_Bip_C_Jaw"]),
    "unreal": (["eye_l", "eye_r"], ["eye_lid_upper_l", "eye_lid_upper_r", "eye_target_l", "eye_target_r"]),
    "character_creator": (["CC_Base_L_Eye", "CC_Base_R_Eye"], ["CC_Base_L_EyeCorner", "CC_Base_R_EyeCorner"]),
    "metahuman": (
        ["FACIAL_L_Eye", "FACIAL_R_Eye"],
        ["FACIAL_L_EyeParallel", "FACIAL_L_EyelidUpperA", "FACIAL_L_EyesackUpper", "FACIAL_R_EyeParallel"],
    ),
    "mmd": (["左目", "右目"], ["両目"]),
    "blender": (["eye.L", "eye.R"], ["eyelash.L", "brow.L", "lid.T.L", "eyes_target", "eye_ctrl.L", "eye_aim.R"]),
    "eyeballs": (["Eyeball_L", "Eyeball_R"], ["Eyelid_L", "Eyelid_R", "eye_socket_L", "eye_socket_R"]),
    "numbered": (["Eye1", "Eye2"], ["Nose"]),
    "one": (["Eye"], ["Jaw"]),
    "one of two": (["eye.L"], ["brow.L", "brow.R"]),
    "none": ([], ["eyebrow.L", "eyelid.L", "eye_target.L", "eye_target.R"]),
}


@pytest.mark.parametrize("name", FACES)
def test_eyes_are_found_and_nothing_beside_them(name: str) -> None:
    names = CONVENTIONS["rigify_metarig"]
    real, beside = FACES[name]
    sides = (0.03, -0.03) if len(real) == 2 else (0.0,)
    beside_each = [(0.02 + 0.001 * n, -0.1, 1.7) for n in range(len(beside))]
    extra = [(bone, names.chain[0], (x, -0.1, 1.7), (x, -0.12, 1.7)) for bone, x in zip(real, sides, strict=False)]
    extra += [(bone, names.chain[0], place, HIP) for bone, place in zip(beside, beside_each, strict=True)]
    body = build([*rows(human(names)), *reversed(extra)])
    found = face.eyes(anatomy.Anatomy(body), body.index(names.chain[0]))
    assert [body.names[bone] for bone in found] == real


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["lid.T.L", "lid.B.L", "lid.T.R", "lid.B.R"], ["lid.T.L", "lid.T.R"]),
        (["LeftUpperEyelid", "RightUpperEyelid", "LeftLowerEyelid"], ["LeftUpperEyelid", "RightUpperEyelid"]),
        (["Eyelid_L", "Eyelid_R", "Eye_L", "Eye_R"], ["Eyelid_L", "Eyelid_R"]),
        (["lid.T.L", "lid.T.L.001", "lid.T.R", "lid.T.R.001"], []),
        (["lid.T.L", "eye.L", "eye.R"], []),
        (["lid.B.L", "lid.B.R"], []),
    ],
)
def test_lids_are_found_where_one_bone_closes_an_eye(names: list[str], expected: list[str]) -> None:
    extra = [(bone, "spine.006", (0.01 * n, -0.1, 1.7), (0.0, -0.2, 1.7)) for n, bone in enumerate(names)]
    body = build([*rows(human(CONVENTIONS["rigify_metarig"])), *extra])
    assert [body.names[bone] for bone in face.upper_lids(anatomy.Anatomy(body))] == expected


# In Blender, with constraints


def armature_of(body, *extra: skeletons.Row) -> bpy.types.Object:
    return scenes.figure(rows=[*rows(body), *extra])


def constrain(armature: bpy.types.Object, bone: str, kind: str, target: str, **settings) -> bpy.types.Constraint:
    constraint = armature.pose.bones[bone].constraints.new(kind)
    constraint.target, constraint.subtarget = armature, target
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def chain_of(armature: bpy.types.Object) -> list[str]:
    body, hints = rest.skeleton(armature), rest.hints(armature)
    return [link.bone for link in detect.find_chain(body, detect.find_head(body, hints), hints)]


def hips_control(armature: bpy.types.Object) -> str | None:
    return limbs.find_hips_control(armature, chain_of(armature))


FOOT_GOALS = tuple((f"goal.{side}", None, (x, 0.0, 0.09), (x, -0.2, 0.09)) for side, x in (("L", 0.09), ("R", -0.09)))
EYES = tuple((f"eye.{side}", "head", (x, -0.1, 1.7), (x, -0.2, 1.7)) for side, x in (("L", 0.03), ("R", -0.03)))


def plain_human(*extra: skeletons.Row) -> bpy.types.Object:
    return armature_of(human(CONVENTIONS["no_neck"]), *extra)


def test_a_plain_human() -> None:
    armature = plain_human(*EYES)
    assert limbs.find_legs(armature) == [
        Leg("upperleg.l", "lowerleg.l", "foot.l", "toes.l"),
        Leg("upperleg.r", "lowerleg.r", "foot.r", "toes.r"),
    ]
    assert limbs.find_arms(armature) == [
        Arm("shoulder.l", "upperarm.l", "hand.l"),
        Arm("shoulder.r", "upperarm.r", "hand.r"),
    ]
    assert limbs.find_eyes(armature) == [Eye("eye.L"), Eye("eye.R")]
    assert hips_control(armature) == "hips"


@pytest.mark.parametrize("kind", ["DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK"])
def test_an_eye_aimed_by_a_constraint_is_moved_by_its_target(kind: str) -> None:
    armature = plain_human(*EYES, ("look", "head", (0.0, -0.6, 1.7), (0.0, -0.7, 1.7)))
    constrain(armature, "eye.L", kind, "look")
    constrain(armature, "eye.R", kind, "look", mute=True)
    assert limbs.find_eyes(armature) == [Eye("eye.L", "look"), Eye("eye.R")]


@pytest.mark.parametrize("bone", ["lowerleg.l", "foot.l"])
def test_a_foot_that_the_rig_holds_is_reported(bone: str) -> None:
    armature = plain_human(*FOOT_GOALS)
    ik = constrain(armature, bone, "IK", "goal.L", chain_count=2)
    assert [leg.held for leg in limbs.find_legs(armature)] == [True, False]
    assert hips_control(armature) == "hips"
    ik.mute = True
    assert [leg.held for leg in limbs.find_legs(armature)] == [False, False]
    ik.mute, ik.influence = False, 0.0
    assert [leg.held for leg in limbs.find_legs(armature)] == [False, False]


@pytest.mark.parametrize("parents", [["hips"], ["hips", "control"], ["hips", "control", "roll"]])
def test_a_goal_that_hangs_on_the_hips_is_put_back_by_what_is_free_above_it(parents: list[str]) -> None:
    place = (0.09, 0.0, 0.09), (0.09, -0.2, 0.09)
    names = [*parents[1:], "goal"]
    armature = plain_human(*((name, parent, *place) for name, parent in zip(names, parents, strict=True)))
    constrain(armature, "lowerleg.l", "IK", "goal", chain_count=2)
    left, right = limbs.find_legs(armature)
    assert (left.held, left.goals, right.held) == (True, ("goal",), False)
    assert limbs.find_handle(armature, "goal", ["head", "hips"]) == names[0]
    assert limbs.find_handle(armature, "goal", ["head", "chest"]) is None
    for name in names:
        constrain(armature, name, "COPY_LOCATION", "chest")
    assert limbs.find_handle(armature, "goal", ["head", "hips"]) is None


def test_a_foot_may_hang_on_the_goal_of_its_leg() -> None:
    body = [row for row in rows(human(CONVENTIONS["no_neck"])) if not row[0].startswith(("foot", "toes"))]
    goals = [(f"foot.{side}", "root", (x, 0.02, 0.09), (x, -0.1, 0.02)) for side, x in (("l", 0.09), ("r", -0.09))]
    armature = scenes.figure(rows=[*body, *goals])
    assert not limbs.find_legs(armature)
    assert limbs.find_unplanted(armature, ["head", "chest", "hips"]) == ["hips"]
    for side in "lr":
        constrain(armature, f"lowerleg.{side}", "IK", f"foot.{side}", chain_count=2)
    assert [(leg.foot, leg.held) for leg in limbs.find_legs(armature)] == [("foot.l", True), ("foot.r", True)]
    assert not limbs.find_unplanted(armature, ["head", "chest", "hips"])


def test_what_holds_the_feet_is_not_moved() -> None:
    """The hips are fixed to their parent, which is also that of the goal of a foot."""
    armature = plain_human(("goal", "root", (0.09, 0.0, 0.09), (0.09, -0.2, 0.09)))
    constrain(armature, "lowerleg.l", "IK", "goal", chain_count=2)
    constrain(armature, "hips", "COPY_LOCATION", "chest")
    assert hips_control(armature) is None


def test_the_hips_control_is_free_to_go_where_its_location_says() -> None:
    body = human(CONVENTIONS["no_neck"])
    armature = armature_of(body)
    constraint = constrain(armature, "hips", "COPY_LOCATION", "root")
    assert hips_control(armature) == "root"
    constraint.influence = 0.0
    assert hips_control(armature) == "hips"
    armature = scenes.figure("Connected", [("cog", None, (0.0, 0.1, 0.98), (0.0, 0.0, 0.98)), *_on(rows(body), "cog")])
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["hips"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    assert hips_control(armature) == "cog"


def _on(body: list[skeletons.Row], parent: str) -> list[skeletons.Row]:
    """The rows of a body without its root, its hips on another bone."""
    return [(name, parent if name == "hips" else above, *ends) for name, above, *ends in body if name != "root"]


def test_hips_beside_the_spine_are_moved_by_their_common_parent() -> None:
    apart = [
        (n, "body" if p == "hips" and n == "spine" else p, h, t) for n, p, h, t in rows(human(CONVENTIONS["no_neck"]))
    ]
    apart = [(n, "body" if n == "hips" else p, h, t) for n, p, h, t in apart]
    root = next(row for row in apart if row[0] == "root")
    body = ("body", "root", (0.0, 0.1, 1.0), (0.0, 0.1, 1.1))
    armature = scenes.figure(rows=[root, body, *(row for row in apart if row[0] != "root")])
    assert limbs.find_hips_control(armature, ["head", "chest", "spine"]) == "body"


def test_bones_that_copy_others_are_replaced_by_their_sources() -> None:
    body = human(CONVENTIONS["bvh"])
    driving = [(f"DRV_{n}", f"DRV_{p}" if p else None, h, t) for n, p, h, t in rows(body)]
    armature = armature_of(body, *driving)
    for bone in body.names:
        constrain(armature, bone, "COPY_TRANSFORMS", f"DRV_{bone}")
        armature.data.bones[f"DRV_{bone}"].use_deform = False
    assert limbs.find_legs(armature)[0] == Leg("DRV_LeftUpLeg", "DRV_LeftLeg", "DRV_LeftFoot", "DRV_LeftToeBase")
    assert limbs.find_arms(armature)[1] == Arm("DRV_RightShoulder", "DRV_RightArm", "DRV_RightHand")
    assert hips_control(armature) == "DRV_Hips"


def test_a_head_alone_has_nobody_to_move_it() -> None:
    armature = scenes.figure(rows=[("head", None, (0, 0, 0), (0, 0, 1))])
    assert hips_control(armature) is None
    assert not (limbs.find_legs(armature) or limbs.find_arms(armature) or limbs.find_eyes(armature))


def test_an_armature_without_bones() -> None:
    armature = scenes.figure(rows=[])
    assert not (limbs.find_legs(armature) or limbs.find_arms(armature) or limbs.find_eyes(armature))
    assert not limbs.find_lids(armature)


RIGIFY_LEGS = {
    "human": ["thigh_fk shin_fk foot_fk"],
    "basic_quadruped": ["thigh_fk shin_fk foot_fk", "front_thigh_fk front_shin_fk front_foot_fk"],
    "horse": ["thigh_fk lower_leg_fk hind_foot_fk", "upper_arm_fk forearm_fk forefoot_fk"],
    "bird": ["thigh_fk shin_fk foot_fk"],
    "shark": [],
}
RIGIFY_ARMS = {
    "human": "shoulder upper_arm_fk hand_fk",
    "bird": "shoulder Wing Wing.002",
    "shark": "shoulder side_fin side_fin{}.001",
}


@pytest.mark.slow
@pytest.mark.parametrize("animal", RIGIFY_LEGS)
def test_rigify_gives_its_controls(rigify: None, animal: str) -> None:  # noqa: F811
    plain = metarig(animal)
    assert len(limbs.find_legs(plain)) == 2 * len(RIGIFY_LEGS[animal])
    assert not any(limb.held for limb in (*limbs.find_legs(plain), *limbs.find_arms(plain)))

    rig = generated(animal)

    def sided(name: str, side: str) -> str:
        return name.format(side) if "{}" in name else name + side

    expected = [[sided(bone, side) for bone in leg.split()] for leg in RIGIFY_LEGS[animal] for side in (".L", ".R")]
    legs, arms = limbs.find_legs(rig), limbs.find_arms(rig)
    assert [[leg.upper, leg.lower, leg.foot] for leg in legs] == expected
    expected = (
        [[sided(bone, side) for bone in RIGIFY_ARMS[animal].split()] for side in (".L", ".R")]
        if animal in RIGIFY_ARMS
        else []
    )
    assert [[arm.clavicle, arm.upper, arm.hand] for arm in arms] == expected
    assert hips_control(rig) == "torso"

    for value in (0.0, 1.0):
        for bone in rig.pose.bones:
            if "IK_FK" in bone:
                bone["IK_FK"] = value
        assert all(leg.held == (value == 0.0) for leg in limbs.find_legs(rig))


@pytest.mark.slow
def test_rigify_eyes_are_moved_by_their_targets(rigify: None) -> None:  # noqa: F811
    assert limbs.find_eyes(metarig("human")) == [Eye("eye.L"), Eye("eye.R")]
    assert limbs.find_eyes(generated("human")) == [Eye("MCH-eye.L", "eye.L"), Eye("MCH-eye.R", "eye.R")]


# File, importer; how many eyes, legs, held legs and arms; a leg and an arm of the left; the hips control.
SHARED = [
    ("blend/m2m_human_ymca_2025.blend", blend, (0, 2, 0, 2), "DEF-foot.L", "DEF-upper_arm.L", "DEF-hips"),
    (
        "blend/rig-kaiju.blend",
        blend,
        (0, 2, 2, 2),
        "DRV_Back_Leg_Ankle_L.001",
        "DRV_Front_Leg_Upper_L.001",
        "CTRL_Hips",
    ),
    ("bvh/cmu_131_01_start_walk_stop.bvh", bvh(), (0, 2, 0, 2), "LeftAnkle", "LeftShoulder", "Hips"),
    ("bvh/fair1_dab.bvh", bvh(), (0, 2, 0, 2), "LeftFoot", "LeftArm", "Hips"),
    ("fbx/cmu_91_48.fbx", fbx, (2, 2, 0, 2), "lFoot", "lShldr", "hip"),
    ("gltf/godot_platformer_robot.glb", gltf, (0, 2, 0, 2), "l-foot", "l-arm", "hip"),
    ("gltf/kaykit_knight.glb", gltf, (0, 2, 0, 2), "foot.l", "upperarm.l", "hips"),
    ("gltf/khronos_fox.glb", gltf, (0, 4, 0, 0), "b_LeftFoot01_017", "", "b_Hip_01"),
    ("gltf/m2m_snake.glb", gltf, (0, 0, 0, 0), "", "", None),
    # Its feet do not hang on its legs.
    ("gltf/robot_expressive.glb", gltf, (0, 0, 0, 2), "", "UpperArm.L", "Body"),
    ("vrm/cryptovoxels.vrm", gltf, (0, 2, 0, 2), "Left ankle", "Left arm", "Hips"),
]


@pytest.mark.parametrize(("file", "importer", "counts", "foot", "upper_arm", "moves"), SHARED)
def test_rigs_of_other_makers(
    rigs: Path, file: str, importer: Callable[[Path], object], counts, foot: str, upper_arm: str, moves: str | None
) -> None:
    importer(rigs / file)
    armature = only_armature()
    eyes, legs, arms = limbs.find_eyes(armature), limbs.find_legs(armature), limbs.find_arms(armature)
    assert (len(eyes), len(legs), sum(leg.held for leg in legs), len(arms)) == counts
    assert [leg.foot for leg in legs[:1]] == ([foot] if foot else [])
    assert [arm.upper for arm in arms[:1]] == ([upper_arm] if upper_arm else [])
    assert hips_control(armature) == moves
