"""How look-ats with default settings hold a still target while the character moves, on clips of other makers.

Every clip of a file looks at a point of the world, 35 degrees to the left of where the head is in the first frame and
at its height. The baked rig is measured at every frame, in the world.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from lookat_pd import rotation
from lookat_pd.progress import drain
from lookat_pd.rotation import Array
from standalone import load
from tools.figures import pages
from tools.figures import rigs as files

bake, bake_options, edit, look_at = (
    load(f"rig.{name}")
    for name in ("look_at.look_at_bake", "animation.bake_options", "look_at.edit", "look_at.resolve")
)
eye_origin, stance, scene_time = (
    load("rig.look_at.eye_origin"),
    load("rig.detection.stance"),
    load("rig.sampling.scene_time"),
)
limbs, layers = load("rig.detection.limbs"), load("rig.look_at.body.layers")
cycles = load("rig.animation.cycles")

SETTLED = 0.6
"""Seconds after which a target that has come into reach counts."""
ASIDE, AWAY = np.radians(35.0), 2.5
"""Where the target is: aside of the head, and how many heights of the skeleton away."""
UPRIGHT = np.radians(60.0)
"""Lean [rad] of an animated head up to which its roll is measured. Of one that lies or hangs it says nothing:
a turn to a side is one about a level axis."""
FAST = np.radians(360.0)
"""Angular speed [rad/s] at which the direction to the target passes the animated head faster than a neck follows."""
HEAD = pages.head(
    "clip", "frames", "in reach", "head: median", "90 %", "largest (frame)", "faster than a neck", "eyes: largest",
    "pitch: clip, baked, asked", "roll added",
)  # fmt: skip
CYCLES = pages.head("cycle", "frames", "bones", "gap of the clip", "gap as baked", "largest increase (bone)")
HEADS = HEAD, CYCLES


@dataclass(frozen=True)
class Poses:
    """A head in the world at every frame."""

    aim: Array
    """(F, 3) unit axes."""
    right: Array
    """(F, 3) unit axes."""
    eye: Array
    """(F, 3) where the aim starts."""

    @classmethod
    def of(cls, rig: bpy.types.Object, one: Any, frames: Sequence[int]) -> "Poses":
        chain = one.chain
        worlds = files.evaluated(
            rig, frames, lambda seen: np.array(seen.matrix_world @ seen.pose.bones[one.bone].matrix)
        )
        matrices = np.array(worlds)
        turns = rotation.from_matrix(matrices[:, :3, :3])
        size = np.linalg.norm(matrices[:, :3, :3], axis=-2).mean(axis=-1)
        eye = chain.eye(turns, matrices[:, :3, 3], size)
        return cls(rotation.rotate(turns, chain.forward[0]), rotation.rotate(turns, chain.right[0]), eye)

    @property
    def pitch(self) -> Array:
        """(F,) [rad] above the horizontal."""
        return np.arcsin(np.clip(self.aim[:, 2], -1.0, 1.0))

    @property
    def lean(self) -> Array:
        """(F,) [rad] of the head from upright to any side."""
        return rotation.angle_between(np.cross(self.right, self.aim), np.array((0.0, 0.0, 1.0)))

    @property
    def roll(self) -> Array:
        """(F,) [rad] of the head in the world; nan near straight up and down."""
        level = np.cross(self.aim, (0.0, 0.0, 1.0))
        level /= np.maximum(np.linalg.norm(level, axis=-1, keepdims=True), 1e-9)
        up = np.cross(level, self.aim)
        found = np.arctan2(np.sum(self.right * up, axis=-1), np.sum(self.right * level, axis=-1))
        return np.where(np.abs(self.aim[:, 2]) < np.sin(np.radians(75.0)), found, np.nan)


def measured(rig: bpy.types.Object, clip: str, first: int, last: int) -> Iterator[files.Line]:
    """The rows of a clip, the second where it is a cycle."""
    bone, frames, scene = look_at.find_head(rig), range(first, last + 1), bpy.context.scene
    data = rig.animation_data
    is_cycle = cycles.ends_meet(data.action, data.action_slot, first, last)
    target = bpy.data.objects.new("Target", None)
    scene.collection.objects.link(target)
    with files.restored(rig):
        edit.add(scene, rig, bone, target)
        settings = rig.pose.bones[bone].lookat_pd
        one = look_at.resolve(rig, bone)
        settings.mute = True
        animated = Poses.of(rig, one, frames)
        size = float(np.linalg.norm(np.ptp(stance.skeleton(rig).heads, axis=0))) * float(
            np.mean(rig.matrix_world.to_scale())
        )
        level = animated.aim[0] * (1.0, 1.0, 0.0)
        level = level / np.linalg.norm(level) if np.linalg.norm(level) > 0.1 else np.array([0.0, -1.0, 0.0])
        there = animated.eye[0] + AWAY * size * rotation.rotate(rotation.about((0.0, 0.0, 1.0), ASIDE), level)
        target.location = there.tolist()
        settings.mute = False
        (result,) = drain(bake.bake(scene, [look_at.resolve(rig, bone)], bake_options.BakeOptions(first, last, "NEW")))
        baked = Poses.of(rig, one, frames)
        edit.remove(rig, bone)
        eyes = "-" if not limbs.find_eyes(rig) else with_eyes(rig, bone, target, first, last)
    yield HEAD, line(clip, result, animated, baked, there, eyes)
    if is_cycle:
        with files.restored(rig):
            yield CYCLES, cycle(rig, clip, target, first, last)
    bpy.data.objects.remove(target)


def cycle(rig: bpy.types.Object, clip: str, target: bpy.types.Object, first: int, last: int) -> str:
    """A row of a cycle with all layers of body and eyes: how far bones are at its end from where they begin."""
    scene, bone = bpy.context.scene, look_at.find_head(rig)
    own = gaps(rig, first, last)
    edit.add(scene, rig, bone, target)
    layers.switch_on(rig.pose.bones[bone].lookat_pd, tuple(layers.LAYERS))
    drain(bake.bake(scene, [look_at.resolve(rig, bone)], bake_options.BakeOptions(first, last, "NEW")))
    baked = gaps(rig, first, last)
    edit.remove(rig, bone)
    worst = int(np.argmax(baked - own))
    increase = f"{(baked - own)[worst]:.4f}° ({rig.pose.bones[worst].name})"
    return pages.row(clip, last - first + 1, len(own), f"{own.max():.3f}°", f"{baked.max():.3f}°", increase)


def gaps(rig: bpy.types.Object, first: int, last: int) -> Array:
    """Angles (b,) [deg] of all bones between two frames, in the space of the armature."""
    poses = files.evaluated(rig, (first, last), lambda seen: np.array([bone.matrix for bone in seen.pose.bones]))
    turns = rotation.from_matrix(np.array(poses)[..., :3, :3])
    return np.degrees(rotation.distance(turns[0], turns[1]))


def with_eyes(rig: bpy.types.Object, bone: str, target: bpy.types.Object, first: int, last: int) -> str:
    """The largest error of the gaze with eyes."""
    scene = bpy.context.scene
    edit.add(scene, rig, bone, target)
    rig.pose.bones[bone].lookat_pd.eyes.use = True
    (result,) = drain(bake.bake(scene, [look_at.resolve(rig, bone)], bake_options.BakeOptions(first, last, "NEW")))
    edit.remove(rig, bone)
    error = result.response.gaze.error[arrived(result.solution) & np.isfinite(result.response.gaze.error)]
    return f"{np.degrees(error.max()):.2f}°" if len(error) else "-"


def arrived(solution: Any) -> Array:
    """The frames (F,) at which the target has been in reach for as long as a turn takes, or since the beginning."""
    within = (solution.looked_at >= 0) & solution.reachable
    window = round(SETTLED / scene_time.seconds_per_frame(bpy.context.scene))
    lacking = np.cumsum(~within)
    before = np.concatenate((np.zeros(window), lacking))[: len(lacking)]
    return within & (lacking == before)


def line(clip: str, result: Any, animated: Poses, baked: Poses, there: Array, eyes: str) -> str:
    solution = result.solution
    looks, chosen = solution.looked_at >= 0, np.flatnonzero(arrived(solution))
    way = there - animated.eye
    asked = np.arcsin(way[:, 2] / np.linalg.norm(way, axis=-1))
    added = np.degrees(np.angle(np.exp(1j * (baked.roll - animated.roll))))
    upright = animated.lean <= UPRIGHT
    roll = ", lying ".join(most(added[frames]) for frames in (upright, ~upright) if frames.any())
    roll = f"lying {roll}" if not upright.any() else roll
    share = f"{np.mean(solution.reachable[looks]):.0%}" if looks.any() else "0%"
    if not len(chosen):
        return pages.row(clip, 0, share, "-", "-", "-", "-", eyes, "-", roll)
    error = np.degrees(rotation.angle_between(baked.aim, there - baked.eye))[chosen]
    worst = chosen[np.argmax(error)]
    pitches = ", ".join(f"{np.degrees(np.ptp(p[chosen])):.0f}°" for p in (animated.pitch, baked.pitch, asked))
    speed = np.append(0.0, passing(animated, way)) / scene_time.seconds_per_frame(bpy.context.scene)
    fast = [str(result.frames[k]) for k in chosen if speed[k] > FAST]
    named = f"{len(fast)} ({fast[0]} to {fast[-1]})" if fast else "0"
    largest = f"{error.max():.1f}° ({result.frames[worst]})"
    figures = f"{np.median(error):.2f}°", f"{np.percentile(error, 90):.2f}°", largest
    return pages.row(clip, len(chosen), share, *figures, named, eyes, pitches, roll)


def most(angles: Array) -> str:
    """The largest of angles [degrees] that are defined."""
    return f"{np.nanmax(np.abs(angles)):.0f}°" if np.isfinite(angles).any() else "-"


def passing(animated: Poses, way: Array) -> Array:
    """By how much (F - 1,) [rad] the direction to the target turns as seen from the animated head."""
    above = np.cross(animated.right, animated.aim)
    axes = np.stack((animated.aim, animated.right, above), axis=1)
    local = np.einsum("fij,fj->fi", axes, way / np.linalg.norm(way, axis=-1, keepdims=True))
    return rotation.angle_between(local[1:], local[:-1])


def lines(names: Sequence[str]) -> Iterator[files.Line]:
    for file, rig in files.opened(names):
        files.hide_meshes()
        for clip, first, last in files.clips_of(rig):
            if clip != "rest pose":
                yield from measured(rig, f"{Path(file).stem}: {clip}", first, last)
