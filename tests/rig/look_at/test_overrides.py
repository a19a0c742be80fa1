"""The life of a look-at on a library override: keyed, baked, saved, its library edited, reloaded, resynced, removed."""

import shutil

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import linked, scenes
from ..scenes import CHAIN, STILL, aim, animate, ball, error, figure, place_of, run_bake

live = load("rig.layers.live")
look_at_edit = load("rig.look_at.edit")
resolve = load("rig.look_at.resolve")
follow_edit = load("rig.pd_follow.follow_edit")
owners = load("rig.pd_follow.owners")

PLACE = (0.8, -2.0, 1.9)
SETTLE_TIME = 0.25


def library(folder) -> str:
    linked.empty_file()
    hero = figure()
    animate(hero)
    return linked.save_library(folder, hero)


def shot(path: str, kind: str) -> bpy.types.Object:
    """A shot with the character, whose look-at has keys of the shot: its data is an override, too."""
    hero = linked.overridden(path, kind)
    bpy.context.scene.frame_end = scenes.LAST
    aim(hero, ball(PLACE), settle_time=SETTLE_TIME)
    key_active(hero)
    return hero


def key_active(hero) -> None:
    """Active from frame 2 on."""
    settings = hero.pose.bones["head"].lookat_pd
    for frame, use in ((1, False), (2, True)):
        settings.use = use
        look_at_edit.toggle_key(hero, "head", "use", frame)
    bpy.context.view_layer.update()


def said(hero) -> list[str]:
    """The notes, but for the one about legs without shins."""
    return [note for note in live.status(bpy.context.scene, hero, "head").notes if "planted" not in note]


def looks(hero, frames=STILL) -> None:
    """It looks at the target, as it was set up, without a word."""
    settings = hero.pose.bones["head"].lookat_pd
    assert settings.settle_time == pytest.approx(SETTLE_TIME)
    assert [link.bone for link in settings.chain] == list(CHAIN)
    assert settings.target == bpy.data.objects["Ball"]
    assert error(hero, place_of(settings.target), frames) < 0.1
    status = live.status(bpy.context.scene, hero, "head")
    assert (status.state, status.error, said(hero)) == ("SOLVED", "", [])
    # Before the key it does not.
    assert error(hero, place_of(settings.target), (1,)) > 5.0


def edit(hero) -> None:
    """What a rigger does: a bone more, another rest pose of an arm, other keys."""
    linked.add_bone(hero, "antenna", "head")
    animate(hero, seed=5)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", linked.KINDS)
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_it_is_baked_and_goes_on(tmp_path, kind, into) -> None:
    hero = shot(library(tmp_path), kind)
    looks(hero)
    run_bake(hero, into=into)
    assert error(hero, place_of(bpy.data.objects["Ball"])) < 0.1
    linked.reopened(tmp_path)
    hero = linked.hero()
    assert error(hero, place_of(bpy.data.objects["Ball"])) < 0.1
    hero.pose.bones["head"].lookat_pd.mute = False
    bpy.context.view_layer.update()
    assert error(hero, place_of(bpy.data.objects["Ball"])) < 0.1


@pytest.mark.every_blender
@pytest.mark.parametrize("kind", linked.KINDS)
def test_it_is_saved_and_opened_again_and_again(tmp_path, kind, capfd) -> None:
    hero = shot(library(tmp_path), kind)
    seen = scenes.poses(hero, (1, 5, 20, 60))
    for _ in range(2):
        linked.reopened(tmp_path)
        hero = linked.hero()
        looks(hero)
        np.testing.assert_allclose(scenes.poses(hero, (1, 5, 20, 60)), seen, atol=1e-5)
    assert "ERROR" not in "".join(capfd.readouterr())


@pytest.mark.every_blender
@pytest.mark.parametrize("kind", linked.KINDS)
def test_its_library_is_edited_while_the_shot_is_open(tmp_path, kind) -> None:
    path = library(tmp_path)
    edited = linked.save_edited(path, edit)
    hero = shot(path, kind)
    before = scenes.poses(hero, (20,), ("hand.L",))
    shutil.copy(edited, path)
    for _ in range(2):
        for item in list(bpy.data.libraries):
            item.reload()
        bpy.context.view_layer.update()
        hero = linked.hero()
        assert "antenna" in hero.pose.bones
        looks(hero)
    assert not np.allclose(scenes.poses(hero, (20,), ("hand.L",)), before)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", linked.KINDS)
def test_its_library_is_edited_while_the_shot_is_closed(tmp_path, kind) -> None:
    path = library(tmp_path)
    edited = linked.save_edited(path, edit)
    shot(path, kind)
    file = linked.save(tmp_path / "shot.blend")
    shutil.copy(edited, path)
    bpy.ops.wm.open_mainfile(filepath=file)
    assert "antenna" in linked.hero().pose.bones
    looks(linked.hero())


@pytest.mark.every_blender
@pytest.mark.parametrize("kind", ["hierarchy", "library of a library"])
@pytest.mark.parametrize("enforced", [False, True])
def test_it_is_resynced(tmp_path, kind, enforced) -> None:
    hero = shot(library(tmp_path), kind)
    for _ in range(2):
        # Each undo step does that.
        hero.override_library.operations_update()
        hero.data.override_library.operations_update()
        hero.override_library.resync(
            bpy.context.scene, view_layer=bpy.context.view_layer, do_hierarchy_enforce=enforced
        )
        bpy.context.view_layer.update()
        hero = linked.hero()
        if enforced:
            # That is what it is for: pointers are those of the library again.
            hero.pose.bones["head"].lookat_pd.target = bpy.data.objects["Ball"]
            bpy.context.view_layer.update()
        looks(hero)


@pytest.mark.parametrize("kind", linked.KINDS)
def test_it_is_removed_without_a_trace(tmp_path, kind) -> None:
    hero = shot(library(tmp_path), kind)
    before = scenes.animated(hero, (1, 20, 60))
    look_at_edit.remove(hero, "head")
    linked.reopened(tmp_path)
    hero = linked.hero()
    assert resolve.bones_with_look_at(hero) == []
    assert not any(len(bone.constraints) for bone in hero.pose.bones)
    np.testing.assert_allclose(scenes.poses(hero, (1, 20, 60)), before, atol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("resynced", [(), (0,), (1,), (0, 1)])
def test_two_characters_of_one_library_look_at_each_other(tmp_path, resynced) -> None:
    path = library(tmp_path)
    linked.empty_file()
    bpy.context.scene.frame_end = scenes.LAST
    pair = [linked.override_all(linked.link(path)) for _ in range(2)]
    pair[1].location = (0.4, -2.0, 0.2)
    pair[1].rotation_euler.z = np.pi
    for one, other in (pair, pair[::-1]):
        settings = aim(one, None)
        settings.target, settings.subtarget = other, "head"
        key_active(one)
    names = [item.name for item in pair]
    bpy.context.view_layer.update()
    for place in resynced:
        item = bpy.data.objects[names[place]]
        item.override_library.operations_update()
        item.override_library.resync(bpy.context.scene, view_layer=bpy.context.view_layer)
        bpy.context.view_layer.update()
    for _ in range(2):
        one, other = (bpy.data.objects[name] for name in names)
        for looker, seen in ((one, other), (other, one)):
            assert error(looker, scenes.eyes_of(seen)) < 0.5
            assert error(looker, scenes.eyes_of(seen), (1,)) > 1.0
            assert said(looker) == []
        linked.reopened(tmp_path)


@pytest.mark.parametrize("kind", linked.KINDS)
def test_pd_follow_is_kept_too(tmp_path, kind) -> None:
    hero = linked.overridden(library(tmp_path), kind)
    target = ball(PLACE)
    follow_edit.add([owners.Owner(hero, "hand.L")], target)
    bpy.context.view_layer.update()
    seen = scenes.poses(hero, (1, 20, 60))
    linked.reopened(tmp_path)
    hero = linked.hero()
    assert owners.Owner(hero, "hand.L").settings.target == bpy.data.objects["Ball"]
    np.testing.assert_allclose(scenes.poses(hero, (1, 20, 60)), seen, atol=1e-5)


@pytest.mark.parametrize("kind", ["hierarchy", "library of a library"])
def test_a_look_at_that_comes_with_the_library_is_changed_and_removed(tmp_path, kind) -> None:
    linked.empty_file()
    hero = figure()
    animate(hero)
    bpy.context.scene.frame_end = scenes.LAST
    aim(hero, ball(PLACE))
    scenes.goto(1)
    hero = linked.overridden(linked.save_library(tmp_path, hero, bpy.data.objects["Ball"]), kind)
    bpy.context.scene.frame_end = scenes.LAST
    settings = hero.pose.bones["head"].lookat_pd
    assert error(hero, place_of(settings.target)) < 0.1
    settings.target, settings.settle_time = ball((-0.6, -2.0, 1.4), "Other"), SETTLE_TIME
    look_at_edit.take_link(settings, len(CHAIN) - 1)
    bpy.context.view_layer.update()
    for _ in range(2):
        assert error(hero, place_of(bpy.data.objects["Other"])) < 0.1
        assert resolve.resolve(hero, "head").bones == CHAIN[:-1]
        linked.reopened(tmp_path)
        hero = linked.hero()
    before = scenes.animated(hero, (1, 20, 60))
    look_at_edit.remove(hero, "head")
    linked.reopened(tmp_path)
    hero = linked.hero()
    assert resolve.bones_with_look_at(hero) == []
    np.testing.assert_allclose(scenes.poses(hero, (1, 20, 60)), before, atol=1e-5)


@pytest.mark.slow
def test_a_generated_human_is_cut_down_as_in_its_own_file(tmp_path) -> None:
    """With its keys, body and eyes, live and baked, without a note that the whole rig is evaluated."""
    human = kept.human()
    human.name = "Hero"
    last = bpy.context.scene.frame_end
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {human})
    hero = linked.overridden(path, "object and data")
    bpy.context.scene.frame_end = last
    head = resolve.find_head(hero)
    settings = aim(hero, ball(PLACE), head)
    settings.eyes.use = settings.body.use_arm_recoil = True
    look_at_edit.toggle_key(hero, head, "use", 1)
    bpy.context.view_layer.update()
    status = live.status(bpy.context.scene, hero, head)
    assert status.state == "SOLVED" and not any("whole rig" in str(note) for note in status.notes)
    frames = (last - 2, last - 1, last)
    shown = scenes.poses(hero, frames, (head,))
    run_bake(hero, last=last)
    np.testing.assert_allclose(scenes.poses(hero, frames, (head,)), shown, atol=2e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", linked.KINDS)
def test_it_is_undone_and_redone(tmp_path, kind) -> None:
    hero = shot(library(tmp_path), kind)
    bpy.ops.ed.undo_push(message="Look-at")
    hero.pose.bones["head"].lookat_pd.settle_time = 0.7
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Slower")
    bpy.ops.ed.undo()
    looks(linked.hero())
    bpy.ops.ed.redo()
    assert linked.hero().pose.bones["head"].lookat_pd.settle_time == pytest.approx(0.7)
    bpy.ops.ed.undo()
    linked.reopened(tmp_path)
    looks(linked.hero())


@pytest.mark.parametrize("kind", linked.KINDS)
def test_one_that_a_script_made_moves_alike_when_opened(tmp_path, kind) -> None:
    hero = linked.overridden(library(tmp_path), kind)
    bpy.context.scene.frame_end = scenes.LAST
    hero.pose.bones["head"].lookat_pd.target = ball(PLACE)
    bpy.context.view_layer.update()
    seen = scenes.poses(hero, (1, 5, 20, 60))
    for _ in range(2):
        linked.reopened(tmp_path)
        np.testing.assert_allclose(scenes.poses(linked.hero(), (1, 5, 20, 60)), seen, atol=1e-5)


@pytest.mark.parametrize("kind", linked.KINDS)
def test_baked_and_edited_live_again(kind, tmp_path) -> None:
    """The animation of the library plays again."""
    hero = shot(library(tmp_path), kind)
    source = hero.animation_data.action
    seen = scenes.poses(hero, STILL)
    run_bake(hero)
    assert hero.animation_data.action != source
    assert load("rig.look_at.edit_live").edit_live(hero, "head") == ["head"]
    assert hero.animation_data.action == source
    np.testing.assert_array_equal(scenes.poses(hero, STILL), seen)
    looks(hero)
