"""Copies and mirror images of look-ats: which chain, which axis, which target they get."""

from functools import partial

import bpy
import numpy as np
import pytest

from extension import load

from ..scenes import FIGURE, ball, figure

errors = load("lookat_pd.errors")
look_at = load("rig.look_at.resolve")
look_at_copy = load("rig.look_at.copy")
look_at_edit = load("rig.look_at.edit")
names = load("rig.detection.names")
presets = load("rig.look_at.presets")
facing = load("rig.look_at.facing")

EYES = (
    ("eye.L", "head", (0.04, -0.1, 1.7), (0.04, -0.13, 1.7)),
    ("eye.R", "head", (-0.04, -0.1, 1.7), (-0.04, -0.13, 1.7)),
)
TUNING = {"settle_time": 0.25, "damping": "RESPONSIVE", "max_speed": 2.0, "soft_edge": 0.2, "release_time": 0.4}


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character with eyes."""
    return figure("Hero", (*FIGURE, *EYES))


def add(armature: bpy.types.Object, bone: str, chain: list[str] | None = None, **values):
    """A look-at at a ball, with this chain of the detected one."""
    look_at_edit.add(bpy.context.scene, armature, bone, ball((0.3, -2.0, 1.7), "Ball"))
    settings = armature.pose.bones[bone].lookat_pd
    if chain is not None:
        for n in reversed(range(len(settings.chain))):
            if settings.chain[n].bone not in chain:
                settings.chain.remove(n)
    for name, value in values.items():
        setattr(settings, name, value)
    return settings


def links(armature: bpy.types.Object, bone: str) -> list[tuple]:
    chain = armature.pose.bones[bone].lookat_pd.chain
    numbers = ("share", "settle_factor", "yaw_limit", "pitch_up_limit", "pitch_down_limit", "makes_up")
    return [(link.bone, *(getattr(link, name) for name in numbers)) for link in chain]


def copy(armature: bpy.types.Object, source: str, *bones: str, **options) -> None:
    look_at_copy.copy(bpy.context.scene, armature, source, bones, **options)


def mirror(armature: bpy.types.Object, source: str) -> str:
    return look_at_copy.mirror(bpy.context.scene, armature, source)[0]


def with_body(settings, *more: str) -> None:
    """Amounts of the body and the eyes that are not the default ones, and two additional targets."""
    settings.body.use_weight_shift, settings.body.weight_side, settings.body.mover = True, 8.0, "hips"
    settings.eyes.head_share, settings.eyes.seed, settings.eyes.blink_key = 0.25, 5, "Blink"
    for name in ("", *more):
        item = settings.targets.add()
        item.object = bpy.data.objects[name] if name else None
    settings.active_target = 1


def body(settings) -> dict[str, object]:
    return {
        f"{group}.{name}": getattr(getattr(settings, group), name)
        for group in ("body", "eyes")
        for name, prop in getattr(settings, group).bl_rna.properties.items()
        if prop.type not in ("POINTER", "COLLECTION")
    }


def test_copy_has_the_same_tuning_and_target(hero) -> None:
    source = add(hero, "eye.L", **TUNING)
    copy(hero, "eye.L", "eye.R")
    found = hero.pose.bones["eye.R"].lookat_pd
    assert all(getattr(found, name) == getattr(source, name) for name in presets.SETTINGS)
    assert found.target == source.target


def test_copy_on_the_same_chain_takes_the_heads_place(hero) -> None:
    add(hero, "eye.L", ["eye.L", "head"]).chain[1].yaw_limit = 0.1
    copy(hero, "eye.L", "eye.R")
    (first, *one), (second, *other) = links(hero, "eye.L"), links(hero, "eye.R")
    assert (first[0], second[0]) == ("eye.L", "eye.R") and first[1:] == second[1:]
    assert one == other and [link[0] for link in one] == ["head"]


def test_copy_of_an_eye_that_turns_alone_turns_alone(hero) -> None:
    add(hero, "eye.L", ["eye.L"])
    copy(hero, "eye.L", "eye.R")
    assert [link[0] for link in links(hero, "eye.R")] == ["eye.R"]


def test_copy_elsewhere_has_its_own_chain_and_the_limits_of_common_bones(hero) -> None:
    source = add(hero, "head")
    next(link for link in source.chain if link.bone == "spine").yaw_limit = 0.123
    copy(hero, "head", "chest", "hand.L")
    for bone in ("chest", "hand.L"):
        found = links(hero, bone)
        assert found[0][0] == bone
        assert next(link for link in found if link[0] == "spine") == next(
            link for link in links(hero, "head") if link[0] == "spine"
        )


def test_copy_over_another_look_at_replaces_it(hero) -> None:
    add(hero, "eye.L", ["eye.L"], **TUNING)
    add(hero, "eye.R")
    copy(hero, "eye.L", "eye.R")
    assert [link[0] for link in links(hero, "eye.R")] == ["eye.R"]
    assert hero.pose.bones["eye.R"].lookat_pd.settle_time == pytest.approx(0.25)


def test_keys_are_not_copied_nor_what_they_say_now(hero) -> None:
    source = add(hero, "eye.L", influence=0.4)
    source.use = False
    look_at_edit.toggle_key(hero, "eye.L", "use", 1)
    copy(hero, "eye.L", "eye.R")
    found = hero.pose.bones["eye.R"].lookat_pd
    assert found.use and found.influence == pytest.approx(0.4)
    assert look_at_edit.key_state(hero, "eye.R", "use", 1) == "NONE"


def test_a_target_that_a_copy_would_move_changes_nothing(hero) -> None:
    source = add(hero, "eye.L", ["eye.L"])
    source.target, source.subtarget = hero, "hand.L"
    before = look_at.bones_with_look_at(hero)
    with pytest.raises(errors.RigError, match="moves with"):
        copy(hero, "eye.L", "eye.R", "upper_arm.L")
    assert look_at.bones_with_look_at(hero) == before
    copy(hero, "eye.L", "eye.R", "upper_arm.L", with_target=False)
    assert hero.pose.bones["upper_arm.L"].lookat_pd.exists


def test_copy_takes_body_eyes_and_additional_targets_along(hero) -> None:
    source = add(hero, "eye.L", ["eye.L", "head"])
    other = ball((1.0, -2.0, 1.5), "Other")
    with_body(source, "Other")
    copy(hero, "eye.L", "eye.R")
    found = hero.pose.bones["eye.R"].lookat_pd
    assert body(found) == body(source)
    assert [(item.object, item.name) for item in found.targets] == [(None, ""), (other, "Other")]
    assert found.active_target == 1


def test_copy_without_the_target_keeps_all_of_its_own(hero) -> None:
    source = add(hero, "eye.L", ["eye.L", "head"])
    ball((1.0, -2.0, 1.5), "Other")
    with_body(source, "Other")
    add(hero, "eye.R").targets.add().object = bpy.data.objects["Other"]
    copy(hero, "eye.L", "eye.R", with_target=False)
    found = hero.pose.bones["eye.R"].lookat_pd
    assert [item.object.name for item in found.targets] == ["Other"] and found.active_target == 0
    assert body(found) == body(source)


def test_copy_replaces_additional_targets(hero) -> None:
    add(hero, "eye.L", ["eye.L"])
    found = add(hero, "eye.R")
    found.targets.add().object = bpy.data.objects["Ball"]
    copy(hero, "eye.L", "eye.R")
    assert len(found.targets) == 0


def test_an_additional_target_that_the_copy_would_move_changes_nothing(hero) -> None:
    source = add(hero, "eye.L", ["eye.L"])
    item = source.targets.add()
    item.object, item.bone = hero, "hand.L"
    with pytest.raises(errors.RigError, match="moves with"):
        copy(hero, "eye.L", "upper_arm.L")
    assert not look_at.exists_on(hero.pose.bones["upper_arm.L"])


def test_an_eye_that_looks_by_itself_is_no_eye_of_its_copy(hero) -> None:
    """A copy whose chain contains the bones of a response does without it, and can be solved."""
    source = add(hero, "head")
    source.eyes.use = True
    left_off = look_at_copy.copy(bpy.context.scene, hero, "head", ["eye.L"])
    found = hero.pose.bones["eye.L"].lookat_pd
    assert [layer.id for layer in left_off] == ["eyes"] and not found.eyes.use and source.eyes.use
    look_at.resolve(hero, "eye.L")


# Mirror


def test_mirror_image_has_body_eyes_and_additional_targets(hero) -> None:
    for side in "LR":
        ball((0.3, -2.0, 1.7), f"Target.{side}")
    source = add(hero, "hand.L")
    with_body(source, "Target.L")
    source.eyes.left, source.eyes.right = "eye.L", "eye.R"
    mirror(hero, "hand.L")
    found = hero.pose.bones["hand.R"].lookat_pd
    assert body(found) == body(source)
    assert [item.object and item.object.name for item in found.targets] == [None, "Target.R"]
    source.eyes.right = ""
    mirror(hero, "hand.L")
    assert (found.eyes.left, found.eyes.right) == ("", "eye.R")


@pytest.mark.every_blender
def test_mirroring_twice_changes_nothing(hero) -> None:
    add(hero, "hand.L", **TUNING, aim_axis="NEG_X").chain[0].yaw_limit = 0.321
    before = links(hero, "hand.L")
    assert mirror(hero, "hand.L") == "hand.R"
    assert [link[0] for link in links(hero, "hand.R")][:2] == ["hand.R", "upper_arm.R"]
    assert [link[1:] for link in links(hero, "hand.R")] == [link[1:] for link in before]
    assert mirror(hero, "hand.R") == "hand.L"
    assert links(hero, "hand.L") == before and hero.pose.bones["hand.L"].lookat_pd.aim_axis == "NEG_X"


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["POS_X", "NEG_X", "POS_Y", "NEG_Y", "POS_Z", "NEG_Z"])
@pytest.mark.parametrize("roll", [0.0, 90.0, 180.0, -90.0])
def test_mirrored_axis_points_where_the_mirror_image_does(hero, axis, roll) -> None:
    """However the bone on the other side is rolled."""
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.mode_set(mode="EDIT")
    hero.data.edit_bones["eye.R"].roll = np.radians(roll)
    bpy.ops.object.mode_set(mode="OBJECT")
    add(hero, "eye.L", aim_axis=axis)
    mirror(hero, "eye.L")
    left, right = (
        np.array(hero.data.bones[bone].matrix_local)[:3, :3] @ facing.AIM_AXES[hero.pose.bones[bone].lookat_pd.aim_axis]
        for bone in ("eye.L", "eye.R")
    )
    assert np.allclose(right, left * (-1, 1, 1), atol=1e-5)


def test_automatic_axis_stays_automatic(hero) -> None:
    add(hero, "eye.L")
    mirror(hero, "eye.L")
    copy(hero, "eye.L", "hand.L")
    assert {hero.pose.bones[bone].lookat_pd.aim_axis for bone in ("eye.R", "hand.L")} == {"AUTO"}


def test_targets_change_sides_where_they_have_two(hero) -> None:
    for side in "LR":
        ball((0.3, -2.0, 1.7), f"Target.{side}")
    source = add(hero, "eye.L")
    mirror(hero, "eye.L")
    assert hero.pose.bones["eye.R"].lookat_pd.target == source.target
    source.target = bpy.data.objects["Target.L"]
    mirror(hero, "eye.L")
    assert hero.pose.bones["eye.R"].lookat_pd.target.name == "Target.R"
    source.target, source.subtarget = hero, "hand.L"
    mirror(hero, "eye.L")
    assert hero.pose.bones["eye.R"].lookat_pd.subtarget == "hand.R"


def test_a_bone_in_the_middle_has_no_other_side(hero) -> None:
    add(hero, "head")
    with pytest.raises(errors.RigError, match="no counterpart on the other side"):
        mirror(hero, "head")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("eye.L", "eye.R"),
        ("eye_l", "eye_r"),
        ("mixamorig:LeftEye", "mixamorig:RightEye"),
        ("J_Adj_L_FaceEye", "J_Adj_R_FaceEye"),
        ("Bip01 L Eye", "Bip01 R Eye"),
        ("lEye", "rEye"),
        ("左目", "右目"),
    ],
)
def test_sides_in_all_conventions(left, right) -> None:
    others = ["hips", "spine", "neck", "head"]
    assert names.other_side(left, [*others, left, right]) == right
    assert names.other_side(right, [*others, left, right]) == left
    assert names.other_side(left, [*others, left]) is None
    assert names.other_side("head", [*others, left, right]) is None


def test_several_conventions_in_one_rig() -> None:
    rig = ["hips", "head", "eye.L", "eye.R", "eye_L", "eye_R", "DEF-eye.L", "DEF-eye.R"]
    assert [names.other_side(name, rig) for name in ("eye.L", "eye_R", "DEF-eye.L")] == ["eye.R", "eye_L", "DEF-eye.R"]


@pytest.mark.parametrize("kind", ["copied", "mirrored"])
def test_a_chain_with_a_bone_that_is_gone_is_an_error_that_names_it(hero, kind) -> None:
    add(hero, "eye.L", ["eye.L", "head"]).chain[-1].bone = "gone"
    make = copy if kind == "copied" else partial(look_at_copy.mirror, bpy.context.scene)
    bones = ("eye.L", "eye.R") if kind == "copied" else ("eye.L",)
    with pytest.raises(errors.RigError, match="'gone', which does not exist"):
        make(hero, *bones)
    assert not hero.pose.bones["eye.R"].lookat_pd.exists
