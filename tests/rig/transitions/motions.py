"""Clips for a small character, and what plays when they are joined."""

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from extension import load

from .. import scenes

actions = load("rig.animation.actions")
clips = load("rig.transitions.clips")
live = load("rig.layers.live")
offset_fit = load("rig.transitions.visual.offset_fit")
rotation = load("lookat_pd.rotation")

BODY = ("hips", "spine", "chest", "neck", "head", "upper_arm.L", "upper_arm.R", "thigh.L", "thigh.R")


def character(modes: Sequence[str] = ("QUATERNION",), name: str = "Hero") -> bpy.types.Object:
    """The small figure, its rotation modes dealt out in turn, with a property of its own on the head."""
    armature = scenes.figure(name)
    for n, bone in enumerate(BODY):
        armature.pose.bones[bone].rotation_mode = modes[n % len(modes)]
    armature.pose.bones["head"]["mood"] = 0.0
    armature.pose.bones["head"]["style"] = 1
    return armature


def use(armature: bpy.types.Object, action: bpy.types.Action | None, slot: Any = None) -> None:
    data = armature.animation_data_create() if armature.animation_data is None else armature.animation_data
    data.action = action
    if action is not None:
        data.action_slot = slot or actions.find_slot(armature, action)


def make_visual_again(armature: bpy.types.Object) -> None:
    """Have the visual transitions of an armature made anew, without what is known of them."""
    offset_fit._fitted.clear()
    armature["again"] = armature.get("again", 0) + 1
    armature.update_tag()
    live.finish(bpy.context.scene)


def tweak(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    """Put an action on an NLA track and the armature in tweak mode on it."""
    use(armature, None)
    track = armature.animation_data.nla_tracks.new()
    strip = track.strips.new(action.name, 1, action)
    strip.action_slot = actions.find_slot(armature, action)
    track.select = strip.select = True
    armature.animation_data.nla_tracks.active = track
    armature.animation_data.use_tweak_mode = True
    assert armature.animation_data.use_tweak_mode


def key_still(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    name: str,
    frames: Iterable[int],
    location: Sequence[float] = (0, 0, 0),
    angles: Sequence[float] = (0, 0, 0),
) -> None:
    """Keys on a bone that never change, as a file from glTF has them."""
    use(armature, action)
    bone = armature.pose.bones[name]
    for frame in frames:
        bone.location = location
        path = scenes.set_rotation(bone, angles)
        for keyed in ("location", path, "scale"):
            bone.keyframe_insert(keyed, frame=frame)


def walk(
    armature: bpy.types.Object,
    name: str,
    *,
    first: int = 1,
    last: int = 41,
    speed: Sequence[float] = (0.0, -0.04, 0.0),
    heading: float = 0.0,
    turn: float = 0.0,
    seed: int = 0,
    size: float = 0.4,
    bones: Sequence[str] = BODY,
    every: int = 4,
) -> bpy.types.Action:
    """A clip: hips travel by `speed` a frame in the armature's space, turned by `heading` and `turn` a frame about up;
    everything sways; scale and properties change too."""
    use(armature, None)
    action, slot = actions.new_action(name, armature)
    use(armature, action, slot)
    random = np.random.default_rng(seed)
    phases = {bone: random.uniform(0, 2 * np.pi, 3) for bone in BODY}
    sway = {bone: random.uniform(0.3 * size, size, 3) for bone in BODY}
    for frame in range(first, last + 1, every):
        t = 0.25 * frame
        for name in bones:
            bone = armature.pose.bones[name]
            angles = sway[name] * np.sin(t + phases[name])
            if name == "hips":
                _travel(bone, (frame - first) * Vector(speed), heading + turn * (frame - first), angles)
                bone.keyframe_insert("location", frame=frame)
            else:
                scenes.set_rotation(bone, angles)
            bone.keyframe_insert(scenes.sample.channel(bone.rotation_mode)[0], frame=frame)
        chest, head = armature.pose.bones["chest"], armature.pose.bones["head"]
        chest.scale = 1.0 + 0.1 * random.uniform(-1, 1, 3)
        chest.keyframe_insert("scale", frame=frame)
        head["mood"] = 0.5 * seed
        head.keyframe_insert('["mood"]', frame=frame)
        head["style"] = seed + 1
        head.keyframe_insert('["style"]', frame=frame)
    tidy(action, slot)
    return action


def _travel(bone: bpy.types.PoseBone, way: Vector, heading: float, angles: Sequence[float]) -> None:
    around = Quaternion((0, 0, 1), heading)
    rest = bone.bone.matrix_local
    pose = Matrix.Translation(around @ way + rest.translation) @ (around.to_matrix() @ rest.to_3x3()).to_4x4()
    basis = rest.inverted() @ pose @ Euler(0.2 * np.asarray(angles)).to_matrix().to_4x4()
    bone.location = basis.translation
    keep = bone.rotation_mode
    turn = basis.to_quaternion()
    if keep == "QUATERNION":
        bone.rotation_quaternion = turn
    elif keep == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(keep)


def tidy(action: bpy.types.Action, slot: Any) -> None:
    """Rotations that run on without jumps from key to key, as an animator's do."""
    bag = actions.channelbag(action, slot)
    for path in {curve.data_path for curve in bag.fcurves if "rotation" in curve.data_path}:
        curves = sorted((c for c in bag.fcurves if c.data_path == path), key=lambda c: c.array_index)
        values = np.array([[p.co.y for p in c.keyframe_points] for c in curves]).T
        armature = next(o for o in bpy.data.objects if o.type == "ARMATURE" and o.animation_data)
        mode = armature.path_resolve(path.rpartition(".")[0]).rotation_mode
        if mode == "QUATERNION":
            values = rotation.align_hemisphere(values)
        elif mode == "AXIS_ANGLE":
            values = load("rig.animation.channels").continuous_axis_angle(
                rotation.from_axis_angle(values[:, 1:], values[:, 0]), values[0]
            )
        else:
            values = rotation.continuous_euler(values, mode)
        for curve, column in zip(curves, values.T, strict=True):
            for point, value in zip(curve.keyframe_points, column, strict=True):
                point.co.y = value
            curve.update()


def poses(
    armature: bpy.types.Object, action: bpy.types.Action, frames: Iterable[float], slot: Any = None
) -> np.ndarray:
    """Evaluated matrices (frames, bones, 4, 4) in armature space with that action playing."""
    data = armature.animation_data or armature.animation_data_create()
    was, was_slot = data.action, data.action_slot
    use(armature, action, slot)
    found = scenes.poses(armature, frames)
    data.action = was
    if was is not None:
        data.action_slot = was_slot
    return found


def heads(armature: bpy.types.Object, action: bpy.types.Action, frames: Iterable[float]) -> np.ndarray:
    """Places (frames, bones, 3) of all bones' heads with that action playing."""
    return poses(armature, action, frames)[:, :, :3, 3]


def stored(armature: bpy.types.Object, action: bpy.types.Action, frames: Iterable[float]) -> dict[Any, np.ndarray]:
    """Values of every F-curve (frames,) by path and index."""
    bag = actions.channelbag(action, actions.find_slot(armature, action))
    frames = list(frames)
    return {
        (curve.data_path, curve.array_index): np.array([curve.evaluate(f) for f in frames]) for curve in bag.fcurves
    }
