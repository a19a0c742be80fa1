"""Lids that close while the gaze makes a large shift: bones and shape keys, live and baked."""

from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies

blink = load("rig.look_at.body.blink")
kind = load("rig.look_at.live.look_at_kind")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
sampler = load("rig.sampling.sampler")
shape_keys = load("rig.detection.shape_keys")
suspend = load("rig.sampling.suspend")
LAST, ON, OFF = 80, 20, 60
"""The last frame, and those at which a person looks at the ball, far to the side, and away again."""
FRAMES = range(1, LAST + 1)
FAR, NEAR = (2.0, -1.5, 1.7), (0.2, -1.5, 1.7)


@pytest.fixture(autouse=True)
def long_enough(empty_file) -> None:
    bpy.context.scene.frame_end = LAST


def face(armature: bpy.types.Object, *names: str, name: str = "Face", deformed: bool = True) -> bpy.types.Key:
    """A mesh of a character with shape keys; these."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)], [], [(0, 1, 2)])
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    if deformed:
        item.modifiers.new("Armature", "ARMATURE").object = armature
    else:
        scenes.child(item, armature)
    for key in ("Basis", *names):
        # Blender 5 makes them with 1.
        item.shape_key_add(name=key, from_mix=False).value = 0.0
    return mesh.shape_keys


def looking(place=FAR, **settings: Any):
    """A person whose eyes look at a ball for a while and whose lids only blink, and the settings."""
    armature = bodies.person(moving=False)
    found = bodies.look(armature, scenes.ball(place), **settings)
    found.eyes.use_lids = False
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True), (OFF, False)])
    return armature, found


def values(keys: bpy.types.Key, name: str, frames=FRAMES) -> np.ndarray:
    """The values (F,) of a shape key, as Blender evaluates them."""
    found = []
    for frame in frames:
        user = keys.user
        holder = next(item for item in bpy.data.objects if item.data == user)
        seen = holder.evaluated_get(scenes.goto(frame)).data.shape_keys
        found.append(seen.key_blocks[name].value)
    return np.array(found)


def curves_but(action: bpy.types.Action, path: str) -> dict:
    return {key: value for key, value in scenes.fingerprint(action).items() if key[1] != path}


# Live


@pytest.mark.every_blender
def test_a_large_shift_closes_the_lids_and_opens_them_again() -> None:
    armature, _ = looking()
    keys = face(armature, "Smile", "Blink")
    closing = values(keys, "Blink")
    assert np.all(closing[: ON - 1] == 0.0)
    assert closing[ON - 1 : ON + 2].max() > 0.9
    assert np.all(closing[ON + 6 : OFF - 1] == 0.0), "after a quarter of a second they are open"
    assert closing[OFF - 1 : OFF + 2].max() > 0.9, "they look back, as far"
    assert np.all(closing[OFF + 6 :] == 0.0)
    assert np.all(values(keys, "Smile") == 0.0)


def test_a_small_shift_leaves_them_open() -> None:
    armature, settings = looking(NEAR)
    keys = face(armature, "Blink")
    assert np.all(values(keys, "Blink") == 0.0)
    settings.eyes.blink_from = np.radians(2.0)
    assert values(keys, "Blink").max() > 0.9


def test_lids_close_on_from_where_the_animator_has_them() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    from_open = values(keys, "Blink")
    keys.key_blocks["Blink"].value = 0.3
    assert values(keys, "Blink") == pytest.approx(0.3 + 0.7 * from_open, abs=1e-6)
    keys.key_blocks["Blink"].slider_max = 0.8
    assert values(keys, "Blink") == pytest.approx(0.3 + 0.5 * from_open, abs=1e-6)


def test_half_the_influence_closes_the_lids_half() -> None:
    armature, settings = looking()
    keys = face(armature, "Blink")
    whole = values(keys, "Blink")
    settings.influence = 0.5
    assert values(keys, "Blink") == pytest.approx(0.5 * whole, abs=1e-6)


def test_a_frame_shows_the_same_however_it_is_reached() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    keys.key_blocks["Blink"].value = 0.25
    played = values(keys, "Blink")
    assert np.array_equal(values(keys, "Blink", reversed(FRAMES))[::-1], played)
    scenes.forget_solutions()
    assert values(keys, "Blink", [ON + 1])[0] == played[ON]
    assert values(keys, "Blink", [ON + 0.5])[0] == pytest.approx(0.5 * (played[ON - 1] + played[ON]), abs=1e-6)


def _removed(armature, settings) -> None:
    look_at_edit.remove(armature, "head")


def _muted(armature, settings) -> None:
    settings.mute = True
    bpy.context.view_layer.update()


def _eyes_off(armature, settings) -> None:
    settings.eyes.use = False
    bpy.context.view_layer.update()


def _blinks_off(armature, settings) -> None:
    settings.eyes.use_blink = False
    bpy.context.view_layer.update()


def _switched_off(armature, settings) -> None:
    kind.unregister()
    kind.register()


def _deleted(armature, settings) -> None:
    bpy.data.objects.remove(armature)
    bpy.context.view_layer.update()


def _unparented(armature, settings) -> None:
    bpy.data.objects["Face"].modifiers.clear()
    scenes.goto(ON + 2)


@pytest.mark.thorough
@pytest.mark.parametrize("go", [_removed, _muted, _eyes_off, _blinks_off, _switched_off, _deleted, _unparented])
def test_in_the_middle_of_a_blink_the_animators_value_comes_back(go) -> None:
    armature, settings = looking()
    keys = face(armature, "Blink")
    block = keys.key_blocks["Blink"]
    block.value = 0.1
    before = block.value
    assert values(keys, "Blink", [ON + 1])[0] > 0.5
    go(armature, settings)
    assert block.value == before
    assert not len(keys.lookat_pd_blinks)


def test_a_slider_moved_between_blinks_is_where_the_next_one_begins() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    values(keys, "Blink")
    scenes.goto(ON + 15)
    keys.key_blocks["Blink"].value = 0.4
    assert values(keys, "Blink", [LAST])[0] == pytest.approx(0.4)
    assert values(keys, "Blink").min() == pytest.approx(0.4)


def test_a_file_saved_during_a_blink_has_the_animators_value(tmp_path) -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    keys.key_blocks["Blink"].value = 0.2
    shown, path = values(keys, "Blink", [ON + 1])[0], str(tmp_path / "blink.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.meshes = ["Face"]
    assert into.meshes[0].shape_keys.key_blocks["Blink"].value == np.float32(0.2)
    bpy.context.view_layer.update()
    assert keys.key_blocks["Blink"].value == np.float32(shown), "it goes on where it was saved"
    bpy.ops.wm.open_mainfile(filepath=path)
    keys = bpy.data.shape_keys[0]
    assert values(keys, "Blink", [ON + 1])[0] == shown
    assert values(keys, "Blink", [1])[0] == np.float32(0.2)


def test_an_opened_file_blinks_without_solving_again(tmp_path, monkeypatch) -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    shown, path = values(keys, "Blink"), str(tmp_path / "blink.blend")
    assert shown.max() > 0.9
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)

    def broken(*_, **__):
        raise AssertionError("nothing has changed")

    with monkeypatch.context() as patch:
        patch.setattr(sampler.Sampler, "open", broken)
        assert np.array_equal(values(bpy.data.shape_keys[0], "Blink"), shown)


def test_an_opened_file_whose_shape_keys_were_renamed_is_solved_again(tmp_path) -> None:
    armature, _ = looking()
    keys = face(armature, "Blink", "Smile")
    shown, path = values(keys, "Blink"), str(tmp_path / "blink.blend")
    with suspend.suspend_live():
        keys.key_blocks["Blink"].name, keys.key_blocks["Smile"].name = "Grin", "Wink"
        keys.key_blocks["Wink"].name = "Eyes Closed"
        bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    keys = bpy.data.shape_keys[0]
    assert np.array_equal(values(keys, "Eyes Closed"), shown)
    assert np.all(values(keys, "Grin") == 0.0)


def test_a_look_at_that_goes_takes_its_note_of_the_lids_along() -> None:
    armature, _ = looking()
    values(face(armature, "Blink"), "Blink", [ON])
    noted = [action for action in bpy.data.actions if any(key.startswith("lookat_pd_shapes") for key in action.keys())]
    assert len(noted) == 1
    look_at_edit.remove(armature, "head")
    bpy.context.view_layer.update()
    assert not any(key.startswith("lookat_pd_shapes") for action in bpy.data.actions for key in action.keys())


def test_undo_takes_the_value_and_what_is_remembered_together() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink", "Smile")
    keys.key_blocks["Blink"].value = 0.1
    scenes.goto(1)
    bpy.ops.ed.undo_push(message="At rest")

    def block(name: str = "Blink") -> bpy.types.ShapeKey:
        return bpy.data.shape_keys[0].key_blocks[name]

    # What plays is no step: the blink is shown when the one before it is undone.
    bpy.data.objects["Person"].pose.bones["hand.L"].location.x = 0.1
    bpy.ops.ed.undo_push(message="Posed")
    if not bpy.ops.ed.undo.poll():
        pytest.skip("there is no undo without a window")
    scenes.goto(ON + 1)
    shown = block().value
    assert shown > 0.5
    bpy.ops.ed.undo()
    scenes.goto(1)
    assert block().value == np.float32(0.1)
    # And the other way round: the undone step is within a blink, its follower seen from outside.
    scenes.goto(ON + 1)
    bpy.ops.ed.undo_push(message="Blinking")
    block("Smile").value = 0.5
    bpy.ops.ed.undo_push(message="Smiling")
    scenes.goto(1)
    bpy.ops.ed.undo()
    scenes.goto(ON + 1)
    assert (block().value, block("Smile").value) == (shown, 0.0)
    scenes.goto(1)
    assert block().value == np.float32(0.1)


def test_characters_that_share_a_face_blink_when_either_does() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    alone = values(keys, "Blink")
    other = bodies.person("Other", moving=False)
    bodies.look(other, scenes.ball((0.0, -2.0, 1.7), "Straight")).eyes.use_lids = False
    twin = bpy.data.objects.new("Twin", keys.user)
    bpy.context.scene.collection.objects.link(twin)
    scenes.child(twin, other)
    assert values(keys, "Blink") == pytest.approx(alone, abs=1e-6)
    look_at_edit.remove(armature, "head")
    assert np.all(values(keys, "Blink") == 0.0)


def test_of_two_look_ats_the_one_that_closes_more_has_the_word() -> None:
    armature, settings = looking()
    keys = face(armature, "Blink")
    alone = values(keys, "Blink")
    other = bodies.look(armature, scenes.ball((0.0, -2.0, 1.7), "Straight"), "neck")
    other.eyes.use_lids = False
    other.chain.clear()
    other.chain.add().bone = "neck"
    settings.influence = 0.999
    assert values(keys, "Blink") == pytest.approx(0.999 * alone, abs=1e-3)


def test_faces_of_library_overrides_blink_where_their_shape_keys_are_overridden(tmp_path) -> None:
    face(bodies.person(moving=False), "Blink").key_blocks["Blink"].value = 0.25
    path = str(tmp_path / "person.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Person", "Face"]
    armature, mesh = (item.override_create(remap_local_usages=True) for item in into.objects)
    for item in (armature, mesh):
        scene.collection.objects.link(item)
    mesh.modifiers[0].object = armature
    bodies.look(armature, scenes.ball(FAR))
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True)])
    scenes.goto(ON + 1)
    notes = " ".join(live.status(scene, armature, "head").notes)
    assert "'Blink' has a driver, is animated by the NLA or is not editable" in notes
    mesh.data.override_create(remap_local_usages=True)
    live.touch()
    shown = values(mesh.data.shape_keys, "Blink", [ON + 1])[0]
    assert shown > 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    keys = next(item for item in bpy.data.shape_keys if item.library is None)
    assert keys.key_blocks["Blink"].value == 0.25
    assert values(keys, "Blink", [ON + 1])[0] == shown


# Which


@pytest.mark.parametrize(
    ("names", "closing"),
    [
        (("Blink",), ["Blink"]),
        (("Blink_L", "Blink_R", "Squint_L"), ["Blink_L", "Blink_R"]),
        (("eyeBlinkLeft", "eyeBlinkRight", "eyeWideLeft", "eyeSquintLeft"), ["eyeBlinkLeft", "eyeBlinkRight"]),
        (("Eyes_Closed", "Mouth_Closed"), ["Eyes_Closed"]),
        (("Fcl_EYE_Close_L", "Fcl_EYE_Close_R", "Fcl_EYE_Close", "Fcl_EYE_Joy", "Fcl_MTH_Close"), ["Fcl_EYE_Close"]),
        (("vrc.v_aa", "vrc.blink", "vrc.lowerlid_left"), ["vrc.blink"]),
        (("CTRL_expressions_eyeBlinkL", "CTRL_expressions_eyeBlinkR"),) * 2,
        (("まばたき", "笑い", "ウィンク"), ["まばたき"]),
        (("Eye_Blink_L", "Eye_Blink_R", "Eye_Squint_L", "Brow_Drop_L"), ["Eye_Blink_L", "Eye_Blink_R"]),
        (("blink_happy", "eyes_closed_smile", "Mouth_Close", "jawOpen", "eyeLookDownLeft"), []),
        (("eyeBlinkLeft",), []),
        ((), []),
    ],
)
def test_names_tell_what_closes_eyes(names, closing) -> None:
    assert shape_keys.closing(names) == list(closing)


@pytest.mark.parametrize("deformed", [True, False])
def test_every_mesh_of_the_character_blinks_and_nobody_elses(deformed) -> None:
    armature, _ = looking()
    keys = face(armature, "Fcl_EYE_Close", "Fcl_EYE_Close_L", "Fcl_EYE_Close_R", deformed=deformed)
    lashes = face(armature, "Lashes_Blink_L", "Lashes_Blink_R", name="Lashes", deformed=deformed)
    other = face(scenes.figure("Other"), "Blink", name="Stranger")
    closing = values(keys, "Fcl_EYE_Close")
    assert closing.max() > 0.9
    for name in ("Lashes_Blink_L", "Lashes_Blink_R"):
        assert np.array_equal(values(lashes, name), closing)
    assert values(keys, "Fcl_EYE_Close_L").max() == values(other, "Blink").max() == 0.0


def test_a_shape_key_of_ones_own_choice() -> None:
    armature, settings = looking()
    keys = face(armature, "Blink", "Zu")
    settings.eyes.blink_key = "Zu"
    assert values(keys, "Zu").max() > 0.9
    assert values(keys, "Blink").max() == 0.0
    settings.eyes.blink_key = "Auf"
    bpy.context.view_layer.update()
    assert "'Auf'" in live.status(bpy.context.scene, armature, "head").error
    assert keys.key_blocks["Zu"].value == 0.0


def test_without_anything_that_closes_the_eyes_there_is_a_note() -> None:
    armature, _ = looking()
    face(armature, "Smile")
    scenes.goto(1)
    status = live.status(bpy.context.scene, armature, "head")
    assert status.state == "SOLVED"
    assert any("do not blink" in note for note in status.notes)


def test_shape_keys_that_come_later_are_found() -> None:
    armature, _ = looking()
    keys = face(armature, "Smile")
    assert values(keys, "Smile").max() == 0.0
    assert live.status(bpy.context.scene, armature, "head").notes
    key = bpy.data.objects["Face"].shape_key_add(name="Blink", from_mix=False)
    key.value = 0.0
    assert values(keys, "Blink").max() > 0.9
    key.name = "Zu"
    assert values(keys, "Zu").max() == 0.0
    assert live.status(bpy.context.scene, armature, "head").notes


def test_a_shape_key_that_is_animated_is_left_alone_and_noted() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink_L", "Blink_R")
    for frame, value in ((1, 0.0), (LAST, 0.5)):
        keys.key_blocks["Blink_L"].value = value
        keys.key_blocks["Blink_L"].keyframe_insert("value", frame=frame)
    keys.key_blocks["Blink_R"].driver_add("value").driver.expression = "0.25"
    assert np.all(np.diff(values(keys, "Blink_L")) >= 0.0)
    assert values(keys, "Blink_R") == pytest.approx(0.25)
    notes = " ".join(live.status(bpy.context.scene, armature, "head").notes)
    assert "'Blink_L' is already animated" in notes
    assert "'Blink_R' has a driver" in notes


# Lids that are bones


def with_lids(pivot=(0.032, -0.075, 1.68)) -> bpy.types.Object:
    rows = list(bodies.PERSON)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        x, y, z = pivot
        rows.append((f"lid.{side}", "head", (sign * x, y, z), (sign * x, y - 0.015, z + 0.008)))
    armature = scenes.figure("Lidded", rows)
    bodies.look(armature, scenes.ball(FAR)).eyes.use_lids = False
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True), (OFF, False)])
    return armature


def test_bones_of_lids_turn_down_over_the_eye() -> None:
    armature = with_lids()
    keys = face(armature, "Blink")
    settings = armature.pose.bones["head"].lookat_pd
    settings.eyes.blink_angle = np.radians(40.0)
    poses = scenes.poses(armature, FRAMES)
    head, *lids = (poses[:, n] for n in bodies.bones(armature, "head", "lid.L", "lid.R"))
    for lid in lids:
        local = np.linalg.inv(head) @ lid
        turn = local[:, :3, :3] @ local[0, :3, :3].T
        angle = np.degrees(np.arccos(np.clip(0.5 * (np.trace(turn, axis1=-2, axis2=-1) - 1.0), -1.0, 1.0)))
        assert 35.0 < angle.max() <= 40.01
        assert np.all(angle[: ON - 1] < 0.02)
        # The head's Y axis points up: the lid's tip goes down, and the lid stays in its place.
        tip = local[:, 1, 1]
        assert tip[np.argmax(angle)] < tip[0] - 0.3
        assert np.abs(local[:, :3, 3] - local[0, :3, 3]).max() < 1e-5
    assert np.all(values(keys, "Blink") == 0.0), "one of both is enough"


def test_lids_that_do_not_turn_about_the_eye_are_left_to_shape_keys() -> None:
    armature = with_lids((0.032, -0.1, 1.7))
    keys = face(armature, "Blink")
    assert values(keys, "Blink").max() > 0.9
    assert look_at.resolve(armature, "head").body.lids == ()


# Lids that follow the eyes


def _low_and_level(**shown) -> tuple[Any, Any]:
    """A person with eyes that look down at a ball without a blink, and the settings."""
    armature = bodies.person(moving=False)
    found = bodies.look(armature, scenes.ball((0.0, -1.0, 1.25)), **shown)
    found.eyes.head_share, found.eyes.use_blink = 0.0, False
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True), (OFF, False)])
    return armature, found


def test_shape_keys_close_the_lids_part_of_the_way_as_the_eyes_look_down() -> None:
    armature, settings = _low_and_level()
    keys = face(armature, "Blink")
    settings.eyes.lid_follow = 0.5
    half = values(keys, "Blink")
    assert np.all(half[: ON - 1] == 0.0) and half[-1] == 0.0 and 0.1 < half[50] < 0.9
    settings.eyes.lid_follow = 0.25
    assert values(keys, "Blink")[50] == pytest.approx(0.5 * half[50], abs=1e-4)
    settings.eyes.use_lids = False
    assert np.all(values(keys, "Blink") == 0.0)


def test_looking_up_closes_no_lid() -> None:
    armature, _ = _low_and_level()
    keys = face(armature, "Blink")
    bpy.data.objects["Ball"].location.z = 2.1
    assert np.all(values(keys, "Blink", range(1, OFF)) == 0.0)


@pytest.mark.parametrize("height", [1.25, 2.0])
def test_bones_of_lids_turn_with_the_eyes(height) -> None:
    """By the amount of their turn, up and down."""
    armature = with_lids()
    bpy.data.objects["Ball"].location = (0.0, -1.0, height)
    settings = armature.pose.bones["head"].lookat_pd
    settings.eyes.head_share, settings.eyes.use_blink = 0.0, False
    settings.eyes.use_lids, settings.eyes.lid_follow = True, 0.6
    poses = scenes.poses(armature, [1, 55])
    head, eye, lid = (poses[:, n] for n in bodies.bones(armature, "head", "eye.L", "lid.L"))

    def pitch(bone) -> float:
        """By how much the bone turns in the head about its lateral axis between the two frames [rad]."""
        local = np.linalg.inv(head) @ bone
        return float(np.arctan2(*(local[1, :3, :3] @ local[0, :3, :3].T)[[2, 2], [1, 2]]))

    assert abs(pitch(eye)) > np.radians(5.0)
    assert pitch(lid) == pytest.approx(0.6 * pitch(eye), abs=np.radians(0.6))


def test_a_bake_keeps_lids_that_follow() -> None:
    armature, _ = _low_and_level()
    keys = face(armature, "Blink")
    shown = values(keys, "Blink")
    scenes.run_bake(armature, last=LAST)
    assert values(keys, "Blink") == pytest.approx(shown, abs=1e-6) and shown.max() > 0.1


# Baked


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_a_bake_shows_what_was_live(into) -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    keys.key_blocks["Blink"].value = 0.2
    shown = values(keys, "Blink")
    scenes.goto(ON + 1)
    scenes.run_bake(armature, last=LAST, into=into)
    assert values(keys, "Blink") == pytest.approx(shown, abs=1e-6)
    curve = scenes.actions.curves_at(
        keys.animation_data.action, keys.animation_data.action_slot, 'key_blocks["Blink"].value', 1
    )[0]
    closed = np.flatnonzero(shown > np.float32(0.2)) + 1
    frames = {int(point.co.x) for point in curve.keyframe_points}
    # One more holds the slope at the end.
    assert frames - {max(closed) + 2} == {int(n) + step for n in closed for step in (-1, 0, 1)}


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_keys_that_are_there_stay_and_close_further(into) -> None:
    armature, _ = looking()
    keys = face(armature, "Blink", "Smile")
    for name, ends in (("Blink", (0.0, 0.4)), ("Smile", (1.0, 0.0))):
        for frame, value in zip((-5, LAST + 10), ends, strict=True):
            keys.key_blocks[name].value = value
            keys.key_blocks[name].keyframe_insert("value", frame=frame)
    action = keys.animation_data.action
    everywhere = range(-10, LAST + 20)
    before, source = values(keys, "Blink", everywhere), scenes.fingerprint(action)
    scenes.run_bake(armature, last=LAST, into=into)
    after, path = values(keys, "Blink", everywhere), 'key_blocks["Blink"].value'
    assert np.all(after >= before - 1e-6)
    assert after.max() > 0.9
    blinking = after > before + 1e-4
    assert 4 <= blinking.sum() <= 14
    assert after[~blinking] == pytest.approx(before[~blinking], abs=1e-5)
    assert curves_but(keys.animation_data.action, path) == {k: v for k, v in source.items() if k[1] != path}
    if into != "CURRENT":
        assert scenes.fingerprint(action) == source


def test_one_action_may_hold_body_and_face() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    scenes.run_bake(armature, last=LAST)
    assert keys.animation_data.action == armature.animation_data.action
    assert len(armature.animation_data.action.slots) == 2


def test_a_bake_without_a_blink_makes_no_keys_of_shape_keys() -> None:
    armature, _ = looking(NEAR)
    keys = face(armature, "Blink")
    scenes.run_bake(armature, last=LAST)
    assert keys.animation_data is None


def test_the_baked_action_put_aside_the_value_is_as_it_was() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    keys.key_blocks["Blink"].value = 0.2
    scenes.run_bake(armature, last=LAST)
    assert values(keys, "Blink", [ON + 1])[0] > 0.5
    keys.animation_data.action = None
    look_at_edit.remove(armature, "head")
    assert keys.key_blocks["Blink"].value == np.float32(0.2)


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_a_bake_that_fails_leaves_nothing(into, monkeypatch) -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    scenes.goto(ON + 1)
    before, value = scenes.snapshot(), keys.key_blocks["Blink"].value
    write = load("rig.animation.keys").Keys.write

    def broken(self, curve) -> None:
        write(self, curve)
        if curve.data_path.startswith("key_blocks"):
            raise KeyboardInterrupt

    monkeypatch.setattr(load("rig.animation.keys").Keys, "write", broken)
    with pytest.raises(KeyboardInterrupt):
        scenes.run_bake(armature, last=LAST, into=into)
    monkeypatch.undo()
    assert not scenes.differences(before, scenes.snapshot())
    assert keys.animation_data is None
    assert keys.key_blocks["Blink"].value == value


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
@pytest.mark.parametrize("home", ["none", "own action", "action of the armature"])
def test_edit_live_after_a_bake_gives_shape_keys_their_animation_back(into, home) -> None:
    armature, _ = looking()
    armature.pose.bones["chest"].keyframe_insert("location", frame=1)
    keys = face(armature, "Blink")
    if home != "none":
        data = keys.animation_data_create()
        action = bpy.data.actions.new("Face") if home == "own action" else armature.animation_data.action
        data.action, data.action_slot = action, action.slots.new(id_type="KEY", name=keys.name)
        keys.key_blocks["Blink"].keyframe_insert("value", frame=3)
    before = values(keys, "Blink")
    playing = keys.animation_data and (keys.animation_data.action, keys.animation_data.action_slot)
    scenes.run_bake(armature, last=LAST, into=into)
    assert keys.animation_data.action not in (None, playing and playing[0])
    assert values(keys, "Blink").max() > 0.5
    load("rig.look_at.edit_live").edit_live(armature, "head")
    after = keys.animation_data.action and (keys.animation_data.action, keys.animation_data.action_slot)
    assert after == playing
    np.testing.assert_array_equal(values(keys, "Blink"), before)
