"""Small skeletons written by hand: one human under the names of many programs, and bodies of other kinds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from extension import load

rotation = load("lookat_pd.rotation")
skeleton = load("lookat_pd.skeleton")

Row = tuple[str, str | None, Sequence[float], Sequence[float]]


def build(rows: Iterable[Row]):
    """Skeleton from rows (name, parent or None, head, tail); bones roll as they come."""
    rows = list(rows)
    names = [row[0] for row in rows]
    heads, tails = (np.array([row[i] for row in rows], dtype=float).reshape(-1, 3) for i in (2, 3))
    return skeleton.Skeleton(
        names,
        [-1 if row[1] is None else names.index(row[1]) for row in rows],
        rotation.shortest_arc([0.0, 1.0, 0.0], tails - heads),
        heads,
        tails,
    )


def line(names: Sequence[str], points: Sequence[Sequence[float]], parent: str | None = None) -> list[Row]:
    """Rows of bones one behind the other, from point to point."""
    ends = [*points, 2.0 * np.array(points[-1]) - np.array(points[-2])] if len(points) == len(names) else points
    parents = [parent, *names[:-1]]
    return [
        (*row, head, tail) for row, (head, tail) in zip(zip(names, parents, strict=True), pairwise(ends), strict=True)
    ]


@dataclass(frozen=True)
class Convention:
    """Names of a human's bones, those of one line divided by |.

    trunk: from the pelvis to the head. arm, leg: from the body outwards, {} is the side. above: how many bones of the
    trunk are above the chest, the parent of the arms. below: bones under the pelvis, on the floor. extra: rows of
    further bones. skipped: bones of the trunk that only help.
    """

    trunk: str
    arm: str
    leg: str
    sides: tuple[str, str]
    above: int = 2
    below: str = ""
    extra: tuple[Row, ...] = ()
    skipped: str = ""

    @property
    def chest(self) -> str:
        """The parent of the arms."""
        return self.trunk.split("|")[-1 - self.above]

    @property
    def chain(self) -> list[str]:
        """The bones to be found, head first."""
        return [bone for bone in reversed(self.trunk.split("|")) if bone not in self.skipped.split("|")]


HEAD_TOP = (0.0, -0.02, 1.85)
ARM = ((0.02, 0.0, 1.42), (0.18, 0.01, 1.42), (0.45, 0.03, 1.42), (0.7, 0.01, 1.42))
LEG = ((0.09, 0.0, 0.93), (0.09, -0.015, 0.5), (0.09, 0.02, 0.09), (0.09, -0.1, 0.02))


def human(names: Convention):
    """A human 1.8 m tall, facing -Y, Z up, in T-pose."""
    return build(human_rows(names))


def human_rows(names: Convention) -> list[Row]:
    """The same, to build an armature of."""
    trunk = names.trunk.split("|")
    below = names.below.split("|") if names.below else []
    heights = np.array([0.98, *np.interp(np.linspace(0, 1, len(trunk) - 1), [0, 1], [1.08, 1.6])])
    points = [(0.0, 0.0, height) for height in heights]
    rows: list[Row] = []
    for bone, parent in zip(below, [None, *below], strict=False):
        rows.append((bone, parent, (0.0, 0.0, 0.0), (0.0, 0.2, 0.0)))
    rows += line(trunk, [*points, HEAD_TOP], below[-1] if below else None)
    for side, sign in zip(names.sides, (1.0, -1.0), strict=True):
        mirror = np.array([sign, 1.0, 1.0])
        rows += line([bone.format(side) for bone in names.arm.split("|")], list(ARM * mirror), names.chest)
        rows += line([bone.format(side) for bone in names.leg.split("|")], list(LEG * mirror), trunk[0])
    return [*rows, *names.extra]


_POINT = ((0.0, -0.02, 1.85), (0.0, -0.02, 1.9))

CONVENTIONS = {
    "mixamo": Convention(
        "mixamorig:Hips|mixamorig:Spine|mixamorig:Spine1|mixamorig:Spine2|mixamorig:Neck|mixamorig:Head",
        "mixamorig:{}Shoulder|mixamorig:{}Arm|mixamorig:{}ForeArm|mixamorig:{}Hand",
        "mixamorig:{}UpLeg|mixamorig:{}Leg|mixamorig:{}Foot|mixamorig:{}ToeBase",
        ("Left", "Right"),
        extra=(("mixamorig:HeadTop_End", "mixamorig:Head", *_POINT),),
    ),
    "vrm": Convention(
        "J_Bip_C_Hips|J_Bip_C_Spine|J_Bip_C_Chest|J_Bip_C_UpperChest|J_Bip_C_Neck|J_Bip_C_Head",
        "J_Bip_{}_Shoulder|J_Bip_{}_UpperArm|J_Bip_{}_LowerArm|J_Bip_{}_Hand",
        "J_Bip_{}_UpperLeg|J_Bip_{}_LowerLeg|J_Bip_{}_Foot|J_Bip_{}_ToeBase",
        ("L", "R"),
        below="Root",
        extra=(("J_Sec_Hair1_01", "J_Bip_C_Head", *_POINT),),
    ),
    "unreal": Convention(
        "pelvis|spine_01|spine_02|spine_03|spine_04|spine_05|neck_01|neck_02|head",
        "clavicle_{}|upperarm_{}|lowerarm_{}|hand_{}",
        "thigh_{}|calf_{}|foot_{}|ball_{}",
        ("l", "r"),
        above=3,
        below="root",
        extra=(
            ("ik_foot_root", "root", (0, 0, 0), (0, 0, 0.1)),
            ("ik_foot_l", "ik_foot_root", (0.09, 0.02, 0.09), (0.09, 0.02, 0.2)),
            ("ik_foot_r", "ik_foot_root", (-0.09, 0.02, 0.09), (-0.09, 0.02, 0.2)),
            ("ik_hand_root", "root", (0, 0, 0), (0, 0, 0.1)),
        ),
    ),
    "bvh": Convention(
        "Hips|LowerBack|Spine|Spine1|Neck|Neck1|Head",
        "{}Shoulder|{}Arm|{}ForeArm|{}Hand",
        "{}UpLeg|{}Leg|{}Foot|{}ToeBase",
        ("Left", "Right"),
        above=3,
    ),
    "daz": Convention(
        "hip|abdomenLower|abdomenUpper|chestLower|chestUpper|neckLower|neckUpper|head",
        "{}Collar|{}Shldr|{}ForeArm|{}Hand",
        "{}Thigh|{}Shin|{}Foot|{}Toe",
        ("l", "r"),
        above=3,
        extra=(("lEye", "head", (0.03, -0.1, 1.7), (0.03, -0.12, 1.7)),),
    ),
    "biped": Convention(
        "Bip01 Pelvis|Bip01 Spine|Bip01 Spine1|Bip01 Spine2|Bip01 Neck|Bip01 Head",
        "Bip01 {} Clavicle|Bip01 {} UpperArm|Bip01 {} Forearm|Bip01 {} Hand",
        "Bip01 {} Thigh|Bip01 {} Calf|Bip01 {} Foot|Bip01 {} Toe0",
        ("L", "R"),
        below="Bip01",
        extra=(("Bip01 HeadNub", "Bip01 Head", *_POINT), ("Bip01 Ponytail1", "Bip01 Head", *_POINT)),
    ),
    "character_creator": Convention(
        "CC_Base_Hip|CC_Base_Waist|CC_Base_Spine01|CC_Base_Spine02|CC_Base_NeckTwist01|CC_Base_NeckTwist02|CC_Base_Head",
        "CC_Base_{}_Clavicle|CC_Base_{}_Upperarm|CC_Base_{}_Forearm|CC_Base_{}_Hand",
        "CC_Base_{}_Thigh|CC_Base_{}_Calf|CC_Base_{}_Foot|CC_Base_{}_ToeBase",
        ("L", "R"),
        above=3,
        below="RL_BoneRoot",
        extra=(("CC_Base_FacialBone", "CC_Base_Head", *_POINT),),
    ),
    "maya": Convention(
        "Root_M|Spine1_M|Spine2_M|Chest_M|Neck_M|Head_M",
        "Scapula_{}|Shoulder_{}|Elbow_{}|Wrist_{}",
        "Hip_{}|Knee_{}|Ankle_{}|Toes_{}",
        ("L", "R"),
        extra=(("HeadEnd_M", "Head_M", *_POINT),),
    ),
    "auto_rig_pro": Convention(
        "root.x|spine_01.x|spine_02.x|spine_03.x|neck.x|head.x",
        "shoulder.{}|arm_stretch.{}|forearm_stretch.{}|hand.{}",
        "thigh_stretch.{}|leg_stretch.{}|foot.{}|toes_01.{}",
        ("l", "r"),
    ),
    "mmd": Convention(
        "腰|上半身|上半身2|首|頭",
        "{}肩|{}腕|{}ひじ|{}手首",
        "{}足|{}ひざ|{}足首|{}つま先",
        ("左", "右"),
        below="全ての親|センター",
    ),
    "rigify_metarig": Convention(
        "spine|spine.001|spine.002|spine.003|spine.004|spine.005|spine.006",
        "shoulder.{}|upper_arm.{}|forearm.{}|hand.{}",
        "thigh.{}|shin.{}|foot.{}|toe.{}",
        ("L", "R"),
        above=3,
        extra=(
            ("face", "spine.006", (0, -0.02, 1.7), (0, -0.02, 1.8)),
            ("forehead.L", "face", (0.03, -0.1, 1.8), (0.05, -0.1, 1.8)),
            ("forehead.R", "face", (-0.03, -0.1, 1.8), (-0.05, -0.1, 1.8)),
        ),
    ),
    "gltf": Convention(
        "b_Hip_01|b_Spine01_02|b_Spine02_03|b_Neck_04|b_Head_05",
        "b_{}Shoulder_06|b_{}UpperArm_07|b_{}ForeArm_08|b_{}Hand_09",
        "b_{}Leg01_10|b_{}Leg02_11|b_{}Foot01_12|b_{}Foot02_13",
        ("Left", "Right"),
        below="_rootJoint|b_Root_00",
    ),
    "robot": Convention(
        "hip|waist|chest|neck|headtracker|head",
        "{}-shoulder|{}-arm|{}-forearm|{}-hand",
        "{}-thigh|{}-leg|{}-foot|{}-toe",
        ("l", "r"),
        above=3,
        below="MASTER",
        extra=(
            ("HEAD", "MASTER", (0, -2, 1.8), (0, -2, 2)),
            ("vent", "head", *_POINT),
            ("l-LEGCONTROL", "MASTER", (0.09, 0.02, 0.09), (0.09, 0.1, 0.09)),
            ("r-LEGCONTROL", "MASTER", (-0.09, 0.02, 0.09), (-0.09, 0.1, 0.09)),
        ),
        skipped="headtracker",
    ),
    "no_neck": Convention(
        "hips|spine|chest|head",
        "shoulder.{}|upperarm.{}|lowerarm.{}|hand.{}",
        "upperleg.{}|lowerleg.{}|foot.{}|toes.{}",
        ("l", "r"),
        above=1,
        below="root",
        extra=(("handslot.l", "hand.l", (0.8, 0, 1.4), (0.8, 0, 1.5)),),
    ),
}


def nameless():
    """The human with names that say nothing, and no leaf bones."""
    plain = human(CONVENTIONS["bvh"])
    return renamed(plain, lambda name: f"Bone.{plain.index(name):03d}")


def quadruped():
    """A four-legged animal 0.8 m tall, facing -Y, with a tail."""
    rows = line(["Pelvis", "Spine1", "Spine2", "Neck", "Head"], [(0, y, z) for y, z in FOUR_FOOTED], None)
    rows += line(["Tail1", "Tail2"], [(0, 0.5, 0.6), (0, 0.7, 0.5)], "Pelvis")
    for side, x in (("L", 0.1), ("R", -0.1)):
        legs = [f"{part}_{side}" for part in ("Thigh", "Shin", "Foot")]
        rows += line(legs, [(x, 0.4, 0.55), (x, 0.35, 0.3), (x, 0.45, 0.05)], "Pelvis")
        legs = [f"Front{part}_{side}" for part in ("Leg", "Shin", "Foot")]
        rows += line(legs, [(x, -0.2, 0.55), (x, -0.15, 0.3), (x, -0.2, 0.05)], "Spine2")
    return build(rows)


FOUR_FOOTED = ((0.45, 0.6), (0.2, 0.62), (-0.1, 0.6), (-0.3, 0.65), (-0.5, 0.8), (-0.7, 0.78))


def snake(bones: int):
    """A snake along Y, head at -Y: its bones from the tail to the head, and a jaw below the head."""
    names = [*(f"Spine{i:02d}" for i in range(bones - 1)), "Head"]
    rows = line(names, [(0.0, -0.1 * i, 0.05) for i in range(bones + 1)])
    head = rows[-1][2]
    return build([*rows, ("Jaw", "Head", (0.0, head[1] - 0.02, 0.0), (0.0, head[1] - 0.1, 0.0))])


def moved(body, turn=(1.0, 0.0, 0.0, 0.0), scale: float = 1.0, shift: Sequence[float] = (0.0, 0.0, 0.0)):
    """The skeleton turned by a quaternion, scaled and shifted as a whole."""
    heads, tails = (scale * rotation.rotate(turn, points) + np.array(shift) for points in (body.heads, body.tails))
    return skeleton.Skeleton(body.names, body.parents, rotation.multiply(turn, body.rotations), heads, tails)


def renamed(body, rename: Callable[[str], str]):
    """The skeleton with other names."""
    return skeleton.Skeleton(
        [rename(name) for name in body.names], body.parents, body.rotations, body.heads, body.tails
    )


def many_headed(*names: str):
    """The four-legged animal with a neck and a head of each of these names, side by side from left to right."""
    plain = quadruped()
    rows = [
        (bone, None if parent < 0 else plain.names[parent], head, tail)
        for bone, parent, head, tail in zip(plain.names, plain.parents, plain.heads, plain.tails, strict=True)
        if bone not in ("Neck", "Head")
    ]
    for name, x in zip(names, np.linspace(0.3, -0.3, len(names)), strict=True):
        bones = [name.replace("Head", "Neck"), name]
        rows += line(bones, [(0.3 * x, -0.3, 0.65), (x, -0.5, 0.8), (x, -0.7, 0.78)], "Spine2")
    return build(rows)


def quadruped_with_controls():
    """The animal as a generated rig has it: controls in one line, deforming bones in another, the tail from its tip."""
    trunk = ["Spine.003", "Spine.004", "Spine.005", "Spine.006", "Spine.007"]
    points = [(0.0, y, z) for y, z in FOUR_FOOTED]
    rows = [("root", None, (0, 0, 0), (0, 0.3, 0)), *line(["torso", "chest", "neck", "head"], points[1:], "root")]
    rows += line([f"DEF-{name}" for name in trunk], points, "root")
    rows += line(["DEF-Spine", "DEF-Spine.001", "DEF-Spine.002"], [(0, y, 0.6) for y in (1.2, 0.9, 0.7, 0.45)], "root")
    legs = quadruped()
    for bone, parent, head, tail in zip(legs.names, legs.parents, legs.heads, legs.tails, strict=True):
        if bone[-2:] in ("_L", "_R"):
            above = legs.names[parent]
            rows.append((f"DEF-{bone}", f"DEF-{above}" if above[-2:] == bone[-2:] else "root", head, tail))
    body = build(rows)
    return body, frozenset(name for name in body.names if name.startswith("DEF-"))


def lamp(*, aside: bool = False):
    """A desk lamp 0.8 m tall with two arms in one plane, its shade level along -Y, or along X."""
    points = np.array([(0, 0, 0.0), (0, 0, 0.1), (0, 0.25, 0.45), (0, -0.15, 0.75), (0, -0.35, 0.75)])
    if aside:
        points = points[:, [1, 0, 2]] * (-1.0, 1.0, 1.0)
    return build(line(["Base", "Lower", "Upper", "Shade"], points))


def bird():
    """A bird 0.9 m tall with wings, facing -Y."""
    rows = line(["Hips", "Spine", "Neck", "Head"], [(0, y, z) for y, z in BIRD])
    rows += line(["Tail"], [(0, 0.2, 0.5), (0, 0.5, 0.45)], "Hips")
    for side, x in (("L", 0.1), ("R", -0.1)):
        legs = [f"{part}_{side}" for part in ("Thigh", "Shin", "Foot", "Toe")]
        rows += line(legs, [(x, 0.05, 0.45), (x, -0.05, 0.3), (x, 0.1, 0.1), (x, 0, 0.02)], "Hips")
        wings = [f"Wing{part}_{side}" for part in (1, 2, 3)]
        rows += line(wings, [(x, 0, 0.6), (4 * x, 0.05, 0.6), (8 * x, 0.1, 0.6)], "Spine")
    return build(rows)


BIRD = ((0.1, 0.5), (-0.05, 0.6), (-0.15, 0.8), (-0.2, 0.9), (-0.35, 0.9))


def _sides_alone(body):
    """Names in a language that is not known, with left and right."""
    numbers: dict[tuple[str, ...], int] = {}

    def strange(name: str) -> str:
        read = read_names[body.index(name)]
        number = numbers.setdefault((*read.key, "" if read.side else name), len(numbers))
        word = "".join("zqxvwkjh"[(number >> shift) % 8] for shift in (0, 3, 6))
        return f"{word}.{read.side}" if read.side else word

    read_names = load("rig.detection.names").read_names(body.names)
    return renamed(body, strange)


RENAMED: dict[str, Callable] = {
    "numbers": lambda body: renamed(body, lambda name: f"Bone.{body.index(name):03d}"),
    "an unknown language": lambda body: renamed(
        body, lambda name: "".join("zqxvwkjh"[(body.index(name) >> n) % 8] for n in (0, 3, 6))
    ),
    "sides alone": _sides_alone,
    "a head and numbers": lambda body: renamed(
        body, lambda name: name if name.lower() == "head" else f"Bone.{body.index(name):03d}"
    ),
}
"""Bodies under names that say little."""
