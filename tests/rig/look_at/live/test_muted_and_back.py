"""A look-at that was muted, by the eye or by a bake, and is live again: nobody has changed its keys."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes

edit_live = load("rig.look_at.edit_live")
live = load("rig.layers.live")


def notes(armature: bpy.types.Object) -> tuple[str, ...]:
    scene = bpy.context.scene
    scenes.goto(scene.frame_start)
    live.finish(scene)
    state = live.status(scene, armature, "head")
    assert state.state == "SOLVED"
    return state.notes


@pytest.mark.parametrize("way", ["eye", "bake"])
@pytest.mark.parametrize("others", [0, 1])
def test_nothing_is_said_to_be_restored(way, others) -> None:
    armature = scenes.figure()
    scenes.animate(armature)
    settings = scenes.aim(armature, scenes.ball())
    for _ in range(others):
        scenes.aim(scenes.figure("Other"), scenes.ball((1.0, -1.0, 1.0), "Other Ball"))
    before = notes(armature)
    for _ in range(2):
        if way == "eye":
            settings.mute = True
            scenes.goto(3)
            settings.mute = False
        else:
            scenes.run_bake(armature)
            scenes.goto(3)
            edit_live.edit_live(armature, "head")
        assert notes(armature) == before


@pytest.mark.every_blender
@pytest.mark.parametrize("way", ["eye", "bake"])
def test_bones_may_be_renamed_meanwhile(way) -> None:
    """Of those with keys Blender renames the curves in what plays only."""
    armature = scenes.figure()
    scenes.animate(armature, bones=("chest",))
    settings = scenes.aim(armature, scenes.ball())
    frames = (1, 20, scenes.LAST)
    still, seen = scenes.animated(armature, frames), scenes.poses(armature, frames)
    if way == "eye":
        settings.mute = True
    else:
        scenes.run_bake(armature)
    scenes.goto(3)
    for bone in armature.data.bones:
        if bone.name not in ("head", "chest"):
            bone.name = f"new {bone.name}"
    scenes.goto(20)
    if way == "eye":
        settings.mute = False
    else:
        edit_live.edit_live(armature, "head")
    np.testing.assert_allclose(scenes.poses(armature, frames), seen, atol=1e-6)
    load("rig.look_at.edit").remove(armature, "head")
    np.testing.assert_allclose(scenes.poses(armature, frames), still, atol=1e-6)


@pytest.mark.parametrize("way", ["eye", "bake"])
def test_bones_may_be_renamed_in_a_file_that_was_opened_with_all_muted(way, tmp_path) -> None:
    armature = scenes.figure()
    scenes.animate(armature, bones=("chest",))
    settings = scenes.aim(armature, scenes.ball())
    frames = (1, 20, scenes.LAST)
    seen = scenes.poses(armature, frames)
    if way == "eye":
        settings.mute = True
    else:
        scenes.run_bake(armature)
    scenes.goto(3)
    path, name = str(tmp_path / "muted.blend"), armature.name
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects[name]
    scenes.goto(4)
    armature.data.bones["neck"].name = "throat"
    scenes.goto(20)
    if way == "eye":
        armature.pose.bones["head"].lookat_pd.mute = False
    else:
        edit_live.edit_live(armature, "head")
    np.testing.assert_allclose(scenes.poses(armature, frames), seen, atol=1e-6)


def test_keys_that_were_changed_are_still_said_to_be_restored() -> None:
    armature = scenes.figure()
    scenes.animate(armature)
    scenes.aim(armature, scenes.ball())
    before = notes(armature)
    constraint = next(c for c in armature.pose.bones["head"].constraints if c.type == "ACTION")
    constraint.influence = 0.5
    assert len(notes(armature)) == len(before) + 1
