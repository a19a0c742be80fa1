"""The root of a character is found, and placing moves all of it as one rigid body."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from extension import load

from . import scenes
from .motions import character, poses, use, walk

actions = load("rig.actions")
animated = load("rig.animated")
clips = load("rig.clips")
join = load("rig.join")
root_motion = load("rig.root_motion")
rotation = load("lookat_pd.rotation")
InvalidArgument = load("lookat_pd.errors").InvalidArgument

UP = np.array([0.0, 0.0, 1.0])


def ground(armature, *made, frames=range(1, 42)):
    wanted = list(
        dict.fromkeys(c for a in made for c in animated.channels_of(armature, a, clips.find_slot(armature, a)))
    )
    read = [clips.read(armature, a, clips.find_slot(armature, a), list(frames), wanted) for a in made]
    return root_motion.Ground(armature, read), read


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


def test_root_that_carries_most_and_moves() -> None:
    armature = character()
    action = walk(armature, "Walk")
    # Keys on the root that never change, and a hand that moves more than anything.
    use(armature, action)
    for frame in (1, 41):
        armature.pose.bones["root"].keyframe_insert("location", frame=frame)
        armature.pose.bones["hand.L"].location = (frame, 0, 0)
        armature.pose.bones["hand.L"].keyframe_insert("location", frame=frame)
    stage, _ = ground(armature, action)
    assert stage.root == "hips" and not stage.by_object
    np.testing.assert_allclose(stage.up, UP)
    assert [handle.bone for handle in stage.handles] == ["root"]


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
