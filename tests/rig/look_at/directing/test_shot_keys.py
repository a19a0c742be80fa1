"""Keys that belong to the shot: clips come and go, and the look stays."""

import time

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes

actions = load("rig.animation.actions")
bake_actions = load("rig.look_at.bake_actions")
sequence = load("rig.transitions.sequence")
errors = load("lookat_pd.errors")
join = load("rig.transitions.join")
live = load("rig.layers.live")
look_at_edit = load("rig.look_at.edit")
looks = load("rig.look_at.directing.looks")
loop = load("rig.transitions.loop")
shot_keys = load("rig.look_at.directing.shot_keys")
Target = load("rig.sampling.targets").Target

FRAMES = (1, 19, 20, 30, 39, 40, 60)
PATH = 'pose.bones["head"].lookat_pd.'


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character that plays a clip, looks at a ball, from frame 20 on at a bird, and away at frame 40."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, scenes.LAST
    armature = scenes.figure()
    scenes.animate(armature)
    direct(armature)
    return armature


def direct(armature: bpy.types.Object) -> None:
    scenes.aim(armature, scenes.ball())
    looks.add(armature, "head", Target(scenes.ball((-1.0, -2.0, 2.0), "Bird")))
    looks.look(bpy.context.scene, armature, "head", 1, 20)
    looks.look_away(bpy.context.scene, armature, "head", 40)


def key_in_clip(armature: bpy.types.Object, setting: str, **keys: float) -> None:
    """Constant keys on the setting itself, by frame such as f20, as scripts and earlier versions have them."""
    for frame, value in keys.items():
        setattr(armature.pose.bones["head"].lookat_pd, setting, value)
        armature.keyframe_insert(PATH + setting, frame=int(frame[1:]), group="head")
    data = armature.animation_data
    curve = actions.curves_at(data.action, data.action_slot, PATH + setting, 1)[0]
    curve.keyframe_points.foreach_set("interpolation", [0] * len(curve.keyframe_points))


@pytest.mark.thorough
def test_clips_of_thousands_of_curves_are_looked_through_by_blender(hero) -> None:
    """The panel asks at each redraw; it is told as soon as the clip has such keys."""
    data = hero.animation_data
    curves = actions.curves(data.action, data.action_slot)
    for n in range(10_000):
        curves.new(f'["idle {n}"]')
    begin = time.process_time()
    for _ in range(3):
        assert len([curve.data_path for curve in curves]) > 10_000
    read = time.process_time() - begin
    begin = time.process_time()
    assert shot_keys.in_clip(hero, "head") == []
    spent = time.process_time() - begin
    assert spent < read, f"{1e3 * spent:.1f} ms, while to read all paths thrice takes {1e3 * read:.1f} ms"
    key_in_clip(hero, "influence", f1=0.5)
    assert shot_keys.in_clip(hero, "head") == ["influence"]


def in_clip_only(armature: bpy.types.Object) -> None:
    """The look-at of `direct` with its keys in the clip."""
    scenes.aim(armature, scenes.ball())
    looks.add(armature, "head", Target(scenes.ball((-1.0, -2.0, 2.0), "Bird")))
    key_in_clip(armature, "active_target", f1=0, f20=1)
    key_in_clip(armature, "use", f1=1, f40=0)


def seen(armature: bpy.types.Object, bone: str = "head") -> list[int | None]:
    """Which target is looked at, as Blender plays it."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        found.append(looks.active(armature.pose.bones[bone].lookat_pd))
    return found


DIRECTED = [0, 0, 1, 1, 1, None, None]


def turns(armature: bpy.types.Object) -> np.ndarray:
    """What the look-at adds to the head, as Blender plays it, where the clip has no keys for the chain."""
    live.finish(bpy.context.scene)
    return scenes.poses(armature, FRAMES, ["head"])


def clip(armature: bpy.types.Object, name: str, *, bones: tuple[str, ...] = ("upper_arm.L",)) -> bpy.types.Action:
    """Another clip, by default one that leaves the chain alone; not played."""
    data = armature.animation_data
    before, slot = data.action, data.action_slot
    action = scenes.animate(armature, bones=bones, seed=sum(name.encode()))
    action.name, action.use_fake_user = name, True
    data.action = before
    if before is not None:
        data.action_slot = slot
    return action


def play(armature: bpy.types.Object, action: bpy.types.Action | None) -> None:
    data = armature.animation_data
    data.action = action
    if action is not None:
        data.action_slot = action.slots[0]


def paths(armature: bpy.types.Object) -> list[str]:
    data = armature.animation_data
    return [curve.data_path for curve in actions.curves(data.action, data.action_slot)] if data else []


def drivers(armature: bpy.types.Object) -> list[str]:
    data = armature.animation_data
    return [driver.data_path for driver in data.drivers] if data else []


def shot(armature: bpy.types.Object):
    return scenes.curves(armature.data.animation_data.action)


# Clips come and go


def test_the_clip_has_no_keys_of_the_look_at(hero) -> None:
    assert not [path for path in paths(hero) if "lookat" in path]
    assert seen(hero) == DIRECTED


def test_switching_the_clip_changes_no_look(hero) -> None:
    play(hero, clip(hero, "Wave"))
    before = turns(hero)
    assert np.ptp(before, axis=0).max() > 0.1
    for other in (clip(hero, "Point"), None):
        play(hero, other)
        assert seen(hero) == DIRECTED
        np.testing.assert_allclose(turns(hero), before, atol=1e-5)


def test_joined_and_looped_clips_leave_the_look(hero) -> None:
    before = shot(hero)
    first, second = sequence.ClipRef(hero.animation_data.action, 20), sequence.ClipRef(clip(hero, "Wave"), 1)
    for make in (lambda: join.join(hero, first, second), lambda: loop.loop(hero, first.action)):
        made = make().action
        assert hero.animation_data.action == made
        assert seen(hero) == DIRECTED and not [path for path in paths(hero) if "lookat" in path]
        assert not scenes.differences(before, shot(hero))


@pytest.mark.every_blender
@pytest.mark.parametrize("into", actions.INTO)
def test_a_bake_leaves_the_look(hero, into) -> None:
    before, clips = shot(hero), turns(hero)
    scenes.run_bake(hero, into=into)
    assert not scenes.differences(before, shot(hero)) and not [path for path in paths(hero) if "lookat" in path]
    # The bake has what was looked at, and the look-at is muted.
    np.testing.assert_allclose(scenes.poses(hero, FRAMES, ["head"]), clips, atol=1e-4)
    assert seen(hero) == DIRECTED


def test_many_clips_are_baked_under_one_direction(hero) -> None:
    chosen = [clip(hero, "Wave"), clip(hero, "Point", bones=("upper_arm.R",))]
    play(hero, None)
    before = turns(hero)
    made = scenes.finish(bake_actions.bake_actions(bpy.context.scene, hero, ["head"], chosen))
    assert len(made) == 2
    for result in made:
        play(hero, result.action)
        hero.animation_data.action_slot = result.slot
        np.testing.assert_allclose(scenes.poses(hero, FRAMES, ["head"]), before, atol=1e-4)


# Keys in the clip


def test_keys_of_scripts_win_while_their_clip_plays(hero) -> None:
    """And those of the shot are back with the next clip."""
    own = hero.animation_data.action
    key_in_clip(hero, "active_target", f1=1, f30=0)
    bpy.context.view_layer.update()
    assert seen(hero) == [1, 1, 1, 0, 0, None, None]
    assert drivers(hero) == [PATH + "use"]
    play(hero, clip(hero, "Wave"))
    bpy.context.view_layer.update()
    assert seen(hero) == DIRECTED
    play(hero, own)
    bpy.context.view_layer.update()
    assert seen(hero) == [1, 1, 1, 0, 0, None, None]


def test_a_script_keys_on_where_its_keys_are() -> None:
    armature = scenes.figure()
    in_clip_only(armature)
    looks.look(bpy.context.scene, armature, "head", 0, 30)
    assert not armature.data.lookat_pd_shot and not drivers(armature)
    assert seen(armature) == [0, 0, 1, 0, 0, None, None]


def test_moved_keys_look_the_same_and_belong_to_the_shot() -> None:
    armature = scenes.figure()
    scenes.animate(armature, bones=("upper_arm.L",))
    in_clip_only(armature)
    before, look = turns(armature), seen(armature)
    assert look == DIRECTED
    assert shot_keys.move([(armature, "head")]) == 2
    assert not shot_keys.in_clip(armature, "head") and not [path for path in paths(armature) if "lookat" in path]
    assert seen(armature) == look
    np.testing.assert_allclose(turns(armature), before, atol=1e-5)
    assert {point.interpolation for curve in curves_of(armature) for point in curve.keyframe_points} == {"CONSTANT"}
    play(armature, None)
    assert seen(armature) == look
    assert shot_keys.move([(armature, "head")]) == 0


def curves_of(armature: bpy.types.Object) -> list:
    data = armature.data.animation_data
    return list(actions.curves(data.action, data.action_slot))


def test_keys_of_a_pushed_down_strip_are_moved_to_where_they_play() -> None:
    armature = scenes.figure()
    in_clip_only(armature)
    data = armature.animation_data
    strip = data.nla_tracks.new().strips.new("Clip", 1, data.action)
    strip.action_slot = data.action_slot
    data.action = None
    strip.frame_start, strip.scale = 1, 0.5
    bpy.context.view_layer.update()
    before = seen(armature)
    assert before != DIRECTED
    assert shot_keys.move([(armature, "head")]) == 2
    assert seen(armature) == before and not actions.curves(strip.action, strip.action_slot)


def test_keys_in_several_places_are_not_moved() -> None:
    armature = scenes.figure()
    in_clip_only(armature)
    data = armature.animation_data
    strip = data.nla_tracks.new().strips.new("Clip", 1, data.action)
    strip.action_slot = data.action_slot
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match="several actions"):
        shot_keys.move([(armature, "head")])
    assert not scenes.differences(before, scenes.snapshot())


def test_keys_that_another_character_plays_are_not_moved() -> None:
    armature, other = scenes.figure(), scenes.figure("Other")
    in_clip_only(armature)
    other.animation_data_create().action = armature.animation_data.action
    other.animation_data.action_slot = armature.animation_data.action_slot
    with pytest.raises(errors.RigError, match="also animates 'Other'"):
        shot_keys.move([(armature, "head")])
    assert not armature.data.lookat_pd_shot and "use" in shot_keys.in_clip(armature, "head")


# Files and copies


def test_an_appended_character_brings_its_direction(hero, tmp_path) -> None:
    path = save(hero, tmp_path)
    with bpy.data.libraries.load(path) as (_, into):
        into.objects = ["Hero"]
    bpy.context.scene.collection.objects.link(into.objects[0])
    assert seen(into.objects[0]) == DIRECTED


def save(armature: bpy.types.Object, tmp_path) -> str:
    """A library with the character; the scene is empty then."""
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {armature, *armature.users_collection}, fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, scenes.LAST
    return path


def test_an_override_keeps_the_direction_and_gets_one_of_its_own(hero, tmp_path) -> None:
    path = save(hero, tmp_path)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Hero"]
    linked = into.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    mine = linked.override_create(remap_local_usages=True)
    assert seen(mine) == DIRECTED
    looks.look(bpy.context.scene, mine, "head", 1, 10)
    expected = [0, 1, 1, 1, 1, None, None]
    assert seen(mine) == expected
    again = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=again)
    bpy.ops.wm.open_mainfile(filepath=again)
    bpy.context.view_layer.update()
    assert seen(bpy.data.objects["Hero"]) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("linked", [True, False])
def test_duplicates_are_directed_on_their_own(hero, linked) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    hero.select_set(True)
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.duplicate(linked=linked)
    copy = bpy.context.view_layer.objects.active
    assert (copy.data == hero.data) == linked and copy != hero
    assert seen(copy) == DIRECTED
    looks.look(bpy.context.scene, copy, "head", 1, 10)
    assert seen(copy) == [0, 1, 1, 1, 1, None, None]
    assert seen(hero) == DIRECTED
    looks.look(bpy.context.scene, hero, "head", 0, 30)
    assert seen(copy) == [0, 1, 1, 1, 1, None, None]
    assert seen(hero) == [0, 0, 1, 0, 0, None, None]


def test_renamed_things_keep_their_direction(hero) -> None:
    hero.name, hero.data.name = "Anna", "Anna's bones"
    hero.data.bones["head"].name = "Kopf"
    bpy.context.view_layer.update()
    assert seen(hero, "Kopf") == DIRECTED
    assert {curve.group.name for curve in curves_of(hero)} == {"Look-at (Kopf)"}


def test_edit_mode_leaves_the_direction(hero) -> None:
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.mode_set(mode="EDIT")
    hero.data.edit_bones.new("horn").tail = (0.0, 0.0, 2.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert seen(hero) == DIRECTED


def test_nothing_is_left_of_a_look_at(hero) -> None:
    look_at_edit.remove(hero, "head")
    assert not len(hero.data.lookat_pd_shot) and not drivers(hero) and hero.data.animation_data is None
    assert not [action.name for action in bpy.data.actions if "Look-at" in action.name and action.users]


def test_a_muted_look_at_keeps_its_keys(hero) -> None:
    hero.pose.bones["head"].lookat_pd.mute = True
    bpy.context.view_layer.update()
    assert seen(hero) == DIRECTED


def test_each_look_at_of_a_rig_has_keys_of_its_own(hero) -> None:
    scenes.aim(hero, scenes.ball(name="Cat"), "hand.L")
    looks.look_away(bpy.context.scene, hero, "hand.L", 30)
    assert seen(hero) == DIRECTED
    assert seen(hero, "hand.L") == [0, 0, 0, None, None, None, None]
    assert {curve.group.name for curve in curves_of(hero)} == {"Look-at (head)", "Look-at (hand.L)"}
    look_at_edit.remove(hero, "head")
    assert seen(hero, "hand.L") == [0, 0, 0, None, None, None, None]
    assert {curve.group.name for curve in curves_of(hero)} == {"Look-at (hand.L)"}


def test_an_animators_own_action_on_the_data_is_used_and_kept(hero) -> None:
    hero.data["strength"] = 0.0
    hero.data.keyframe_insert('["strength"]', frame=1)
    look_at_edit.remove(hero, "head")
    assert [curve.data_path for curve in curves_of(hero)] == ['["strength"]']


def test_settings_follow_without_any_python(hero) -> None:
    """A file that others open asks for no permission, and plays without the extension."""
    for driver in hero.animation_data.drivers:
        assert driver.driver.type == "SUM"
        assert [variable.type for variable in driver.driver.variables] == ["SINGLE_PROP"]


def test_clips_without_keys_of_look_ats_are_asked_once(hero, monkeypatch) -> None:
    """Each redraw asks for all settings, and there may be dozens of clips. A key that comes later is seen."""
    clips = []
    for n in range(20):
        clip = bpy.data.actions.new(f"Idle {n}")
        slot = clip.slots.new(id_type="OBJECT", name=hero.name)
        bag = actions.channelbag(clip, slot, ensure=True)
        for k in range(50):
            bag.fcurves.new(f'pose.bones["idle {k}"].location', index=0)
        track = hero.animation_data.nla_tracks.new()
        track.strips.new(clip.name, 1, clip).action_slot = slot
        track.mute = True
        clips.append((clip, slot, bag))
    assert shot_keys.in_clip(hero, "head") == []
    asked = []
    curves_at = actions.curves_at
    monkeypatch.setattr(shot_keys.actions, "curves_at", lambda *a: asked.append(a[0]) or curves_at(*a))
    assert shot_keys.in_clip(hero, "head") == []
    assert not {item for item in asked if item is not None and item.name.startswith("Idle")}
    clips[7][2].fcurves.new('pose.bones["head"].lookat_pd.influence')
    assert shot_keys.in_clip(hero, "head") == ["influence"]
    clips[7][2].fcurves.remove(clips[7][2].fcurves.find('pose.bones["head"].lookat_pd.influence'))
    assert shot_keys.in_clip(hero, "head") == []
