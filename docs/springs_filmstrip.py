"""What docs/springs.md shows: a run, a jump and a turn of the head, bare and with springs, docs/images/springs.png.

    python docs/springs_filmstrip.py

A figure with a tail, long hair and an antenna, each with its preset, seen from its left; capsules along its back, its
head and its thighs are colliders. Prints how far each chain swings, how often it swings past, how long it takes to come
to rest, how much it shivers then, and how deep it comes into the body.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from collections.abc import Callable  # noqa: E402
from itertools import pairwise  # noqa: E402
from typing import Any  # noqa: E402

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from standalone import load  # noqa: E402
from tools.figures.plots import describe, plt, run, save  # noqa: E402

FPS, MOMENTS = 24, 12
BARE, SWUNG = "#8a8a8a", "#0072b2"
BODY = {
    "hips": ("", (0.0, 0.0, 0.95), (0.0, 0.0, 1.1)),
    "chest": ("hips", (0.0, 0.0, 1.1), (0.0, 0.0, 1.45)),
    "head": ("chest", (0.0, 0.0, 1.45), (0.0, 0.0, 1.72)),
    "thigh.L": ("hips", (0.1, 0.0, 0.95), (0.1, -0.02, 0.5)),
    "shin.L": ("thigh.L", (0.1, -0.02, 0.5), (0.1, 0.0, 0.05)),
    "thigh.R": ("hips", (-0.1, 0.0, 0.95), (-0.1, -0.02, 0.5)),
    "shin.R": ("thigh.R", (-0.1, -0.02, 0.5), (-0.1, 0.0, 0.05)),
}
CHAINS = {
    "tail": ("CAT_TAIL", "hips", [(0.0, 0.1 + 0.14 * n, 0.98 + 0.05 * n) for n in range(6)]),
    "hair": ("LONG_HAIR", "head", [(0.0, 0.12 + 0.02 * n, 1.68 - 0.12 * n) for n in range(5)]),
    "antenna": ("ANTENNA", "head", [(0.0, -0.02 - 0.03 * n, 1.74 + 0.1 * n) for n in range(4)]),
}
RADII = {"chest": 0.09, "hips": 0.09, "head": 0.09, "thigh.L": 0.06, "thigh.R": 0.06}
Motion = Callable[[bpy.types.Object], float]
SETTLED = 3.0
"""Seconds after a motion in which everything comes to rest."""


def figure() -> bpy.types.Object:
    data = bpy.data.armatures.new("Figure")
    armature = bpy.data.objects.new("Figure", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    rows = dict(BODY)
    for chain, (_, above, points) in CHAINS.items():
        for n, (begin, end) in enumerate(pairwise(points)):
            rows[f"{chain}.{n}"] = (above if n == 0 else f"{chain}.{n - 1}", begin, end)
    for name, (above, begin, end) in rows.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = begin, end
        bone.parent = data.edit_bones[above] if above else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in armature.pose.bones:
        bone.rotation_mode = "XYZ"
    for name, radius in RADII.items():
        own = armature.pose.bones[name].lookat_pd_collider
        own.exists, own.radius = True, radius
    return armature


def key(armature: bpy.types.Object, frame: float, turns: dict[str, tuple], place: tuple) -> None:
    """Turns [degrees] about the bones' own axes."""
    for name, turn in turns.items():
        bone = armature.pose.bones[name]
        bone.rotation_euler = np.radians(turn)
        bone.keyframe_insert("rotation_euler", frame=frame)
    armature.location = place
    armature.keyframe_insert("location", frame=frame)


def runs(armature: bpy.types.Object) -> float:
    """Runs for two seconds at 3.2 m/s, then stands. Returns when it stands [s]."""
    for frame in range(1, 50, 2):
        time = (frame - 1) / FPS
        way = 3.2 * (time - 0.3 * (1.0 - np.exp(-time / 0.3)))
        side, bob = np.sin(2.0 * np.pi * 1.35 * time), np.sin(4.0 * np.pi * 1.35 * time)
        legs = {f"thigh.{letter}": (40.0 * sign * side, 0.0, 0.0) for letter, sign in (("L", 1.0), ("R", -1.0))}
        shins = {f"shin.{letter}": (-35.0 + 30.0 * sign * side, 0.0, 0.0) for letter, sign in (("L", 1.0), ("R", -1.0))}
        sway = {"hips": (0.0, 10.0 * side, 5.0 * side), "chest": (10.0, -14.0 * side, -5.0 * side)}
        key(armature, frame, {**legs, **shins, **sway}, (0.0, -way, 0.035 * bob))
    key(
        armature,
        62,
        dict.fromkeys(("thigh.L", "thigh.R", "shin.L", "shin.R", "hips", "chest"), (0, 0, 0)),
        (0, -way - 0.6, 0),
    )
    return 61 / FPS


def jumps(armature: bpy.types.Object) -> float:
    """Crouches, jumps 0.5 m high and lands."""
    bent = {"thigh.L": (50, 0, 0), "thigh.R": (50, 0, 0), "shin.L": (-90, 0, 0), "shin.R": (-90, 0, 0)}
    stretched = dict.fromkeys(bent, (0, 0, 0))
    key(armature, 1, stretched, (0, 0, 0))
    key(armature, 12, bent, (0, 0, -0.25))
    key(armature, 16, stretched, (0, 0, 0))
    flight = 0.64
    for n in range(1, 8):
        time = flight * n / 8.0
        key(armature, 16 + time * FPS, stretched, (0, 0, 0.5 * 9.81 * time * (flight - time)))
    key(armature, 16 + flight * FPS, stretched, (0, 0, 0))
    key(armature, 36, bent, (0, 0, -0.2))
    key(armature, 46, stretched, (0, 0, 0))
    return 45 / FPS


def turns(armature: bpy.types.Object) -> float:
    """Looks 70 degrees aside within 0.35 s, and back a second later."""
    for frame, yaw in ((1, 0), (8, 0), (16, 70), (40, 70), (48, 0)):
        key(armature, frame, {"head": (0, yaw, 0), "chest": (0, 0.3 * yaw, 0)}, (0, 0, 0))
    return 47 / FPS


def seen(armature: bpy.types.Object, last: int) -> dict[str, np.ndarray]:
    """(F, 2, 3) begin and end of each bone in the world."""
    scene, found = bpy.context.scene, {bone.name: [] for bone in armature.pose.bones}
    for frame in range(1, last + 1):
        scene.frame_set(frame)
        posed = armature.evaluated_get(scene.view_layers[0].depsgraph)
        for bone in posed.pose.bones:
            found[bone.name].append([posed.matrix_world @ bone.head, posed.matrix_world @ bone.tail])
    return {name: np.array(values) for name, values in found.items()}


def take(motion: Motion) -> tuple[list, float, tuple]:
    """What is seen bare and with springs, when the motion is over [s], and how deep the chains are in the body."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene, armature = bpy.context.scene, figure()
    over = motion(armature)
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, 1, round((over + SETTLED) * FPS)
    bare = seen(armature, scene.frame_end)
    chains = [[f"{name}.{n}" for n in range(len(points) - 1)] for name, (*_, points) in CHAINS.items()]
    load("rig.springs.springs_edit").add(armature, chains, [preset for preset, *_ in CHAINS.values()])
    scene.frame_set(1)
    live = load("rig.layers.live")
    live.finish(scene)
    status = live.status(scene, armature, "", "SPRINGS")
    return [bare, seen(armature, scene.frame_end)], over, status.notes


def swing(pair: list, chain: str) -> np.ndarray:
    """(F,) by how much the line from the first joint to the tip is turned in the head or the hips [degrees]."""
    last = len(CHAINS[chain][2]) - 2
    lines = [found[f"{chain}.{last}"][:, 1] - found[f"{chain}.0"][:, 0] for found in pair]
    bare, swung = (line / np.linalg.norm(line, axis=-1, keepdims=True) for line in lines)
    return np.degrees(np.arccos(np.clip((bare * swung).sum(axis=-1), -1.0, 1.0)))


def told(name: str, pair: list, over: float, notes: tuple) -> None:
    for chain in CHAINS:
        angle = swing(pair, chain)
        rest = angle - angle[-1]
        after = int(over * FPS) + 1
        late = np.flatnonzero(np.abs(rest) > 0.05 * max(np.abs(rest).max(), 1e-6))
        comes = max(0.0, (late[-1] + 1) / FPS - over) if len(late) else 0.0
        still = np.abs(np.diff(angle[-FPS:])).max()
        most = np.abs(rest[after:]).max()
        print(
            f"{name}, {chain}: swings by {angle.max():.0f}°, by {most:.0f}° after the motion, at rest (5 %) "
            f"{comes:.2f} s after it, shivers by {still:.3f}° a frame"
        )
    print(f"{name}: {'; '.join(map(str, notes)) or 'nothing is in a collider'}", flush=True)


def draw() -> None:
    load().register()
    motions = {"run": runs, "jump": jumps, "turn of the head": turns}
    sheet = plt.figure(figsize=(21.0, 16.5), layout="constrained")
    parts = sheet.subfigures(len(motions), 1)
    for part, (name, motion) in zip(parts, motions.items(), strict=True):
        pair, over, notes = take(motion)
        told(name, pair, over, notes)
        strip, below = part.subfigures(2, 1, height_ratios=(3.2, 1.0))
        strip.suptitle(f"{name}: bare grey, with springs blue", x=0.01, ha="left")
        frames = np.linspace(0, round((over + 0.6) * FPS), MOMENTS).round().astype(int)
        for axis, frame in zip(strip.subplots(1, MOMENTS), frames, strict=True):
            _stick(axis, pair, frame, across=0 if name.startswith("turn") else 1)
        axis = below.subplots()
        for chain in CHAINS:
            axis.plot(np.arange(len(pair[0]["head"])) / FPS, swing(pair, chain), label=chain)
        axis.axvline(over, color="black", linewidth=0.5)
        describe(axis, "", "time [s]", "swing [°]")
        axis.legend(loc="upper right")
    save(sheet, "springs.png", 60)


def _stick(axis: Any, pair: list, frame: int, across: int) -> None:
    """One moment. across: the axis of the world that goes to the right."""
    origin = pair[0]["hips"][frame, 0, across]
    for found, color in zip(pair, (BARE, SWUNG), strict=True):
        for name, ends in found.items():
            is_chain = name.split(".")[0] in CHAINS
            if is_chain or color == BARE:
                line = ends[frame][:, across] - origin, ends[frame][:, 2]
                axis.plot(*line, color=color if is_chain else "#d0c8b8", linewidth=2.0 if is_chain else 7.0)
    axis.set(xlim=(-0.6, 0.9), ylim=(-0.25, 2.6), title=f"{frame / FPS:.2f} s")
    axis.set_aspect("equal")
    axis.axis("off")


if __name__ == "__main__":
    run(draw)
