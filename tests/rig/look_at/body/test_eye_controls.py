"""Eyes and lids that control bones of a face board move: custom maps, as the table of a look-at's eyes."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies
from .boards import FRAMES, FULL, LAST, LIDS, ON, TABLE, board, gaze_error

errors = load("lookat_pd.errors")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
presets = load("rig.look_at.presets")
shape_table = load("rig.look_at.body.shape_table")

ROW = shape_table.ShapeRow


def test_the_controls_turn_the_eyes_to_the_target_and_nothing_else_does() -> None:
    armature, _ = board()
    body = look_at.resolve(armature, "head").body
    assert body.eyes == () and len(body.looks) == 2 and body.notes == ()
    assert gaze_error(armature, LAST) < 2.0
    assert not any(armature.pose.bones["CTRL_L_eye"].location), "the animator's channels stay"


@pytest.mark.every_blender
def test_a_bake_keys_the_controls_as_they_were_shown() -> None:
    armature, _ = board()
    shown = scenes.poses(armature, FRAMES)
    scenes.run_bake(armature, last=LAST)
    assert bodies.differences(scenes.poses(armature, FRAMES), shown)[0] < 1e-5
    keyed = {path for _, path, _ in scenes.curves(armature.animation_data.action)}
    assert {f'pose.bones["{row.control}"].location' for row in (*TABLE, *LIDS)} <= keyed
    assert gaze_error(armature, LAST) < 2.0


def test_drivers_that_read_channels_are_noted_and_right_after_a_bake() -> None:
    armature, _ = board(kind="SINGLE_PROP")
    assert sum("Transform Channel" in note for note in look_at.resolve(armature, "head").body.notes) == 2
    scenes.run_bake(armature, last=LAST)
    assert gaze_error(armature, LAST) < 2.0


def test_a_blink_moves_the_controls_of_the_lids_and_brings_them_back() -> None:
    armature, settings = board()
    settings.eyes.use_lids = False
    poses = scenes.poses(armature, FRAMES)
    for name in ("CTRL_L_eye_blink", "CTRL_R_eye_blink"):
        (place,) = (poses[:, n] for n in bodies.bones(armature, name))
        moved = np.linalg.norm(place[:, :3, 3] - place[0, :3, 3], axis=-1)
        assert np.all(moved[: ON - 1] < 1e-7) and moved.max() == pytest.approx(FULL, rel=0.1)
        assert moved[-1] < 1e-6


def test_an_animated_control_is_where_the_gaze_begins_and_ends() -> None:
    armature, _ = board()
    scenes.keyed(armature.pose.bones["CTRL_L_eye"], "location", [(1, (0.3 * FULL, 0.0, 0.0))])
    assert gaze_error(armature, LAST) < 2.0
    (n,) = bodies.bones(armature, "CTRL_L_eye")
    before, after = scenes.animated(armature, [2]), scenes.poses(armature, [2])
    assert np.abs(before[:, n] - after[:, n]).max() < 1e-7


def test_lids_of_a_table_close_eyes_that_bones_turn() -> None:
    armature, settings = board(LIDS)
    body = look_at.resolve(armature, "head").body
    assert len(body.eyes) == 2 and body.looks == () and len(body.closers) == 2
    settings.eyes.use_blink, settings.eyes.lid_follow = False, 0.5
    bpy.data.objects["Ball"].location = (0.0, -1.0, 1.2)
    (n,) = bodies.bones(armature, "CTRL_L_eye_blink")
    poses = scenes.poses(armature, [1, LAST])[:, n]
    assert np.linalg.norm(poses[1, :3, 3] - poses[0, :3, 3]) > 0.1 * FULL, "they follow the gaze down"


def test_the_table_goes_into_presets_with_its_controls() -> None:
    _, settings = board()
    text = presets.value(settings, presets.SHAPE_MAP)
    _, other = board(())
    presets.apply({presets.SHAPE_MAP: text}, other)
    assert [row.control for row in shape_table.rows(other.eyes)] == [row.control for row in (*TABLE, *LIDS)]
    assert shape_table.rows(other.eyes)[1].distance == pytest.approx(-FULL)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"control": "Nothing"}, "no control bone 'Nothing'"),
        ({"control": "neck"}, "Bone 'neck' is in the chain"),
        ({"distance": 0.0}, "distance of 0"),
        ({"shape_key": "Blink"}, "clear one of them"),
    ],
)
def test_bad_rows_are_one_sentence(change, sentence) -> None:
    armature, _ = board([ROW("", *TABLE[0][1:])._replace(**change), *TABLE[1:]])
    with pytest.raises(errors.RigError, match=sentence):
        look_at.resolve(armature, "head")


@pytest.mark.parametrize(
    "row",
    [
        ["", "LEFT", "UP", 0.5, "Control", "W", 1.0],
        ["", "LEFT", "UP", 0.5, "Control", "X", float("nan")],
        ["", "LEFT", "UP", 0.5, "Control", "X"],
        ["", "LEFT", "UP", 0.5, "Control", "X", True],
        ["", "LEFT", "UP", 0.5, 3, "X", 1.0],
    ],
)
def test_a_table_that_is_none_is_refused(row) -> None:
    import json

    with pytest.raises(ValueError, match="row of the table"):
        shape_table.parsed(json.dumps([row]))
