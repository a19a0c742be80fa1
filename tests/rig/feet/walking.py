"""A person who walks, with feet that slide as much as asked for."""

import bpy
import numpy as np

from extension import load

from .. import scenes
from ..look_at.body import bodies
from ..transitions.motions import use

bake_options = load("rig.animation.bake_options")
foot_bones = load("rig.feet.foot_bones")
foot_locking = load("rig.feet.foot_locking")
playing = load("rig.animation.playing")
sampler = load("rig.sampling.sampler")
actions = load("rig.animation.actions")

LAST = 72
CYCLE = 24
"""Frames of two steps."""
FPS = 24


def person() -> bpy.types.Object:
    bpy.context.scene.render.fps = FPS
    return bodies.person(moving=False)


def in_ik(roll: bool) -> bpy.types.Object:
    """A person whose legs follow handles on the ground. roll: with a bone between a handle and what IK reaches for."""
    armature = person()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    edits = armature.data.edit_bones
    root = edits.new("controls")
    root.head, root.tail = (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)
    for side in "LR":
        ankle = edits[f"foot.{side}"].head.copy()
        names = (f"foot_ctrl.{side}", f"goal.{side}") if roll else (f"foot_ctrl.{side}",)
        parent = root
        for name in names:
            edit = edits.new(name)
            edit.head, edit.tail, edit.parent = ankle, ankle + edits[f"foot.{side}"].vector, parent
            edit.use_deform = False
            parent = edit
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in "LR":
        constraint = armature.pose.bones[f"shin.{side}"].constraints.new("IK")
        constraint.target, constraint.subtarget = armature, f"{'goal' if roll else 'foot_ctrl'}.{side}"
        constraint.chain_count = 2
        level = armature.pose.bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
        level.target, level.subtarget = armature, f"foot_ctrl.{side}"
    return armature


def walk(armature, name: str, *, speed: float = 0.9, phase: float = 0.0, slide: float = 0.0):
    """A clip in which each foot is on the ground for two thirds of a cycle. speed: [m/s]; phase: of the cycle; slide:
    [m] by which feet on the ground slide to and fro."""
    armature.animation_data_create()
    use(armature, None)
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
        bone.rotation_mode = "QUATERNION"
    base = bpy.data.actions.new("Base")
    use(armature, base, base.slots.new("OBJECT", armature.name))
    hips = armature.pose.bones["hips"]
    frame_of_hips = np.array(hips.bone.matrix_local.to_3x3()).T
    for frame in range(1, LAST + 1):
        t = 2.0 * np.pi * (frame / CYCLE + phase)
        hips.location = frame_of_hips @ (0.02 * np.sin(t), -speed * (frame - 1) / FPS, -0.12 + 0.015 * np.cos(2.0 * t))
        hips.keyframe_insert("location", frame=frame)
    for bone in armature.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=1)
    for curve in actions.curves(base, base.slots[0]):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    found = foot_bones.find(armature)
    frames = np.arange(1, LAST + 1)

    def plan(samples):
        swayed = samples.positions[:, samples.bones.index("thigh.L")]
        rest = np.array(armature.data.bones["thigh.L"].head_local)
        swayed = swayed - rest - np.outer(frames - 1, (0.0, -speed / FPS, 0.0))
        return [foot_locking.FootPlan(_path(frames, speed, phase + 0.5 * n, slide) - swayed, []) for n in range(2)]

    footing = foot_bones.Footing(found.feet, "")
    options = bake_options.BakeOptions(1, LAST, "NEW", name)
    made = scenes.finish(foot_locking.lock(bpy.context.scene, armature, footing, plan, options)).action
    made.use_fake_user = True
    return made


def _path(frames, speed: float, phase: float, slide: float):
    """What a foot does relative to the hips (F, 3)."""
    t = (frames / CYCLE + phase) % 1.0
    length = speed * CYCLE / FPS
    down = t < 0.67
    swing = (t - 0.67) / 0.33
    ahead = np.where(down, 0.335 - t, -0.335 + 0.67 * swing**2 * (3.0 - 2.0 * swing))
    lift = np.where(down, 0.0, 0.12 * np.sin(np.pi * swing) ** 2)
    wobble = np.where(down, slide * np.sin(2.0 * np.pi * t / 0.67), 0.0)
    return np.stack((wobble, -length * ahead, lift), axis=-1)


def toes(armature, action, frames):
    """Places (F, 2, 3) of the balls of the feet in the world."""
    found = foot_bones.find(armature)
    slot = actions.find_slot(armature, action)
    with playing.playing(armature, action, slot), sampler.Sampler(bpy.context.scene, armature, found.sampled) as made:
        samples = sampler.run(made.sample(list(frames)))
    return np.stack([foot.touch(samples)[:, 0] for foot in found.feet], axis=1), samples


def drift(places, spans) -> float:
    """The largest distance between two places of one foot (F, 3) within spans of frames [m]."""
    return max(float(np.linalg.norm(np.ptp(places[a : b + 1], axis=0))) for a, b in spans)
