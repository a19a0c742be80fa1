"""The bake operator: what it reports, when it refuses, and that its settings do what they say."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes

look_at_edit = load("rig.look_at.edit")
actions = load("rig.animation.actions")
bake = load("operators.bake")
channels = load("rig.animation.channels")

BONES = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("chest", "hips", (0, 0, 1.2), (0, 0, 1.5)),
    ("neck", "chest", (0, 0, 1.5), (0, 0, 1.6)),
    ("head", "neck", (0, 0, 1.6), (0, 0, 1.8)),
)


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character that looks at a ball, active, in pose mode."""
    armature = scenes.figure(rows=BONES)
    bpy.ops.object.mode_set(mode="POSE")
    ball = scenes.ball((0.8, -2.0, 1.9))
    bpy.context.scene.frame_end = 30
    for frame in (1, 20):
        armature.pose.bones["hips"].keyframe_insert("rotation_quaternion", frame=frame)
        armature.pose.bones["hips"].keyframe_insert("location", frame=frame)
    look_at_edit.add(bpy.context.scene, armature, "head", ball)
    return armature


def error(armature: bpy.types.Object) -> float:
    """Angle [deg] between the face and the ball at the current frame."""
    return scenes.error(armature, scenes.place_of(bpy.data.objects["Ball"]), [bpy.context.scene.frame_current])


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_bakes_the_scene_range(hero, into) -> None:
    assert bpy.ops.lookat_pd.bake(into=into) == {"FINISHED"}
    bpy.context.scene.frame_set(30)
    assert error(hero) < 0.1
    assert hero.pose.bones["head"].lookat_pd.mute
    assert len(hero.animation_data.nla_tracks) == (2 if into == "LAYER" else 0)


def test_says_what_it_did(hero, capfd) -> None:
    bpy.ops.lookat_pd.bake()
    said = capfd.readouterr().out
    assert "look-at on 'head' (4 bones)" in said and "frames 1 to 30" in said and "a new action" in said


def keys_of(armature: bpy.types.Object, bone: str) -> list[float]:
    data = armature.animation_data
    curve = actions.channelbag(data.action, data.action_slot).fcurves.find(
        actions.rotation_path(bone, "QUATERNION"), index=0
    )
    return [point.co.x for point in curve.keyframe_points]


def test_bakes_the_preview_range_where_that_is_on(hero) -> None:
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 5, 12
    bpy.ops.lookat_pd.bake()
    assert set(range(5, 13)) <= set(keys_of(hero, "head")) <= set(range(4, 14))


def test_bakes_the_range_given(hero) -> None:
    bpy.ops.lookat_pd.bake(use_scene_range=False, frame_start=-3, frame_end=25)
    assert set(range(-3, 26)) <= set(keys_of(hero, "head")) <= set(range(-4, 27))


def test_a_muted_look_at_is_not_baked_even_if_it_is_the_one_shown(hero) -> None:
    look_at_edit.add(bpy.context.scene, hero, "chest", bpy.data.objects["Ball"])
    look_at_edit.activate(hero, "head")
    hero.pose.bones["head"].lookat_pd.mute = True
    action = hero.animation_data.action
    with pytest.raises(RuntimeError, match="'head' is muted; unmute it"):
        bpy.ops.lookat_pd.bake(which="ACTIVE")
    assert hero.animation_data.action == action and not hero.pose.bones["chest"].lookat_pd.mute
    assert "'head' is muted" in bake.what_is_shown(bpy.context)
    look_at_edit.activate(hero, "chest")
    assert bake.what_is_shown(bpy.context) == "Bakes the look-at on 'chest'."


def test_bakes_only_the_look_at_shown(hero) -> None:
    look_at_edit.add(bpy.context.scene, hero, "chest", bpy.data.objects["Ball"])
    look_at_edit.activate(hero, "head")
    bpy.ops.lookat_pd.bake(which="ACTIVE")
    assert hero.pose.bones["head"].lookat_pd.mute
    assert not hero.pose.bones["chest"].lookat_pd.mute


def reason() -> str | None:
    return bake.why_not(bpy.context)


def test_says_why_it_is_grey(hero) -> None:
    settings = hero.pose.bones["head"].lookat_pd
    assert reason() is None and bpy.ops.lookat_pd.bake.poll()
    settings.target = None
    assert reason() == "Choose a target to look at"
    settings.mute = True
    assert reason().startswith("All look-ats of the armature are muted")
    look_at_edit.remove(hero, "head")
    assert reason() == "Add a look-at first"
    bpy.ops.object.mode_set(mode="EDIT")
    assert reason() == "Leave edit mode"
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = bpy.data.objects["Ball"]
    assert reason() == "Select the character's armature"
    bpy.context.view_layer.objects.active = None
    assert reason() == "Select the character's armature"
    assert not bpy.ops.lookat_pd.bake.poll()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"use_scene_range": False, "frame_start": 9, "frame_end": 3}, "reversed"),
        ({"use_scene_range": False, "frame_start": 9, "frame_end": 9}, "two"),
    ],
    ids=str,
)
def test_an_error_is_reported_and_nothing_changes(hero, options, words) -> None:
    action, before = hero.animation_data.action, scenes.actions_of_the_animator()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.lookat_pd.bake(**options)
    assert hero.animation_data.action == action and scenes.actions_of_the_animator() == before
    assert not hero.pose.bones["head"].lookat_pd.mute
    assert len(bpy.data.scenes) == 1


def test_a_mistake_in_the_program_is_not_swallowed_and_nothing_changes(hero, monkeypatch) -> None:
    action = hero.animation_data.action

    def broken(*_, **__):
        raise ZeroDivisionError("injected")

    monkeypatch.setattr(channels, "turned", broken)
    with pytest.raises(RuntimeError, match="injected"):
        bpy.ops.lookat_pd.bake()
    assert hero.animation_data.action == action and scenes.actions_of_the_animator() == [action.name]
    assert len(bpy.data.scenes) == 1


def test_works_from_a_mesh_of_the_character(hero) -> None:
    """Whoever has the body selected means its armature."""
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    body.modifiers.new("Armature", "ARMATURE").object = hero
    bpy.context.scene.collection.objects.link(body)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.lookat_pd.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(30)
    assert error(hero) < 0.1


@pytest.fixture
def pair() -> list[bpy.types.Object]:
    """Two characters who look at each other, selected, and a third who looks at one of them, not selected."""
    found = [scenes.figure(name) for name in ("Anna", "Bo", "Cleo")]
    for armature, other, x in zip(found, (found[1], found[0], found[0]), (-1.0, 1.0, 3.0), strict=True):
        armature.location.x = x
        scenes.aim(armature, other)
        armature.select_set(armature is not found[2])
    bpy.context.view_layer.objects.active = found[0]
    bpy.context.scene.frame_end = 12
    return found


def columns(armature: bpy.types.Object) -> list[list[float]]:
    data = armature.animation_data
    return [[k.co.y for k in c.keyframe_points] for c in actions.curves(data.action, data.action_slot)]


def test_all_selected_characters_are_baked_together(pair, capfd) -> None:
    """As they were solved live: the same keys as by one bake of both, in whatever order."""
    assert bpy.ops.lookat_pd.bake() == {"FINISHED"}
    assert [item.pose.bones["head"].lookat_pd.mute for item in pair] == [True, True, False]
    assert "of 2 characters" in capfd.readouterr().out
    baked = [columns(item) for item in pair[:2]]
    for item in pair[:2]:
        item.animation_data_clear()
        item.pose.bones["head"].lookat_pd.mute = False
        for bone in item.pose.bones:
            bone.matrix_basis.identity()
    scenes.run_bake(pair[1], pair[0], last=12)
    for before, item in zip(baked, pair, strict=False):
        assert np.allclose(before, columns(item), atol=1e-6)


def test_the_tooltip_lists_what_will_be_baked(pair) -> None:
    kind = bpy.types.LOOKAT_PD_OT_bake

    def listed(which: str) -> list[str]:
        return kind.description(bpy.context, SimpleNamespace(which=which)).splitlines()[1:]

    assert listed("SELECTED") == ["Anna: head", "Bo: head"]
    assert listed("ALL") == listed("ACTIVE") == ["Anna: head"]
    pair[0].pose.bones["head"].lookat_pd.mute = True
    assert listed("SELECTED") == ["Bo: head"]
    with pytest.raises(RuntimeError, match="All look-ats of the armature are muted"):
        bpy.ops.lookat_pd.bake(which="ALL")


def test_one_who_cannot_be_baked_keeps_all_from_being_baked(pair) -> None:
    pair[1].pose.bones["head"].lookat_pd.target = None
    before = scenes.actions_of_the_animator()
    with pytest.raises(RuntimeError, match="'head'"):
        bpy.ops.lookat_pd.bake()
    assert scenes.actions_of_the_animator() == before and not pair[0].pose.bones["head"].lookat_pd.mute


@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_blends_in_and_out_at_the_ends_of_the_range(hero, into) -> None:
    """No jump where the keys begin and end; between the blends as without them."""
    # How far Blender rounds when it combines layers depends on the turn.
    hero.pose.bones["head"].lookat_pd.aim_from = "BONE"
    plain = scenes.animated(hero, range(1, 31), ["head"])
    live = scenes.poses(hero, range(1, 31), ["head"])
    bpy.ops.lookat_pd.bake(into=into, use_scene_range=False, frame_start=5, frame_end=25, blend_in=6, blend_out=8)
    baked = scenes.poses(hero, range(1, 31), ["head"])
    assert np.allclose(baked[:5], plain[:5], atol=1e-5) and np.allclose(baked[24:], plain[24:], atol=1e-5)
    assert np.allclose(baked[10:17], live[10:17], atol=1e-5)
    part = np.abs(baked - plain).max(axis=(1, 2, 3)) / np.abs(live - plain).max(axis=(1, 2, 3))
    assert (np.diff(part[4:11]) > 0.0).all() and (np.diff(part[16:25]) < 0.0).all()


def test_generated_keys_can_be_told_from_those_of_the_animator(hero) -> None:
    bpy.ops.lookat_pd.bake(into="CURRENT")
    data = hero.animation_data
    for curve in actions.curves(data.action, data.action_slot):
        moved = curve.data_path.endswith("location")
        assert {key.type for key in curve.keyframe_points} == {"KEYFRAME" if moved else "GENERATED"}


def test_baking_what_is_baked_starts_from_the_keys(hero) -> None:
    """Unmuted and baked again, the look-at comes on top of the first bake: it has little left to turn."""
    bpy.ops.lookat_pd.bake()
    hero.pose.bones["head"].lookat_pd.mute = False
    assert bpy.ops.lookat_pd.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(30)
    assert error(hero) < 0.1


def test_is_one_undo_step() -> None:
    bpy.ops.ed.undo_push(message="start")
    if not bpy.ops.ed.undo.poll():
        pytest.skip("there is no undo without a window")


def test_registered_for_undo_and_redo() -> None:
    for name in ("add", "bake", "remove", "key", "chain_add", "chain_remove", "chain_move", "chain_detect"):
        kind = getattr(bpy.types, f"LOOKAT_PD_OT_{name}")
        assert {"REGISTER", "UNDO"} <= kind.bl_options
        assert kind.__doc__ or kind.bl_description


def test_a_part_of_the_range_is_baked_as_it_plays(hero) -> None:
    """On since frame 1, the head is still on its way at frame 8: the keys from there on show what was shown."""
    settings, scene = hero.pose.bones["head"].lookat_pd, bpy.context.scene
    settings.use = False
    hero.keyframe_insert('pose.bones["head"].lookat_pd.use', frame=1)
    settings.use = True
    hero.keyframe_insert('pose.bones["head"].lookat_pd.use', frame=5)

    def poses() -> np.ndarray:
        found = []
        for frame in range(8, 21):
            scene.frame_set(frame)
            seen = hero.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found.append([np.array(bone.matrix) for bone in seen.pose.bones])
        return np.array(found)

    live = poses()
    assert np.abs(live[0] - live[-1]).max() > 0.01
    bpy.ops.lookat_pd.bake(use_scene_range=False, frame_start=8, frame_end=20)
    assert np.abs(poses() - live).max() < 1e-6


# And back


def test_all_selected_characters_are_live_again(pair) -> None:
    chosen = pair[:2]
    scenes.animate(chosen[0], bones=["chest"])
    sources = [item.animation_data.action if item.animation_data else None for item in chosen]
    bpy.ops.lookat_pd.bake()
    assert all(item.pose.bones["head"].lookat_pd.mute for item in chosen)
    assert bpy.ops.lookat_pd.edit_live.poll() and bpy.ops.lookat_pd.edit_live() == {"FINISHED"}
    assert not any(item.pose.bones["head"].lookat_pd.mute for item in pair)
    assert [item.animation_data.action for item in chosen] == sources
    assert reason() is None


def test_one_who_cannot_go_back_keeps_all_baked(pair) -> None:
    chosen = pair[:2]
    scenes.animate(chosen[1], bones=["chest"])
    source = chosen[1].animation_data.action
    bpy.ops.lookat_pd.bake()
    bpy.data.actions.remove(source)
    playing = [item.animation_data.action for item in chosen]
    with pytest.raises(RuntimeError, match="is not in the file any more"):
        bpy.ops.lookat_pd.edit_live()
    assert [item.animation_data.action for item in chosen] == playing
    assert all(item.pose.bones["head"].lookat_pd.mute for item in chosen)


def test_edit_live_says_why_it_is_grey(hero) -> None:
    why_not = load("operators.edit_live").why_not
    assert why_not(bpy.context).startswith("The look-at on 'head' is not baked into what plays")
    scenes.animate(hero, bones=["hips"])
    bpy.ops.lookat_pd.bake(into="CURRENT")
    assert "replaced keys of the animation" in why_not(bpy.context)
    assert reason().startswith("All look-ats of the armature are baked")
    assert not bpy.ops.lookat_pd.edit_live.poll()
    look_at_edit.remove(hero, "head")
    assert why_not(bpy.context) == "Add a look-at first"
