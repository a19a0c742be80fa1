"""Writes the table of docs/rigs-measured.md: look-ats with default settings on rigs of other makers.

    LOOKAT_PD_RIGS=FOLDER python docs/rigs_measured.py [NAME]...    the rows whose file contains one of the names

Every clip of a file, or the rest pose, looks straight ahead and 75 degrees to both sides. Feet are compared with the
animation at every frame, in millimetres at the height of a person.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from standalone import load  # noqa: E402

load().register()

from lookat_pd import rotation  # noqa: E402
from lookat_pd.rotation import Array  # noqa: E402

actions, bake, bake_options = (
    load(f"rig.{name}") for name in ("animation.actions", "look_at.bake", "animation.bake_options")
)
edit, limbs, look_at, rest = (
    load(f"rig.{name}") for name in ("look_at.edit", "detection.limbs", "look_at.resolve", "detection.rest")
)
stance = load("rig.detection.stance")

PAGE = ROOT / "docs" / "rigs-measured.md"
PERSON = 1.75
"""The height [m] to which all characters are scaled in the table."""
SIDES = (0.0, 75.0, -75.0)
LONGEST = 150
"""Frames of a clip that are measured."""
LOW, STANDS = 0.05, 0.5
"""Of the length of a leg: a foot counts as planted where it is at most so high, because the ground moves under clips on
the spot, and its hip joint at least so much higher, because who lies stands on nothing."""
FILES: dict[str, tuple[str, str]] = {
    "blend/m2m_human_ymca_2025.blend": ("-Y", "Z"),
    "blend/rig-kaiju.blend": ("-Y", "Z"),
    "bvh/cmu_131_01_start_walk_stop.bvh": ("-Y", "Z"),
    "bvh/cmu_131_02_start_walk_stop.bvh": ("-Y", "Z"),
    "bvh/fair1_dab.bvh": ("-Y", "Z"),
    "bvh/fair1_zombie.bvh": ("-Y", "Z"),
    "fbx/cmu_91_48.fbx": ("-Y", "Z"),
    "fbx/cmu_91_50.fbx": ("-Y", "Z"),
    "gltf/godot_platformer_robot.glb": ("-Y", "Z"),
    "gltf/kaykit_knight.glb": ("-Y", "Z"),
    "gltf/khronos_fox.glb": ("-Y", "Z"),
    "gltf/m2m_snake.glb": ("-Y", "Z"),
    "gltf/robot_expressive.glb": ("-Z", "-Y"),
    "vrm/cryptovoxels.vrm": ("Y", "Z"),
}
"""File to its true forward and up in the armature's space."""
DEMO = "generated Rigify human"
HEAD = """| rig | clips | axes off | confidence | aim error | planted feet [mm] | other feet [mm] |
|---|---|---|---|---|---|---|
"""


@dataclass
class Row:
    """What was measured of a file. error: [°] of forward and up. aim: largest settled error [°]. planted, lifted:
    largest distances [mm] of feet from the animation, with the clip, the side and the foot."""

    name: str
    error: float = 0.0
    confidence: float = 0.0
    clips: int = 0
    aim: float = 0.0
    planted: tuple[float, str] = (0.0, "")
    lifted: tuple[float, str] = (0.0, "")
    legs: int = 0
    notes: set[str] = field(default_factory=set)


def axis(name: str) -> Array:
    return (-1.0 if name[0] == "-" else 1.0) * np.eye(3)["XYZ".index(name[-1])]


def open_rig(path: Path) -> bpy.types.Object:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 30
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    elif path.suffix == ".fbx":
        bpy.ops.wm.fbx_import(filepath=str(path))
    elif path.suffix == ".bvh":
        upright = {"axis_forward": "Y", "axis_up": "Z"} if path.name.startswith("fair1") else {}
        bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True, **upright)
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
    return next(item for item in bpy.context.scene.objects if item.type == "ARMATURE")


def open_demo() -> bpy.types.Object:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    load("assets.demo.human").build_scene()
    rig = bpy.data.objects["Human"]
    for bone in list(look_at.bones_with_look_at(rig)):
        edit.remove(rig, bone)
    return rig


def clips_of(rig: bpy.types.Object) -> Iterator[tuple[str, int, int]]:
    """Have the armature play each of its clips: name, first and last frame; once nothing, if it has none."""
    found = [a for a in bpy.data.actions if any(s.target_id_type == "OBJECT" for s in a.slots) and moves(rig, a)]
    data = rig.animation_data
    if not found or data is None:
        yield "rest pose", 1, 60
        return
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)
    for clip in sorted(found, key=lambda clip: clip.name):
        if data.action is not None:
            data.action = None
        for bone in rig.pose.bones:
            bone.matrix_basis.identity()
        data.action = clip
        data.action_slot = next(slot for slot in clip.slots if slot.target_id_type == "OBJECT")
        first, last = (round(frame) for frame in clip.frame_range)
        yield clip.name, first, max(min(last, first + LONGEST), first + 2)


def moves(rig: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether an action has curves of this armature's bones."""
    slot = next(slot for slot in action.slots if slot.target_id_type == "OBJECT")
    paths = {curve.data_path for curve in actions.curves(action, slot)}
    return any(actions.rotation_path(b.name, b.rotation_mode) in paths for b in rig.pose.bones)


def feet_of(rig: bpy.types.Object) -> dict[str, tuple[str, float]]:
    """The deforming bones of feet and toes, each with the bone where its leg begins, and its length in the world."""
    found = {}
    scale = float(np.abs(np.array(rig.matrix_world.to_scale())).mean())
    heads = {bone.name: np.array(bone.head_local) for bone in rig.data.bones}
    for leg in limbs.find_legs(rig):
        points = [heads[name] for name in (leg.upper, leg.lower, leg.foot)]
        length = scale * sum(float(np.linalg.norm(b - a)) for a, b in pairwise(points))
        for name in (leg.shown or leg.foot, leg.toe):
            if name:
                found[deforming(rig, name)] = leg.upper, length
    return found


def deforming(rig: bpy.types.Object, control: str) -> str:
    """The bone that deforms where a control of a generated rig is."""
    name = "DEF-" + control.replace("_fk", "")
    return name if name in rig.data.bones else control


def places(rig: bpy.types.Object, feet: Sequence[str], frames: range) -> Array:
    """Positions (F, k, 3) of bones in the world."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(seen.matrix_world @ seen.pose.bones[name].head) for name in feet])
    return np.array(found).reshape(len(frames), len(feet), 3)


def target_at(rig: bpy.types.Object, degrees: float) -> bpy.types.Object:
    """An empty at this angle to the left of the character at rest, at the height of its head, three heights away."""
    found = stance.of(rig)
    skeleton, forward, up = rest.skeleton(rig), found.axes.forward, found.axes.up
    head = skeleton.heads[skeleton.index(look_at.find_head(rig))]
    size = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0)))
    there = head + 3.0 * size * rotation.rotate(rotation.about(up, np.radians(degrees)), forward)
    world = np.array(rig.matrix_world)
    item = bpy.data.objects.new("Target", None)
    item.location = world[:3, :3] @ there + world[:3, 3]
    bpy.context.scene.collection.objects.link(item)
    return item


def run(steps):
    """What a generator returns."""
    try:
        while True:
            next(steps)
    except StopIteration as ended:
        return ended.value


def measure(rig: bpy.types.Object, row: Row, truth: tuple[str, str]) -> None:
    axes = stance.of(rig).axes
    row.confidence = axes.confidence
    off = [rotation.angle_between(v, axis(name)) for v, name in zip((axes.forward, axes.up), truth, strict=True)]
    row.error = float(np.degrees(max(off)))
    for item in bpy.data.objects:
        item.hide_viewport = item.hide_viewport or item.type == "MESH"
    skeleton = rest.skeleton(rig)
    scale = float(np.abs(np.array(rig.matrix_world.to_scale())).mean())
    points = np.concatenate((skeleton.heads, skeleton.tails)) if len(skeleton) < 200 else skeleton.heads
    to_person = 1000.0 * PERSON / (scale * float(np.ptp(points @ axes.up)))
    found = feet_of(rig)
    feet, hips = list(found), [hip for hip, _ in found.values()]
    lengths, row.legs = np.array([length for _, length in found.values()]), len(limbs.find_legs(rig))
    bone = look_at.find_head(rig)
    for clip, first, last in clips_of(rig):
        row.clips += 1
        frames, plain = range(first, last + 1), rig.animation_data.action if rig.animation_data else None
        poses = {pose_bone.name: pose_bone.matrix_basis.copy() for pose_bone in rig.pose.bones}
        animated = places(rig, [*feet, *hips], frames)
        hip, animated = animated[:, len(feet) :], animated[:, : len(feet)]
        low = planted(animated, hip, lengths)
        for degrees in SIDES:
            target = target_at(rig, degrees)
            edit.add(bpy.context.scene, rig, bone, target)
            options = bake_options.BakeOptions(first, last, "NEW")
            (result,) = run(bake.bake(bpy.context.scene, [look_at.resolve(rig, bone)], options))
            row.notes |= {str(note) for note in result.notes}
            if np.isfinite(result.settled_error):
                row.aim = max(row.aim, float(np.degrees(result.settled_error)))
            drift = to_person * np.linalg.norm(places(rig, feet, frames) - animated, axis=-1)
            for name, mask in (("planted", low), ("lifted", ~low)):
                if mask.any():
                    worst = np.unravel_index(int(np.argmax(np.where(mask, drift, -1.0))), drift.shape)
                    text = f"{clip}, {degrees:g}°, {feet[worst[1]]}, frame {frames[worst[0]]}"
                    setattr(row, name, max(getattr(row, name), (float(drift[worst]), text)))
            edit.remove(rig, bone)
            if rig.animation_data:
                rig.animation_data.action = plain
                if plain is not None:
                    rig.animation_data.action_slot = next(s for s in plain.slots if s.target_id_type == "OBJECT")
            bpy.data.actions.remove(result.action)
            bpy.data.objects.remove(target)
            for pose_bone in rig.pose.bones:
                pose_bone.matrix_basis = poses[pose_bone.name]


def planted(animated: Array, hip: Array, lengths: Array) -> Array:
    """Where (F, k) feet are low, and below legs that stand. animated, hip: (F, k, 3); lengths: (k,) of the legs."""
    ground = animated[..., 2].min() if animated.size else 0.0
    lowest = np.minimum(animated[..., 2].min(axis=0), ground + 0.1 * lengths)
    return (animated[..., 2] - lowest < LOW * lengths) & (hip[..., 2] - animated[..., 2] > STANDS * lengths)


def line(row: Row) -> str:
    said = f"{row.confidence:.2f}" + (", noted" if any("uncertain" in note for note in row.notes) else "")
    feet = [f"{worst:.2f} ({text})" if worst >= 0.05 else f"{worst:.2f}" for worst, text in (row.planted, row.lifted)]
    feet = feet if row.legs else ["-", "-"]
    return f"| {row.name} | {row.clips} | {row.error:.1f}° | {said} | {row.aim:.2f}° | {feet[0]} | {feet[1]} |\n"


def main(names: Sequence[str], log) -> None:
    folder = Path(os.environ["LOOKAT_PD_RIGS"])
    rows = []
    for file, truth in {DEMO: ("-Y", "Z"), **FILES}.items():
        if names and not any(name in file for name in names):
            continue
        rig = open_demo() if file == DEMO else open_rig(folder / file)
        row = Row(Path(file).name)
        measure(rig, row, truth)
        rows.append(line(row))
        log.write(rows[-1] + "".join(f"    {note}\n" for note in row.notes))
        log.flush()
    if not names:
        page = PAGE.read_text("utf-8")
        PAGE.write_text(re.sub(r"(?:^\|.*\n)+", lambda _: HEAD + "".join(rows), page, flags=re.MULTILINE), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:], sys.stderr)
    os._exit(0)
