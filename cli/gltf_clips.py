"""The clips of characters in an exported .glb, written from what is seen: one pass over the frames of each.

Blender's exporter takes each bone of each frame through Python, and evaluates all meshes meanwhile. It writes
everything else, and finds the characters without animation; the clips are added to its file. Where an earlier output
of the same character exists, the clips in it are replaced, and nothing is exported.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ..lookat_pd import rotation
from ..lookat_pd.errors import FileError
from ..lookat_pd.rotation import Array
from ..rig.animation import actions, keys
from ..rig.detection import moving_actions
from ..rig.sampling import own_data
from . import gltf, gltf_edit, retime, seen_poses
from .gltf_source import GltfSource
from .seen_poses import SeenPoses

_TO_GLTF = np.array(((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, -1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
_STILL = 1e-4
"""A channel that changes by less, in metres, of a unit quaternion or a factor, stands still, as for the exporter."""
_EXTRAS = "lookat_pd_clips"
_FLAT = 1e-8
"""The determinant of a matrix below which it is taken for one that scales to nothing."""
_SHEARED = 1e-4
"""The least cosine between the axes of a bone that is sheared within its parent."""


@dataclass(frozen=True)
class ExportedClip:
    """An action of a character as it is seen."""

    armature: str
    name: str
    frames: Array
    """Frames (F,)."""
    bones: tuple[str, ...]
    """Those that deform, which are in the file."""
    poses: Array
    """Matrices (F, n, 4, 4) of the bones in armature space, in single precision."""
    rests: Array
    """The same at rest (n, 4, 4)."""


def take(scene: bpy.types.Scene, seen: SeenPoses) -> list[ExportedClip]:
    """Sample the clips of all characters, and leave these without animation; nothing where the exporter must do it.

    seen: poses that need not be sampled again, of a character by itself that nothing is added to live. What this
    changes in the present file is not put back: that is read anew for each input.
    """
    armatures = [item for item in scene.objects if item.type == "ARMATURE" and item.animation_data is not None]
    found = [(armature, action) for armature in armatures for action in moving_actions.moving(armature)]
    if not found or _is_mixed(scene) or not all(_is_plain(armature, action, armatures) for armature, action in found):
        return []
    if len(armatures) > 1 or _is_live(armatures[0]):
        # They may have been seen before another one was changed.
        seen = SeenPoses()
    frame = scene.frame_current
    with _without_modifiers(scene):
        clips = [_sampled(scene, armature, action, seen) for armature, action in found]
    for armature in dict.fromkeys(armature for armature, _ in found):
        data = armature.animation_data
        data.action = None
        # Where objects that hang on bones are within them is rounded in each pose in another way.
        _rest(armature)
        for track in list(data.nla_tracks):
            data.nla_tracks.remove(track)
    for action in {action for _, action in found}:
        # Of a single armature the exporter writes all actions there are.
        bpy.data.actions.remove(action)
    scene.frame_set(frame)
    return clips


def _is_live(armature: bpy.types.Object) -> bool:
    """Whether something that sampling leaves out moves bones."""
    return any(
        own_data.is_own_constraint(constraint) and not constraint.mute and constraint.influence > 0.0
        for bone in armature.pose.bones
        for constraint in bone.constraints
    )


def _is_mixed(scene: bpy.types.Scene) -> bool:
    """Whether bones and other things are animated together: drivers of shape keys, which the exporter writes to the
    clips of bones, and bones that hang on the surface of a mesh."""
    shapes = (getattr(item.data, "shape_keys", None) for item in scene.objects)
    animated = (item.animation_data for item in shapes if item is not None)
    constraints = (
        constraint
        for item in scene.objects
        for owner in (item, *(item.pose.bones if item.pose else ()))
        for constraint in owner.constraints
    )
    targets = (getattr(constraint, "target", None) for constraint in constraints)
    return any(data is not None and len(data.drivers) for data in animated) or any(
        target is not None and target.type == "MESH" for target in targets
    )


def _is_plain(armature: bpy.types.Object, action: bpy.types.Action, armatures: Sequence[bpy.types.Object]) -> bool:
    """Whether an action moves bones of one armature and nothing else, and the exporter would write it."""
    first, last = action.frame_range
    slots = [slot for slot in action.slots if len(actions.curves(action, slot))]
    if len(slots) != 1 or last - first < 2.0 or not action.is_editable:
        return False
    curves = actions.curves(action, slots[0])
    data = armature.animation_data
    used = data.action == action or any(strip.action == action for strip in moving_actions.strips(data))
    return (used or len(armatures) == 1) and all(curve.data_path.startswith("pose.bones[") for curve in curves)


@contextmanager
def _without_modifiers(scene: bpy.types.Scene) -> Iterator[None]:
    """Within it, meshes do not follow the bones."""
    shown = [modifier for item in scene.objects for modifier in item.modifiers if modifier.show_viewport]
    for modifier in shown:
        modifier.show_viewport = False
    try:
        yield
    finally:
        for modifier in shown:
            modifier.show_viewport = True


def _sampled(
    scene: bpy.types.Scene, armature: bpy.types.Object, action: bpy.types.Action, seen: SeenPoses
) -> ExportedClip:
    first, last = (int(frame) for frame in action.frame_range)
    frames = np.arange(first, last + 1)
    kept = seen_poses.deforming(armature)
    poses = seen.of(armature, action.name, frames.tolist())
    if poses is None:
        poses = _stepped(scene, armature, action, frames, kept)
    bones = [armature.pose.bones[number].bone for number in kept]
    rests = np.array([bone.matrix_local for bone in bones])
    return ExportedClip(armature.name, action.name, frames, tuple(bone.name for bone in bones), poses, rests)


def _stepped(
    scene: bpy.types.Scene, armature: bpy.types.Object, action: bpy.types.Action, frames: Array, bones: list[int]
) -> Array:
    """Matrices (F, n, 4, 4) of bones as the action has them."""
    data = armature.animation_data
    slot = moving_actions.suitable_slot(armature, action)
    data.use_nla = False
    if data.action != action or data.action_slot != slot:
        _rest(armature)
        data.action, data.action_slot = action, slot
    poses = np.empty((len(frames), len(bones), 4, 4), dtype=np.float32)
    for pose, frame in zip(poses, frames.tolist(), strict=True):
        scene.frame_set(frame)
        pose[:] = seen_poses.matrices(armature, bones)
    return poses


def _rest(armature: bpy.types.Object) -> None:
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()


# Putting them into a file, and cutting them out of it again


def state(scene: bpy.types.Scene) -> str:
    """What a file has besides the clips, as far as a verb may change it: the animation of other things."""
    found = blake2b(f"{retime.rate(scene)} {scene.frame_current}".encode(), digest_size=16)
    for action in bpy.data.actions:
        for slot in action.slots:
            for curve in actions.curves(action, slot):
                found.update(f"{action.name} {slot.identifier} {curve.data_path} {curve.array_index}".encode())
                found.update(keys.Keys.read(curve).attributes.tobytes())
    return found.hexdigest()


def base(path: Path, made_from: str) -> bytes | None:
    """The content of an earlier output of the same character without its clips; None where there is none."""
    try:
        text, binary = gltf.parts(path)
        texts = gltf.sections(text)
        known = json.loads(texts["asset"])["extras"][_EXTRAS]
        if known["made_from"] != made_from:
            return None
        for section in ("accessors", "bufferViews"):
            texts[section] = f"[{','.join([*gltf.items(texts[section])][: known[section]])}]"
        others = [*gltf.items(texts.pop("animations"))][known["clips"] :]
        if others:
            texts["animations"] = f"[{','.join(others)}]"
        texts["buffers"] = gltf.dumped([{**json.loads(texts["buffers"])[0], "byteLength": known["bytes"]}])
        return gltf.assemble(gltf.joined(texts), binary[: known["bytes"]])
    except (FileError, OSError, ValueError, LookupError, TypeError):
        return None


def add(path: Path, clips: Sequence[ExportedClip], rate: float, made_from: str | None) -> None:
    """Put clips into an exported .glb, before those of other things. made_from: what `base` knows it by later."""
    text, binary = gltf.parts(path)
    texts = gltf.sections(text)
    source = GltfSource(path, texts, {key: json.loads(value) for key, value in texts.items()}, binary)
    new = gltf_edit.Additions.to(source)
    made = [animation for clip in clips if (animation := _animation(new, source.document, clip, rate)) is not None]
    if made_from is not None:
        counts = {section: len(source.document.get(section, ())) for section in ("accessors", "bufferViews")}
        known = {"made_from": made_from, "clips": len(made), "bytes": len(binary) + -len(binary) % 4, **counts}
        asset = source.document["asset"]
        asset.setdefault("extras", {})[_EXTRAS] = known
        texts["asset"] = gltf.dumped(asset)
    others = gltf.items(texts["animations"]) if "animations" in texts else ()
    path.write_bytes(gltf_edit.assembled(source, new, [*map(gltf.dumped, made), *others]))


def _animation(
    new: gltf_edit.Additions, document: dict[str, Any], clip: ExportedClip, rate: float
) -> dict[str, Any] | None:
    joints = _joints(document, clip.armature)
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    seconds = (clip.frames - min(int(clip.frames[0]), 0)) / rate
    inputs: dict[int, int] = {}
    numbers = {name: number for number, name in enumerate(clip.bones)}
    for node, (name, parent) in joints.items():
        if name not in numbers:
            continue
        number = numbers[name]
        pose = clip.poses[:, number]
        above = numbers.get(joints[parent][0]) if parent in joints else None
        rest = _TO_GLTF @ clip.rests[number]
        local = _TO_GLTF @ pose
        if above is not None:
            rest = _within(clip.rests[above], clip.rests[number])
            local = _within(clip.poses[:, above], pose)
        for kind, values in _parts(local, rest).items():
            moves = np.ptp(values, axis=0).max() > _STILL
            kept = slice(None) if moves else slice(None, None, len(values) - 1)
            if moves not in inputs:
                inputs[moves] = new.add(seconds[kept], "SCALAR")
            output = new.add(values[kept], "VEC4" if kind == "rotation" else "VEC3")
            channels.append({"sampler": len(samplers), "target": {"node": node, "path": kind}})
            samplers.append({"input": inputs[moves], "interpolation": "LINEAR", "output": output})
    return {"channels": channels, "name": clip.name, "samplers": samplers} if channels else None


def _within(parent: Array, child: Array) -> Array:
    """Matrices (..., 4, 4) of children in the frames of their parents, which may be scaled to nothing."""
    parent, child = parent.astype(float), child.astype(float)
    flat = np.abs(np.linalg.det(parent)) < _FLAT
    return np.linalg.solve(np.where(flat[..., None, None], parent + _FLAT * np.eye(4), parent), child)


def _joints(document: dict[str, Any], armature: str) -> dict[int, tuple[str, int]]:
    """Name and parent of the nodes of an armature's bones, by node."""
    nodes = document.get("nodes", [])
    parents = {child: number for number, node in enumerate(nodes) for child in node.get("children", ())}
    every = {joint for skin in document.get("skins", ()) for joint in skin["joints"]}

    def hangs_on(node: int) -> bool:
        while node in every:
            node = parents.get(node, -1)
        return node >= 0 and nodes[node].get("name") == armature

    return {node: (nodes[node].get("name", ""), parents.get(node, -1)) for node in sorted(every) if hangs_on(node)}


def _parts(local: Array, rest: Array) -> dict[str, Array]:
    """Translation, rotation (x, y, z, w) and scale of a bone within its parent, (F, 4, 4), and (4, 4) at rest."""
    linear = local[:, :3, :3]
    scale = np.linalg.norm(linear, axis=1)
    scale = np.where(np.linalg.det(linear)[:, None] < 0.0, -scale, scale)
    axes = np.where(scale[:, None] == 0.0, np.eye(3), linear / np.where(scale == 0.0, 1.0, scale)[:, None])
    turns = rotation.from_matrix(axes)
    sheared = np.abs(axes.swapaxes(-1, -2) @ axes - np.eye(3)).max(axis=(-1, -2)) > _SHEARED
    sheared |= (scale == 0.0).any(axis=-1)
    if sheared.any():
        # No rotation is right there: that of what the pose adds to the rest is Blender's.
        basis = np.linalg.solve(rest, local[sheared])
        added = np.array([Matrix(matrix).decompose()[1] for matrix in basis.tolist()])
        turns[sheared] = rotation.multiply(rotation.from_matrix(rest[:3, :3]), added)
    turns = rotation.align_hemisphere(turns)
    return {"translation": local[:, :3, 3], "rotation": np.roll(turns, -1, axis=-1), "scale": scale}
