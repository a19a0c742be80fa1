"""Offsets on the rig: native constraints add exactly the offset, and leave no trace when they go."""

from collections.abc import Iterator

import bpy
import numpy as np
import pytest

from comparison import largest_angle
from extension import load

from .. import scenes
from ..scenes import animate, ball, figure, poses

offsets = load("rig.look_at.look_at_layer")
actions = load("rig.animation.actions")
clock = load("rig.layers.clock")
sync = load("rig.look_at.constraint_sync")
layer = load("rig.layers.layer")
layer_action = load("rig.layers.layer_action")
Track = load("rig.layers.track").Track
rotation = load("lookat_pd.rotation")
suspend = load("rig.sampling.suspend")
own_data = load("rig.sampling.own_data")

BONES = ("head", "neck", "hips")


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """No live look-at takes away what it does not know."""
    with suspend.suspend_live():
        yield


def turns(random: np.random.Generator, *shape: int) -> np.ndarray:
    return rotation.exp(random.uniform(-1.2, 1.2, (*shape, 3)))


def pose(offsets_of_bones, number: int = 1, bones=BONES) -> "Track":
    return Track.pose(number, bones, np.array(offsets_of_bones))


def some(seed: int = 1) -> "Track":
    return pose(turns(np.random.default_rng(seed), 3))


def name_of(number: int, slot: int) -> str:
    return f"Look-at PD {number}.{slot}"


def own(armature: bpy.types.Object, bone: str) -> list[str]:
    return [c.name for c in armature.pose.bones[bone].constraints if own_data.is_own_constraint(c)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", scenes.MODES)
def test_adds_exactly_the_offset_to_what_is_animated(mode) -> None:
    """`basis * offset` in the bone's own space, whatever its rotation mode, on a bone moved and scaled."""
    random = np.random.default_rng(3)
    armature = figure()
    animate(armature, modes=(mode,))
    bone = armature.pose.bones["neck"]
    bone.location, bone.scale = (0.1, 0.2, 0.3), (1.2, 1.2, 1.2)
    offsets.install(armature, 1, BONES)
    scenes.goto(8)
    before = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["neck"]
    parent, basis = np.array(before.parent.matrix), np.array(before.matrix)
    for turn in turns(random, 10):
        offsets.show(armature, pose([rotation.IDENTITY, turn, rotation.IDENTITY]))
        bpy.context.view_layer.update()
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["neck"]
        wanted = basis.copy()
        wanted[:3, :3] = basis[:3, :3] @ rotation.to_matrix(turn)
        assert np.array_equal(np.array(seen.parent.matrix), parent)
        assert np.abs(np.array(seen.matrix) - wanted).max() < 2e-6


def test_nothing_added_is_the_animation_to_the_last_bit() -> None:
    armature = figure()
    animate(armature, modes=scenes.MODES)
    before = poses(armature, (1, 8, 40))
    offsets.install(armature, 1, BONES)
    assert np.array_equal(poses(armature, (1, 8, 40)), before)
    offsets.show(armature, some())
    assert not np.array_equal(poses(armature, (1, 8, 40)), before)
    offsets.hide(armature, 1)
    assert np.array_equal(poses(armature, (1, 8, 40)), before)
    offsets.remove(armature)
    assert np.array_equal(poses(armature, (1, 8, 40)), before)


def test_active_constraint_stays_active() -> None:
    armature = figure()
    armature.pose.bones["neck"].constraints.new("LIMIT_ROTATION")
    before = scenes.snapshot()
    offsets.install(armature, 1, BONES)
    offsets.remove(armature, 1)
    assert not scenes.differences(before, scenes.snapshot())


def test_installed_and_removed_leaves_the_file_as_it_was() -> None:
    armature = figure()
    animate(armature)
    armature.pose.bones["neck"].constraints.new("LIMIT_ROTATION").active = False
    before = scenes.snapshot()
    offsets.install(armature, 1, BONES)
    offsets.install(armature, 2, ("chest", "hips"))
    assert scenes.differences(before, scenes.snapshot())
    offsets.remove(armature, 1)
    offsets.remove(armature, 2)
    assert not scenes.differences(before, scenes.snapshot())


def test_own_constraints_come_first_in_the_order_in_which_look_ats_play() -> None:
    armature = figure()
    theirs = armature.pose.bones["hips"].constraints.new("LIMIT_ROTATION")
    theirs.name = "Look-at PD imposter"
    for number in (3, 1, 2):
        offsets.install(armature, number, ("head", "hips"))
    offsets.arrange(armature, (2, 3, 1))
    names = [constraint.name for constraint in armature.pose.bones["hips"].constraints]
    assert names == [*(name_of(number, 1) for number in (2, 3, 1)), "Look-at PD imposter"]
    assert not own_data.is_own_constraint(theirs)
    offsets.remove(armature)
    assert [constraint.name for constraint in armature.pose.bones["hips"].constraints] == ["Look-at PD imposter"]


def test_constraint_of_an_animator_with_a_similar_name_stays() -> None:
    armature = figure()
    theirs = armature.pose.bones["neck"].constraints.new("TRANSFORM")
    theirs.name = "Look-at PD is not mine"
    offsets.remove(armature)
    assert len(armature.pose.bones["neck"].constraints) == 1


def test_an_action_constraint_of_an_animator_that_has_the_name_stays() -> None:
    armature = figure()
    theirs = armature.pose.bones["head"].constraints.new("ACTION")
    theirs.name, theirs.target, theirs.action = (
        name_of(1, 0),
        ball(),
        bpy.data.actions.new("Mine"),
    )
    assert not own_data.is_own_constraint(theirs)
    bone = armature.pose.bones["head"]
    bone.lookat_pd.target = ball()
    sync.sync(armature)
    assert bone.lookat_pd.number == 2
    assert [c.name for c in bone.constraints] == [
        name_of(2, 0),
        name_of(1, 0),
    ]
    offsets.remove(armature)
    assert [(c.name, c.action.name) for c in bone.constraints] == [(name_of(1, 0), "Mine")]


def keys_of(item):
    return next(iter(actions.curves(item.animation_data.action, item.animation_data.action_slot))).keyframe_points


MEDDLING = {
    "muted": lambda stack: setattr(stack[0], "mute", True),
    "deleted": lambda stack: stack.remove(stack[0]),
    "renamed": lambda stack: setattr(stack[0], "name", "Mine now"),
    "moved below": lambda stack: (stack.new("LIMIT_ROTATION"), stack.move(0, 1)),
    "in world space": lambda stack: setattr(stack[0], "owner_space", "WORLD"),
    "mixed otherwise": lambda stack: setattr(stack[0], "mix_mode", "BEFORE"),
    "without target": lambda stack: setattr(stack[0], "target", None),
    "with another target": lambda stack: setattr(stack[0], "target", ball()),
    "twice": lambda stack: stack.copy(stack[0]),
    "by another channel": lambda stack: setattr(stack[0], "transform_channel", "LOCATION_Y"),
    "by a factor": lambda stack: setattr(stack[0], "use_eval_time", True),
    "in the clock's local space": lambda stack: setattr(stack[0], "target_space", "LOCAL"),
    "without an action": lambda stack: setattr(stack[0], "action", None),
    "with another action": lambda stack: setattr(stack[0], "action", bpy.data.actions.new("Mine")),
    "with the slot of another bone": lambda stack: setattr(stack[0], "action_slot", stack[0].action.slots[0]),
    "the action deleted": lambda stack: bpy.data.actions.remove(stack[0].action),
    "the clock deleted": lambda stack: bpy.data.objects.remove(stack[0].target),
    "the clock stopped": lambda stack: stack[0].target.animation_data_clear(),
    "the clock's key moved": lambda stack: setattr(keys_of(stack[0].target)[1], "co", (500.0, 1.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", MEDDLING)
def test_meddled_with_it_is_not_installed_and_is_made_anew(way) -> None:
    armature = figure()
    offsets.install(armature, 1, BONES)
    assert offsets.is_installed(armature, 1, BONES)
    MEDDLING[way](armature.pose.bones["neck"].constraints)
    assert not offsets.is_installed(armature, 1, BONES)
    offsets.install(armature, 1, BONES)
    assert offsets.is_installed(armature, 1, BONES) and own(armature, "neck") == [name_of(1, 1)]


def test_a_further_bone_names_one_more_constraint() -> None:
    """Blender looks for a name that is given in all F-curves of the file; the others stay, or are copied elsewhere."""
    armature, more = figure(), ("head", "neck", "chest", "hips")
    offsets.install(armature, 1, BONES)
    offsets.show(armature, some())
    head = armature.pose.bones["head"].constraints[0].as_pointer()
    assert len(list(offsets.installing(armature, 1, more))) == 1
    assert offsets.is_installed(armature, 1, more)
    assert armature.pose.bones["head"].constraints[0].as_pointer() == head
    assert own(armature, "chest") == [name_of(1, 2)] and own(armature, "hips") == [name_of(1, 3)]
    added = [armature.pose.bones[bone].constraints[0] for bone in more[2:]]
    assert all(c.influence == 0.0 and not layer_action.read(c.action, c.action_slot) for c in added)


def test_what_is_left_of_installing_goes_on_later() -> None:
    armature = figure()
    for made, _ in enumerate(offsets.installing(armature, 1, BONES)):
        assert not offsets.is_installed(armature, 1, BONES)
        assert sum(len(own(armature, name)) for name in BONES) == made, "nothing is made before the first break"
        if made == 1:
            break
    bone = armature.pose.bones["chest"]
    bone.constraints.copy(armature.pose.bones["head"].constraints[0])
    assert own(armature, "chest") == [name_of(1, 0)], "a copy of a bone brings its constraints along"
    offsets.install(armature, 1, BONES)
    assert offsets.is_installed(armature, 1, BONES) and not own(armature, "chest")


def test_installing_again_changes_nothing() -> None:
    armature = figure()
    offsets.install(armature, 1, BONES)
    before = scenes.snapshot()
    offsets.install(armature, 1, BONES)
    assert not scenes.differences(before, scenes.snapshot())
    offsets.install(armature, 1, ("head", "chest"))
    assert offsets.places(armature) == {1: {0: ["head"], 1: ["chest"]}}


def test_places_follow_renamed_bones() -> None:
    armature = figure()
    offsets.install(armature, 4, BONES)
    armature.data.bones["neck"].name = "throat"
    assert offsets.places(armature) == {4: {0: ["head"], 1: ["throat"], 2: ["hips"]}}


def test_a_single_bone_turns() -> None:
    """It has no parent; nothing else is needed."""
    armature = figure(rows=(("head", None, (0, 0, 1.6), (0, 0, 1.8)),))
    before = poses(armature, (1,))
    offsets.install(armature, 1, ("head",))
    offsets.show(armature, pose([rotation.exp([0.0, 0.5, 0.0])], bones=("head",)))
    assert not np.array_equal(poses(armature, (1,)), before)


def test_quiet_adds_nothing_meanwhile_and_puts_back_what_was_there() -> None:
    armature = figure()
    still = poses(armature, (1,))
    offsets.install(armature, 1, BONES)
    offsets.show(armature, some())
    turned = poses(armature, (1,))
    before = scenes.snapshot()
    with layer.disabled([armature], layer.own_on):
        assert np.array_equal(poses(armature, (1,)), still)
        offsets.show(armature, some(2))
        assert not np.array_equal(poses(armature, (1,)), turned)
    assert np.array_equal(poses(armature, (1,)), turned)
    assert not scenes.differences(before, scenes.snapshot())


def track(frames: int = 5, first: int = 10, number: int = 1) -> "Track":
    return Track(number, BONES, first, turns(np.random.default_rng(number), frames, 3))


def offsets_seen(armature, frames) -> np.ndarray:
    """(F, b, 4) by which each of the bones is turned beyond its rest, as evaluated."""
    found = []
    for frame in frames:
        scenes.goto(frame)
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        local = [armature.convert_space(pose_bone=seen[b], matrix=seen[b].matrix, to_space="LOCAL") for b in BONES]
        found.append([matrix.to_quaternion() for matrix in local])
    return np.array(found)


@pytest.mark.parametrize("first", [1, 10, -300, 5000, 900_000])
@pytest.mark.parametrize("frames", [1, 2, 5, 64, 65])
def test_whole_frames_are_as_they_are_and_the_ends_hold(first, frames) -> None:
    """Exactly at the frames of the keys: the clock does not drift, however far from frame 0."""
    armature, found = figure(), track(frames, first)
    offsets.install(armature, 1, BONES)
    offsets.show(armature, found)
    whole = [0, frames // 2, frames - 1]
    assert largest_angle(offsets_seen(armature, [first + k for k in whole]), found.offsets[whole]) < 1e-6
    outside = offsets_seen(armature, [first - 7, first + frames + 400])
    assert largest_angle(outside, found.offsets[[0, -1]]) < 1e-6


def test_between_frames_bones_turn_the_shorter_arc() -> None:
    armature, found = figure(), track()
    found.offsets[1] *= -1.0
    offsets.install(armature, 1, BONES)
    offsets.show(armature, found)
    for k in range(4):
        a, b = found.offsets[k], found.offsets[k + 1]
        whole = rotation.distance(a, b)
        seen = offsets_seen(armature, [10 + k + part for part in (0.25, 0.5, 0.75)])
        turned = rotation.distance(a[None], seen)
        assert np.all(np.diff(turned, axis=0) > 0.0) and np.all(turned < whole)
        np.testing.assert_allclose(turned[1], 0.5 * whole, atol=1e-5)


def test_a_bone_that_turns_slowly_needs_three_curves() -> None:
    """Playback costs less, the fewer there are; frames and what is between them are as with four."""
    armature = figure()
    angles = np.radians(np.linspace(-40.0, 40.0, 81))
    found = Track(1, BONES, 10, np.repeat(rotation.exp(angles[:, None] * [0.6, 0.0, 0.8])[:, None], 3, axis=1))
    offsets.install(armature, 1, BONES)
    offsets.show(armature, found)
    (action,) = (action for action in bpy.data.actions if layer_action.is_layer(action))
    assert all(len(list(actions.curves(action, slot))) == 3 for slot in action.slots)
    seen = offsets_seen(armature, [10.0, 10.5, 31.25, 90.0])
    wanted = rotation.exp(np.interp([0.0, 0.5, 21.25, 80.0], np.arange(81), angles)[:, None] * [0.6, 0.0, 0.8])
    assert largest_angle(seen, np.repeat(wanted[:, None], 3, axis=1)) < 1e-4
    read = offsets.read(armature, 1, BONES)
    assert read is not None and largest_angle(read.offsets, found.offsets) < 1e-6


def test_time_that_is_stretched_plays_the_keys_of_that_time() -> None:
    armature, found = figure(), track(9, 1)
    offsets.install(armature, 1, BONES)
    offsets.show(armature, found)
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 200
    assert largest_angle(offsets_seen(armature, [8]), found.offsets[[3]]) < 1e-6


def test_bones_move_and_turn() -> None:
    """A displacement is added to the location whatever the bone's own rotation."""
    armature = figure()
    bone = armature.pose.bones["hips"]
    bone.rotation_mode, bone.rotation_euler, bone.location = "XYZ", (0.3, 0.4, 0.5), (0.1, 0.2, 0.3)
    offsets.install(armature, 1, ("head", "hips"), ("hips",))
    turn, move = rotation.exp(np.array([0.1, 0.2, 0.3])), np.array([0.4, 0.5, -0.6])
    scenes.goto(1)
    before = armature.convert_space(pose_bone=bone, matrix=bone.matrix, to_space="LOCAL")
    both = np.array([rotation.IDENTITY, turn])
    offsets.show(armature, Track(1, ("head", "hips"), 1, both[None], ("hips",), move[None, None]))
    scenes.goto(1)
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["hips"]
    after = armature.convert_space(pose_bone=seen, matrix=seen.matrix, to_space="LOCAL")
    np.testing.assert_allclose(after.translation, np.array(before.translation) + move, atol=1e-6)
    assert (
        largest_angle(np.array(after.to_quaternion()), rotation.multiply(np.array(before.to_quaternion()), turn)) < 1e-6
    )


def test_a_copy_of_the_rig_shows_its_own() -> None:
    armature = figure()
    offsets.install(armature, 1, BONES)
    offsets.show(armature, track())
    copy = armature.copy()
    bpy.context.scene.collection.objects.link(copy)
    before = offsets_seen(armature, [12])
    offsets.show(copy, some(4))
    assert largest_angle(offsets_seen(armature, [12]), before) == 0.0
    assert largest_angle(offsets_seen(copy, [12]), some(4).offsets) < 1e-6
    offsets.remove(copy)
    assert largest_angle(offsets_seen(armature, [12]), before) == 0.0
    offsets.remove(armature)
    assert not [action for action in bpy.data.actions if layer_action.is_layer(action)]
    assert not [item for item in bpy.data.objects if clock.is_clock(item)]


@pytest.mark.parametrize("first", [-5, 0, 1, 40])
def test_what_is_written_is_read_and_linear_between_frames(first) -> None:
    values = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    action = layer_action.new()
    slot = layer_action.slot_of(action, "place", ensure=True)
    for keys in (values, values[::-1], values[:7], values[:1]):
        wanted = layer_action.PlaceKeys("head", "rotation_quaternion", first, keys)
        layer_action.write(action, slot, wanted)
        assert wanted.same_as(layer_action.read(action, slot)[0])
        last = len(keys) - 1
        for place in (-3.0, 0.0, 0.25 * last, 0.5 * last, last - 0.5, float(last), last + 2.5):
            held = min(max(place, 0.0), float(last))
            low, high = int(np.floor(held)), int(np.ceil(held))
            seen = keys[low] + (held - low) * (keys[high] - keys[low])
            assert np.allclose(layer_action.at(action, slot, first + place), seen, atol=1e-6), place
    bpy.data.actions.remove(action)


def test_a_file_has_one_clock() -> None:
    for name in ("One", "Two"):
        offsets.install(figure(name), 1, BONES)
    assert sum(clock.is_clock(item) for item in bpy.data.objects) == 1


def test_an_armature_that_will_not_be_saved_does_not_keep_the_clock() -> None:
    first, second = figure(), figure("Other")
    for armature in (first, second):
        offsets.install(armature, 1, BONES)
    for collection in second.users_collection:
        collection.objects.unlink(second)
    assert second.users == 0
    offsets.remove(first)
    assert not any(map(clock.is_clock, bpy.data.objects))


def test_what_is_shown_is_not_written_again() -> None:
    """Blender would evaluate the rig for it."""
    armature = figure()
    offsets.install(armature, 1, BONES)
    offsets.show(armature, some())
    bpy.context.view_layer.update()
    updated = []

    def note(scene, graph) -> None:
        updated.extend(item.id.name for item in graph.updates)

    bpy.app.handlers.depsgraph_update_post.append(note)
    try:
        offsets.show(armature, some())
        bpy.context.view_layer.update()
        assert not updated
        offsets.show(armature, some(2))
        bpy.context.view_layer.update()
        assert updated
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(note)


def test_what_was_written_can_be_put_back() -> None:
    armature = figure()
    offsets.install(armature, 1, BONES)
    offsets.show(armature, track())
    before, held = offsets_seen(armature, [11, 14]), offsets.LookAtLayer(armature, 1).written()
    offsets.show(armature, some(7))
    offsets.LookAtLayer(armature, 1).write_back(held)
    assert largest_angle(offsets_seen(armature, [11, 14]), before) == 0.0


def test_shown_returns_what_is_added() -> None:
    armature = figure()
    armature.pose.bones["head"].lookat_pd.number = 1
    assert offsets.shown(armature, "head", 1.0) == {}
    offsets.install(armature, 1, BONES)
    assert offsets.shown(armature, "head", 1.0) == {}
    offsets.show(armature, track())
    for frame, row in ((12, 2), (-50, 0), (99, 4)):
        found = offsets.shown(armature, "head", frame)
        assert largest_angle(np.array([found[bone] for bone in BONES]), track().offsets[row]) < 1e-6
