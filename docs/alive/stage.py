"""What all sheets begin with: the demo's human with a motion of its own, and a still thing to look at."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import cos, pi, radians, sin

import bpy
import numpy as np
from mathutils import Vector

from lookat_pd import rotation
from lookat_pd.rotation import Array
from standalone import load

FPS = 24
EARLIER = {"stabilize": 0.0, "head_speed": 0.0, "let_go_angle": 0.0, "aim_from": "BONE", "head_roll": pi}
"""Settings of a look-at in a file of an earlier version, where they differ."""
HEAD, EYES = "ORG-spine.006", ("ORG-eye.L", "ORG-eye.R")
Motion = Callable[[float], dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]]]
"""Seconds to control bones with their turn (pitch, yaw, roll in degrees) and shift [m], in the character's space."""


def character(scene: bpy.types.Scene, name: str, motion: Motion, frames: int) -> bpy.types.Object:
    """A human that performs a motion over the scene's range."""
    rig = load("assets.demo.human").build_human(scene, name, light=True)
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, 1, 1 + frames
    perform(rig, f"{name}'s own", motion, frames)
    for side in "LR":
        rig.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = 1.0
        rig.pose.bones[f"thigh_parent.{side}"]["IK_FK"] = 0.0
    rig.update_tag()
    return rig


def perform(rig: bpy.types.Object, name: str, motion: Motion, frames: int) -> bpy.types.Action:
    """An action of a motion, a key every second frame, that the human plays from now on."""
    animation = load("assets.demo.animation")
    action, channels = animation.new_action(rig, name)
    # The clock's story has ten seconds, which is here the whole range.
    performer = animation.Performer(rig, channels, animation.Clock(1, 1 + frames, FPS))
    seconds = frames / FPS
    times = np.arange(0, frames + 1, 2) / FPS
    tracks: dict[str, list] = {}
    for time in times:
        for bone, track in motion(time).items():
            tracks.setdefault(bone, []).append((10.0 * time / seconds, *track))
    for bone, keys in tracks.items():
        turns = [(time, performer.basis_turn(bone, animation.character_turn(*turn))) for time, turn, _ in keys]
        performer.rotate(bone, turns)
        if any(any(shift) for *_, shift in keys):
            performer.key(
                bone, "location", [(time, tuple(performer.basis_shift(bone, Vector(shift)))) for time, _, shift in keys]
            )
    return action


def light(scene: bpy.types.Scene) -> None:
    human = load("assets.demo.human")
    human.add_ground(scene)
    human.add_light(scene)


def ball(scene: bpy.types.Scene, place: tuple[float, float, float]) -> bpy.types.Object:
    """A ball that hangs still."""
    thing, bird = load("assets.demo.targets").add_targets(scene)
    bpy.data.objects.remove(bird)
    thing.animation_data_clear()
    thing.location = place
    return thing


def select_bones(rig: bpy.types.Object, names: Sequence[str]) -> None:
    """Select these bones and no others in pose mode; the first is active."""
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    rig.data.bones.active = rig.data.bones[names[0]]


def select(rig: bpy.types.Object) -> None:
    for item in bpy.context.view_layer.objects:
        item.select_set(item == rig)
    bpy.context.view_layer.objects.active = rig


@contextmanager
def looking(scene: bpy.types.Scene, rig: bpy.types.Object, target: bpy.types.Object, settings: dict) -> Iterator[None]:
    """The character looks at the target with these settings of its look-at, live, and no longer afterwards."""
    select(rig)
    bpy.ops.lookat_pd.add(target=target.name)
    bone = load("rig.look_at.resolve").find_head(rig)
    settle(rig, settings)
    load("rig.layers.live").finish(scene)
    yield
    bpy.ops.lookat_pd.remove(bone=bone)


def looks(
    scene: bpy.types.Scene, rig: bpy.types.Object, target: bpy.types.Object
) -> Iterator[tuple[str, Array, Array, Array]]:
    """The character looks at the target as in a file of an earlier version, then as by default; yields before or after,
    and what `heads` has, while the rig shows it."""
    for label, settings in (("before", EARLIER), ("after", {})):
        with looking(scene, rig, target, settings):
            yield label, *heads(scene, rig, places=[HEAD])


def settle(rig: bpy.types.Object, settings: dict) -> None:
    """Give the look-at of the head settings."""
    bone = load("rig.look_at.resolve").find_head(rig)
    for name, value in settings.items():
        setattr(rig.pose.bones[bone].lookat_pd, name, value)


def heads(
    scene: bpy.types.Scene, rig: bpy.types.Object, bone: str = HEAD, places: Sequence[str] = EYES
) -> tuple[Array, Array, Array]:
    """Times [s], where the look starts (n, 3), in the middle of some bones, and the turn of a bone in the world (n, 4)
    at every frame: as the viewport shows it, without asking the extension."""
    starts, turns = [], []
    rest = (rig.data.bones[bone].matrix_local).to_quaternion()
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found = [seen.matrix_world @ seen.pose.bones[name].head for name in places]
        starts.append(sum(found, Vector()) / len(found))
        turns.append((seen.matrix_world @ seen.pose.bones[bone].matrix).to_quaternion() @ rest.inverted())
    return np.arange(len(starts)) / FPS, np.array(starts), np.array([tuple(turn) for turn in turns])


def aim_error(places: Array, turns: Sequence[Array], target: tuple[float, float, float] | Array) -> Array:
    """Angle between where the face points, or both eyes in the mean, and the target, as seen from the places
    [degrees]."""
    towards = rotation.normalize(np.asarray(target) - places)
    aims = sum(rotation.rotate(turn, np.array((0.0, -1.0, 0.0))) for turn in turns)
    return np.degrees(rotation.angle_between(towards, rotation.normalize(aims)))


def pitch(turns: Array) -> Array:
    """How far the face looks up in the world [degrees]."""
    return np.degrees(np.arcsin(np.clip(rotation.rotate(turns, np.array((0.0, -1.0, 0.0)))[:, 2], -1.0, 1.0)))


def roll(turns: Array) -> Array:
    """How far the head leans to a side, against the world's vertical [degrees]."""
    return np.degrees(np.arcsin(np.clip(rotation.rotate(turns, np.array((1.0, 0.0, 0.0)))[:, 2], -1.0, 1.0)))


def swing(time: float, hertz: float, amount: float, phase: float = 0.0) -> float:
    return amount * sin(2.0 * pi * (hertz * time + phase))


__all__ = ["FPS", "Motion", "aim_error", "ball", "character", "cos", "heads", "light", "pitch", "radians", "roll"]
