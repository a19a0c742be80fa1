"""Look-ats with default settings on rigs of other makers.

Every clip of a file, or the rest pose, looks straight ahead and 75 degrees to both sides. Feet are compared with the
animation at every frame, in millimetres at the height of a person.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np

from lookat_pd import rotation
from lookat_pd.progress import drain
from lookat_pd.rotation import Array
from standalone import load
from tools.figures import pages
from tools.figures import rigs as files

bake, bake_options, edit, limbs, look_at = (
    load(f"rig.{name}")
    for name in ("look_at.look_at_bake", "animation.bake_options", "look_at.edit", "detection.limbs", "look_at.resolve")
)
rest, stance = load("rig.detection.rest"), load("rig.detection.stance")

SIDES = (0.0, 75.0, -75.0)
LOW, STANDS = 0.05, 0.5
"""Of the length of a leg: a foot counts as planted where it is at most so high, because the ground moves under clips on
the spot, and its hip joint at least so much higher, because who lies stands on nothing."""
HEAD = pages.head("rig", "clips", "axes off", "confidence", "aim error", "planted feet [mm]", "other feet [mm]")
HEADS = (HEAD,)


@dataclass
class Row:
    """What was measured of a file."""

    name: str
    error: float = 0.0
    """Errors [°] of forward and up."""
    confidence: float = 0.0
    clips: int = 0
    aim: float = 0.0
    """Largest settled error [°]."""
    planted: tuple[float, str] = (0.0, "")
    lifted: tuple[float, str] = (0.0, "")
    """Largest distances [mm] of feet from the animation, with the clip, the side and the foot."""
    legs: int = 0
    notes: set[str] = field(default_factory=set)


def axis(name: str) -> Array:
    return (-1.0 if name[0] == "-" else 1.0) * np.eye(3)["XYZ".index(name[-1])]


def feet_of(rig: bpy.types.Object) -> dict[str, tuple[str, float]]:
    """The deforming bones of feet and toes, each with the bone where its leg begins, and its length in the world."""
    feet = {}
    scale = float(np.abs(np.array(rig.matrix_world.to_scale())).mean())
    heads = {bone.name: np.array(bone.head_local) for bone in rig.data.bones}
    for leg in limbs.find_legs(rig):
        points = [heads[name] for name in (leg.upper, leg.lower, leg.foot)]
        length = scale * sum(float(np.linalg.norm(b - a)) for a, b in pairwise(points))
        for name in (leg.shown or leg.foot, leg.toe):
            if name:
                feet[deforming(rig, name)] = leg.upper, length
    return feet


def deforming(rig: bpy.types.Object, control: str) -> str:
    """The bone that deforms where a control of a generated rig is."""
    name = "DEF-" + control.replace("_fk", "")
    return name if name in rig.data.bones else control


def target_at(rig: bpy.types.Object, degrees: float) -> bpy.types.Object:
    """An empty at this angle to the left of the character at rest, at the height of its head, three heights away."""
    stand = stance.of(rig)
    skeleton, forward, up = rest.skeleton(rig), stand.axes.forward, stand.axes.up
    head = skeleton.heads[skeleton.index(look_at.find_head(rig))]
    size = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0)))
    there = head + 3.0 * size * rotation.rotate(rotation.about(up, np.radians(degrees)), forward)
    world = np.array(rig.matrix_world)
    item = bpy.data.objects.new("Target", None)
    item.location = world[:3, :3] @ there + world[:3, 3]
    bpy.context.scene.collection.objects.link(item)
    return item


def measure(rig: bpy.types.Object, row: Row, truth: tuple[str, str]) -> None:
    axes = stance.of(rig).axes
    row.confidence = axes.confidence
    off = [rotation.angle_between(v, axis(name)) for v, name in zip((axes.forward, axes.up), truth, strict=True)]
    row.error = float(np.degrees(max(off)))
    files.hide_meshes()
    skeleton = rest.skeleton(rig)
    scale = float(np.abs(np.array(rig.matrix_world.to_scale())).mean())
    points = np.concatenate((skeleton.heads, skeleton.tails)) if len(skeleton) < 200 else skeleton.heads
    to_person = 1000.0 * files.PERSON / (scale * float(np.ptp(points @ axes.up)))
    by_foot = feet_of(rig)
    feet, hips = list(by_foot), [hip for hip, _ in by_foot.values()]
    lengths, row.legs = np.array([length for _, length in by_foot.values()]), len(limbs.find_legs(rig))
    bone = look_at.find_head(rig)
    for clip, first, last in files.clips_of(rig):
        row.clips += 1
        frames = range(first, last + 1)
        animated = files.places(rig, [*feet, *hips], frames)
        hip, animated = animated[:, len(feet) :], animated[:, : len(feet)]
        low = planted(animated, hip, lengths)
        for degrees in SIDES:
            target = target_at(rig, degrees)
            with files.restored(rig):
                edit.add(bpy.context.scene, rig, bone, target)
                options = bake_options.BakeOptions(first, last, "NEW")
                (result,) = drain(bake.bake(bpy.context.scene, [look_at.resolve(rig, bone)], options))
                row.notes |= {str(note) for note in result.notes}
                if np.isfinite(result.settled_error):
                    row.aim = max(row.aim, float(np.degrees(result.settled_error)))
                drift = to_person * np.linalg.norm(files.places(rig, feet, frames) - animated, axis=-1)
                for name, mask in (("planted", low), ("lifted", ~low)):
                    if mask.any():
                        worst = np.unravel_index(int(np.argmax(np.where(mask, drift, -1.0))), drift.shape)
                        text = f"{clip}, {degrees:g}°, {feet[worst[1]]}, frame {frames[worst[0]]}"
                        setattr(row, name, max(getattr(row, name), (float(drift[worst]), text)))
                edit.remove(rig, bone)
            bpy.data.objects.remove(target)


def planted(animated: Array, hip: Array, lengths: Array) -> Array:
    """Where (F, k) feet are low, and below legs that stand. animated, hip: (F, k, 3); lengths: (k,) of the legs."""
    ground = animated[..., 2].min() if animated.size else 0.0
    lowest = np.minimum(animated[..., 2].min(axis=0), ground + 0.1 * lengths)
    return (animated[..., 2] - lowest < LOW * lengths) & (hip[..., 2] - animated[..., 2] > STANDS * lengths)


def line(row: Row) -> str:
    said = f"{row.confidence:.2f}" + (", noted" if any("uncertain" in note for note in row.notes) else "")
    feet = [f"{worst:.2f} ({text})" if worst >= 0.05 else f"{worst:.2f}" for worst, text in (row.planted, row.lifted)]
    feet = feet if row.legs else ["-", "-"]
    return f"| {row.name} | {row.clips} | {row.error:.1f}° | {said} | {row.aim:.2f}° | {feet[0]} | {feet[1]} |"


def lines(names: Sequence[str]) -> Iterator[files.Line]:
    for file, rig in files.opened(names):
        row = Row(Path(file).name)
        measure(rig, row, files.AXES[file])
        yield HEAD, line(row)
        for note in sorted(row.notes):
            yield "", note
