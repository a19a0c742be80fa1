"""The head, the chain and the axes are found under any naming, size and attitude."""

import dataclasses
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kept
from extension import load

from . import skeletons
from .skeletons import CONVENTIONS, human, moved, renamed

detect = load("rig.detection.detect")
rest = load("rig.detection.rest")
errors = load("lookat_pd.errors")
rotation = load("lookat_pd.rotation")
vocabulary = load("rig.detection.vocabulary")

FORWARD, UP = np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])

conventions = pytest.mark.parametrize("name", CONVENTIONS)
any_turn = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1).map(rotation.normalize)
any_scale = st.floats(-6.0, 4.0).map(lambda exponent: 10.0**exponent)
any_convention = st.sampled_from(list(CONVENTIONS))


NO_CLUES = detect.RigHints()


def chain_of(body, hints=NO_CLUES) -> list[str]:
    return [link.bone for link in detect.find_chain(body, detect.find_head(body, hints), hints)]


def degrees_between(a, b) -> float:
    return float(np.degrees(rotation.angle(rotation.shortest_arc(a, b))))


@conventions
def test_a_human_is_understood_in_every_convention(name: str) -> None:
    body = human(CONVENTIONS[name])
    assert chain_of(body) == CONVENTIONS[name].chain
    forward, up = detect.find_axes(body)
    np.testing.assert_allclose(forward, FORWARD, atol=1e-6)
    np.testing.assert_allclose(up, UP, atol=1e-6)


RENAMINGS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "swapped": str.swapcase,
    "prefix": lambda name: f"Hero_{name}",
    "prefix with a head in it": lambda name: f"Headless_head_{name}",
    "namespace": lambda name: f"character:{name}",
    "suffix": lambda name: f"{name}_jnt",
}


@pytest.mark.thorough
@conventions
def test_case_prefix_and_suffix_of_all_names_do_not_matter(name: str, subtests) -> None:
    body = human(CONVENTIONS[name])
    chain, axes = chain_of(body), detect.find_axes(body)
    for renaming, rename in RENAMINGS.items():
        if len({rename(bone) for bone in body.names}) < len(body):
            continue  # two bones of this rig differ by case alone
        with subtests.test(renaming):
            other = renamed(body, rename)
            assert chain_of(other) == [rename(bone) for bone in chain]
            np.testing.assert_allclose(detect.find_axes(other), axes, atol=1e-9)


@given(any_convention, any_turn, any_scale)
def test_detection_turns_and_scales_with_the_rig(name: str, turn, scale: float) -> None:
    body = human(CONVENTIONS[name])
    other = moved(body, turn, scale, shift=(3.0 * scale, -2.0 * scale, scale))
    assert chain_of(other) == chain_of(body)
    # Where one of the armature's axes is this near, a leaning body is taken for posture.
    for found, expected in zip(detect.find_axes(other), detect.find_axes(body), strict=True):
        assert degrees_between(found, rotation.rotate(turn, expected)) < 12.0


@pytest.mark.thorough
@given(any_turn)
def test_forward_and_up_are_square_unit_vectors(turn) -> None:
    for body in (human(CONVENTIONS["mixamo"]), skeletons.quadruped(), skeletons.snake(12), skeletons.nameless()):
        forward, up = detect.find_axes(moved(body, turn))
        np.testing.assert_allclose([forward @ forward, up @ up, forward @ up], [1.0, 1.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("degrees", [-170.0, -100.0, -20.0, 5.0, 45.0, 90.0, 180.0])
def test_a_figure_that_faces_elsewhere_is_followed_exactly(degrees: float) -> None:
    turn = rotation.from_axis_angle(UP, np.radians(degrees))
    forward, up = detect.find_axes(moved(human(CONVENTIONS["vrm"]), turn))
    assert degrees_between(forward, rotation.rotate(turn, FORWARD)) < 0.1
    assert degrees_between(up, UP) < 0.1


def test_sides_named_the_wrong_way_round_are_outvoted_by_toes_and_face() -> None:
    swap = {"L": "R", "R": "L"}
    body = renamed(human(CONVENTIONS["rigify_metarig"]), lambda n: n[:-1] + swap[n[-1]] if n[-2:-1] == "." else n)
    np.testing.assert_allclose(detect.find_axes(body)[0], FORWARD, atol=1e-6)


def assert_chain_is_sound(chain) -> None:
    """What holds for every chain, whatever its length."""
    assert 1 <= len(chain) <= detect.LONGEST_CHAIN
    assert len({link.bone for link in chain}) == len(chain)
    assert sum(link.share for link in chain) == pytest.approx(1.0)
    assert all(link.share > 0.0 for link in chain)
    assert chain[0].share == max(link.share for link in chain)
    assert chain[0].settle_factor == 1.0
    assert all(upper.settle_factor < lower.settle_factor for upper, lower in pairwise(chain))
    compensates_lag = [link.compensates_lag for link in chain]
    assert compensates_lag[0]
    assert compensates_lag == sorted(compensates_lag, reverse=True)
    assert all(link.yaw_limit > 0.0 and link.pitch_up_limit > 0.0 and link.pitch_down_limit > 0.0 for link in chain)


@conventions
def test_a_human_can_look_far_round_and_up(name: str) -> None:
    body = human(CONVENTIONS[name])
    chain = detect.find_chain(body, detect.find_head(body))
    assert_chain_is_sound(chain)
    assert np.degrees(sum(link.yaw_limit for link in chain)) > 130.0
    assert np.degrees(sum(link.pitch_up_limit for link in chain)) > 88.0
    assert chain[-1].share == min(link.share for link in chain)


@conventions
def test_torso_follows_and_neck_makes_up(name: str) -> None:
    names = CONVENTIONS[name]
    chain = {link.bone: link for link in detect.find_chain(human(names), names.chain[0])}
    for place, bone in enumerate(reversed(names.trunk.split("|"))):
        if bone in chain:
            assert chain[bone].compensates_lag == (place < names.above)
    assert 1.5 < chain[names.chest].settle_factor < 2.0
    assert 2.0 < chain[names.chain[-1]].settle_factor < 2.6


def test_collar_bones_on_the_neck_do_not_make_it_a_chest() -> None:
    names = dataclasses.replace(CONVENTIONS["biped"], above=1)
    chain = {link.bone: link for link in detect.find_chain(human(names), "Bip01 Head")}
    assert chain["Bip01 Neck"].compensates_lag
    assert 1.5 < chain["Bip01 Spine2"].settle_factor < 2.0


@given(st.integers(2, 70), any_scale)
def test_a_chain_of_any_length_is_sound(bones: int, scale: float) -> None:
    body = moved(skeletons.snake(bones), scale=scale)
    chain = detect.find_chain(body, "Head")
    assert_chain_is_sound(chain)
    assert len(chain) == min(bones, detect.LONGEST_CHAIN)


def test_a_head_alone_takes_the_whole_turn() -> None:
    body = skeletons.build([("Head", None, (0, 0, 0), (0, 0, 1))])
    (link,) = detect.find_chain(body, detect.find_head(body))
    assert (link.bone, link.share, link.settle_factor, link.compensates_lag) == ("Head", 1.0, 1.0, True)
    np.testing.assert_allclose(detect.find_axes(body), [FORWARD, UP])


def test_a_quadruped_looks_away_from_its_tail() -> None:
    body = skeletons.quadruped()
    assert chain_of(body) == ["Head", "Neck", "Spine2", "Spine1", "Pelvis"]
    np.testing.assert_allclose(detect.find_axes(body), [FORWARD, UP], atol=1e-6)


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (("Head_L", "Head_R"), "Head_L"),
        (("HeadLeft", "HeadRight"), "HeadLeft"),
        (("Head_1", "Head_2", "Head_3"), "Head_2"),
    ],
)
def test_of_several_heads_one_is_aimed_with_its_own_neck(heads: tuple[str, ...], expected: str) -> None:
    body = skeletons.many_headed(*heads)
    assert chain_of(body) == [expected, expected.replace("Head", "Neck"), "Spine2", "Spine1", "Pelvis"]
    np.testing.assert_allclose(detect.find_axes(body), [FORWARD, UP], atol=1e-6)


def test_the_head_of_a_joint_is_no_head() -> None:
    names = {"Head": "Top", "LeftArm": "LeftArmHead", "RightArm": "RightArmHead"}
    body = renamed(human(CONVENTIONS["bvh"]), lambda name: names.get(name, name))
    assert not detect.find_head(body).endswith("ArmHead")


def test_deforming_spines_of_a_control_rig_are_no_tail() -> None:
    body, deform = skeletons.quadruped_with_controls()
    found = detect.read_axes(body, detect.RigHints(deform=deform))
    np.testing.assert_allclose([found.forward, found.up], [FORWARD, UP], atol=1e-6)
    assert all(vote.direction @ FORWARD > 0.9 for vote in found.forward_votes)
    assert found.confidence > 0.8


def test_a_snake_looks_along_its_body_with_the_jaw_below() -> None:
    np.testing.assert_allclose(detect.find_axes(skeletons.snake(30)), [FORWARD, UP], atol=1e-6)


def test_a_straight_chain_without_names_is_aimed_at_its_end() -> None:
    body = renamed(skeletons.snake(12), lambda name: f"Bone.{list(skeletons.snake(12).names).index(name):03d}")
    body = skeletons.skeleton.Skeleton(
        body.names[:-1], body.parents[:-1], body.rotations[:-1], body.heads[:-1], body.tails[:-1]
    )
    assert detect.find_head(body) == "Bone.011"
    np.testing.assert_allclose(detect.find_axes(body), [FORWARD, UP], atol=1e-6)


@pytest.mark.parametrize(("aside", "forward"), [(False, FORWARD), (True, (1.0, 0.0, 0.0))])
def test_a_lamp_stands_upright_and_looks_along_its_last_bone(aside: bool, forward) -> None:
    body = skeletons.lamp(aside=aside)
    assert detect.find_head(body) == "Shade"
    found = detect.read_axes(body)
    np.testing.assert_allclose([found.forward, found.up], [forward, UP], atol=1e-6)
    assert found.confidence < 0.5, "it is noted as uncertain"


def test_hierarchy_and_symmetry_do_where_names_say_nothing() -> None:
    body, plain = skeletons.nameless(), human(CONVENTIONS["bvh"])
    expected = [plain.index(bone) for bone in chain_of(plain)]
    assert [body.index(bone) for bone in chain_of(body)] == expected
    np.testing.assert_allclose(detect.find_axes(body), [FORWARD, UP], atol=1e-6)


def test_a_bone_that_copies_another_is_replaced_by_its_source() -> None:
    """On such a rig an offset on the deforming bone would be overwritten."""
    names = CONVENTIONS["bvh"]
    body = human(names)
    drivers = [
        (f"DRV_{bone}.001", None, body.heads[body.index(bone)], body.tails[body.index(bone)]) for bone in body.names
    ]
    rows = [
        (bone, None if parent < 0 else body.names[parent], head, tail)
        for bone, parent, head, tail in zip(body.names, body.parents, body.heads, body.tails, strict=True)
    ]
    rig = skeletons.build(rows + drivers)
    hints = detect.RigHints(follows={bone: f"DRV_{bone}.001" for bone in names.chain}, deform=frozenset(body.names))
    assert chain_of(rig, hints) == [f"DRV_{bone}.001" for bone in names.chain]
    assert detect.find_chain(rig, "Head", hints) == detect.find_chain(rig, "DRV_Head.001", hints)


def test_bones_that_copy_each_other_do_not_hang_the_search() -> None:
    hints = detect.RigHints(follows={"Head": "Neck", "Neck": "Head"})
    assert detect.find_head(human(CONVENTIONS["bvh"]), hints) in ("Head", "Neck")


@pytest.mark.parametrize("names", [[], ["Lamp", "Shade"]])
def test_a_rig_without_a_head_says_what_to_do(names: list[str]) -> None:
    body = skeletons.build((name, None, (i, 0, 0), (i, 0, 1)) for i, name in enumerate(names))
    with pytest.raises(errors.RigError, match="select the head bone in pose mode"):
        detect.find_head(body)
    np.testing.assert_allclose(detect.find_axes(body), [FORWARD, UP])


def read(armature: bpy.types.Object):
    """Skeleton and clues of an armature in Blender."""
    return rest.skeleton(armature), rest.hints(armature)


def only_armature() -> bpy.types.Object:
    (armature,) = (thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    return armature


METARIGS = {
    "human": "spine.006 spine.005 spine.004 spine.003 spine.002 spine.001 spine",
    "basic_human": "spine.006 spine.005 spine.004 spine.003 spine.002 spine.001 spine",
    "basic_quadruped": "spine.011 spine.010 spine.009 spine.008 spine.007 spine.006 spine.005",
    "wolf": "spine.011 spine.010 spine.009 spine.008 spine.007 spine.006 spine.005",
    "cat": "spine.006 spine.005 spine.004 spine.003 spine.002 spine.001 spine",
    "horse": "head neck.004 neck.003 neck.002 neck.001 spine.006 spine.005 spine.004 spine.003 spine.002",
    "bird": "head neck.002 neck.001 spine.006 spine.005 spine.004",
    "shark": "spine.007 spine.006 spine.005 spine.004 spine.008 spine.003",
}


@pytest.fixture
def rigify() -> Iterator[None]:
    enabled = "rigify" in bpy.context.preferences.addons
    bpy.ops.preferences.addon_enable(module="rigify")
    import rigify as addon

    if bpy.app.background and not enabled:
        addon.register_rig_parameters()
    yield
    if not enabled:
        bpy.ops.preferences.addon_disable(module="rigify")


def metarig(animal: str) -> bpy.types.Object:
    getattr(bpy.ops.object, f"armature_{animal}_metarig_add")()
    return bpy.context.object


def _generate(animal: str) -> None:
    item = metarig(animal)
    bpy.ops.pose.rigify_generate()
    bpy.data.objects.remove(item)


def generated(animal: str) -> bpy.types.Object:
    """What Rigify generates from a metarig."""
    kept.scene(_generate, animal)
    (found,) = (thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("animal", METARIGS)
def test_rigify(rigify: None, animal: str) -> None:
    body, hints = read(metarig(animal))
    assert chain_of(body, hints) == METARIGS[animal].split()
    np.testing.assert_allclose(detect.find_axes(body, hints), [FORWARD, UP], atol=1e-5)
    assert_chain_is_sound(detect.find_chain(body, detect.find_head(body, hints), hints))

    body, hints = read(generated(animal))
    expected = [bone for bone, _ in vocabulary.RIGIFY_CONTROLS if bone in body.names]
    for known in (hints, detect.RigHints()):
        assert chain_of(body, known) == expected
        np.testing.assert_allclose(detect.find_axes(body, known), [FORWARD, UP], atol=1e-5)


def bvh(**axes: str) -> Callable[[Path], object]:
    return lambda path: kept.rig(path, **axes)


def gltf(path: Path) -> None:
    kept.rig(path)


def fbx(path: Path) -> None:
    kept.rig(path)


def blend(path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(path))


Z_UP = {"axis_forward": "Y", "axis_up": "Z"}
CMU_BVH = "Head Neck lowerneck Chest2 Chest lowerback Hips"
CMU_FBX = "head neck chest abdomen hip"
FAIR = "Head Neck Spine3 Spine2 Spine1 Spine Hips"
KAIJU = "DRV_Head.001 DRV_Spine_4.001 DRV_Spine_3.001 DRV_Spine_2.003 DRV_Spine_2.002 DRV_Spine_1.001 DRV_Hips.001"

# File, importer, chain, forward and up in armature space: where the toes, the eyes and the face of the mesh are.
SHARED = [
    (
        "blend/m2m_human_ymca_2025.blend",
        blend,
        "DEF-head DEF-neck DEF-spine.003 DEF-spine.002 DEF-spine.001 DEF-hips",
        "-Y Z",
    ),
    ("blend/rig-kaiju.blend", blend, KAIJU, "-Y Z"),
    ("bvh/cmu_131_01_start_walk_stop.bvh", bvh(), CMU_BVH, "-Y Z"),
    ("bvh/cmu_131_02_start_walk_stop.bvh", bvh(), CMU_BVH, "-Y Z"),
    ("bvh/fair1_dab.bvh", bvh(**Z_UP), FAIR, "-Y Z"),
    ("bvh/fair1_dab.bvh", bvh(), FAIR, "-Z -Y"),
    ("bvh/fair1_zombie.bvh", bvh(**Z_UP), FAIR, "-Y Z"),
    ("fbx/cmu_91_48.fbx", fbx, CMU_FBX, "-Y Z"),
    ("fbx/cmu_91_50.fbx", fbx, CMU_FBX, "-Y Z"),
    ("gltf/godot_platformer_robot.glb", gltf, "head neck chest waist hip", "-Y Z"),
    ("gltf/kaykit_knight.glb", gltf, "head chest spine hips", "-Y Z"),
    ("gltf/khronos_fox.glb", gltf, "b_Head_05 b_Neck_04 b_Spine02_03 b_Spine01_02 b_Hip_01", "-Y Z"),
    ("gltf/m2m_snake.glb", gltf, "head", "-Y Z"),
    ("gltf/robot_expressive.glb", gltf, "Head Neck Torso Abdomen Hips", "-Z -Y"),
    ("vrm/cryptovoxels.vrm", gltf, "Head Neck Chest Spine Hips", "Y Z"),
]


def axis(name: str):
    return (-1.0 if name[0] == "-" else 1.0) * np.eye(3)["XYZ".index(name[-1])]


@pytest.mark.parametrize(("file", "importer", "chain", "axes"), SHARED)
def test_rigs_of_other_makers(rigs: Path, file: str, importer: Callable[[Path], object], chain: str, axes: str) -> None:
    importer(rigs / file)
    body, hints = read(only_armature())
    assert chain_of(body, hints) == chain.split()
    found = detect.find_axes(body, hints)
    np.testing.assert_allclose(found, [axis(name) for name in axes.split()], atol=1e-4)
    assert_chain_is_sound(detect.find_chain(body, detect.find_head(body, hints), hints))
