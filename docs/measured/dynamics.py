"""All presets of dynamics on rigs of other makers.

An arm, else another limb or a tail, moves through four poses of the first clip; rigs without a clip get four poses.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

from lookat_pd import rotation
from lookat_pd.errors import LookAtError
from lookat_pd.progress import drain
from standalone import load
from tools.figures import pages
from tools.figures import rigs as files

limbs, limb_controls, limb_switch, targets = (
    load(f"rig.{name}")
    for name in ("detection.limbs", "detection.limb_controls", "controls.limb_switch", "sampling.targets")
)
hitting, interpolation, key_poses, masses, presets, reaching, setup = (
    load(f"rig.dynamics.{name}")
    for name in ("hitting", "interpolation", "key_poses", "masses", "presets", "reaching", "setup")
)

LONGEST, POSES, MOST_BONES = 72, 4, 3
"""Frames of a clip, poses, and bones of a limb that are measured."""
FASTEST = 90.0
"""Angle [degrees] between two frames from which a motion counts as exploded, unless the clip itself is as fast."""
PERSON = 40.0, 120.0
"""Masses [kg] that are plausible for a human."""
PRESETS = "Natural", "Human Arm", "Heavy", "Puppet", "Tail", "As Published"
"""Those that come with the extension."""
assert set(PRESETS) == set(presets.PRESETS.shipped())
HEAD = pages.head("rig", "bones", "mass", "heaviest bone", *PRESETS, "reach", "hit")
HIT_HEAD = pages.head("hit", "impulse", "joint that turns most", "by", "the hit bone in the world", "farthest after")
HEADS = (HEAD, HIT_HEAD)
HITS = (("DEF-spine.006", 8.0), ("DEF-spine.006", 30.0), ("DEF-spine.003", 30.0), ("DEF-spine.003", 100.0))
HITS += (("DEF-hand.R", 3.0), ("DEF-hand.R", 30.0), ("DEF-shin.R", 10.0), ("DEF-shin.R", 60.0))
"""Bones of the demo's human, and impulses [N s]."""
MOVED = np.radians(0.5)
"""A joint that turns less is no part that moves."""


@dataclass
class Row:
    """What was measured of a file."""

    name: str
    bones: tuple[str, ...] = ()
    mass: str = ""
    heaviest: str = ""
    cells: list[str] = field(default_factory=list)
    """Cells by preset, then those of reach and hit."""
    wrong: list[str] = field(default_factory=list)
    """What is not as it should be."""


def limb_of(rig: bpy.types.Object) -> tuple[str, ...]:
    """The bones to move, from the body outwards."""
    lines: list[Sequence[str]] = []
    with suppress(LookAtError):
        arms, legs = limbs.limb_lines(rig)
        lines = [*arms, *legs]
    switched = limb_controls.find(rig)
    in_ik = {name for limb in switched if limb_switch.is_held(rig, limb, np.array([1.0])) for name in limb.turned}
    heavy = masses.of(bpy.context.scene, rig).bones
    for line in lines:
        if not in_ik & set(line) and (in_ik or set(line) <= set(heavy)):
            return tuple(line[:MOST_BONES])
    longest = max((rig.pose.bones[name] for name in heavy), key=lambda bone: len(bone.parent_recursive))
    chain = [bone.name for bone in (longest, *longest.parent_recursive) if bone.name in heavy]
    return tuple(reversed(chain[:MOST_BONES]))


def pose(rig: bpy.types.Object, bones: Sequence[str], frames: Sequence[int]) -> None:
    """Key poses, on rigs without a clip."""
    for k, frame in enumerate(frames):
        for bone in bones:
            item = rig.pose.bones[bone]
            item.rotation_mode = "QUATERNION"
            item.rotation_quaternion = rotation.exp((0.3 * k, 0.1, 0.4 * (k % 2)))
            item.keyframe_insert("rotation_quaternion", frame=frame)


def turns(rig: bpy.types.Object, bones: Sequence[str], frames: range) -> np.ndarray:
    """The rotations (F, n, 4) of the channels of bones."""

    def basis(seen: bpy.types.Object) -> list:
        return [tuple(seen.pose.bones[name].matrix_basis.to_quaternion()) for name in bones]

    return np.array(files.evaluated(rig, frames, basis))


def fastest(rotations: np.ndarray) -> float:
    """The largest angle [degrees] between two frames."""
    return float(np.degrees(rotation.distance(rotations[1:], rotations[:-1]).max()))


def measure(rig: bpy.types.Object, row: Row) -> None:
    scene = bpy.context.scene
    files.hide_meshes()
    row.bones = bones = limb_of(rig)
    clips = [
        (key_poses.has_keys(rig, bones[0]), last - first, clip, first) for clip, first, last in files.clips_of(rig)
    ]
    _, length, clip, first = max(clips)
    last = first + length
    if clip in bpy.data.actions:
        rig.animation_data.action = bpy.data.actions[clip]
        rig.animation_data.action_slot = next(s for s in bpy.data.actions[clip].slots if s.target_id_type == "OBJECT")
    # Motion capture may leap out of its bind pose at the first frame.
    first = min(first + 2, last - POSES)
    frames = [round(frame) for frame in np.linspace(first, min(last, first + LONGEST), POSES)]
    if rig.animation_data is None or rig.animation_data.action is None:
        pose(rig, bones, frames)
    weigh(rig, row)
    plain = turns(rig, bones, range(frames[0], frames[-1] + 1))
    limit = max(FASTEST, 2.0 * fastest(plain))
    for preset in PRESETS:
        presets.apply(preset, scene)
        request = setup.interpolation(scene, [rig.pose.bones[name] for name in bones], frames[0], frames[-1])
        request = interpolation.replace(request, poses=tuple(float(frame) for frame in frames))
        row.cells.append(attempt(rig, row, preset, lambda r=request: between(rig, r, frames, plain, limit)))
    presets.apply("Natural", scene)
    row.cells.append(attempt(rig, row, "reach", lambda: reach(rig, bones, frames[0])))
    row.cells.append(attempt(rig, row, "hit", lambda: hit(rig, bones, frames[0], limit)))


def attempt(rig: bpy.types.Object, row: Row, what: str, work) -> str:
    with files.restored(rig):
        try:
            text, problem = work()
        except LookAtError as error:
            text, problem = "refused", str(error)
    if problem:
        row.wrong.append(f"{what}: {problem}")
    return text


def between(rig: bpy.types.Object, request, frames: Sequence[int], plain: np.ndarray, limit: float) -> tuple[str, str]:
    result = drain(interpolation.start(bpy.context.scene, rig, request))
    end = int(result.frames[-1])
    rotations = turns(rig, result.tree.bones, range(frames[0], end + 1))
    speed = fastest(rotations)
    problem = "" if np.isfinite(rotations).all() and np.isfinite(result.motion.torques).all() else "not a number"
    if not problem and speed > limit:
        problem = f"{speed:.0f}° between two frames"
    missed = f", {len(result.misses)} missed" if result.misses else ""
    return f"{speed:.1f}°{missed}", problem


def reach(rig: bpy.types.Object, bones: Sequence[str], frame: int) -> tuple[str, str]:
    """To a point a fifth of the limb's length nearer to its root."""
    bpy.context.scene.frame_set(frame)
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world = np.array(seen.matrix_world)
    root, end = (np.array(point) for point in (seen.pose.bones[bones[0]].head, seen.pose.bones[bones[-1]].tail))
    length = float(np.linalg.norm(end - root))
    across = np.cross(end - root, (0.3, 0.5, 0.8))
    there = root + 0.8 * (end - root) + 0.2 * length * across / max(float(np.linalg.norm(across)), 1e-12)
    point = world[:3, :3] @ there + world[:3, 3]
    goal = targets.Target(point=(float(point[0]), float(point[1]), float(point[2])))
    request = reaching.ReachRequest(
        bones[-1], goal, frame, duration=0.8, length=len(bones), at_tip=True, avoid_body=False
    )
    result = drain(reaching.start(bpy.context.scene, rig, request))
    problem = "" if np.isfinite(result.path).all() else "not a number"
    size = float(np.abs(np.cbrt(np.linalg.det(world[:3, :3])))) * length
    if not problem and result.missed > 1e-2 * size:
        problem = f"misses its goal by {100.0 * result.missed / size:.1f} % of the limb"
    return f"{100.0 * result.saved:.0f} % saved", problem


def hit(rig: bpy.types.Object, bones: Sequence[str], frame: int, limit: float) -> tuple[str, str]:
    request = hitting.HitRequest((hitting.HitSpec(frame, bones[-1], 3.0),))
    result = drain(hitting.start(bpy.context.scene, rig, request))
    rotations = turns(rig, result.tree.bones, range(frame, int(result.frames[-1]) + 1))
    most = float(np.degrees(result.angles.max()))
    problem = "" if np.isfinite(rotations).all() else "not a number"
    return f"{most:.0f}°", problem or (
        f"{fastest(rotations):.0f}° between two frames" if fastest(rotations) > limit else ""
    )


def struck(rig: bpy.types.Object, bone: str, impulse: float, frame: int) -> str:
    """A row of the table of hits: from the front, at rest."""
    frames = range(frame, frame + LONGEST)

    def stands() -> np.ndarray:
        return np.array(files.evaluated(rig, frames, lambda seen: tuple(seen.pose.bones[bone].matrix.to_quaternion())))

    with files.restored(rig):
        before = stands()
        request = hitting.HitRequest((hitting.HitSpec(frame, bone, impulse, direction=(0.0, 1.0, 0.0)),))
        result = drain(hitting.start(bpy.context.scene, rig, request))
        together = rotation.distance(stands(), before).max()
    names, angles = result.tree.bones, result.angles
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    most, times = angles.max(axis=0), (result.frames[angles.argmax(axis=0)] - frame) / rate
    moved = times[most > MOVED]
    return pages.row(
        bone,
        f"{impulse:g} N s",
        names[int(most.argmax())],
        f"{np.degrees(most.max()):.0f}°",
        f"{np.degrees(together):.0f}°",
        f"{moved.min():.2f} to {moved.max():.2f} s",
    )


def weigh(rig: bpy.types.Object, row: Row) -> None:
    body = masses.of(bpy.context.scene, rig)
    warning = masses.warning(rig, body)
    bone, most = body.heaviest
    row.mass = f"{body.total:.1f} kg{', human' if body.human else ''}{', warned' if warning else ''}"
    row.heaviest = f"{bone}, {most:.1f} kg"
    if body.human and not PERSON[0] <= body.total <= PERSON[1] and not warning:
        row.wrong.append(f"a human of {body.total:.1f} kg")


def line(row: Row) -> str:
    return pages.row(row.name, ", ".join(row.bones), row.mass, row.heaviest, *row.cells)


def lines(names: Sequence[str]) -> Iterator[files.Line]:
    for file, rig in files.opened(names):
        row = Row(Path(file).name)
        measure(rig, row)
        yield HEAD, line(row)
        yield from (("", text) for text in row.wrong)
        if file == files.DEMO:
            yield from ((HIT_HEAD, struck(rig, bone, impulse, 2)) for bone, impulse in HITS)
