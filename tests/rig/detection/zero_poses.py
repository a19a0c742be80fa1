"""Characters whose zero pose is no stance, with an animation in which they stand: what motion-capture skeletons are."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from extension import load

from .. import scenes

actions = load("rig.animation.actions")
rotation = load("lookat_pd.rotation")
rest = load("rig.detection.rest")
skeleton = load("lookat_pd.skeleton")

FRAMES = 30


@dataclass(frozen=True)
class ZeroPosed:
    """A skeleton whose bones all lie along one direction until they are turned.

    names, parents: of n joints; a joint beside its parent's bone has another one in between. offsets: (n, 3) at zero.
    turns: (n, 4) that make it stand. ahead, up: (3,) of the standing character.
    """

    names: list[str]
    parents: list[int]
    offsets: np.ndarray
    turns: np.ndarray
    lengths: np.ndarray
    ahead: np.ndarray
    up: np.ndarray

    def truth(self, bone: str, orientation):
        """Forward and up (3,) in the frame of a bone, whose orientation (4,) at zero is given."""
        back = rotation.inverse(rotation.multiply(self.turns[self.names.index(bone)], orientation))
        return rotation.rotate(back, self.ahead), rotation.rotate(back, self.up)


def zero_posed(body, along: Sequence[float] = (1.0, 0.0, 0.0), ahead=(0.0, -1.0, 0.0), up=(0.0, 0.0, 1.0)) -> ZeroPosed:
    """A standing skeleton with its bones all along one direction at zero, each with its axes square to the others'."""
    axis, ahead, up = (np.array(v, dtype=float) for v in (along, ahead, up))
    names: list[str] = []
    parents: list[int] = []
    begins, ends, zeros = [], [], []
    place: dict[int, int] = {}
    for bone, name in enumerate(body.names):
        parent = int(body.parents[bone])
        head, tail = body.heads[bone], body.tails[bone]
        above = place.get(parent, -1)
        if above >= 0:
            offset, way = head - begins[above], ends[above] - begins[above]
            size = np.linalg.norm(offset)
            if size > 1e-6 and np.dot(offset, way) < 0.999 * size * np.linalg.norm(way):
                names.append(f"{name}Base")
                parents.append(above)
                begins.append(begins[above])
                ends.append(head)
                zeros.append(0.0)
                above = len(names) - 1
        names.append(name)
        parents.append(above)
        zeros.append(np.linalg.norm(head - begins[above]) if above >= 0 else 0.0)
        begins.append(head)
        ends.append(tail)
        place[bone] = len(names) - 1
    ways = np.array(ends) - np.array(begins)
    side = np.roll(axis, 1)
    turns = []
    for way in rotation.normalize(ways):
        # Forward is one of the axes square to the bone, as nearly as it can be.
        other = ahead - (ahead @ way) * way
        if np.linalg.norm(other) < 0.3:
            other = up - (up @ way) * way
        other = rotation.normalize(other)
        here = np.stack((way, other, np.cross(way, other)), axis=-1)
        zero = np.stack((axis, side, np.cross(axis, side)), axis=-1)
        turns.append(rotation.from_matrix(here @ zero.T))
    offsets = np.array(zeros)[:, None] * axis
    return ZeroPosed(names, parents, offsets, np.array(turns), np.linalg.norm(ways, axis=-1), ahead, up)


def motion(body: ZeroPosed, seed: int = 0, size: float = 0.12):
    """Orientations (F, n, 4) of its joints while it walks around a curve and looks about."""
    random = np.random.default_rng(seed)
    phase = np.linspace(0.0, 4.0 * np.pi, FRAMES)
    n = len(body.names)
    sway = size * random.uniform(-1.0, 1.0, (n, 3)) * np.sin(phase[:, None, None] + random.uniform(0.0, 6.0, (n, 3)))
    local = rotation.exp(sway)
    around = rotation.about(np.broadcast_to(body.up, (FRAMES, 3)), 1.5 * np.sin(0.25 * phase))
    return rotation.multiply(around[:, None], rotation.multiply(local, body.turns))


def armature(body: ZeroPosed, turns, name: str = "Capture") -> bpy.types.Object:
    """The armature with an action of joint orientations (F, n, 4)."""
    heads = np.zeros((len(body.names), 3))
    for n, parent in enumerate(body.parents):
        heads[n] = body.offsets[n] + (heads[parent] if parent >= 0 else 0.0)
    axis = rotation.normalize(body.offsets[np.argmax(np.linalg.norm(body.offsets, axis=-1))])
    tails = heads + body.lengths[:, None] * axis
    rows = [
        (bone, body.names[parent] if parent >= 0 else None, tuple(head), tuple(tail))
        for bone, parent, head, tail in zip(body.names, body.parents, heads, tails, strict=True)
    ]
    found = scenes.figure(name, rows)
    plain = rest.skeleton(found)
    rows_of = [plain.index(bone) for bone in body.names]
    here = rotation.multiply(turns, plain.rotations[rows_of])
    found.animation_data_create()
    action, slot = actions.new_action("Walk", found)
    found.animation_data.action, found.animation_data.action_slot = action, slot
    parents = np.array(body.parents)
    above = np.where((parents < 0)[:, None], rotation.IDENTITY, here[:, np.maximum(parents, 0)])
    resting, _ = plain.local_rest
    basis = rotation.multiply(rotation.inverse(resting[rows_of]), rotation.multiply(rotation.inverse(above), here))
    for n, bone in enumerate(body.names):
        for frame in range(FRAMES):
            found.pose.bones[bone].rotation_quaternion = basis[frame, n]
            found.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame + 1)
    return found


def bvh(body: ZeroPosed, turns, path: Path) -> Path:
    """The same as a BVH file, whose joints all have the axes of the file at zero."""
    parents, lines = body.parents, ["HIERARCHY"]

    def write(joint: int, depth: int) -> None:
        tab = "  " * depth
        x, y, z = body.offsets[joint]
        lines.extend((f"{tab}{'JOINT' if depth else 'ROOT'} {body.names[joint]}", f"{tab}{{"))
        lines.append(f"{tab}  OFFSET {x:.6f} {y:.6f} {z:.6f}")
        channels = "" if depth else "Xposition Yposition Zposition "
        lines.append(f"{tab}  CHANNELS {3 if depth else 6} {channels}Zrotation Yrotation Xrotation")
        below = [n for n, parent in enumerate(parents) if parent == joint]
        for child in below:
            order.append(child)
            write(child, depth + 1)
        if not below:
            axis = rotation.normalize(body.offsets[np.argmax(np.linalg.norm(body.offsets, axis=-1))])
            x, y, z = body.lengths[joint] * axis
            lines.extend((f"{tab}  End Site", f"{tab}  {{", f"{tab}    OFFSET {x:.6f} {y:.6f} {z:.6f}", f"{tab}  }}"))
        lines.append(f"{tab}}}")

    root = parents.index(-1)
    order = [root]
    write(root, 0)
    lines += ["MOTION", f"Frames: {len(turns)}", "Frame Time: 0.0333333"]
    for pose in turns:
        row = ["0 0 0"]
        for joint in order:
            parent = parents[joint]
            own = rotation.multiply(rotation.inverse(pose[parent]), pose[joint]) if parent >= 0 else pose[joint]
            x, y, z = np.degrees(rotation.to_euler(own, "XYZ"))
            row.append(f"{z:.5f} {y:.5f} {x:.5f}")
        lines.append(" ".join(row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
