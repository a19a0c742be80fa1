"""The root of a character is found, and placing moves all of it as one rigid body."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from extension import load

from .. import scenes
from .motions import character, key_still, poses, use, walk

actions = load("rig.animation.actions")
animated = load("rig.transitions.animated")
clips = load("rig.transitions.clips")
join = load("rig.transitions.join")
root_motion = load("rig.transitions.root_motion")
splice = load("rig.transitions.splice")
rotation = load("lookat_pd.rotation")
InvalidArgument = load("lookat_pd.errors").InvalidArgument

UP = np.array([0.0, 0.0, 1.0])


def ground(armature, *made, frames=range(1, 42)):
    wanted = list(
        dict.fromkeys(c for a in made for c in animated.channels_of(armature, a, actions.find_slot(armature, a)))
    )
    read = [clips.read(armature, a, actions.find_slot(armature, a), list(frames), wanted) for a in made]
    return root_motion.Ground(armature, read), read


def handles(stage):
    return [handle.bone for handle in stage.handles]


def placement(angle, way):
    return root_motion.Placement(rotation.exp(angle * UP), np.array(way, dtype=float))


@pytest.mark.parametrize("modes", [*((mode,) for mode in scenes.MODES), scenes.MODES], ids="+".join)
def test_placing_moves_the_character_rigidly(modes) -> None:
    armature = character(modes)
    action = walk(armature, "Walk", seed=2)
    stage, (clip,) = ground(armature, action)
    by = placement(1.1, (0.7, -2.0, 0.25))
    placed, slot = actions.new_action("Placed", armature)
    clips.write(placed, slot, stage.place(clip, by))
    matrix = Matrix.Translation(by.translation) @ Euler((0, 0, 1.1)).to_matrix().to_4x4()
    frames = range(1, 42, 5)
    seen, alone = poses(armature, placed, frames), poses(armature, action, frames)
    body = [n for n, bone in enumerate(armature.pose.bones) if bone.name != "root"]
    np.testing.assert_allclose(seen[:, body], (np.array(matrix) @ alone)[:, body], atol=2e-5)


def test_root_with_most_descendants_that_moves() -> None:
    armature = character()
    action = walk(armature, "Walk")
    # Keys on the root that never change, which make it neither root nor handle, and a hand that moves most of all.
    use(armature, action)
    for frame in (1, 41):
        armature.pose.bones["root"].keyframe_insert("location", frame=frame)
        armature.pose.bones["hand.L"].location = (frame, 0, 0)
        armature.pose.bones["hand.L"].keyframe_insert("location", frame=frame)
    stage, _ = ground(armature, action)
    assert stage.root == "hips" and not stage.by_object
    np.testing.assert_allclose(stage.up, UP)
    assert handles(stage) == ["hips"]


def test_root_below_something_that_turns() -> None:
    """The root's place counts with all that is above it, and only what hangs on nothing animated is moved."""
    armature = character()
    made = []
    for k in range(2):
        action = walk(armature, f"Walk {k}", seed=k)
        for frame in (1, 41):
            root = armature.pose.bones["root"]
            scenes.set_rotation(root, (0, 0, 0.8 * k))
            root.keyframe_insert("rotation_quaternion", frame=frame)
        made.append(action)
    row = armature.pose.bones.keys().index("hips")
    there, entered = (poses(armature, action, [frame])[0, row] for action, frame in ((made[0], 25), (made[1], 5)))
    result = join.join(armature, join.ClipRef(made[0], 25), join.ClipRef(made[1], 5))
    late = range(25 + 20, result.last)
    out = poses(armature, result.action, late)[:, row]
    armature.pose.bones["root"].location = (0, 0, 0)
    alone = poses(armature, made[1], [frame - 20 for frame in late])[:, row]
    moved = out @ np.linalg.inv(alone)
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=5e-5)
    np.testing.assert_allclose((moved[0] @ entered)[:2, 3], there[:2, 3], atol=5e-5)


def test_what_may_not_move_does_not_make_a_root() -> None:
    armature = character()
    action = walk(armature, "Wave", bones=("chest", "neck", "head"), speed=(0, 0, 0))
    stage, (clip,) = ground(armature, action)
    assert stage.root == "" and stage.channels("HEADING") == []
    assert stage.placement(stage.stand(clip, 0), stage.stand(clip, 5), "HEADING").is_identity


CONTROLS = (
    *scenes.FIGURE,
    ("foot_ik", "root", (0.1, 0, 0), (0.1, -0.2, 0.1)),
    ("knee", "root", (0.1, -1, 0.5), (0.1, -1.2, 0.5)),
    ("offset", "root", (0, 0, 0), (0, 0, 0.2)),
    ("hand_ik", "offset", (0.6, 0, 1), (0.8, 0, 1)),
    ("roll", "root", (-0.1, 0, 0), (-0.1, -0.2, 0)),
    ("heel", "roll", (-0.1, 0, 0), (-0.1, 0.1, 0)),
)


def controls(still=((), ()), modes=("QUATERNION",)):
    """Two clips of hips, a foot and a hand that go their way, and a heel that turns, on a still root with keys.

    still: for each clip where the root lies, and by how much it is turned.
    """
    armature = scenes.figure("Hero", CONTROLS)
    for n, bone in enumerate(armature.pose.bones):
        bone.rotation_mode = modes[n % len(modes)]
    made = []
    for k, root in enumerate(still):
        use(armature, None)
        action, slot = actions.new_action(f"Clip {k}", armature)
        use(armature, action, slot)
        for frame in (1, 20, 41):
            for n, name in enumerate(("hips", "foot_ik", "hand_ik")):
                bone = armature.pose.bones[name]
                bone.location = (0.06 * frame * (k + 1), 0.01 * n * frame, -0.04 * frame)
                scenes.set_rotation(bone, (0.1 * n, 0, 0.9 * k + 0.01 * frame))
                for path in ("location", scenes.sample.channel(bone.rotation_mode)[0]):
                    bone.keyframe_insert(path, frame=frame)
            heel = armature.pose.bones["heel"]
            heel.keyframe_insert(scenes.set_rotation(heel, (0.02 * frame, 0, 0)), frame=frame)
        key_still(armature, action, "roll", (1, 41), (0, 0.1, 0))
        place, turn = root or ((0.3, -0.2, 0.1), 0.7)
        key_still(armature, action, "root", (1, 41), place, (0, 0, turn))
        made.append(action)
    return armature, made


@pytest.mark.parametrize("modes", [("QUATERNION",), scenes.MODES], ids="+".join)
@pytest.mark.parametrize("keyed", [True, False])
def test_all_that_hangs_on_a_still_root_with_keys_is_placed(keyed, modes) -> None:
    """One rigid transform for hips, foot and hand, for what only turns on a still bone, and for the knee that stands
    still, with keys or without; the root itself stays where it is."""
    armature, (action, _) = controls(modes=modes)
    if keyed:
        key_still(armature, action, "knee", (1, 41), (0.2, 0.1, 0))
    stage, _ = ground(armature, action)
    assert sorted(handles(stage)) == ["foot_ik", "hand_ik", "hips", "knee", "roll"]
    result = join.join(armature, join.ClipRef(action, 35), join.ClipRef(action, 5))
    names = armature.pose.bones.keys()
    body = [names.index(bone) for bone in names if bone not in ("root", "offset")]
    late = list(range(35 + 20, result.last + 1))
    out = poses(armature, result.action, late)[:, body]
    if not keyed:
        armature.pose.bones["knee"].matrix_basis.identity()
    alone = poses(armature, action, [frame - 30 for frame in late])[:, body]
    moved = out @ np.linalg.inv(alone)
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0, 0], moved.shape), atol=1e-4)
    assert np.linalg.norm(moved[0, 0, :2, 3]) > 0.5
    root = poses(armature, result.action, range(1, result.last))[:, names.index("root")]
    np.testing.assert_allclose(root, np.broadcast_to(root[0], root.shape), atol=1e-6)


@pytest.mark.parametrize("keys", [False, True])
def test_hips_do_not_swing_about_a_still_root(keys) -> None:
    """A straight run far from the root goes on straight, whether or not the root has keys."""
    armature = character()
    run = walk(armature, "Run", speed=(0, -0.12, 0), size=0.05)
    stroll = walk(armature, "Walk", speed=(0, -0.08, 0), heading=1.2, seed=1, size=0.05)
    for action in (run, stroll) if keys else ():
        key_still(armature, action, "root", (1, 41))
    result = join.join(armature, join.ClipRef(run, 31), join.ClipRef(stroll, 9), splice.Blend(0.4))
    row = armature.pose.bones.keys().index("hips")
    way = poses(armature, result.action, range(1, result.last + 1))[:, row, :3, 3]
    assert np.abs(way[:, 0]).max() < 0.08
    assert np.diff(way[:, 1]).max() < 0.0


def test_a_still_root_that_clips_have_at_different_places_is_placed() -> None:
    armature, made = controls((((0, 0, 0), 0.0), ((2.0, 1.0, 0), 1.0)))
    stage, _ = ground(armature, *made)
    assert handles(stage) == ["root"]
    assert handles(ground(armature, made[1])[0]) == ["hips", "foot_ik", "knee", "hand_ik", "roll"]
    result = join.join(armature, join.ClipRef(made[0], 25), join.ClipRef(made[1], 5))
    late = list(range(25 + 20, result.last + 1))
    moved = poses(armature, result.action, late) @ np.linalg.inv(poses(armature, made[1], [f - 20 for f in late]))
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0, 0], moved.shape), atol=1e-4)


def test_rounding_and_signs_do_not_make_a_root_move() -> None:
    armature, made = controls()
    curves = {curve.array_index: curve for curve in curves_of(made[0], "root", "rotation_quaternion")}
    for curve in curves.values():
        curve.keyframe_points[0].co.y += 1e-6
    for curve in curves_of(made[1], "root", "rotation_quaternion"):
        for point in curve.keyframe_points:
            point.co.y *= -1.0
    assert "root" not in handles(ground(armature, *made)[0])
    for point in curves_of(made[1], "root", "location")[0].keyframe_points:
        point.co.y += 0.01
    assert handles(ground(armature, *made)[0]) == ["root"]


def test_connected_hips_are_placed_by_the_root_above() -> None:
    """A connected bone has no location of its own."""
    rows = (("root", None, (0, 0, 0), (0, 0, 1)), ("hips", "root", (0, 0, 1), (0, 0, 1.3)))
    rows += (("leg", "hips", (0, 0, 1), (0, 0, 0.5)),)
    armature = scenes.figure("Hero", rows)
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["hips"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    action, slot = actions.new_action("Turn", armature)
    use(armature, action, slot)
    for frame in (1, 41):
        scenes.set_rotation(armature.pose.bones["hips"], (0, 0.01 * frame, 0))
        armature.pose.bones["hips"].keyframe_insert("rotation_quaternion", frame=frame)
    key_still(armature, action, "root", (1, 41))
    assert handles(ground(armature, action)[0]) == ["root"]


def curves_of(action, bone, name):
    bag = actions.channelbag(action, action.slots[0])
    return [curve for curve in bag.fcurves if curve.data_path == f'pose.bones["{bone}"].{name}']


def test_unknown_choice() -> None:
    armature = character()
    stage, (clip,) = ground(armature, walk(armature, "Walk"))
    with pytest.raises(InvalidArgument, match="unknown"):
        stage.placement(stage.stand(clip, 0), stage.stand(clip, 1), "SIDEWAYS")


def test_object_under_a_turned_parent() -> None:
    """Up for an object that is animated itself is the world's, wherever its parent has it."""
    armature = character()
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.rotation_euler = (-np.pi / 2, 0, 0)
    armature.parent = parent
    use(armature, None)
    action = walk(armature, "Walk", bones=("chest",))
    for frame in (1, 41):
        armature.location = (0.1 * frame, 0, 0)
        armature.keyframe_insert("location", frame=frame)
    scenes.goto(1)
    stage, _ = ground(armature, action)
    assert stage.by_object
    np.testing.assert_allclose(stage.up, (0, -1, 0), atol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("root", ["POSITION", "HEADING", "ALL"])
@pytest.mark.parametrize("speed", [0.0, 0.05, 0.2])
def test_the_root_keeps_its_speed_over_the_ground(root, speed) -> None:
    """Whatever the heights are: at the cut it goes on as fast as it was, and comes to the new speed without turning
    back or overshooting."""
    armature = character()
    run = walk(armature, "Run", speed=(0, -0.12, 0), size=0.0, every=1)
    other = walk(armature, "Other", speed=(0, -speed, 0), seed=1, size=0.0, every=1)
    for curve in curves_of(other, "hips", "location"):
        for point in curve.keyframe_points:
            point.co.y += 0.05
    result = join.join(armature, join.ClipRef(run, 31), join.ClipRef(other, 5), splice.Blend(0.5), root=root)
    row = armature.pose.bones.keys().index("hips")
    way = -np.diff(poses(armature, result.action, range(20, result.last + 1))[:, row, 1, 3])
    cut = 31 - 20
    assert abs(way[cut - 1] - 0.12) < 0.01
    assert abs(way[cut] - way[cut - 1]) < 0.25 * abs(speed - 0.12)
    assert min(speed, 0.12) - 1e-4 < way.min() and way.max() < max(speed, 0.12) + 1e-4
    np.testing.assert_allclose(way[cut + 12 :], speed, atol=1e-4)
