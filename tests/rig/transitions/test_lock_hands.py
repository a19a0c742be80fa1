"""Lock Feet where hands support the body, too: a person whose hands are on the ground before and after a join."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from extension import load

from ..feet import walking
from ..look_at.body import bodies
from .motions import use

drain = load("lookat_pd.progress").drain
foot_bones = load("rig.feet.foot_bones")
join = load("rig.transitions.join")
sampler = load("rig.sampling.sampler")
visual_join = load("rig.transitions.visual.visual_join")
visual_offsets = load("rig.transitions.visual.visual_offsets")
splice = load("rig.transitions.splice")
playing = load("rig.animation.playing")
CUT = 20
BENT = 135.0
"""[deg] by which the trunk is bent forwards; then the hands reach the ground."""


def stand(armature, name: str, aside: float, *, bent: float = BENT):
    """A clip of 40 frames in one pose, bent forwards, legs and arms turned aside [deg]."""
    turns = {"hips": (bent, 0.0)}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        turns[f"thigh.{side}"] = -bent, sign * aside
        turns[f"upper_arm.{side}"] = -bent, -1.6 * sign * aside
    action = bpy.data.actions.new(name)
    use(armature, action, action.slots.new("OBJECT", armature.name))
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
        forwards, sideways = turns.get(bone.name, (0.0, 0.0))
        rest = bone.bone.matrix_local.to_3x3()
        turn = Matrix.Rotation(np.radians(forwards), 3, "X") @ Matrix.Rotation(np.radians(sideways), 3, "Y")
        bone.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        for frame in (1, 40):
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            bone.keyframe_insert("location", frame=frame)
    action.use_fake_user = True
    return action


def drifts(armature, action, frames) -> dict[str, float]:
    """How far the first point of each foot and hand goes [m]."""
    found = foot_bones.find(armature, hands=True)
    slot = action.slots[0]
    with playing.playing(armature, action, slot), sampler.Sampler(bpy.context.scene, armature, found.sampled) as made:
        samples = sampler.run(made.sample(list(frames)))
    return {foot.bones[2]: float(np.linalg.norm(np.ptp(foot.touch(samples)[:, 0], axis=0))) for foot in found.feet}


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["keys", "seen"])
def test_hands_on_the_ground_stay_through_a_join(how) -> None:
    armature = bodies.person(moving=False)
    bpy.context.scene.render.fps = walking.FPS
    narrow, wide = stand(armature, "Narrow", 0.0), stand(armature, "Wide", 5.0)
    refs, blend, found = (join.ClipRef(narrow, CUT), join.ClipRef(wide, 1)), splice.Blend(0.3), {}
    for locked in (False, True):
        if how == "seen":
            job = visual_join.joined(
                bpy.context.scene, armature, lambda cut: join.joining(armature, *refs, cut), blend, lock_feet=locked
            )
            made = drain(job)
        else:
            made = join.join(armature, *refs, blend, lock_feet=locked)
        found[locked] = drifts(armature, made.action, range(CUT - 3, CUT + 20))
        visual_offsets.remove(armature)
    assert set(found[True]) == {"foot.L", "foot.R", "hand.L", "hand.R"}
    assert min(found[False].values()) > 0.04
    assert max(found[True].values()) < 0.002


def test_hands_in_the_air_are_not_held() -> None:
    armature = bodies.person(moving=False)
    upright, wide = stand(armature, "Upright", 0.0, bent=0.0), stand(armature, "Wide", 5.0, bent=0.0)
    made = join.join(armature, join.ClipRef(upright, CUT), join.ClipRef(wide, 1), splice.Blend(0.3), lock_feet=True)
    moved = drifts(armature, made.action, range(CUT - 3, CUT + 20))
    assert max(moved["foot.L"], moved["foot.R"]) < 0.002
    assert min(moved["hand.L"], moved["hand.R"]) > 0.04
