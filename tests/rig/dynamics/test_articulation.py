"""From bones to bodies: joints are where the bones are, attached bones add their mass, channels are the same."""

from typing import Any

import bpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extension import load
from lookat_pd import rotation
from lookat_pd.progress import drain

from .. import scenes

bone_attachment = load("rig.dynamics.bone_attachment")
masses = load("rig.dynamics.masses")
tree = load("rig.dynamics.articulation")
sample = load("rig.sampling.sampler")
errors = load("lookat_pd.errors")

FRAMES = list(range(1, 21))


def build(
    armature: bpy.types.Object, joints: list[str], frames: list[float] = FRAMES, idle: tuple[str, ...] = ()
) -> tuple[Any, Any]:
    """The tree of these joints, and the samples it was built from."""
    scene = bpy.context.scene
    unit, weights = masses.metres(scene, armature), masses.of(scene, armature)
    with sample.Sampler(scene, armature, tree.seen(armature, joints, weights.bones)) as sampler:
        samples = sample.run(sampler.sample(frames))
        steps = tree.building(armature, sampler, samples, joints, weights, unit, idle=idle)
        return drain(steps), samples


def places(found: Any, samples: Any) -> Any:
    """Where the body's joints are (F, n, 3), in the armature's space."""
    orientations, at = rotation.identity(len(samples.frames)), np.zeros((len(samples.frames), 3))
    if found.base:
        row = samples.bones.index(found.base)
        orientations, at = samples.rotations[:, row], samples.positions[:, row]
    _, joints = found.body.forward(found.poses(samples))
    return at[:, None] + rotation.rotate(orientations[:, None], joints / found.unit)


@pytest.mark.every_blender
@settings(max_examples=15)
@given(st.permutations(["hips", "chest", "upper_arm.L", "hand.L", "upper_arm.R"]), st.integers(1, 5))
def test_the_body_stands_where_the_bones_do(bones: list[str], count: int) -> None:
    """In all rotation modes, whatever is left out between the joints, whatever scale the object has."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = scenes.figure()
    joints = bones[:count]
    scenes.animate(armature, modes=scenes.MODES, bones=joints)
    armature.scale, armature.rotation_euler = (0.3, 0.3, 0.3), (0.2, -0.5, 1.0)
    bpy.context.view_layer.update()
    found, samples = build(armature, joints)
    rows = [samples.bones.index(name) for name in found.bones]
    assert sorted(found.bones) == sorted(joints)
    assert np.abs(places(found, samples) - samples.positions[:, rows]).max() < 1e-5


def test_bones_between_and_below_are_attached() -> None:
    armature = scenes.figure()
    whole, _ = build(armature, ["hips"])
    weights = masses.of(bpy.context.scene, armature)
    assert whole.body.masses.sum() == pytest.approx(weights.total, rel=1e-6)
    parts, _ = build(armature, ["hips", "chest", "upper_arm.L"])
    assert parts.body.masses.sum() == pytest.approx(weights.total, rel=1e-6)
    arm = weights.properties.mass[weights.bones.index("upper_arm.L")]
    hand = weights.properties.mass[weights.bones.index("hand.L")]
    assert parts.body.masses[parts.bones.index("upper_arm.L")] == pytest.approx(arm + hand, rel=1e-6)


def test_merged_bones_weigh_and_resist_as_when_they_hold_still() -> None:
    """The inertia of an arm with a stiff wrist is that of the arm in which the wrist is a joint and does not turn."""
    armature = scenes.figure()
    armature.pose.bones["hand.L"].rotation_quaternion = (0.9, 0.3, 0.1, 0.2)
    bpy.context.view_layer.update()
    stiff, one = build(armature, ["upper_arm.L"])
    jointed, two = build(armature, ["upper_arm.L", "hand.L"])
    assert np.allclose(
        stiff.body.mass_matrix(stiff.poses(one)[0]),
        jointed.body.mass_matrix(jointed.poses(two)[0])[:3, :3],
        rtol=1e-5,
        atol=1e-9,
    )


@pytest.mark.parametrize("mode", scenes.MODES)
def test_poses_that_are_not_changed_are_the_channels_to_the_last_bit(mode: str) -> None:
    armature = scenes.figure()
    scenes.animate(armature, modes=(mode,))
    found, samples = build(armature, ["chest", "upper_arm.L"])
    for used, values, raw in found.values(samples, found.poses(samples)).values():
        assert used == mode
        assert np.array_equal(values, raw)


def test_gravity_is_down_whichever_way_the_base_is_turned() -> None:
    armature = scenes.figure()
    armature.rotation_euler = (1.0, 0.4, -2.0)
    bpy.context.view_layer.update()
    found, samples = build(armature, ["hand.L"])
    base = np.array((armature.matrix_world @ armature.pose.bones[found.base].matrix).to_3x3())
    assert np.allclose(base @ found.gravity(bpy.context.scene, samples), (0.0, 0.0, -9.81), atol=1e-4)
    bpy.context.scene.use_gravity = False
    assert found.gravity(bpy.context.scene, samples) == (0.0, 0.0, 0.0)


def test_the_base_moves_in_metres_from_where_it_is_at_first() -> None:
    armature = scenes.figure()
    scenes.animate(armature, bones=["root"])
    armature.scale = (0.5, 0.5, 0.5)
    bones = armature.pose.bones
    for frame, x in ((1, 0.0), (20, 2.0)):
        bones["root"].location = (x, 0.0, 0.0)
        bones["root"].keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    found, samples = build(armature, ["hand.L"])
    moved, turned = found.base_motion(samples)
    assert np.allclose(moved[0], 0.0) and np.allclose(turned[0], rotation.IDENTITY)
    rows = samples.bones.index(found.base)
    way = 0.5 * np.linalg.norm(samples.positions[-1, rows] - samples.positions[0, rows])
    assert np.linalg.norm(moved[-1]) == pytest.approx(way, rel=1e-5)


def test_bones_attach_to_the_controls_that_move_them_through_constraints() -> None:
    """A bone beside the tree, with mass, copies a control: turning the control tells."""
    rows = (*scenes.FIGURE, ("control", None, (0.45, 0.5, 1.45), (0.6, 0.5, 1.45)))
    armature = scenes.figure(rows=rows)
    armature.data.bones["control"].use_deform = False
    copy = armature.pose.bones["hand.L"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = armature, "control"
    before = [tuple(bone.matrix_basis.to_quaternion()) for bone in armature.pose.bones]
    found, _ = build(armature, ["control"])
    weights = masses.of(bpy.context.scene, armature)
    assert found.body.masses[0] == pytest.approx(weights.properties.mass[weights.bones.index("hand.L")], rel=1e-6)
    # Nothing is left of the turning.
    assert [tuple(bone.matrix_basis.to_quaternion()) for bone in armature.pose.bones] == before
    assert armature.animation_data is None and not bpy.data.actions


def test_a_joint_without_mass_is_refused() -> None:
    armature = scenes.figure()
    armature.data.bones["hand.L"].use_deform = False
    with pytest.raises(errors.RigError, match="moves no mass"):
        build(armature, ["hand.L"])


def test_a_joint_that_may_be_idle_is_left_out_without_mass() -> None:
    armature = scenes.figure()
    expected, _ = build(armature, ["upper_arm.L", "head"])
    plain, _ = build(armature, ["upper_arm.L", "head"], idle=("head",))
    assert plain.bones == expected.bones
    armature.data.bones["head"].use_deform = False
    found, samples = build(armature, ["head", "upper_arm.L"], idle=("head",))
    alone, _ = build(armature, ["upper_arm.L"])
    assert found.bones == ("upper_arm.L",) and np.allclose(found.body.masses, alone.body.masses)
    assert np.abs(places(found, samples) - samples.positions[:, [samples.bones.index("upper_arm.L")]]).max() < 1e-5
