"""A bake in progress: where its keys go, and that nothing of it stays where it is not completed."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from extension import load
from grids import diagonal

from .. import scenes

actions = load("rig.animation.actions")
bake_together = load("rig.animation.bake_together")
bake_transaction = load("rig.animation.bake_transaction")
channels = load("rig.animation.channels")
key_writer = load("rig.animation.key_writer")
keys = load("rig.animation.keys")

NAME = 'che"st'


def curves_of(action: bpy.types.Action) -> dict[tuple[str, int], tuple[str, list[tuple[float, float]]]]:
    """Group and keys of each F-curve."""
    return {
        (curve.data_path, curve.array_index): (curve.group.name, [tuple(point.co) for point in curve.keyframe_points])
        for curve in actions.curves(action, action.slots[0])
    }


@pytest.mark.parametrize("keyed", [(), (0,), (0, 1, 2, 3)])
def test_a_bake_that_is_given_up_leaves_channels_without_keys_as_they_stood(keyed: tuple[int, ...]) -> None:
    armature = scenes.figure()
    bone = armature.pose.bones["chest"]
    bone.rotation_quaternion = 0.9, 0.1, 0.2, 0.0
    for index in keyed:
        bone.keyframe_insert("rotation_quaternion", index=index, frame=1)
    before, frames = scenes.poses(armature, [4]), np.arange(1.0, 9.0)
    with bake_transaction.BakeTransaction(armature) as work:
        base, turned = np.tile(bone.rotation_quaternion, (8, 1)), np.tile([0.5, 0.5, 0.5, 0.5], (8, 1))
        work.write("chest", "QUATERNION", frames, turned, base)
        scenes.goto(5)
        work.rollback()
    np.testing.assert_array_equal(scenes.poses(armature, [4]), before)


@pytest.mark.parametrize("undone", [False, True])
def test_curves_that_a_bake_adds_keep_their_group_and_can_be_removed(undone: bool) -> None:
    armature = scenes.figure()
    action = scenes.animate(armature)
    armature.data.bones["chest"].name = NAME
    before = curves_of(action)
    with bake_transaction.BakeTransaction(armature) as work:
        armature.pose.bones[NAME].keyframe_insert("location", index=1, frame=5)
        expected = curves_of(work.action)
        assert work.commit_all("CURRENT", "Baked") == action
        if undone:
            work.rollback()
    assert len(expected) == len(before) + 1 and expected != before
    assert curves_of(action) == (before if undone else expected)


class Stopped(Exception):
    """What ends a bake half-way: an error, or Esc."""


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets the writing of keys stop right after so many F-curves from now on."""
    write, left = keys.Keys.write, [0]

    def counted(self: Any, curve: Any) -> None:
        write(self, curve)
        left[0] -= 1
        if left[0] == 0:
            raise Stopped

    monkeypatch.setattr(keys.Keys, "write", counted)
    return lambda count: left.__setitem__(0, count)


def written_when_not_stopped(bake: Callable[[int], None]) -> int:
    """How many F-curves a bake writes. It leaves the file as it was when it stops after any of them, and when it is
    undone after all, for which it gets 0."""
    before, count = scenes.snapshot(), 0
    while True:
        try:
            bake(count)
        except Stopped:
            assert not scenes.differences(before, scenes.snapshot()), f"stopped after {count} curves"
            count += 1
        else:
            return count


BONES = {"head": "QUATERNION", "neck": "XYZ", "chest": "AXIS_ANGLE", "spine": "XYZ"}
"""Rotation modes: the head is keyed, the neck has muted curves, the chest some with modifiers, the spine none."""


def prepared(into: str) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A character with curves of all kinds that a bake may meet, and a ball that moves."""
    armature = scenes.figure()
    armature.pose.bones["spine"].rotation_mode = BONES["spine"]
    keyed = [name for name in BONES if name != "spine"]
    scenes.animate(armature, (1, 9, 30), bones=keyed, modes=[BONES[name] for name in keyed])
    for curve in actions.curves(armature.animation_data.action, armature.animation_data.action_slot):
        # In the current action both are refused before a bake begins.
        curve.mute = into != "CURRENT" and '"neck"' in curve.data_path
        if '"chest"' in curve.data_path:
            curve.modifiers.new("NOISE").mute = into == "CURRENT"
    armature.animation_data.use_nla = False
    ball = scenes.ball()
    for frame, x in ((1, 0.0), (30, 2.0)):
        ball.location.x = x
        ball.keyframe_insert("location", frame=frame)
    return armature, ball


def base_of(item: Any, mode: str, frames: np.ndarray, bone: str = "") -> np.ndarray:
    """The channels (F, 3 or 4) as they are evaluated."""
    found = []
    for frame in frames:
        scenes.goto(frame)
        found.append(list(getattr(item.pose.bones[bone] if bone else item, channels.channel(mode)[0])))
    return np.array(found)


def write(pens: Any, armature: bpy.types.Object, frames: np.ndarray, bases: dict[str, np.ndarray]) -> None:
    """Key all bones a little away from where they are."""
    for name, mode in BONES.items():
        pens.write(name, mode, frames, bases[name] + 0.1, bases[name])


@pytest.mark.thorough
@diagonal(
    into=["CURRENT", "NEW", "LAYER"], written=[(5, 12, "EVERY_FRAME"), (20, 40, "EVERY_FRAME"), (5, 12, "FITTED")]
)
def test_a_bake_that_stops_anywhere_leaves_the_file_as_it_was(
    into: str, written: tuple[int, int, str], stop_after
) -> None:
    """After each F-curve that it writes, and when it is undone after all of them."""
    first, last, mode = written
    armature, ball = prepared(into)
    frames = np.arange(first, last + 1)
    bases = {name: base_of(armature, mode, frames, name) for name, mode in BONES.items()}
    there = base_of(ball, channels.LOCATION, frames)
    scenes.goto(1)
    before = scenes.snapshot()

    def bake(stop: int) -> None:
        stop_after(stop)
        with bake_together.BakeTogether(armature, {ball: into}) as pens:
            write(pens, armature, frames, bases)
            pens.write_of(ball, "", channels.LOCATION, frames, there + 0.1, there)
            pens.commit(into, "Baked", " baked", key_writer.KeyWriter(mode))
            assert scenes.differences(before, scenes.snapshot())
            if not stop:
                raise Stopped

    assert written_when_not_stopped(bake) > 14


@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_a_bake_without_an_action_that_stops_anywhere_leaves_none(into: str, stop_after) -> None:
    armature, frames = scenes.figure(), np.arange(3, 9)
    armature.pose.bones["head"].rotation_mode = "XYZ"
    base = np.zeros((len(frames), 3))

    def bake(stop: int) -> None:
        stop_after(stop)
        with bake_transaction.BakeTransaction(armature) as work:
            work.write("head", "XYZ", frames, base + 0.1, base)
            work.commit(into, "Baked")
            if not stop:
                raise Stopped

    assert written_when_not_stopped(bake) > 3


def test_keys_of_other_bakes_that_stop_anywhere_leave_the_current_action_as_it_was(stop_after) -> None:
    """What is written to the working action by others, and taken over as a whole."""
    armature, _ = prepared("CURRENT")

    def bake(stop: int) -> None:
        stop_after(0)
        with bake_transaction.BakeTransaction(armature) as work:
            for bone in (armature.pose.bones[name] for name in BONES):
                bone.keyframe_insert("location", frame=5)
                bone.keyframe_insert(channels.channel(bone.rotation_mode)[0], frame=35)
            stop_after(stop)
            work.commit_all("CURRENT", "Baked")
            if not stop:
                raise Stopped

    assert written_when_not_stopped(bake) > 20


@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
@pytest.mark.parametrize(("first", "last"), [(5, 12), (1, 30), (-6, 4), (20, 40), (34, 40)])
def test_a_bake_is_seen_in_its_frames_and_nowhere_else(into: str, first: int, last: int) -> None:
    """All channels are as wanted in the first and the last frame and between them, and as before outside; where an
    action has no keys beyond, it holds the last pose."""
    armature, ball = prepared(into)
    everywhere, frames = np.arange(-8, 44), np.arange(first, last + 1)
    inside = (everywhere >= first) & (everywhere <= last)
    names = ("head", "spine")
    before = {name: base_of(armature, BONES[name], everywhere, name) for name in names}
    there = base_of(ball, channels.LOCATION, everywhere)
    with bake_together.BakeTogether(armature, {ball: into}) as pens:
        for name in names:
            base = before[name][inside]
            pens.write(name, BONES[name], frames, base + 0.1, base)
        pens.write_of(ball, "", channels.LOCATION, frames, there[inside] + 0.1, there[inside])
        pens.commit(into, "Baked", " baked")
    shown = {name: base_of(armature, BONES[name], everywhere, name) for name in names}
    shown["ball"], before["ball"] = base_of(ball, channels.LOCATION, everywhere), there
    begin, end = (1, 30) if into != "LAYER" else (-np.inf, np.inf)
    for name, values in shown.items():
        expected = before[name].copy()
        if begin >= first:
            expected[everywhere < first] = values[inside][0]
        if end <= last:
            expected[everywhere > last] = values[inside][-1]
        moved = values - before[name]
        if name == "head" and into == "LAYER":
            # Strips combine rotations, and show them with a length of 1.
            assert np.abs(moved[inside]).max(axis=1).min() > 0.01, name
        else:
            np.testing.assert_allclose(moved[inside], 0.1, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(values[~inside], expected[~inside], atol=1e-6, err_msg=name)
