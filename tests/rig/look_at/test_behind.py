"""A target that circles the character: live, baked, with the defaults of new look-ats and those of older files."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

rotation = load("lookat_pd.rotation")
live = load("rig.layers.live")
saved_settings = load("rig.look_at.saved_settings")
look_at_edit = load("rig.look_at.edit")


def circling(around: float) -> bpy.types.Object:
    target = scenes.ball()
    for frame in range(1, scenes.LAST + 1):
        angle = np.radians(around) * (frame - 1) / 24.0
        target.location = np.sin(angle), -np.cos(angle), 1.65
        target.keyframe_insert("location", frame=frame)
    return target


def motion(figure: bpy.types.Object) -> tuple[float, float]:
    """The largest speed of the head [degrees per second], and its largest angle to the chest."""
    frames = np.arange(1, scenes.LAST, 0.25)
    head, chest = (
        rotation.from_matrix(scenes.poses(figure, frames, [bone])[:, 0, :3, :3]) for bone in ("head", "chest")
    )
    rest = [rotation.from_matrix(np.array(figure.data.bones[b].matrix_local)[:3, :3]) for b in ("head", "chest")]
    relative = rotation.multiply(rotation.inverse(chest), rotation.multiply(head, rotation.inverse(rest[0])))
    turned = rotation.distance(relative, rotation.inverse(rest[1])[None])
    speed = rotation.distance(head[:-1], head[1:]).max() * 4 * 24
    return float(np.degrees(speed)), float(np.degrees(turned.max()))


@pytest.mark.parametrize("around", [120.0, 240.0])
def test_nobody_whips_round_live_or_baked(around: float) -> None:
    figure, target = scenes.figure(), circling(around)
    look_at_edit.add(bpy.context.scene, figure, "head", target)
    bpy.context.view_layer.update()
    speed, turned = motion(figure)
    assert speed < 600.0 and turned < 82.0
    scenes.run_bake(figure)
    speed, turned = motion(figure)
    assert speed < 600.0 and turned < 82.0


def test_look_ats_of_earlier_files_keep_their_speed(tmp_path) -> None:
    figure, target = scenes.figure(), circling(120.0)
    look_at_edit.add(bpy.context.scene, figure, "head", target)
    settings = figure.pose.bones["head"].lookat_pd
    assert settings.head_speed > 0.0 and settings.let_go_angle > 0.0
    settings.version = 2
    path = str(tmp_path / "old.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    settings = bpy.data.objects["Hero"].pose.bones["head"].lookat_pd
    assert (settings.head_speed, settings.let_go_angle, settings.version) == (0.0, 0.0, saved_settings.VERSION)
    assert motion(bpy.data.objects["Hero"])[0] > 600.0


@pytest.mark.parametrize(("yaw", "told"), [(180.0, True), (60.0, False)])
def test_a_target_that_stays_behind_is_told(yaw: float, told: bool) -> None:
    figure = scenes.figure()
    target = scenes.ball((2.0 * np.sin(np.radians(yaw)), -2.0 * np.cos(np.radians(yaw)), 1.6))
    look_at_edit.add(bpy.context.scene, figure, "head", target)
    bpy.context.view_layer.update()
    notes = live.status(bpy.context.scene, figure, "head").notes
    assert any("behind the character" in note for note in notes) == told
