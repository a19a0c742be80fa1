"""With a target selected the look-ats that aim at it are at hand: what panels display, and what operators work on."""

import bpy
import pytest

from extension import load

from ..rig import scenes

selection = load("operators.selection")
polling = load("operators.polling")
select_target = load("operators.select_target")
looking = load("rig.look_at.looking")
resolve = load("rig.look_at.resolve")


def hold(*items: bpy.types.Object, mode: str = "OBJECT") -> None:
    """Select objects, the last one active, in a mode."""
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for item in bpy.context.view_layer.objects:
        item.select_set(item in items)
    bpy.context.view_layer.objects.active = items[-1]
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode=mode)


def shown() -> tuple[str, str] | None:
    bone = selection.look_at_bone(bpy.context)
    return None if bone is None else (bone.id_data.name, bone.name)


@pytest.fixture
def ball() -> bpy.types.Object:
    return scenes.ball((0.0, -2.0, 1.7), "Ball")


@pytest.fixture
def hero(ball) -> bpy.types.Object:
    """A character that looks at the ball; the ball is what is selected."""
    armature = scenes.figure("Hero")
    scenes.aim(armature, ball)
    hold(ball)
    return armature


@pytest.mark.every_blender
def test_the_look_at_stays_with_its_target_selected(hero, ball) -> None:
    assert shown() == ("Hero", "head") and polling.why_no_look_at(bpy.context) is None
    assert selection.look_at_armature(bpy.context) == hero
    # Other features still ask for a character.
    assert selection.armature(bpy.context) is None and polling.why_no_armature(bpy.context)
    for name in ("bake", "follow", "key", "compare", "whole_body", "remove", "look_here", "pick_target"):
        assert getattr(bpy.ops.lookat_pd, name).poll(), name


def test_operators_work_on_it(hero) -> None:
    hero.pose.bones["head"].lookat_pd.settle_time = 0.5
    assert bpy.ops.lookat_pd.key(setting="influence") == {"FINISHED"}
    assert bpy.ops.lookat_pd.whole_body() == {"FINISHED"}
    assert bpy.ops.lookat_pd.bake(use_scene_range=False, frame_start=1, frame_end=5) == {"FINISHED"}
    assert hero.pose.bones["head"].lookat_pd.mute
    assert bpy.ops.lookat_pd.remove() == {"FINISHED"}
    assert not looking.bones(hero) and shown() is None


def test_nothing_is_shown_of_what_no_look_at_aims_at(hero) -> None:
    other = scenes.ball((1.0, 0.0, 0.0), "Other")
    hold(other)
    assert shown() is None
    assert polling.why_no_look_at(bpy.context) == "Select the character's armature"
    hero.pose.bones["head"].lookat_pd.targets.add().object = other
    assert shown() == ("Hero", "head"), "an additional target"


def test_several_rigs_look_at_one_target(hero, ball) -> None:
    """Each is listed; one that is selected, or was chosen, is displayed."""
    others = [scenes.figure(name) for name in ("Anna", "Bob")]
    for other in others:
        scenes.aim(other, ball)
    hold(ball)
    assert {bone.id_data.name for bone in selection.look_ats(bpy.context)} == {"Hero", "Anna", "Bob"}
    assert bpy.ops.lookat_pd.show_look_at(armature="Bob", bone="head") == {"FINISHED"}
    assert shown() == ("Bob", "head")
    bpy.ops.lookat_pd.show_look_at(armature="Hero", bone="head")
    assert shown() == ("Hero", "head")
    hold(others[0], ball)
    assert shown() == ("Anna", "head")
    hold(others[1])
    bpy.ops.lookat_pd.select_target()
    assert bpy.context.view_layer.objects.active == ball and shown() == ("Bob", "head")
    bpy.ops.lookat_pd.select_character()
    assert bpy.context.view_layer.objects.active == others[1] and shown() == ("Bob", "head")


def test_several_look_ats_of_one_rig(hero, ball) -> None:
    scenes.aim(hero, ball, "hand.L")
    hold(ball)
    assert [bone.name for bone in selection.look_ats(bpy.context)] == [bone.name for bone in looking.bones(hero)]
    bpy.ops.lookat_pd.show_look_at(armature="Hero", bone="hand.L")
    assert shown() == ("Hero", "hand.L")
    hold(hero)
    bpy.ops.lookat_pd.show_look_at(armature="Hero", bone="head")
    assert shown() == ("Hero", "head")


def test_target_is_a_bone_of_another_character(hero) -> None:
    """Its rig has no look-at: it is displayed who looks at it, and one can be added to it. With one, its own."""
    other = scenes.figure("Other")
    settings = hero.pose.bones["head"].lookat_pd
    settings.target, settings.subtarget = other, "hand.L"
    hold(other)
    assert shown() == ("Hero", "head") and bpy.ops.lookat_pd.add.poll()
    hold(other, mode="POSE")
    other.data.bones.active = other.data.bones["hand.L"]
    assert shown() == ("Hero", "head")
    other.data.bones.active = other.data.bones["hand.R"]
    assert shown() is None, "another bone is in the hand"
    bpy.ops.object.mode_set(mode="OBJECT")
    hold(hero)
    bpy.ops.lookat_pd.select_target()
    assert bpy.context.mode == "POSE" and other.data.bones.active.name == "hand.L"
    assert [bone.name for bone in selection.selected_bones(bpy.context)] == ["hand.L"]
    bpy.ops.object.mode_set(mode="OBJECT")
    hold(other)
    bpy.ops.lookat_pd.add()
    assert shown() == ("Other", "head"), "its own"
    assert other.pose.bones["head"].lookat_pd.target != other


def test_target_is_a_bone_of_the_character_itself(hero) -> None:
    settings = hero.pose.bones["head"].lookat_pd
    settings.target, settings.subtarget = hero, "hand.L"
    hold(hero, mode="POSE")
    hero.data.bones.active = hero.data.bones["head"]
    bpy.ops.lookat_pd.select_target()
    assert hero.data.bones.active.name == "hand.L" and hero.mode == "POSE"
    assert shown() == ("Hero", "head")


def test_a_target_that_cannot_be_selected_says_why(hero, ball) -> None:
    hold(hero)
    for hide, reason in (
        (lambda: ball.hide_set(True), "The object is hidden; show it in the outliner"),
        (
            lambda: bpy.context.scene.collection.objects.unlink(ball),
            "The object is not in this view layer; enable its collection in the outliner",
        ),
        (
            lambda: setattr(hero.pose.bones["head"].lookat_pd, "target", None),
            "Choose a target to look at",
        ),
    ):
        hide()
        assert select_target.why_not_target(bpy.context) == reason
        assert not bpy.ops.lookat_pd.select_target.poll()


def test_who_looks_is_found_after_edits(hero, ball) -> None:
    """What is kept of large rigs follows look-ats that come and go, also by scripts, and renamed bones."""
    assert shown()
    hero.data.bones["head"].name = "Kopf"
    assert shown() == ("Hero", "Kopf")
    load("rig.look_at.edit").remove(hero, "Kopf")
    assert shown() is None
    hero.pose.bones["chest"].lookat_pd.target = ball
    assert shown() == ("Hero", "chest")
    copy = hero.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.data.objects.remove(hero)
    assert shown() == (copy.name, "chest")


def test_rigs_that_come_and_go_are_found(hero, ball) -> None:
    """One for another, so that there are as many objects as before; renamed; in another scene."""
    assert shown() == ("Hero", "head")
    other = scenes.figure("Other")
    scenes.aim(other, ball)
    bpy.context.view_layer.update()
    hold(ball)
    assert {bone.id_data.name for bone in selection.look_ats(bpy.context)} == {"Hero", "Other"}
    other.name = "Renamed"
    assert {bone.id_data.name for bone in selection.look_ats(bpy.context)} == {"Hero", "Renamed"}
    copy = hero.copy()
    bpy.data.objects.remove(other)
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    assert {bone.id_data.name for bone in selection.look_ats(bpy.context)} == {"Hero", copy.name}
    bpy.context.scene.collection.objects.unlink(copy)
    bpy.data.scenes.new("Elsewhere").collection.objects.link(copy)
    bpy.context.view_layer.update()
    assert {bone.id_data.name for bone in selection.look_ats(bpy.context)} == {"Hero"}


def test_thousands_of_objects_are_asked_once(hero, ball, monkeypatch) -> None:
    asked = []
    bones = looking.bones
    monkeypatch.setattr(looking, "bones", lambda item: asked.append(item) or bones(item))
    for n in range(20):
        scenes.figure(f"Idle {n}", [("root", None, (0, 0, 0), (0, 0, 1))])
    hold(ball)
    shown()
    asked.clear()
    for _ in range(10):
        assert shown() == ("Hero", "head")
    assert len(asked) == 10, "all rigs were asked again"
