"""Control bones of face boards: found by their names, and what they do measured on the evaluated rig."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import boards, bodies, faces

errors = load("lookat_pd.errors")
look_at = load("rig.look_at.resolve")
probe = load("rig.look_at.body.face_controls")
rotation = load("lookat_pd.rotation")
shape_table = load("rig.look_at.body.shape_table")

FULL, LAST, REACH = boards.FULL, boards.LAST, boards.REACH
CLAMPED = f"min(max(at, {-FULL}), {FULL})"
EYE = "CTRL_L_eye"


def measured(armature: bpy.types.Object):
    return probe.measure(bpy.context.scene, armature, "head")


def degrees_at_full(row) -> float:
    return np.degrees(row.angle) * FULL / abs(row.distance)


def limited(armature: bpy.types.Object, least: float, most: float) -> None:
    for side in "LR":
        limit = armature.pose.bones[f"CTRL_{side}_eye"].constraints.new("LIMIT_LOCATION")
        limit.owner_space = "LOCAL"
        for axis in "xy":
            for end, value in (("min", least), ("max", most)):
                setattr(limit, f"use_{end}_{axis}", True)
                setattr(limit, f"{end}_{axis}", value)


@pytest.mark.parametrize("kind", ["TRANSFORMS", "SINGLE_PROP"])
def test_the_table_is_that_of_the_rig(kind) -> None:
    armature, _ = boards.board((), kind)
    found = measured(armature)
    assert {(row.eye, row.direction, row.control, row.axis, row.distance > 0.0) for row in found.rows} == {
        (row.eye, row.direction, row.control, row.axis, row.distance > 0.0) for row in boards.TABLE
    }
    assert [degrees_at_full(row) for row in found.rows] == pytest.approx([REACH] * 8, abs=0.01)
    assert found.order == "FICK" and found.error < 1e-5


def test_a_control_goes_to_its_limit() -> None:
    armature, _ = boards.board(())
    limited(armature, -0.5 * FULL, FULL)
    found = {(row.eye, row.direction): row for row in measured(armature).rows}
    left, right = found["LEFT", "LEFT"], found["LEFT", "RIGHT"]
    assert (left.distance, np.degrees(left.angle)) == pytest.approx((FULL, REACH), rel=0.003)
    assert (right.distance, np.degrees(right.angle)) == pytest.approx((-0.5 * FULL, 0.5 * REACH), rel=0.003)


def test_a_control_goes_to_where_the_eye_turns_no_further() -> None:
    armature, _ = boards.board((), at=CLAMPED)
    for row in measured(armature).rows:
        assert (abs(row.distance), np.degrees(row.angle)) == pytest.approx((FULL, REACH), rel=0.005)


@pytest.mark.thorough
@pytest.mark.parametrize(("mode", "order"), [("XYZ", "FICK"), ("ZYX", "HELMHOLTZ")])
@pytest.mark.parametrize("place", [(1.1, -1.2, 2.4), (-0.7, -1.0, 1.0)])
def test_the_gaze_is_that_of_eye_bones(mode, order, place) -> None:
    """At every frame within 2 degrees of the same character without the board."""
    frames = range(1, LAST + 1, 3)
    armature, settings = boards.board((), mode=mode)
    bpy.data.objects["Ball"].location = place
    probe.fill_table(bpy.context.scene, armature, "head")
    assert settings.eyes.control_order == order
    by_controls = scenes.poses(armature, frames)[:, bodies.bones(armature, *bodies.EYES)]
    bpy.ops.wm.read_homefile(use_empty=True)
    other = bodies.person(moving=False)
    boards.shown(other, ())
    bpy.data.objects["Ball"].location = place
    by_bones = scenes.poses(other, frames)[:, bodies.bones(other, *bodies.EYES)]
    assert np.degrees(rotation.angle_between(by_controls[..., :3, 1], by_bones[..., :3, 1])).max() < 2.0


def test_a_board_that_drives_shape_keys_turns_and_closes_the_eyes() -> None:
    armature, item = boards.shape_board()
    found = probe.fill_table(bpy.context.scene, armature, "head")
    assert found.order == "STRAIGHT" and found.notes == () and found.error < np.radians(0.5)
    turning = [row for row in found.rows if row.direction != "CLOSE"]
    assert [degrees_at_full(row) for row in turning] == pytest.approx([30.0] * 8, abs=0.5)
    assert {(row.eye, row.control) for row in found.rows if row.direction == "CLOSE"} == {
        ("LEFT", "CTRL_L_eye_blink"),
        ("RIGHT", "CTRL_R_eye_blink"),
    }
    ball = bpy.data.objects["Ball"]
    assert faces.errors(item, (45, LAST), lambda: ball.matrix_world.translation).max() < 2.0


def test_the_rig_is_as_before() -> None:
    armature, _ = boards.board(())
    scenes.keyed(armature.pose.bones[EYE], "location", [(1, (0.1 * FULL, 0.0, 0.0))])
    armature.pose.bones["CTRL_R_eye"].location = (0.0, 0.3 * FULL, 0.0)
    scenes.goto(1)
    before = scenes.snapshot()
    assert len(measured(armature).rows) == 8
    scenes.goto(1)
    assert scenes.differences(before, scenes.snapshot()) == []


def test_a_control_that_moves_nothing_is_named() -> None:
    armature, settings = boards.board(())
    notes = [str(note) for note in measured(armature).notes]
    assert len(notes) == 2 and all("closes no eye by its location" in note for note in notes)
    for driver in list(armature.animation_data.drivers):
        armature.animation_data.drivers.remove(driver)
    with pytest.raises(errors.RigError, match=f"'{EYE}' turns no eye"):
        probe.fill_table(bpy.context.scene, armature, "head")
    assert not len(settings.eyes.shapes)


def test_a_control_missing_on_one_side_turns_no_eye() -> None:
    armature, _ = boards.board(())
    armature.pose.bones["CTRL_R_eye"].lock_location[1] = True
    found = measured(armature)
    assert not found.turns_eyes and any("turns the right eye up" in str(note) for note in found.notes)


def test_uneven_controls_are_noted_with_the_error() -> None:
    armature, _ = boards.board((), at=f"at * abs(at) / {FULL}")
    found = measured(armature)
    assert found.turns_eyes and any("unevenly" in str(note) or "evenly" in str(note) for note in found.notes)


def test_whole_body_takes_the_board_over() -> None:
    """Where drivers turn the eyes, and nothing was chosen; a note says so before."""
    armature, settings = boards.board(())
    assert any("Detect Eye Controls" in str(note) for note in look_at.resolve(armature, "head").body.notes)
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.lookat_pd.whole_body(use=True) == {"FINISHED"}
    assert len(shape_table.rows(settings.eyes)) == 8
    assert boards.gaze_error(armature, LAST) < 2.0
    shape_table.write(settings.eyes, [])
    settings.eyes.turned_by = "BONES"
    bpy.ops.lookat_pd.whole_body(use=True)
    assert not len(settings.eyes.shapes), "what is chosen stays"


def test_free_eye_bones_stay_with_their_bones() -> None:
    armature = bodies.person(moving=False)
    bodies.look(armature, scenes.ball())
    assert probe.take_over(bpy.context.scene, armature, "head") is None


@pytest.mark.slow
def test_a_baked_glb_plays_the_gaze_of_driven_eye_bones(tmp_path) -> None:
    """The file by itself: its eyes look at the target, without drivers or controls."""
    armature, _ = boards.board(())
    probe.fill_table(bpy.context.scene, armature, "head")
    scenes.run_bake(armature, last=LAST)
    assert boards.gaze_error(armature, LAST) < 2.0
    place = bpy.data.objects["Ball"].matrix_world.translation.copy()
    imported(tmp_path)
    scenes.ball(place)
    (found,) = [item for item in bpy.data.objects if item.type == "ARMATURE"]
    assert found.animation_data.drivers.values() == []
    assert boards.gaze_error(found, LAST) < 2.0


@pytest.mark.slow
def test_a_baked_glb_plays_the_gaze_of_driven_shape_keys(tmp_path) -> None:
    armature, _ = boards.shape_board()
    probe.fill_table(bpy.context.scene, armature, "head")
    scenes.run_bake(armature, last=LAST)
    scenes.goto(LAST)
    place = np.array(bpy.data.objects["Ball"].matrix_world.translation)
    imported(tmp_path)
    (found,) = [item for item in bpy.data.objects if item.type == "MESH" and item.data.shape_keys]
    assert faces.between_poles(found, 1) == pytest.approx(np.array([[0.0, -1.0, 0.0]] * 2), abs=1e-3)
    off = rotation.angle_between(faces.between_poles(found, LAST), place - faces.middles(found))
    assert np.degrees(off).max() < 2.0


def imported(tmp_path) -> None:
    """The scene as a .glb gives it back, with the baked clip playing."""
    path = str(tmp_path / "board.glb")
    bpy.ops.export_scene.gltf(filepath=path, export_animation_mode="ACTIONS")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
    clip = bpy.data.actions["BoardAction look-at"]
    for item in (*bpy.data.objects, *bpy.data.shape_keys):
        if item.animation_data is not None:
            item.animation_data.action = clip
            (item.animation_data.action_slot,) = item.animation_data.action_suitable_slots


def test_controls_that_turn_bones_of_lids_close_the_eyes() -> None:
    armature, _ = boards.board(())
    bpy.ops.object.mode_set(mode="EDIT")
    edit = armature.data.edit_bones
    for side in "LR":
        lid = edit.new(f"lid.upper.{side}")
        lid.head, lid.tail = edit[f"eye.{side}"].head, edit[f"eye.{side}"].tail
        lid.parent = edit["head"]
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in "LR":
        lid = armature.pose.bones[f"lid.upper.{side}"]
        lid.rotation_mode = "XYZ"
        # Up at positive locations: it closes the other way, to 25 degrees.
        expression = f"{np.radians(25.0) / FULL} * max(at, {-FULL})"
        boards.drive(lid.driver_add("rotation_euler", 0), armature, f"CTRL_{side}_eye_blink", 1, expression)
    found = measured(armature)
    closing = [row for row in found.rows if row.direction == "CLOSE"]
    assert found.notes == () and [(row.eye, row.control, row.axis) for row in closing] == [
        ("LEFT", "CTRL_L_eye_blink", "Y"),
        ("RIGHT", "CTRL_R_eye_blink", "Y"),
    ]
    assert [row.distance for row in closing] == pytest.approx([-FULL] * 2, rel=0.01)


def test_one_control_for_both_eyes() -> None:
    """Where one eye has a control of its own, that comes first."""
    rows = [*bodies.PERSON, ("CTRL_C_eye", "root", (0.3, 0.0, 1.7), (0.3, 0.0, 1.73))]
    armature = scenes.figure("Board", rows)
    for side in "LR":
        eye = armature.pose.bones[f"eye.{side}"]
        eye.rotation_mode = "XYZ"
        for index, axis in ((0, 1), (2, 0)):
            expression = f"{np.radians(REACH) / FULL} * at"
            boards.drive(eye.driver_add("rotation_euler", index), armature, "CTRL_C_eye", axis, expression)
    settings = boards.shown(armature, ())
    found = probe.fill_table(bpy.context.scene, armature, "head")
    assert [(row.eye, row.direction) for row in found.rows] == [
        ("BOTH", where) for where in ("LEFT", "RIGHT", "UP", "DOWN")
    ]
    settings.eyes.vergence = 0.0
    assert boards.gaze_error(armature, LAST) < 2.0
