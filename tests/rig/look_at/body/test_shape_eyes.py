"""Eyes that shape keys turn: the gaze of the evaluated mesh, live and baked."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies, faces

shape_table = load("rig.look_at.body.shape_table")
look_at = load("rig.look_at.resolve")
look_at_copy = load("rig.look_at.copy")
look_at_errors = load("lookat_pd.errors")
presets = load("rig.look_at.presets")
LAST, ON, OFF = 80, 20, 60


@pytest.fixture(autouse=True)
def long_enough(empty_file) -> None:
    bpy.context.scene.frame_end = LAST


def looking(keys=faces.ARKIT, angle=30.0, **settings):
    armature, item, found = faces.person(keys, angle, **settings)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True), (OFF, False)])
    return armature, item, found


def ball_at():
    return bpy.data.objects["Ball"].matrix_world.translation


def values(item: bpy.types.Object, frame: float) -> list[float]:
    keys = item.evaluated_get(scenes.goto(frame)).data.shape_keys
    return [block.value for block in keys.key_blocks[1:]]


@pytest.mark.parametrize("angle", [20.0, 30.0, 45.0])
def test_the_eyes_look_at_the_target_however_far_the_shape_keys_turn_them(angle) -> None:
    _, item, _ = looking(angle=angle)
    assert faces.errors(item, (30, 45, 59), ball_at).max() < 0.5


def test_shape_keys_for_both_eyes_at_once_look_there_in_the_mean() -> None:
    _, item, settings = looking(faces.BOTH)
    settings.eyes.vergence = 0.0
    for frame in (30, 45, 59):
        middles, directions = faces.gaze(item, frame)
        wanted = np.array(ball_at()) - middles.mean(axis=0)
        assert np.degrees(faces.rotation.angle_between(directions.mean(axis=0), wanted)) < 0.5


def test_the_gaze_is_that_of_eye_bones() -> None:
    """Of the same character, at every frame, within 2 degrees; a saccade differs in between by less."""
    _, item, _ = looking()
    by_shapes = np.array([faces.gaze(item, frame)[1] for frame in range(15, 70)])
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.frame_end = LAST
    armature = bodies.person(moving=False)
    settings = bodies.look(armature, scenes.ball((0.6, -1.5, 2.0)))
    settings.eyes.head_share = 0.3
    # The shape keys reach no further.
    settings.eyes.yaw_limit = settings.eyes.pitch_up_limit = settings.eyes.pitch_down_limit = np.radians(30.0)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True), (OFF, False)])
    by_bones = []
    for frame in range(15, 70):
        scenes.goto(frame)
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        by_bones.append([np.array(seen.pose.bones[eye].matrix)[:3, 1] for eye in bodies.EYES])
    assert np.degrees(faces.rotation.angle_between(by_shapes, np.array(by_bones))).max() < 2.0


def test_off_the_shape_keys_are_exactly_as_they_were() -> None:
    _, item, _ = looking()
    item.data.shape_keys.key_blocks["eyeLookUpLeft"].value = 0.25
    before = [block.value for block in item.data.shape_keys.key_blocks[1:]]
    assert values(item, 10) == before and values(item, LAST) == before
    assert values(item, 45) != before
    assert faces.errors(item, (45,), ball_at).max() < 0.5, "from where the animator has them"


@pytest.mark.every_blender
def test_a_bake_keys_them() -> None:
    armature, item, _ = looking()
    live = [values(item, frame) for frame in range(1, LAST + 1)]
    (result,) = scenes.run_bake(armature, first=1, last=LAST)
    assert armature.pose.bones["head"].lookat_pd.mute
    baked = [values(item, frame) for frame in range(1, LAST + 1)]
    assert np.abs(np.array(baked) - live).max() < 1e-5
    assert faces.errors(item, (30, 45, 59), ball_at).max() < 0.5
    assert load("rig.look_at.body.layers").report(result.look_at.body)["eyes"] == list(
        dict.fromkeys(
            name
            for side in ("Left", "Right")
            for name in (
                f"eyeLook{'Out' if side == 'Left' else 'In'}{side}",
                f"eyeLook{'In' if side == 'Left' else 'Out'}{side}",
                f"eyeLookUp{side}",
                f"eyeLookDown{side}",
            )
        )
    )


def test_a_bake_adds_to_keys() -> None:
    """The look goes on from animated shape keys, and those outside it stay."""
    armature, item, _ = looking()
    keys = item.data.shape_keys
    for frame, value in ((1, 0.0), (40, 0.5), (LAST, 0.0)):
        keys.key_blocks["eyeLookOutLeft"].value = value
        keys.key_blocks["eyeLookOutLeft"].keyframe_insert("value", frame=frame)
    before = values(item, 10)
    scenes.run_bake(armature, first=1, last=LAST)
    assert values(item, 10) == pytest.approx(before, abs=1e-6)
    assert faces.errors(item, (45, 59), ball_at).max() < 0.5


@pytest.mark.slow
def test_a_baked_glb_plays_them(tmp_path) -> None:
    """The file by itself: its eyeballs look where the baked ones do, which is at the target."""
    armature, item, _ = looking()
    scenes.run_bake(armature, first=1, last=LAST)
    frames = (10, 45, 59)
    baked = [faces.gaze(item, frame)[1] for frame in frames]
    assert faces.errors(item, frames[1:], ball_at).max() < 0.5
    path = str(tmp_path / "face.glb")
    bpy.ops.export_scene.gltf(filepath=path, export_animation_mode="ACTIVE_ACTIONS")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
    (found,) = [other for other in bpy.data.objects if other.type == "MESH" and other.data.shape_keys]
    for frame, before in zip(frames, baked, strict=True):
        assert np.degrees(faces.rotation.angle_between(faces.between_poles(found, frame), before)).max() < 0.5


def test_eye_bones_come_before_detected_shape_keys() -> None:
    armature = bodies.person(moving=False)
    faces.face(armature, faces.ARKIT)
    settings = bodies.look(armature, scenes.ball())
    assert len(look_at.resolve(armature, "head").body.eyes) == 2
    settings.eyes.turned_by = "SHAPE_KEYS"
    body = look_at.resolve(armature, "head").body
    assert not body.eyes and len(body.looks) == 2


def test_a_table_comes_before_eye_bones() -> None:
    armature = bodies.person(moving=False)
    names = {f"custom {n}": how for n, how in enumerate(faces.ARKIT.values())}
    item = faces.face(armature, names)
    settings = bodies.look(armature, scenes.ball((0.6, -1.5, 2.0)))
    settings.eyes.head_share = 0.3
    directions = ("RIGHT", "LEFT", "UP", "DOWN", "LEFT", "RIGHT", "UP", "DOWN")
    for n, (name, direction) in enumerate(zip(names, directions, strict=True)):
        row = settings.eyes.shapes.add()
        row.shape_key, row.eye, row.direction = name, "LEFT" if n < 4 else "RIGHT", direction
    assert len(look_at.resolve(armature, "head").body.looks) == 2
    assert faces.errors(item, (60,), ball_at).max() < 0.5
    settings.eyes.turned_by = "BONES"
    assert len(look_at.resolve(armature, "head").body.eyes) == 2


def test_an_angle_of_the_table_replaces_the_measured_one() -> None:
    armature, _, settings = looking()
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.lookat_pd.eye_shapes_detect() == {"FINISHED"}
    assert {row.shape_key for row in settings.eyes.shapes} == set(faces.ARKIT)
    for row in settings.eyes.shapes:
        row.angle = np.radians(60.0)
    for eye in look_at.resolve(armature, "head").body.looks:
        assert [np.linalg.norm(turn) for turn in eye.turns] == pytest.approx([np.radians(60.0)] * 4)


def test_shape_keys_of_one_side_only_turn_no_eye() -> None:
    """A sentence says which is missing; in a table of one's own it is an error."""
    keys = {name: how for name, how in faces.ARKIT.items() if name != "eyeLookUpRight"}
    armature, item, _ = looking(keys)
    assert any("turns the right eye up" in note for note in look_at.resolve(armature, "head").body.notes)
    assert values(item, 45) == values(item, 1)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.lookat_pd.eye_shapes_detect()
    with pytest.raises(look_at_errors.RigError, match="turns the right eye up"):
        look_at.resolve(armature, "head")


def test_bad_tables_are_one_sentence() -> None:
    armature, _, settings = looking()
    row = settings.eyes.shapes.add()
    row.shape_key = "nowhere"
    with pytest.raises(look_at_errors.RigError, match="'nowhere' that turns the eyes"):
        look_at.resolve(armature, "head")
    row.shape_key, row.angle = "eyeLookInLeft", float("nan")
    with pytest.raises(look_at_errors.RigError, match="is not a number"):
        look_at.resolve(armature, "head")


def test_the_table_is_saved_with_presets_and_copied(tmp_path) -> None:
    armature, _, settings = looking()
    shape_table.write(settings.eyes, [('a "b"', "LEFT", "UP", 0.25), ("c", "BOTH", "DOWN", 0.0)])
    rows = shape_table.rows(settings.eyes)
    presets.write(settings, tmp_path / "Mine.py")
    shape_table.write(settings.eyes, [])
    presets.apply(presets.read(presets.available()["Bird"]), settings)
    assert not shape_table.rows(settings.eyes)
    presets.apply(presets.read(tmp_path / "Mine.py"), settings)
    assert shape_table.rows(settings.eyes) == rows
    look_at_copy.copy(bpy.context.scene, armature, "head", ["neck"])
    assert shape_table.rows(armature.pose.bones["neck"].lookat_pd.eyes) == rows


@pytest.mark.parametrize("table", ["x", "[1]", '[["a", "LEFT", "AWAY", 0]]', '[["a", "LEFT", "UP", NaN]]', "{}"])
def test_a_preset_with_another_table_is_refused(tmp_path, table) -> None:
    path = tmp_path / "Mine.py"
    path.write_text(f"look_at.eyes.shape_map = {table!r}\n")
    with pytest.raises(look_at_errors.FileError, match=r"eyes\.shape_map"):
        presets.read(path)
