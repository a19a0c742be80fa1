"""Hips, knees and feet through joins of captured and drawn clips of other makers.

Each pair is joined at its best cut and 12 frames later, with locked feet, of keys and of the visual pose. 16 more joins
are made with default settings, at their best cuts.
"""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from lookat_pd import rotation
from lookat_pd.progress import drain
from lookat_pd.rotation import Array
from standalone import load
from tools.figures import pages
from tools.figures import rigs as files

playing, sampler = load("rig.animation.playing"), load("rig.sampling.sampler")
best_cut, join, splice = (load(f"rig.transitions.{name}") for name in ("best_cut", "join", "splice"))
foot_bones, RigError = load("rig.feet.foot_bones"), load("lookat_pd.errors").RigError
visual_join, visual_offsets = (load(f"rig.transitions.visual.{name}") for name in ("visual_join", "visual_offsets"))

LATER = (0, 12)
SHORTEST = 8
"""Frames of the destination that have to be left."""
LEG = 900.0
"""The length [mm] to which all legs are scaled."""
PAIRS = (
    ("start, walk, stop", "bvh/cmu_131_01_start_walk_stop.bvh", "bvh/cmu_131_02_start_walk_stop.bvh"),
    ("dab, zombie", "bvh/fair1_dab.bvh", "bvh/fair1_zombie.bvh"),
    ("walk, walk", "fbx/cmu_91_48.fbx", "fbx/cmu_91_50.fbx"),
    ("walk, walk", "gltf/kaykit_knight.glb:Walking_A", "gltf/kaykit_knight.glb:Walking_C"),
    ("run, stop", "gltf/kaykit_knight.glb:Running_A", "gltf/kaykit_knight.glb:Idle"),
)
HEAD = pages.head("clips", "files", "cut", "blend", "hips", "knees", "drift [mm]")
KNIGHT, ROBOT = "gltf/kaykit_knight.glb", "gltf/robot_expressive.glb"
DEFAULTS = (
    ("bvh/cmu_131_01_start_walk_stop.bvh", "bvh/cmu_131_02_start_walk_stop.bvh"),
    ("bvh/cmu_131_02_start_walk_stop.bvh", "bvh/cmu_131_01_start_walk_stop.bvh"),
    ("bvh/fair1_dab.bvh", "bvh/fair1_zombie.bvh"),
    ("bvh/fair1_zombie.bvh", "bvh/fair1_dab.bvh"),
    ("fbx/cmu_91_48.fbx", "fbx/cmu_91_50.fbx"),
    ("fbx/cmu_91_50.fbx", "fbx/cmu_91_48.fbx"),
    (f"{KNIGHT}:Walking_A", f"{KNIGHT}:Running_A"),
    (f"{KNIGHT}:Running_A", f"{KNIGHT}:Idle"),
    (f"{KNIGHT}:Idle", f"{KNIGHT}:1H_Melee_Attack_Chop"),
    (f"{KNIGHT}:Jump_Full_Long", f"{KNIGHT}:Walking_A"),
    (f"{KNIGHT}:Spellcast_Long", f"{KNIGHT}:Dodge_Left"),
    (f"{KNIGHT}:Lie_StandUp", f"{KNIGHT}:Walking_A"),
    (f"{ROBOT}:Walking", f"{ROBOT}:Dance"),
    (f"{ROBOT}:Running", f"{ROBOT}:Wave"),
    ("gltf/khronos_fox.glb:Run", "gltf/khronos_fox.glb:Survey"),
    ("gltf/m2m_snake.glb:Side winding", "gltf/m2m_snake.glb:Coiled"),
)
DEFAULT_HEAD = pages.head(
    "source",
    "destination",
    "cut",
    "kept",
    "method",
    "median joint at the cut [°/s]",
    "as published",
    "largest",
    "as published",
    "of the clips",
    "of its joint",
)
HEADS = (HEAD, DEFAULT_HEAD)
BLENDED, AROUND = 0.6, 6
"""Seconds after a cut, and frames before it, in which steps are measured."""
MOVES = 1.0
"""Largest velocity step [°/s] up to which a joint does not move."""
CALM = 60.0
"""Velocity step [°/s] of a joint up to which another one is no multiple of it."""


def opened(first: str, second: str) -> tuple[bpy.types.Object, list[bpy.types.Action]]:
    """The armature of the first file and the actions of both, each a file or a clip in it."""
    folder = Path(os.environ["LOOKAT_PD_RIGS"])
    clips, armature = [], None
    for path, _, clip in (item.partition(":") for item in (first, second)):
        if clip and armature is not None:
            clips.append(bpy.data.actions[clip])
            continue
        mine = files.open_rig(folder / path) if armature is None else files.import_rig(folder / path)
        armature = armature or mine
        clips.append(bpy.data.actions[clip] if clip else mine.animation_data.action)
    assert armature is not None
    for track in armature.animation_data.nla_tracks:
        track.mute = True
    return armature, clips


def legs(armature: bpy.types.Object, action: bpy.types.Action, frames: range) -> tuple[float, float]:
    """The largest acceleration of the hips [per frame²] and step of a knee [rad]."""
    footing = foot_bones.find(armature)
    played = playing.playing(armature, action, action.slots[0])
    with played, sampler.Sampler(bpy.context.scene, armature, footing.sampled) as reader:
        samples = sampler.run(reader.sample(list(frames)))
    thighs, shins = ([samples.bones.index(foot.bones[n]) for foot in footing.feet] for n in (0, 1))
    hips: Array = samples.positions[:, thighs].mean(axis=1)
    knees = rotation.distance(samples.rotations[:, thighs], samples.rotations[:, shins])
    return (
        float(np.linalg.norm(np.diff(hips, 2, axis=0), axis=-1).max()),
        float(np.abs(np.diff(knees, axis=0)).max()),
    )


def within(action: bpy.types.Action, first: int, last: int) -> range:
    """Frames that an action has: before and after its keys it stands still, as if it had stopped in a frame."""
    begin, end = action.frame_range
    return range(max(first, int(np.ceil(begin)) + 1), min(last, int(end)))


def size(armature: bpy.types.Object) -> float:
    """The length of a leg."""
    bones = armature.data.bones
    foot = foot_bones.find(armature).feet[0].bones
    heads = [np.array(bones[name].head_local) for name in foot]
    return float(np.linalg.norm(heads[1] - heads[0]) + np.linalg.norm(heads[2] - heads[1]))


def rows(name: str, first: str, second: str) -> Iterator[str]:
    """The lines of the table for two clips."""
    armature, (a, b) = opened(first, second)
    scene = bpy.context.scene
    join.use(armature, a, a.slots[0])
    cut, into = best_cut.find(armature, a, b, count=1, room=15, scene=scene).cuts[0][:2]
    files = " → ".join(dict.fromkeys(Path(item.partition(":")[0]).stem for item in (first, second)))
    for later in LATER:
        enter = into + later
        if enter + SHORTEST > b.frame_range[1]:
            continue
        refs = join.ClipRef(a, cut), join.ClipRef(b, enter)
        clips = [legs(armature, a, within(a, cut - 40, cut + 20)), legs(armature, b, within(b, enter - 5, enter + 60))]
        own = np.max(clips, axis=0)
        for source in ("keys", "visual"):
            try:
                if source == "keys":
                    made = join.join(armature, *refs, lock_feet=True)
                else:
                    make = partial(join.joining, armature, *refs)
                    made = drain(visual_join.joined(scene, armature, make, splice.AUTOMATIC, lock_feet=True))
            except RigError as error:
                yield f"| {name} | {files} | {cut} → {enter} | {source} | {error} | | |"
                continue
            last = min(cut + 60, made.last)
            hips, knees = np.array(legs(armature, made.action, range(cut - 5, last))) / np.maximum(own, 1e-9)
            unit = LEG / size(armature)
            drift = "" if made.feet is None else f"{made.feet.before * unit:.1f} → {made.feet.drift * unit:.2f}"
            yield f"| {name} | {files} | {cut} → {enter} | {source} | {hips:.2f} | {knees:.2f} | {drift} |"
            join.use(armature, a, a.slots[0])
            visual_offsets.remove(armature)
            bpy.data.actions.remove(made.action)


def steps(armature: bpy.types.Object, action: bpy.types.Action, frames: Sequence[int]) -> Array:
    """By how much the angular velocity [°/s] of each joint changes from frame to frame (F - 2, B)."""
    bones = armature.data.bones
    played = playing.playing(armature, action, action.slots[0])
    with played, sampler.Sampler(bpy.context.scene, armature, bones.keys()) as reader:
        samples = sampler.run(reader.sample(list(frames)))
    rows = {name: n for n, name in enumerate(samples.bones)}
    above = np.array([rows[bone.parent.name] if (bone := bones[name]).parent else -1 for name in samples.bones])
    turns = samples.rotations
    local = rotation.multiply(rotation.inverse(turns[:, above]), turns)
    local = np.where((above >= 0)[:, None], local, turns)
    turned = rotation.log(rotation.multiply(local[1:], rotation.inverse(local[:-1])))
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    return np.degrees(np.linalg.norm(np.diff(turned, axis=0), axis=-1)) * rate


def default_row(first: str, second: str) -> tuple[str, list[float]]:
    """The line of the table for two clips joined by default, and its figures."""
    armature, clips = opened(first, second)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    join.use(armature, clips[0], clips[0].slots[0])
    ends = [(int(np.floor(a)), int(np.ceil(b))) for a, b in (clip.frame_range for clip in clips)]
    # The first frame of captured motion is often a pose to calibrate with.
    skipped = 2 if first.endswith((".bvh", ".fbx")) else 0
    clips_own = [
        steps(armature, clip, range(a + skipped, b + 1)).max(axis=0) for clip, (a, b) in zip(clips, ends, strict=True)
    ]
    own = np.max(clips_own, axis=0)
    room = int(min(BLENDED * rate, 0.5 * (ends[1][1] - ends[1][0])))
    cut = best_cut.find(armature, *clips, count=1, room=room, scene=scene).cuts[0]
    refs = join.ClipRef(clips[0], cut.source_frame), join.ClipRef(clips[1], cut.destination_frame)
    worst, figures, method = [], [], ""
    for blend in (splice.AUTOMATIC, splice.Blend(method="INERTIAL")):
        join.use(armature, clips[0], clips[0].slots[0])
        made = join.join(armature, *refs, blend, repeat=cut.repeat)
        method = method or made.methods[made.cuts.index(cut.source_frame)]
        begin, end = max(cut.source_frame - AROUND, made.first), cut.source_frame + int(BLENDED * rate) + 2
        found = steps(armature, made.action, range(begin, min(end, made.last) + 1))
        # The step between the last velocity before the cut and the first one after it.
        at = max(cut.source_frame - begin - 2, 0)
        figures += [float(np.median(found[at][found.max(axis=0) > MOVES])), float(found[at : at + 3].max())]
        worst.append(found.max(axis=0))
        join.use(armature, clips[0], clips[0].slots[0])
        bpy.data.actions.remove(made.action)
    names = [
        Path(item.partition(":")[0]).stem if ":" not in item else item.partition(":")[2] for item in (first, second)
    ]
    kept = " · ".join(f"{100.0 * share:.0f} %" for share in cut.kept)
    figures += [float(worst[0].max() / own.max()), float((worst[0] / np.maximum(own, CALM)).max())]
    return pages.row(
        *names,
        f"{cut.source_frame} → {cut.destination_frame}",
        kept,
        method,
        *cells(figures),
    ), figures


def cells(figures: Sequence[float]) -> list[str]:
    """Those of the table: by default, then as published; the median joint first."""
    median, largest, published, most, *quotients = figures
    return [f"{median:.1f}", f"{published:.1f}", f"{largest:.0f}", f"{most:.0f}", *(f"{q:.2f}" for q in quotients)]


def lines(names: Sequence[str]) -> Iterator[files.Line]:
    for pair in PAIRS:
        if not names or any(name in item for name in names for item in pair):
            yield from ((HEAD, line) for line in rows(*pair))
    found = []
    for pair in DEFAULTS:
        if not names or any(name in item for name in names for item in pair):
            line, figures = default_row(*pair)
            found.append(figures)
            yield DEFAULT_HEAD, line
    for called, of_all in (("median of all", np.median), ("largest of all", np.max)):
        if found:
            yield DEFAULT_HEAD, pages.row(called, "", "", "", "", *cells(of_all(found, axis=0).tolist()))
