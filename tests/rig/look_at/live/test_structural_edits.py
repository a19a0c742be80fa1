"""Structural edits of characters that depend on each other are seen at once, and what random operations found once.

What is seen after an edit is what a file that is opened with it shows; the status is the same, too.
"""

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from ...scenes import aim, animate, ball, child, figure, poses
from .test_live import ours

clock = load("rig.layers.clock")
detect = load("rig.detection.detect")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
offsets = load("rig.look_at.look_at_layer")
stance = load("rig.detection.stance")

FRAMES = (1, 7, 16, 24)


def cast() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Hero looks at a ball, Villain at Hero's head; there is a box."""
    bpy.context.scene.frame_end = FRAMES[-1]
    for name, x in (("Hero", 0.0), ("Villain", 1.2)):
        armature = figure(name)
        armature.location.x = x
        animate(armature, (1, 6, 13), seed=len(name))
    hero, villain = bpy.data.objects["Hero"], bpy.data.objects["Villain"]
    aim(hero, ball())
    aim(villain, hero).subtarget = "head"
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0.2)], [], [(0, 1, 2)])
    box = bpy.data.objects.new("Box", mesh)
    box.location = (-1.0, -1.5, 1.2)
    bpy.context.scene.collection.objects.link(box)
    return hero, villain


def shown() -> tuple[dict[str, np.ndarray], dict[tuple[str, str], str]]:
    """The poses of all characters, and the states of their look-ats."""
    scene = bpy.context.scene
    rigs = [item for item in scene.objects if item.type == "ARMATURE"]
    seen = {item.name: poses(item, FRAMES) for item in rigs}
    states = {
        (item.name, bone): live.status(scene, item, bone).state
        for item in rigs
        for bone in look_at.bones_with_look_at(item)
    }
    return seen, states


def check_as_opened_anew() -> dict[str, np.ndarray]:
    """The poses, after they were compared with those of a new file."""
    seen, states = shown()
    scenes.forget_solutions()
    truth, true_states = shown()
    assert states == true_states
    for name, pose in truth.items():
        assert np.abs(seen[name] - pose).max() < 1e-5, name
    return truth


def in_edit_mode(armature: bpy.types.Object, work: Callable) -> None:
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    work(armature.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def delete_the_target(hero: bpy.types.Object, _: bpy.types.Object) -> None:
    bpy.data.objects.remove(bpy.data.objects["Ball"])


def delete_the_other_character(hero: bpy.types.Object, _: bpy.types.Object) -> None:
    bpy.data.objects.remove(hero)


def duplicate_with_the_same_data(hero: bpy.types.Object, villain: bpy.types.Object) -> None:
    copy = hero.copy()
    copy.location.y += 0.5
    bpy.context.scene.collection.objects.link(copy)
    villain.pose.bones["head"].lookat_pd.target = copy


def duplicate_that_looks_elsewhere(hero: bpy.types.Object, _: bpy.types.Object) -> None:
    duplicate_with_the_same_data(hero, _)
    bpy.data.objects["Hero.001"].pose.bones["head"].lookat_pd.target = bpy.data.objects["Box"]


def look_at_on_a_limb_towards_a_mesh(hero: bpy.types.Object, _: bpy.types.Object) -> None:
    aim(hero, bpy.data.objects["Box"], "upper_arm.L", aim_axis="POS_Y")


def parent_a_bone_in_edit_mode(hero: bpy.types.Object, _: bpy.types.Object) -> None:
    def work(bones: bpy.types.ArmatureEditBones) -> None:
        bones["neck"].parent = bones["upper_arm.L"]

    in_edit_mode(hero, work)


def parent_the_other_object_to_a_bone(hero: bpy.types.Object, villain: bpy.types.Object) -> None:
    child(villain, hero, "chest")


def parent_the_target_to_a_bone(hero: bpy.types.Object, villain: bpy.types.Object) -> None:
    child(bpy.data.objects["Ball"], villain, "upper_arm.L")


def change_a_rotation_mode(hero: bpy.types.Object, _: bpy.types.Object) -> None:
    hero.pose.bones["chest"].rotation_mode = "XYZ"


def change_the_rotation_mode_of_the_head(hero: bpy.types.Object, _: bpy.types.Object) -> None:
    hero.pose.bones["head"].rotation_mode = "AXIS_ANGLE"


EDITS = (
    delete_the_target,
    delete_the_other_character,
    duplicate_with_the_same_data,
    duplicate_that_looks_elsewhere,
    look_at_on_a_limb_towards_a_mesh,
    parent_a_bone_in_edit_mode,
    parent_the_other_object_to_a_bone,
    parent_the_target_to_a_bone,
    change_a_rotation_mode,
    change_the_rotation_mode_of_the_head,
)


@pytest.mark.every_blender
@pytest.mark.parametrize("saved", [False, True], ids=["in the session", "opened"])
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_structural_edit_is_seen_at_once(edit, saved, tmp_path) -> None:
    hero, villain = cast()
    before, _ = shown()
    if saved:
        path = str(tmp_path / "cast.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        hero, villain = bpy.data.objects["Hero"], bpy.data.objects["Villain"]
    edit(hero, villain)
    truth = check_as_opened_anew()
    assert set(truth) != set(before) or any(not np.array_equal(truth[name], before[name]) for name in truth)


# What random operations found


def library(path: str) -> str:
    """A file with a collection "Cast" of a character that looks at a ball."""
    collection = bpy.data.collections.new("Cast")
    bpy.context.scene.collection.children.link(collection)
    guest, cup = figure("Guest"), ball((-0.8, -2.0, 1.2), "Cup")
    for item in (guest, cup):
        bpy.context.scene.collection.objects.unlink(item)
        collection.objects.link(item)
    animate(guest, (1, 9, 18))
    aim(guest, cup)
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    return path


def clocks() -> list[str]:
    return [item.name for item in bpy.data.objects if clock.is_clock(item) and item.library is None]


@pytest.mark.every_blender
def test_the_last_look_at_of_an_override_leaves_no_clock(tmp_path) -> None:
    path = library(str(tmp_path / "cast.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, data):
        data.collections = ["Cast"]
    made = data.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    guest = next(item for item in made.all_objects if item.type == "ARMATURE")
    poses(guest, FRAMES)
    assert clocks()
    look_at_edit.remove(guest, "head")
    assert not clocks() and not any(offsets.on(guest))


@pytest.mark.every_blender
def test_the_chain_of_an_override_is_the_same_when_opened(tmp_path) -> None:
    """Also where a bone that it has from its library was taken out, and comes back as a line of its own."""
    path = library(str(tmp_path / "cast.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, data):
        data.collections = ["Cast"]
    made = data.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    guest = next(item for item in made.all_objects if item.type == "ARMATURE")
    guest_name = guest.name

    def chain() -> list[tuple[str, float]]:
        return [(item.bone, item.share) for item in guest.pose.bones["head"].lookat_pd.chain if item.bone]

    links = detect.find_chain(stance.skeleton(guest), "head")
    names = [link.bone for link in links]
    assert [bone for bone, _ in chain()] == names and len(names) > 3
    look_at_edit.write_chain(guest.pose.bones["head"].lookat_pd, [links[0], *links[2:]])
    look_at_edit.write_chain(guest.pose.bones["head"].lookat_pd, [links[0], *links[2:], links[1]])
    added = guest.pose.bones["head"].lookat_pd.chain.add()
    added.bone, added.share = "upper_arm.L", 0.125
    before = chain()
    assert [bone for bone, _ in before] == [names[0], *names[2:], names[1], "upper_arm.L"]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    guest = bpy.data.objects[guest_name]
    assert chain() == before


@pytest.mark.every_blender
def test_undo_after_a_rig_was_cut_down_shows_what_was_before(capfd) -> None:
    """What a solve keeps of a rig for the next one may name nothing that the undo replaces."""
    hero, _ = cast()
    chest = hero.pose.bones["chest"]
    for frame in range(1, FRAMES[-1]):
        # Corners, between which it is sampled.
        chest.keyframe_insert(scenes.set_rotation(chest, (0.2 * (frame % 2), 0.0, 0.0)), frame=frame)
    shown()
    bpy.ops.ed.undo_push(message="Before")
    bpy.data.objects["Ball"].location = (-1.0, -2.0, 1.0)
    shown()
    bpy.ops.ed.undo_push(message="Moved")
    bpy.ops.ed.undo()
    check_as_opened_anew()
    assert not ours(capfd.readouterr().err)


@pytest.mark.parametrize("other", ["deleted", "muted"])
def test_the_last_character_that_is_deleted_leaves_no_clock(other: str) -> None:
    hero, villain = cast()
    shown()
    assert clocks()
    if other == "muted":
        villain.pose.bones["head"].lookat_pd.mute = True
    else:
        bpy.data.objects.remove(villain)
    bpy.context.view_layer.update()
    assert clocks()
    bpy.data.objects.remove(hero)
    bpy.context.view_layer.update()
    assert not clocks()
    # What has no user is not saved.
    assert not [item.name for item in bpy.data.actions if "Look-at PD" in item.name and item.users]


@pytest.mark.parametrize("opened", [False, True], ids=["solved", "opened"])
def test_a_circle_that_ends_leaves_nothing_of_who_was_in_it(opened: bool, tmp_path) -> None:
    """Hero's chest and Villain look at each other's heads; without Villain, Hero looks as if he had been alone."""
    hero, villain = cast()
    look_at_edit.add(bpy.context.scene, hero, "chest", villain)
    hero.pose.bones["chest"].lookat_pd.subtarget = "head"
    circle = poses(hero, FRAMES)
    if opened:
        path = str(tmp_path / "circle.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        hero, villain = bpy.data.objects["Hero"], bpy.data.objects["Villain"]
        assert np.abs(poses(hero, FRAMES) - circle).max() < 1e-5
    bpy.data.objects.remove(villain)
    alone = check_as_opened_anew()["Hero"]
    assert np.abs(alone - circle).max() > 0.1
