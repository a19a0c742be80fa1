"""The operators that set a look-at up: add, remove, key, copy, mirror, presets, and those that edit the chain."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes

look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
actions = load("rig.animation.actions")
polling = load("operators.polling")
layers = load("rig.look_at.body.layers")
presets = load("rig.look_at.presets")

BONES = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("chest", "hips", (0, 0, 1.2), (0, 0, 1.5)),
    ("neck", "chest", (0, 0, 1.5), (0, 0, 1.6)),
    ("head", "neck", (0, 0, 1.6), (0, 0, 1.8)),
    ("arm.L", "chest", (0.2, 0, 1.4), (0.6, 0, 1.4)),
    ("arm.R", "chest", (-0.2, 0, 1.4), (-0.6, 0, 1.4)),
)


def make(name: str, x: float = 0.0) -> bpy.types.Object:
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    armature = scenes.figure(name, BONES)
    armature.location.x = x
    return armature


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character, active and selected, in object mode."""
    armature = make("Hero")
    armature.select_set(True)
    return armature


def thing(name: str, *, selected: bool = False) -> bpy.types.Object:
    item = scenes.ball((0.5, -2, 1.7), name)
    item.select_set(selected)
    return item


def settings(armature: bpy.types.Object, bone: str = "head"):
    return armature.pose.bones[bone].lookat_pd


def chain(armature: bpy.types.Object) -> list[str]:
    return [link.bone for link in settings(armature).chain]


# Add


@pytest.mark.every_blender
def test_add_finds_the_head_and_makes_a_target_ahead(hero) -> None:
    assert bpy.ops.lookat_pd.add() == {"FINISHED"}
    target = settings(hero).target
    assert target.name == "Hero Target" and target.location.y < -0.5 and abs(target.location.x) < 1e-6
    assert chain(hero) == ["head", "neck", "chest", "hips"]
    assert hero.data.bones.active.name == "head"


def test_add_takes_the_other_selected_object(hero) -> None:
    ball = thing("Ball", selected=True)
    bpy.ops.lookat_pd.add()
    assert settings(hero).target == ball
    assert {item.name for item in bpy.context.scene.objects} == {"Hero", "Ball"}


def test_add_looks_another_character_in_the_face(hero) -> None:
    other = make("Other", 1.0)
    other.select_set(True)
    bpy.context.view_layer.objects.active = hero
    bpy.ops.lookat_pd.add()
    assert (settings(hero).target, settings(hero).subtarget) == (other, "head")


def test_add_does_not_take_the_characters_own_body(hero) -> None:
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    body.parent = hero
    bpy.context.scene.collection.objects.link(body)
    body.select_set(True)
    bpy.ops.lookat_pd.add()
    assert settings(hero).target.name == "Hero Target"


def test_add_by_name(hero) -> None:
    ball = thing("Ball")
    assert bpy.ops.lookat_pd.add(bone="neck", target="Ball") == {"FINISHED"}
    assert settings(hero, "neck").target == ball


def test_add_takes_the_selected_pose_bone(hero) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    look_at_edit.activate(hero, "neck")
    scenes.select(hero, "neck")
    bpy.ops.lookat_pd.add()
    assert look_at.bones_with_look_at(hero) == ["neck"]


def test_add_without_a_target_when_requested(hero) -> None:
    bpy.ops.lookat_pd.add(new_target=False)
    assert settings(hero).target is None and settings(hero).exists


@pytest.mark.parametrize(
    ("options", "words"), [({"bone": "nose"}, "'nose'"), ({"target": "Nothing"}, "'Nothing'"), ({"bone": "head"}, None)]
)
def test_add_refuses_and_changes_nothing(hero, options, words) -> None:
    if words is None:
        bpy.ops.lookat_pd.add(bone="head")
        words = "already"
    count, before = len(bpy.data.objects), look_at.bones_with_look_at(hero)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.lookat_pd.add(**options)
    assert len(bpy.data.objects) == count and look_at.bones_with_look_at(hero) == before


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_new_target_is_as_far_as_the_character_is_tall(hero, scale) -> None:
    hero.scale = (scale,) * 3
    bpy.context.view_layer.update()
    bpy.ops.lookat_pd.add()
    away = np.linalg.norm(np.array(settings(hero).target.location) - scale * np.array((0, 0, 1.6)))
    assert 0.5 * scale < away < 5.0 * scale


def test_add_is_grey_without_an_armature() -> None:
    assert polling.why_no_armature(bpy.context) == "Select the character's armature"
    assert not bpy.ops.lookat_pd.add.poll()


# Remove


def defaults(armature: bpy.types.Object, bone: str) -> bool:
    found = settings(armature, bone)
    assert not (own := _set(found)), own
    return found.target is None and not len(found.chain)


def _set(group) -> list[str]:
    """Settings of a group, and of groups in it, that have a value of their own."""
    # The gains and the text of the table are not stored: they show other settings.
    no_values = ("rna_type", "name", "k_p", "k_d", "shape_map")
    names = [name for name in group.bl_rna.properties.keys() if name not in no_values]
    groups = [name for name in names if isinstance(getattr(group, name), bpy.types.PropertyGroup)]
    # Merely to read a pointer that is not set makes Blender set it to nothing, or to a group that holds nothing.
    nothing = [name for name in names if getattr(group, name) is None]
    own = [name for name in names if name not in (*groups, *nothing) and group.is_property_set(name)]
    return own + [name for inner in groups for name in _set(getattr(group, inner))]


@pytest.mark.every_blender
def test_remove_leaves_nothing(hero) -> None:
    """Settings back at their defaults, their keys and drivers gone, all other keys as they were."""
    ball = thing("Ball", selected=True)
    hero.pose.bones["head"].keyframe_insert("location", frame=3)
    data = hero.animation_data
    before = [curve.data_path for curve in actions.channelbag(data.action, data.action_slot).fcurves]
    bpy.ops.lookat_pd.add()
    settings(hero).settle_time = 2.0
    for name in ("use", "influence"):
        bpy.ops.lookat_pd.key(setting=name)
    assert bpy.ops.lookat_pd.remove() == {"FINISHED"}
    assert [curve.data_path for curve in actions.channelbag(data.action, data.action_slot).fcurves] == before
    assert defaults(hero, "head") and not look_at.exists_on(hero.pose.bones["head"])
    assert ball.name in bpy.data.objects


def test_remove_leaves_other_look_ats(hero) -> None:
    thing("Ball", selected=True)
    for bone in ("head", "chest"):
        bpy.ops.lookat_pd.add(bone=bone)
    look_at_edit.activate(hero, "head")
    bpy.ops.lookat_pd.key(setting="use")
    look_at_edit.activate(hero, "chest")
    bpy.ops.lookat_pd.key(setting="use")
    bpy.ops.lookat_pd.remove(bone="head")
    assert look_at.bones_with_look_at(hero) == ["chest"]
    assert look_at_edit.key_state(hero, "chest", "use", 1) == "KEYED"
    assert look_at_edit.key_state(hero, "head", "use", 1) == "NONE"


def test_remove_refuses_what_is_not_there(hero) -> None:
    bpy.ops.lookat_pd.add()
    with pytest.raises(RuntimeError, match="'neck'"):
        bpy.ops.lookat_pd.remove(bone="neck")
    bpy.ops.lookat_pd.remove()
    assert not bpy.ops.lookat_pd.remove.poll()


def test_add_after_remove_is_as_new(hero) -> None:
    thing("Ball", selected=True)
    bpy.ops.lookat_pd.add()
    first = [(link.bone, link.share, link.yaw_limit) for link in settings(hero).chain]
    bpy.ops.lookat_pd.remove()
    bpy.ops.lookat_pd.add()
    assert [(link.bone, link.share, link.yaw_limit) for link in settings(hero).chain] == first


# Key


@pytest.mark.every_blender
@pytest.mark.parametrize("setting", ["use", "influence"])
def test_key_inserts_and_deletes(hero, setting) -> None:
    bpy.ops.lookat_pd.add()
    bpy.context.scene.frame_set(12)
    assert look_at_edit.key_state(hero, "head", setting, 12) == "NONE"
    bpy.ops.lookat_pd.key(setting=setting)
    assert look_at_edit.key_state(hero, "head", setting, 12) == "KEYED"
    assert look_at_edit.key_state(hero, "head", setting, 13) == "ANIMATED"
    bpy.ops.lookat_pd.key(setting=setting)
    assert look_at_edit.key_state(hero, "head", setting, 12) == "NONE"


def test_keyed_use_is_seen_when_scrubbing(hero) -> None:
    bpy.ops.lookat_pd.add()
    for frame, value in ((1, True), (10, False)):
        bpy.context.scene.frame_set(frame)
        settings(hero).use = value
        bpy.ops.lookat_pd.key(setting="use")
    bpy.context.scene.frame_set(5)
    assert settings(hero).use
    bpy.context.scene.frame_set(11)
    assert not settings(hero).use


@pytest.mark.every_blender
def test_a_linked_clip_can_be_directed(hero, tmp_path) -> None:
    """The keys belong to the shot."""
    bpy.ops.lookat_pd.add()
    other = make("Other")
    other.pose.bones["head"].keyframe_insert("location", frame=1)
    path = str(tmp_path / "clip.blend")
    action = other.animation_data.action
    action.name = "Clip"
    bpy.data.libraries.write(path, {action}, fake_user=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.actions = ["Clip"]
    data = hero.animation_data_create()
    data.action = bpy.data.actions["Clip", path]
    data.action_slot = data.action.slots[0]
    bpy.context.view_layer.objects.active = hero
    for frame, value in ((1, True), (10, False)):
        bpy.context.scene.frame_set(frame)
        settings(hero).use = value
        assert bpy.ops.lookat_pd.key(setting="use") == {"FINISHED"}
    bpy.context.scene.frame_set(5)
    assert settings(hero).use


# Presets


@pytest.fixture
def own_preset(hero):
    """A preset "Sleepy owl" that the user has saved; its file."""
    bpy.ops.lookat_pd.add()
    settings(hero).settle_time = 3.5
    assert bpy.ops.lookat_pd.preset_add(name="Sleepy owl") == {"FINISHED"}
    path = presets.available()["Sleepy owl"]
    yield path
    path.unlink(missing_ok=True)


def test_preset_changes_the_look_at_that_is_shown(hero) -> None:
    for bone in ("head", "chest"):
        bpy.ops.lookat_pd.add(bone=bone)
    look_at_edit.activate(hero, "head")
    assert bpy.ops.lookat_pd.preset(filepath=str(presets.available()["Bird"])) == {"FINISHED"}
    assert settings(hero).settle_time == pytest.approx(0.18)
    assert settings(hero, "chest").settle_time == pytest.approx(0.6)


def test_preset_is_one_undo_step(hero) -> None:
    bpy.ops.lookat_pd.add()
    bpy.ops.ed.undo_push(message="Before")
    if not bpy.ops.ed.undo.poll():
        pytest.skip("this Blender keeps no undo steps")
    bpy.ops.lookat_pd.preset(filepath=str(presets.available()["Robot"]))
    bpy.ops.ed.undo_push(message="After")
    bpy.ops.ed.undo()
    found = bpy.data.objects["Hero"].pose.bones["head"].lookat_pd
    assert found.settle_time == pytest.approx(0.6) and found.max_speed == 0.0


@pytest.mark.every_blender
def test_saved_preset_is_there_again_and_goes(hero, own_preset) -> None:
    settings(hero).settle_time = 0.3
    bpy.ops.lookat_pd.preset(filepath=str(own_preset))
    assert settings(hero).settle_time == pytest.approx(3.5)
    assert bpy.ops.lookat_pd.preset_add(name="Sleepy owl", remove_name=True) == {"FINISHED"}
    assert "Sleepy owl" not in presets.available() and not own_preset.exists()


def test_saved_preset_is_that_of_the_look_at_shown(hero, own_preset) -> None:
    """Whichever bone is active."""
    look_at_edit.activate(hero, "arm.L")
    assert presets.read(own_preset)["settle_time"] == pytest.approx(3.5)


def test_presets_that_ship_stay(hero) -> None:
    bpy.ops.lookat_pd.add()
    with pytest.raises(RuntimeError, match="cannot be removed"):
        bpy.ops.lookat_pd.preset_add(name="Bird", remove_name=True)
    assert "Bird" in presets.available()


def test_broken_preset_says_so_and_changes_nothing(hero, tmp_path: Path) -> None:
    bpy.ops.lookat_pd.add()
    path = tmp_path / "Broken.py"
    path.write_text("look_at.settle_time = 2.0\nlook_at.damping = 'BOUNCY'\n")
    with pytest.raises(RuntimeError, match="'damping'"):
        bpy.ops.lookat_pd.preset(filepath=str(path))
    assert settings(hero).settle_time == pytest.approx(0.6)


# The whole body


@pytest.mark.every_blender
def test_one_switch_for_the_whole_body(hero) -> None:
    bpy.ops.lookat_pd.add()
    found = settings(hero)
    assert layers.extent(found) == "NONE" and found.body.use_planted_feet
    found.body.weight_side = 9.0
    found.body.use_weight_shift = True
    assert layers.extent(found) == "SOME"
    assert bpy.ops.lookat_pd.whole_body(use=True) == {"FINISHED"}
    assert layers.extent(found) == "ALL" and len(layers.enabled(found)) == len(layers.whole_body())
    found.body.use_planted_feet = False
    assert layers.extent(found) == "SOME"
    assert bpy.ops.lookat_pd.whole_body(use=False) == {"FINISHED"}
    assert layers.extent(found) == "NONE" and [layer.id for layer in layers.enabled(found)] == ["feet"]
    assert found.body.weight_side == pytest.approx(9.0)


# Settings for an engine


def test_settings_go_to_the_clipboard_or_in_background_to_the_console(hero, capsys) -> None:
    bpy.ops.lookat_pd.add()
    assert bpy.ops.lookat_pd.copy_settings() == {"FINISHED"}
    if bpy.app.background:
        assert '"k_p"' in capsys.readouterr().out


def test_settings_of_a_look_at_that_cannot_move_are_refused(hero) -> None:
    bpy.ops.lookat_pd.add()
    settings(hero).chain.add().bone = "gone"
    with pytest.raises(RuntimeError, match="'gone', which does not exist"):
        bpy.ops.lookat_pd.copy_settings()


# Copy and mirror


def select(armature: bpy.types.Object, active: str, *others: str) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    look_at_edit.activate(armature, active)
    scenes.select(armature, active, *others)


def test_copy_goes_to_the_other_selected_bones(hero) -> None:
    thing("Ball", selected=True)
    bpy.ops.lookat_pd.add(bone="head")
    settings(hero).settle_time = 1.4
    select(hero, "head", "arm.L", "arm.R")
    assert bpy.ops.lookat_pd.copy() == {"FINISHED"}
    assert look_at.bones_with_look_at(hero) == ["head", "arm.L", "arm.R"]
    for bone in ("arm.L", "arm.R"):
        assert settings(hero, bone).settle_time == pytest.approx(1.4)
        assert settings(hero, bone).target.name == "Ball"


def test_copy_keeps_the_targets_when_requested(hero) -> None:
    ball, bird = thing("Ball"), thing("Bird")
    bpy.ops.lookat_pd.add(bone="head", target="Ball")
    bpy.ops.lookat_pd.add(bone="arm.L", target="Bird")
    select(hero, "head", "arm.L")
    bpy.ops.lookat_pd.copy(use_target=False)
    assert settings(hero, "arm.L").target == bird and settings(hero).target == ball


def test_copy_is_grey_without_anywhere_to_go(hero) -> None:
    assert not bpy.ops.lookat_pd.copy.poll()
    bpy.ops.lookat_pd.add(bone="head")
    select(hero, "head")
    assert not bpy.ops.lookat_pd.copy.poll()
    select(hero, "head", "arm.L")
    assert bpy.ops.lookat_pd.copy.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.lookat_pd.copy.poll()


@pytest.mark.every_blender
def test_mirror_goes_to_the_other_side(hero) -> None:
    thing("Ball", selected=True)
    bpy.ops.lookat_pd.add(bone="arm.L")
    settings(hero, "arm.L").settle_time = 0.3
    assert bpy.ops.lookat_pd.mirror() == {"FINISHED"}
    assert settings(hero, "arm.R").settle_time == pytest.approx(0.3)
    assert settings(hero, "arm.R").chain[0].bone == "arm.R"


def test_mirror_of_a_bone_in_the_middle_is_refused(hero) -> None:
    bpy.ops.lookat_pd.add(bone="head")
    with pytest.raises(RuntimeError, match="no counterpart on the other side"):
        bpy.ops.lookat_pd.mirror()
    assert look_at.bones_with_look_at(hero) == ["head"]


# Chain


def test_chain_bones_come_and_go(hero) -> None:
    bpy.ops.lookat_pd.add()
    look_at_edit.activate(hero, "arm.L")
    assert bpy.ops.lookat_pd.chain_add() == {"FINISHED"}
    assert chain(hero)[-1] == "arm.L" and settings(hero).chain_index == 4
    with pytest.raises(RuntimeError, match="already in the chain"):
        bpy.ops.lookat_pd.chain_add()
    assert bpy.ops.lookat_pd.chain_remove() == {"FINISHED"}
    assert chain(hero) == ["head", "neck", "chest", "hips"] and settings(hero).chain_index == 3


def test_aiming_bone_stays_in_its_chain(hero) -> None:
    bpy.ops.lookat_pd.add()
    settings(hero).chain_index = 0
    with pytest.raises(RuntimeError, match="cannot be removed from its chain"):
        bpy.ops.lookat_pd.chain_remove()
    for index, direction in ((0, "DOWN"), (1, "UP"), (3, "DOWN")):
        settings(hero).chain_index = index
        assert bpy.ops.lookat_pd.chain_move(direction=direction) == {"CANCELLED"}
    settings(hero).chain_index = 2
    assert bpy.ops.lookat_pd.chain_move(direction="UP") == {"FINISHED"}
    assert chain(hero) == ["head", "chest", "neck", "hips"] and settings(hero).chain_index == 1


def test_chain_is_found_again(hero) -> None:
    bpy.ops.lookat_pd.add()
    found = settings(hero).chain
    found.clear()
    found.add().bone = "head"
    bpy.ops.lookat_pd.chain_detect()
    assert chain(hero) == ["head", "neck", "chest", "hips"]
    assert sum(link.share for link in found) == pytest.approx(1.0)


def test_operators_are_grey_without_a_look_at(hero) -> None:
    chain = ("chain_add", "chain_remove", "chain_move", "chain_detect")
    for name in ("remove", "key", "copy", "mirror", "preset", "preset_add", *chain, "bake"):
        assert not getattr(bpy.ops.lookat_pd, name).poll()
    assert polling.why_no_look_at(bpy.context) == "Add a look-at first"


@pytest.mark.every_blender
def test_linked_armature_says_what_to_do(tmp_path) -> None:
    make("Hero")
    path = str(tmp_path / "hero.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Hero"]
    hero = bpy.data.objects["Hero"]
    bpy.context.scene.collection.objects.link(hero)
    bpy.context.view_layer.objects.active = hero
    assert "library override" in polling.why_no_armature(bpy.context)
    assert not bpy.ops.lookat_pd.add.poll()
