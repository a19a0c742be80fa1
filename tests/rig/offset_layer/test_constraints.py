"""Offsets on the rig: native constraints add exactly the offset, and leave no trace when they go."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from ..scenes import animate, ball, figure, poses

offsets = load("rig.offset_layer.constraints")
rotation = load("lookat_pd.rotation")
errors = load("lookat_pd.errors")
own_data = load("rig.sampling.own_data")

BONES = ("head", "neck", "hips")


def turns(random: np.random.Generator, *shape: int) -> np.ndarray:
    return rotation.exp(random.uniform(-1.2, 1.2, (*shape, 3)))


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
        offsets.put(armature, 1, ("head", "neck", "hips"), [None, offsets.angles(turn[None, None])[0][0], None])
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
    offsets.put(armature, 1, BONES, [(0.1, 0.2, 0.3)] * 3)
    assert not np.array_equal(poses(armature, (1, 8, 40)), before)
    offsets.put(armature, 1, BONES, None)
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
    assert names == [*(offsets.name(number, 1) for number in (2, 3, 1)), "Look-at PD imposter"]
    assert not own_data.is_own_constraint(theirs)
    offsets.remove(armature)
    assert [constraint.name for constraint in armature.pose.bones["hips"].constraints] == ["Look-at PD imposter"]


def test_constraint_of_an_animator_with_a_similar_name_stays() -> None:
    armature = figure()
    theirs = armature.pose.bones["neck"].constraints.new("TRANSFORM")
    theirs.name = "Look-at PD is not mine"
    offsets.remove(armature)
    assert len(armature.pose.bones["neck"].constraints) == 1


MEDDLING = {
    "muted": lambda stack: setattr(stack[0], "mute", True),
    "deleted": lambda stack: stack.remove(stack[0]),
    "renamed": lambda stack: setattr(stack[0], "name", "Mine now"),
    "moved below": lambda stack: (stack.new("LIMIT_ROTATION"), stack.move(0, 1)),
    "in world space": lambda stack: setattr(stack[0], "owner_space", "WORLD"),
    "mixed otherwise": lambda stack: setattr(stack[0], "mix_mode_rot", "BEFORE"),
    "mapped to location": lambda stack: setattr(stack[0], "map_to", "LOCATION"),
    "without target": lambda stack: setattr(stack[0], "target", None),
    "with another target": lambda stack: setattr(stack[0], "subtarget", "foot.L"),
    "twice": lambda stack: stack.copy(stack[0]),
    "at other angles": lambda stack: setattr(stack[0], "to_euler_order", "ZYX"),
    "mapped from rotation": lambda stack: setattr(stack[0], "map_from", "ROTATION"),
    "with target space": lambda stack: setattr(stack[0], "target_space", "WORLD"),
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
    assert offsets.is_installed(armature, 1, BONES) and own(armature, "neck") == [offsets.name(1, 1)]


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


def test_bone_without_parent_is_held_by_another_root_or_the_target() -> None:
    target = ball()
    armature = figure(rows=(("head", None, (0, 0, 1.6), (0, 0, 1.8)),))
    offsets.install(armature, 1, ("head",), target)
    assert offsets.is_installed(armature, 1, ("head",))
    offsets.put(armature, 1, ("head",), [(0.0, 0.5, 0.0)])
    bpy.context.view_layer.update()
    before = poses(armature, (1,))
    target.location = (5, 6, 7)
    assert np.array_equal(poses(armature, (1,)), before)


def test_bone_without_parent_and_nothing_to_hold_it_is_an_error_that_changes_nothing() -> None:
    armature = figure(rows=(("head", None, (0, 0, 1.6), (0, 0, 1.8)),))
    child = scenes.child(ball(), armature)
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match="has no parent"):
        offsets.install(armature, 1, ("head",), child)
    assert not scenes.differences(before, scenes.snapshot())


def test_quiet_adds_nothing_meanwhile_and_puts_back_what_was_there() -> None:
    armature = figure()
    still = poses(armature, (1,))
    offsets.install(armature, 1, BONES)
    offsets.put(armature, 1, BONES, [(0.1, 0.2, 0.3), None, (0.0, 0.4, 0.0)])
    turned = poses(armature, (1,))
    before = scenes.snapshot()
    with offsets.offsets_disabled([armature]):
        assert np.array_equal(poses(armature, (1,)), still)
        offsets.put(armature, 1, BONES, [(0.7, 0.7, 0.7)] * 3)
    assert np.array_equal(poses(armature, (1,)), turned)
    assert not scenes.differences(before, scenes.snapshot())


def track(frames: int = 5) -> "offsets.Track":
    return offsets.Track(1, BONES, 10, turns(np.random.default_rng(0), frames, 3))


def test_track_gives_whole_frames_as_they_are_and_holds_outside() -> None:
    found = track()
    for k in range(5):
        assert found.row(10 + k) == offsets.angles(found.offsets)[k]
    assert found.row(-1000) == found.row(10) and found.row(1e6) == found.row(14)


def test_track_turns_evenly_between_frames() -> None:
    found = track()
    for k in range(4):
        a, b = found.offsets[k], found.offsets[k + 1]
        for part in (1e-4, 0.25, 0.5, 0.999):
            row = np.array(found.row(10 + k + part))
            q = rotation.from_euler(row, "XYZ")
            whole = rotation.angle(rotation.multiply(rotation.inverse(a), b))
            assert rotation.angle(rotation.multiply(rotation.inverse(a), q)) == pytest.approx(part * whole, abs=1e-6)


def test_track_between_two_nothings_is_nothing() -> None:
    still = offsets.Track(1, BONES, 1, rotation.identity(3, 3))
    assert still.row(1.5) == [None] * 3


def test_track_of_one_frame() -> None:
    found = track(1)
    assert found.row(3) == found.row(10) == found.row(10.4) == found.row(99)


def test_put_writes_only_what_is_different(monkeypatch) -> None:
    """What is there is not written again: Blender would evaluate the rig for it."""
    armature = figure()
    offsets.install(armature, 1, BONES)
    rows = offsets.angles(turns(np.random.default_rng(1), 1, 3))[0]
    offsets.put(armature, 1, BONES, rows)
    bpy.context.view_layer.update()
    updated = []

    def note(scene, graph) -> None:
        updated.extend(item.id.name for item in graph.updates)

    bpy.app.handlers.depsgraph_update_post.append(note)
    try:
        offsets.put(armature, 1, BONES, rows)
        bpy.context.view_layer.update()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(note)
    assert not updated


def test_shown_tells_what_is_added() -> None:
    armature = figure()
    armature.pose.bones["head"].lookat_pd.number = 1
    assert offsets.shown(armature, "head") == {}
    offsets.install(armature, 1, BONES)
    assert offsets.shown(armature, "head") == {}
    turn = turns(np.random.default_rng(5), 1, 3)
    offsets.put(armature, 1, BONES, offsets.angles(turn)[0])
    found = offsets.shown(armature, "head")
    assert set(found) == set(BONES)
    for n, bone in enumerate(BONES):
        assert rotation.angle(rotation.multiply(rotation.inverse(found[bone]), turn[0, n])) < 1e-6
