"""Eyes and lids that control bones of a face board move: custom maps, as the table of a look-at's eyes."""

from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies

errors = load("lookat_pd.errors")
live = load("rig.live.handlers")
look_at = load("rig.look_at.resolve")
presets = load("rig.look_at.presets")
shape_table = load("rig.look_at.body.shape_table")

ROW = shape_table.ShapeRow
FULL, REACH = 0.02, 40.0
"""Location [m] of a control at which it turns an eye by an angle [deg]."""
ON, LAST = 12, 60
FRAMES = range(1, LAST + 1)
TABLE = [
    ROW("", eye, direction, np.radians(REACH), f"CTRL_{eye[0]}_eye", axis, sign * FULL)
    for eye in ("LEFT", "RIGHT")
    for direction, axis, sign in (("LEFT", "X", 1.0), ("RIGHT", "X", -1.0), ("UP", "Y", 1.0), ("DOWN", "Y", -1.0))
]
LIDS = [ROW("", eye, "CLOSE", 0.0, f"CTRL_{eye[0]}_eye_blink", "Y", -FULL) for eye in ("LEFT", "RIGHT")]


def board(rows=(*TABLE, *LIDS), kind: str = "TRANSFORMS") -> tuple[bpy.types.Object, Any]:
    """A person with a face board beside the head: a control turns each eye by drivers, another one closes its lid.

    kind: of the variables of the drivers.
    """
    rig = list(bodies.PERSON)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for n, name in enumerate((f"CTRL_{side}_eye", f"CTRL_{side}_eye_blink")):
            place = np.array((0.3 + 0.05 * sign, 0.0, 1.7 + 0.1 * n))
            rig.append((name, "root", tuple(place), tuple(place + np.array((0.0, 0.0, 0.03)))))
    armature = scenes.figure("Board", rig)
    for side in "LR":
        eye = armature.pose.bones[f"eye.{side}"]
        eye.rotation_mode = "XYZ"
        # The eye points to -Y: about its own X it looks up, about its own Z to the side.
        for index, axis, sign in ((0, 1, 1.0), (2, 0, 1.0)):
            driver = eye.driver_add("rotation_euler", index).driver
            variable = driver.variables.new()
            variable.name, variable.type = "at", kind
            target = variable.targets[0]
            target.id = armature
            if kind == "TRANSFORMS":
                target.bone_target, target.transform_space = f"CTRL_{side}_eye", "LOCAL_SPACE"
                target.transform_type = f"LOC_{'XY'[axis]}"
            else:
                target.data_path = f'pose.bones["CTRL_{side}_eye"].location[{axis}]'
            driver.expression = f"{sign * np.radians(REACH) / FULL} * at"
    found = bodies.look(armature, scenes.ball((0.5, -1.5, 1.9)))
    found.eyes.head_share, found.eyes.blink_from = 0.3, np.radians(15.0)
    shape_table.write(found.eyes, rows)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], LAST
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True)])
    return armature, found


def gaze_error(armature: bpy.types.Object, frame: int) -> float:
    """The largest angle [deg] between where the eyes look and the ball."""
    scenes.goto(frame)
    ball, worst = bpy.data.objects["Ball"].matrix_world.translation, 0.0
    for name in bodies.EYES:
        eye = armature.matrix_world @ armature.pose.bones[name].matrix
        worst = max(worst, np.degrees(eye.col[1].to_3d().angle(ball - eye.translation)))
    return worst


def test_the_controls_turn_the_eyes_to_the_target_and_nothing_else_does() -> None:
    armature, _ = board()
    body = look_at.resolve(armature, "head").body
    assert body.eyes == () and len(body.looks) == 2 and body.notes == ()
    assert gaze_error(armature, LAST) < 2.0
    assert not any(armature.pose.bones["CTRL_L_eye"].location), "the animator's channels stay"


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
