"""Directing the gaze: the list of targets and the keys that say what is looked at when."""

import bpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extension import load

from ... import scenes

actions = load("rig.animation.actions")
directing = load("rig.look_at.directing.looks")
targets = load("rig.sampling.targets")
errors = load("lookat_pd.errors")
live = load("rig.layers.live")
shot_keys = load("rig.look_at.directing.shot_keys")
look_at_edit = load("rig.look_at.edit")
Target = load("rig.sampling.targets").Target


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character that looks at a ball, with a bird and a cat in its list."""
    return make()


def make() -> bpy.types.Object:
    armature = scenes.figure()
    scenes.aim(armature, scenes.ball())
    for name, place in (("Bird", (-1.0, -2.0, 2.0)), ("Cat", (0.3, -1.0, 0.3))):
        directing.add(armature, "head", Target(scenes.ball(place, name)))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 100
    return armature


def of(armature: bpy.types.Object):
    return armature.pose.bones["head"].lookat_pd


def names(armature: bpy.types.Object) -> list[str]:
    return [target.label for target in targets.listed(of(armature))]


def curve(armature: bpy.types.Object, setting: str):
    return shot_keys.home(armature, "head", setting).curve


def keys(armature: bpy.types.Object, setting: str) -> list[tuple[float, float]]:
    found = curve(armature, setting)
    return [] if found is None else [tuple(point.co) for point in found.keyframe_points]


def seen(armature: bpy.types.Object, *frames: int) -> list[str | None]:
    """What is looked at, as Blender plays it."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        number = directing.active(of(armature))
        found.append(None if number is None else names(armature)[number])
    return found


def look(armature: bpy.types.Object, frame: int, number: int | None) -> None:
    if number is None:
        directing.look_away(bpy.context.scene, armature, "head", frame)
    else:
        directing.look(bpy.context.scene, armature, "head", number, frame)


def look_in_clip(armature: bpy.types.Object, frame: int, number: int) -> None:
    """A look with its keys in the clip, as files of earlier versions have them."""
    first = directing.key_range(bpy.context.scene)[0]
    for at, now in ((first, of(armature).active_target), (frame, number)):
        of(armature).active_target = now
        path = f"{look_at_edit.settings_path('head')}.active_target"
        armature.keyframe_insert(path, frame=at, group="head")
    curve(armature, "active_target").keyframe_points.foreach_set("interpolation", [0, 0])


def markers(**frames: int) -> None:
    bpy.context.scene.timeline_markers.clear()
    for name, frame in frames.items():
        bpy.context.scene.timeline_markers.new(name.replace("__", ":"), frame=frame)


# The list


def test_targets_have_numbers(hero) -> None:
    assert names(hero) == ["Ball", "Bird", "Cat"]
    assert directing.add(hero, "head", Target(bpy.data.objects["Bird"])) == 1
    assert directing.add(hero, "head", Target(bpy.data.objects["Ball"])) == 0
    assert names(hero) == ["Ball", "Bird", "Cat"]


def test_lines_may_be_empty(hero) -> None:
    assert directing.add(hero, "head", Target()) == 3
    of(hero).active_target = 3
    assert directing.active(of(hero)) is None
    with pytest.raises(errors.RigError, match="is empty"):
        look(hero, 10, 3)


def test_the_first_target_of_all_is_the_main_one() -> None:
    armature = scenes.figure()
    scenes.aim(armature, None)
    assert directing.add(armature, "head", Target(scenes.ball())) == 0
    assert of(armature).target.name == "Ball" and not of(armature).targets


def test_what_the_look_would_move_is_no_target(hero) -> None:
    hat = scenes.child(scenes.ball(name="Hat"), hero, "head")
    before = scenes.snapshot()
    for target in (Target(hat), Target(hero), Target(hero, "neck"), Target(bpy.data.objects["Bird"], "beak")):
        with pytest.raises(errors.RigError):
            directing.add(hero, "head", target)
    assert not scenes.differences(before, scenes.snapshot())


# Keys


def test_from_here_on(hero) -> None:
    look(hero, 20, 1)
    look(hero, 40, None)
    look(hero, 60, 2)
    assert seen(hero, 1, 19, 20, 39, 40, 59, 60, 100) == ["Ball", "Ball", "Bird", "Bird", None, None, "Cat", "Cat"]


def test_before_the_first_key_all_stays(hero) -> None:
    of(hero).use = False
    look(hero, 20, 1)
    assert seen(hero, 1, 19, 20) == [None, None, "Bird"]
    assert keys(hero, "use") == [(1, 0), (20, 1)]


def test_earlier_than_the_first_key(hero) -> None:
    look(hero, 50, 2)
    look(hero, 30, 1)
    assert seen(hero, 1, 29, 30, 49, 50) == ["Ball", "Ball", "Bird", "Bird", "Cat"]


def test_at_the_first_frame_there_is_nothing_before(hero) -> None:
    look(hero, 1, 1)
    assert keys(hero, "active_target") == [(1, 1)]


@pytest.mark.thorough
@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(2, 100), st.sampled_from([None, 0, 1, 2])), min_size=1, max_size=8))
def test_each_look_lasts_until_the_next(looks) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = make()
    for frame, number in looks:
        look(armature, frame, number)
    known = {1: 0, **dict(looks)}
    for frame in range(1, 101):
        number = known[max(at for at in known if at <= frame)]
        assert seen(armature, frame) == [None if number is None else names(armature)[number]]


def test_keys_hold_in_the_bones_group(hero) -> None:
    look(hero, 20, 2)
    for setting in ("use", "active_target"):
        assert curve(hero, setting).group.name == "Look-at (head)"
        assert {point.interpolation for point in curve(hero, setting).keyframe_points} == {"CONSTANT"}


def test_the_settings_show_the_current_frame(hero) -> None:
    bpy.context.scene.frame_set(10)
    look(hero, 20, 2)
    assert directing.active(of(hero)) == 0
    look(hero, 10, 1)
    assert directing.active(of(hero)) == 1


def test_keyed_by_the_dot(hero) -> None:
    of(hero).active_target = 2
    look_at_edit.toggle_key(hero, "head", "active_target", 10)
    of(hero).active_target = 0
    look_at_edit.toggle_key(hero, "head", "active_target", 20)
    assert seen(hero, 10, 15, 19, 20) == ["Cat", "Cat", "Cat", "Ball"]
    look_at_edit.toggle_key(hero, "head", "active_target", 10)
    assert keys(hero, "active_target") == [(20, 0)]


def test_the_head_goes_where_it_is_directed(hero) -> None:
    look(hero, 30, 1)
    look(hero, 60, None)
    bpy.context.view_layer.update()
    live.update(bpy.context.scene)
    for frame, name in ((29, "Ball"), (59, "Bird")):
        assert scenes.error(hero, scenes.place_of(bpy.data.objects[name]), [frame]) < 0.1
    animated = scenes.animated(hero, [100])
    assert np.allclose(scenes.poses(hero, [100]), animated, atol=1e-6)


def test_without_a_main_target(hero) -> None:
    """The list alone is enough: looked at, and baked."""
    of(hero).target = None
    of(hero).settle_time = 0.1
    look(hero, 1, 1)
    live.update(bpy.context.scene)
    bird = scenes.place_of(bpy.data.objects["Bird"])
    assert scenes.error(hero, bird, [60]) < 0.1
    scenes.run_bake(hero, last=60)
    assert scenes.error(hero, bird, [60]) < 0.1


def test_a_bone_that_is_looked_at_may_be_renamed(hero) -> None:
    other = scenes.figure("Other")
    other.location.x = 2.0
    directing.add(hero, "head", Target(other, "hand.R"))
    live.update(bpy.context.scene)
    other.data.bones["hand.R"].name = "paw"
    live.touch()
    live.update(bpy.context.scene)
    assert names(hero)[-1] == "Other:paw"


# Numbers change, what is meant stays


@pytest.mark.thorough
@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.integers(2, 100), st.sampled_from([None, 0, 1, 2])), min_size=1, max_size=6),
    st.permutations([0, 1, 2]),
)
def test_moving_lines_changes_nothing_that_is_seen(looks, order) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = make()
    for frame, number in looks:
        look(armature, frame, number)
    before = seen(armature, *range(1, 101, 3))
    directing.move(armature, "head", order[0], order[1])
    assert seen(armature, *range(1, 101, 3)) == before


def test_moving_exchanges(hero) -> None:
    directing.move(hero, "head", 2, 0)
    assert names(hero) == ["Cat", "Bird", "Ball"]
    with pytest.raises(errors.RigError, match="no target 3"):
        directing.move(hero, "head", 2, 3)


def test_keys_of_what_is_removed_go(hero) -> None:
    look(hero, 20, 1)
    look(hero, 40, 2)
    look(hero, 60, 0)
    directing.remove(hero, "head", 1)
    assert names(hero) == ["Ball", "Cat"]
    assert seen(hero, 1, 20, 39, 40, 59, 60) == ["Ball", "Ball", "Ball", "Cat", "Cat", "Ball"]


def test_the_main_target_removed(hero) -> None:
    look(hero, 20, 2)
    look(hero, 40, 0)
    directing.remove(hero, "head", 0)
    assert names(hero) == ["Bird", "Cat"]
    assert seen(hero, 1, 19, 20, 40, 100) == ["Bird", "Bird", "Cat", "Cat", "Cat"]


def test_all_targets_removed(hero) -> None:
    for _ in range(3):
        directing.remove(hero, "head", 0)
    assert names(hero) == [""] and of(hero).exists
    assert directing.active(of(hero)) is None


def test_strips_of_the_nla_know_the_new_numbers(hero) -> None:
    look_in_clip(hero, 20, 2)
    data = hero.animation_data
    strip = data.nla_tracks.new().strips.new("Look", 1, data.action)
    strip.action_slot = data.action_slot
    data.action = None
    directing.move(hero, "head", 1, 2)
    assert names(hero) == ["Ball", "Cat", "Bird"]
    assert seen(hero, 1, 20) == ["Ball", "Cat"]


# Where it cannot be


def linked_action(tmp_path) -> bpy.types.Action:
    action = bpy.data.actions["HeroAction"]
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {action}, fake_user=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.actions = ["HeroAction"]
    return wanted.actions[0]


def test_a_linked_action_is_left_alone(hero, tmp_path) -> None:
    look_in_clip(hero, 20, 2)
    data = hero.animation_data
    slot = data.action_slot.identifier
    data.action = linked_action(tmp_path)
    data.action_slot = data.action.slots[slot]
    before = scenes.snapshot()
    for verb in (
        lambda: look(hero, 50, 1),
        lambda: look(hero, 50, None),
        lambda: directing.remove(hero, "head", 1),
        lambda: directing.move(hero, "head", 1, 2),
        lambda: look_at_edit.toggle_key(hero, "head", "active_target", 5),
    ):
        with pytest.raises(errors.RigError, match="linked from a library"):
            verb()
    assert not scenes.differences(before, scenes.snapshot())


@pytest.mark.parametrize("where", ["clip", "shot"])
def test_tweak_mode_is_no_place_for_keys(hero, where) -> None:
    (look if where == "shot" else look_in_clip)(hero, 20, 2)
    data = (hero.data if where == "shot" else hero).animation_data
    strip = data.nla_tracks.new().strips.new("Look", 1, data.action)
    strip.action_slot = data.action_slot
    data.action = None
    data.nla_tracks.active = data.nla_tracks[0]
    strip.select = True
    data.use_tweak_mode = True
    with pytest.raises(errors.RigError, match="tweak mode"):
        look(hero, 30, 1)


def overridden(tmp_path) -> bpy.types.Object:
    """The character with its targets, linked from a library, and its library override."""
    make()
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, set(bpy.data.objects), fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 100
    with bpy.data.libraries.load(path, link=True) as (there, wanted):
        wanted.objects = list(there.objects)
    for item in wanted.objects:
        bpy.context.scene.collection.objects.link(item)
    return bpy.data.objects["Hero"].override_create(remap_local_usages=True)


def test_a_library_override_is_directed(tmp_path) -> None:
    hero = overridden(tmp_path)
    with pytest.raises(errors.RigError, match="create a library override"):
        look(hero.override_library.reference, 20, 1)
    directing.add(hero, "head", Target(scenes.ball(name="Dog")))
    look(hero, 20, 3)
    look(hero, 40, 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    hero = next(item for item in bpy.data.objects if item.override_library)
    assert names(hero) == ["Ball", "Bird", "Cat", "Dog"]
    assert seen(hero, 1, 20, 40) == ["Ball", "Dog", "Bird"]


def test_what_an_override_has_from_its_library_is_emptied(tmp_path) -> None:
    hero = overridden(tmp_path)
    look(hero, 20, 2)
    directing.remove(hero, "head", 1)
    assert names(hero) == ["Ball", "Cat", ""]
    assert seen(hero, 1, 20) == ["Ball", "Cat"]


# Markers


def test_markers_say_what_is_looked_at(hero) -> None:
    other = scenes.figure("Other")
    other.location.x = 2.0
    markers(Cat=10, away=20, Other=30, Other__hand__L=40, Ball=60)
    bpy.context.scene.timeline_markers["Other:hand:L"].name = "Other:hand.L"
    assert directing.from_markers(bpy.context.scene, hero, "head") == 5
    assert seen(hero, 1, 10, 20, 30, 40, 60) == ["Ball", "Cat", None, "Other:head", "Other:hand.L", "Ball"]


def test_markers_again_are_the_same(hero) -> None:
    markers(Cat=10, off=20, Bird=40)
    directing.from_markers(bpy.context.scene, hero, "head")
    before = names(hero), keys(hero, "use"), keys(hero, "active_target")
    directing.from_markers(bpy.context.scene, hero, "head")
    assert before == (names(hero), keys(hero, "use"), keys(hero, "active_target"))


def test_markers_replace_keys(hero) -> None:
    look(hero, 15, 1)
    look(hero, 70, None)
    markers(Cat=50)
    directing.from_markers(bpy.context.scene, hero, "head")
    assert seen(hero, 1, 15, 49, 50, 100) == ["Ball", "Ball", "Ball", "Cat", "Cat"]


def test_a_marker_that_switches_cameras_says_nothing(hero) -> None:
    markers(Cat=10, F_30=30)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.timeline_markers["F_30"].camera = camera
    assert directing.from_markers(bpy.context.scene, hero, "head") == 1


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({}, "has no markers"),
        ({"Cat": 10, "Dgo": 20, "Hero:tail": 30}, "'Dgo', 'Hero:tail'"),
        ({"Cat": 10, "Bird": 10}, "both at frame 10"),
        ({"Cat": 10, "Hero:head": 20}, "moves with the chain"),
    ],
)
def test_what_markers_may_not_say(hero, said, match) -> None:
    markers(**{name.replace(":", "__"): frame for name, frame in said.items()})
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match=match):
        directing.from_markers(bpy.context.scene, hero, "head")
    assert not scenes.differences(before, scenes.snapshot())


def test_stretched_time(hero) -> None:
    """At half speed frame 40 shows what is keyed at 20."""
    bpy.context.scene.render.frame_map_new = 200
    markers(Cat=40)
    directing.from_markers(bpy.context.scene, hero, "head")
    assert seen(hero, 39, 40) == ["Ball", "Cat"]
