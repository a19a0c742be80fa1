"""What is known of a rig's copies holds while the rig stays as it is, whatever is solved of it, and no longer."""

from collections.abc import Callable

import bpy
import pytest

from extension import load

from ... import scenes
from ...scenes import poses, set_rotation, swaying
from .test_playhead import only_solve, state, with_control
from .test_previews import previewed, step_of_the_mouse

live = load("rig.layers.live")
sampler = load("rig.sampling.sampler")
suspend = load("rig.sampling.suspend")

FRAMES = (1, 12, 24)


@pytest.fixture
def scene(empty_file) -> scenes.Scene:
    """A character behind a control that looks at a ball, as it was solved on a copy."""
    bpy.context.scene.frame_end = FRAMES[-1]
    found = with_control(swaying())
    poses(found.armature, FRAMES)
    assert only_solve().kept.cut_down
    return found


@pytest.fixture
def compared(scene, monkeypatch) -> Callable[[], bool]:
    """Whether the whole rig was stepped since this was asked last, once all is solved."""
    whole, step = [], sampler.Sampler._step

    def noting(self, frame, before):
        depsgraph = step(self, frame, before)
        if self.bones and not self._copies:
            whole.append(frame)
        return depsgraph

    def ask() -> bool:
        live.finish(bpy.context.scene)
        assert only_solve().kept.cut_down
        found = bool(whole)
        whole.clear()
        return found

    monkeypatch.setattr(sampler.Sampler, "_step", noting)
    return ask


def settings(armature: bpy.types.Object):
    return armature.pose.bones["head"].lookat_pd


def other_target(scene: scenes.Scene) -> None:
    settings(scene.armature).target = scenes.ball((1.0, -2.0, 1.0), "Other")


def key(scene: scenes.Scene) -> None:
    bone = scene.armature.pose.bones["chest"]
    bone.keyframe_insert(set_rotation(bone, (0.2, 0.0, 0.0)), frame=FRAMES[1])


def other_control(scene: scenes.Scene) -> None:
    scene.armature.pose.bones["neck"].constraints[-1].influence = 0.2


def renamed(scene: scenes.Scene) -> None:
    scene.armature.data.bones["neck"].name = "throat"


def rebuilt(scene: scenes.Scene) -> None:
    """The rig gets other data, which moves its head."""
    scene.armature.data = scene.armature.data.copy()


def undone(scene: scenes.Scene) -> None:
    bpy.ops.ed.undo_push(message="Before")
    other_control(scene)
    live.finish(bpy.context.scene)
    bpy.ops.ed.undo_push(message="After")
    bpy.ops.ed.undo()


@pytest.mark.every_blender
@pytest.mark.parametrize("edit", [other_target, key])
def test_what_leaves_the_rig_as_it_is_has_no_copy_compared(edit, scene, compared) -> None:
    edit(scene)
    assert not compared()


@pytest.mark.parametrize("edit", [other_control, renamed, rebuilt, undone])
def test_what_may_have_changed_the_rig_has_copies_compared(edit, scene, compared) -> None:
    edit(scene)
    assert compared()


def test_what_was_found_of_another_rig_is_forgotten_with_it_as_a_target(scene, compared) -> None:
    """While nobody looks at it nobody sees what becomes of it."""
    ball, other = settings(scene.armature).target, with_control(swaying()).armature
    settings(other).mute = True
    settings(scene.armature).target, settings(scene.armature).subtarget = other, "head"
    assert compared()
    settings(scene.armature).target, settings(scene.armature).subtarget = ball, ""
    assert not compared()
    assert {armature for armature, _ in only_solve().alike} == {scene.armature}


def test_nothing_is_previewed_where_only_more_is_to_be_found_out_of_the_rig(scene) -> None:
    """Before a copy is known fewer bones are known to matter: none of them has moved."""
    scenes.goto(FRAMES[1])
    step_of_the_mouse()
    only_solve().restructured()
    with suspend.suspend_live():
        step_of_the_mouse()
    assert not previewed(scene.armature) and not state().is_previewing
