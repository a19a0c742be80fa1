"""Writing animations into a glTF file of which everything else stays as it is to the byte.

The importer gives each bone the frame of its node: what a pose bone adds to its edit bone, the node has within its
parent, and only the root bones turn from Blender's axes to those of glTF.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ..lookat_pd import rotation
from ..lookat_pd.rotation import Array
from ..rig.animation import actions, keys
from . import gltf, gltf_source, retime
from .gltf_source import GltfSource, WholeFileNeeded, Written

_PROPERTIES = {"translation": "location", "rotation": "rotation_quaternion", "scale": "scale"}
_AT_REST = {"translation": (0.0, 0.0, 0.0), "rotation": (0.0, 0.0, 0.0, 1.0), "scale": (1.0, 1.0, 1.0)}
_SIZES = {"translation": 3, "rotation": 4, "scale": 3}
_FLOAT = 5126
_TO_GLTF = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))
_SAME = 1e-4
_OTHERWISE = "Nodes that Blender imports in another way."
"""A pose that differs by less from that of its node, as an angle or a fraction, is rounded and needs no key."""
_ALIKE = 1e-3
"""How far a value of the file may be from what Blender made of it, as a fraction of its size."""


def edited(source: GltfSource) -> bytes:
    """The content of a .glb with all that was written. Raises WholeFileNeeded where this is not possible."""
    animations = list(gltf.items(source.text["animations"])) if "animations" in source.text else []
    nodes = list(gltf.items(source.text.get("nodes", "[]")))
    new = Additions.to(source)
    for written in source.written:
        animation = _animation(new, written)
        if written.in_place:
            animations[_index(source, written)] = gltf.dumped(animation)
        else:
            animations.append(gltf.dumped(animation))
    if new.unlocked:
        for index in new.unlocked:
            nodes[index] = gltf.dumped(_with_parts(source.document["nodes"][index]))
        source.text["nodes"] = f"[{','.join(nodes)}]"
    return assembled(source, new, animations)


def assembled(source: GltfSource, new: "Additions", animations: Sequence[str]) -> bytes:
    """The content of a .glb with these animations, and with what they have added."""
    text = {**source.text, "animations": f"[{','.join(animations)}]"}
    binary = source.binary + b"\0" * (-len(source.binary) % 4)
    if new.views:
        buffers = source.document.get("buffers") or [{}]
        text["buffers"] = gltf.dumped([{**buffers[0], "byteLength": len(binary) + len(new.content)}])
        for view in new.views:
            view["byteOffset"] += len(binary)
        text["bufferViews"] = _extended(text.get("bufferViews"), new.views)
        text["accessors"] = _extended(text.get("accessors"), new.accessors)
    return gltf.assemble(gltf.joined(text), binary + new.content)


def _extended(text: str | None, more: list[dict[str, Any]]) -> str:
    """The text of an array with further items."""
    return f"[{','.join([*(gltf.items(text) if text else ()), *map(gltf.dumped, more)])}]"


class Additions:
    """Accessors that are added to a document, their views and content; offsets are those within `content`.

    unlocked: indices of nodes whose matrix becomes translation, rotation and scale, since they are animated.
    """

    def __init__(self, source: GltfSource, accessors: int, views: int) -> None:
        self.source = source
        self.accessors: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.content = b""
        self.unlocked: set[int] = set()
        self._first_accessor, self._first_view = accessors, views

    @classmethod
    def to(cls, source: GltfSource) -> "Additions":
        """Nothing yet."""
        document = source.document
        return cls(source, len(document.get("accessors", ())), len(document.get("bufferViews", ())))

    def add(self, values: Array, kind: str) -> int:
        """Add an accessor of 32-bit floats; returns its index."""
        stored = np.ascontiguousarray(values, dtype="<f4")
        if not np.isfinite(stored).all():
            raise WholeFileNeeded("Values that are no numbers.")
        self.views.append({"buffer": 0, "byteOffset": len(self.content), "byteLength": stored.nbytes})
        accessor = {
            "bufferView": self._first_view + len(self.views) - 1,
            "componentType": _FLOAT,
            "count": len(stored),
            "type": kind,
        }
        if kind == "SCALAR":
            accessor |= {"min": [float(stored.min())], "max": [float(stored.max())]}
        self.content += stored.tobytes()
        self.accessors.append(accessor)
        return self._first_accessor + len(self.accessors) - 1


# One animation


@dataclass
class _Clip:
    """What is written of one action."""

    written: Written
    curves: dict[tuple[str, int], Any]
    before: dict[tuple[str, int], Any]
    frames: Array
    """Frames at which it is sampled."""
    start: int
    """Frame at second 0."""
    shared: dict[tuple[int, str], dict[str, Any]]
    """Channels of the animation that it was made from, by node and path."""
    base: dict[str, Any]


def _animation(new: Additions, written: Written) -> dict[str, Any]:
    source = new.source
    clip = _clip(source, written)
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    inputs: dict[bytes, int] = {}
    own: set[tuple[int, str]] = set()

    def put(node: int, path: str, frames: Array, values: Array) -> None:
        seconds = (frames - clip.start) / retime.rate(bpy.context.scene)
        times = np.asarray(seconds, dtype="<f4").tobytes()
        if times not in inputs:
            inputs[times] = new.add(seconds, "SCALAR")
        output = new.add(values, "VEC4" if path == "rotation" else "VEC3")
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": inputs[times], "interpolation": "LINEAR", "output": output})
        if "matrix" in source.document["nodes"][node]:
            new.unlocked.add(node)

    for bone, node in _bones(source, written.armature):
        rest = None
        for path in _PROPERTIES:
            own.add((node, path))
            if _is_kept(clip, bone, node, path):
                _share(clip, clip.shared[node, path], channels, samplers)
                continue
            rest = rest or _rest_of(source, clip, bone, node)
            sampled = _sampled(source, clip, bone, node, path, rest)
            if sampled is not None:
                put(node, path, *sampled)
    for place, channel in clip.shared.items():
        if place not in own:
            if clip.start:
                raise WholeFileNeeded("The animation begins before second 0.")
            _share(clip, channel, channels, samplers)
    if not channels:
        raise WholeFileNeeded("Nothing is animated.")
    kept = {key: value for key, value in clip.base.items() if key not in ("channels", "samplers", "name")}
    return {**kept, "name": written.action.name, "channels": channels, "samplers": samplers}


def _clip(source: GltfSource, written: Written) -> _Clip:
    curves = _by_path(written.action, written.slot)
    before = _by_path(written.before, written.before_slot)
    base: dict[str, Any] = {}
    if written.before is not None:
        base = source.document["animations"][_index(source, written)]
    shared = {}
    for channel in base.get("channels", ()):
        target = channel["target"]
        shared[target.get("node", -1), target["path"]] = channel
    for place, curve in curves.items():
        if not place[0].startswith("pose.bones[") and (place not in before or not _are_same(curve, before[place])):
            raise WholeFileNeeded("The motion of the object itself has changed.")
    first, last = written.action.frame_range
    frames = np.arange(int(np.floor(first)), int(np.ceil(last)) + 1, dtype=float)
    return _Clip(written, curves, before, frames, min(int(frames[0]), 0), shared, base)


def _by_path(
    action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None
) -> dict[tuple[str, int], bpy.types.FCurve]:
    return {(curve.data_path, curve.array_index): curve for curve in actions.curves(action, slot)}


def _index(source: GltfSource, written: Written) -> int:
    try:
        return source.animations[written.source]
    except KeyError:
        raise WholeFileNeeded("The animation has no name of its own.") from None


def _bones(source: GltfSource, armature: bpy.types.Object) -> Iterator[tuple[bpy.types.PoseBone, int]]:
    for bone in armature.pose.bones:
        node = bone.get(gltf_source.NODE)
        if not isinstance(node, int) or bone.rotation_mode != "QUATERNION" or len(bone.constraints):
            raise WholeFileNeeded("A bone that is no node.")
        yield bone, node


def _share(
    clip: _Clip, channel: dict[str, Any], channels: list[dict[str, Any]], samplers: list[dict[str, Any]]
) -> None:
    channels.append({**channel, "sampler": len(samplers)})
    samplers.append(clip.base["samplers"][channel["sampler"]])


def _curves(found: dict[tuple[str, int], Any], bone: bpy.types.PoseBone, path: str) -> list[Any]:
    data_path = f"{bone.path_from_id()}.{_PROPERTIES[path]}"
    return [found.get((data_path, n)) for n in range(_SIZES[path])]


def _is_kept(clip: _Clip, bone: bpy.types.PoseBone, node: int, path: str) -> bool:
    """Whether the file's own keys are those of the action."""
    if clip.start or (node, path) not in clip.shared:
        return False
    pairs = zip(_curves(clip.curves, bone, path), _curves(clip.before, bone, path), strict=True)
    return all(one is not None and other is not None and _are_same(one, other) for one, other in pairs)


def _are_same(one: Any, other: Any) -> bool:
    if len(one.keyframe_points) != len(other.keyframe_points) or one.mute != other.mute:
        return False
    return np.array_equal(keys.Keys.read(one).attributes, keys.Keys.read(other).attributes)


def _sampled(
    source: GltfSource, clip: _Clip, bone: bpy.types.PoseBone, node: int, path: str, rest: "_Rest"
) -> tuple[Array, Array] | None:
    """Frames and values of a node's channel; None where the node itself has what the action leaves alone."""
    curves = _curves(clip.curves, bone, path)
    if not any(curves):
        value = _of_node(rest, path, np.array([clip.written.pose[bone.name][_PROPERTIES[path]]]))
        if _is_close(value[0], _rest(source.document["nodes"][node], path), path):
            return None
        return clip.frames[:1], value
    values = _evaluated(curves, clip, bone, path, clip.frames)
    of_node = _of_node(rest, path, values)
    if np.abs(of_node - of_node[0]).max() == 0.0 and len(of_node) > 2:
        return clip.frames[[0, -1]], of_node[[0, -1]]
    return clip.frames, of_node


def _evaluated(curves: list[Any], clip: _Clip, bone: bpy.types.PoseBone, path: str, frames: Array) -> Array:
    still = clip.written.pose[bone.name][_PROPERTIES[path]]
    columns = [
        np.full(len(frames), still[n]) if curve is None else [curve.evaluate(frame) for frame in frames]
        for n, curve in enumerate(curves)
    ]
    return np.array(columns, dtype=float).T


def _of_node(rest: "_Rest", path: str, values: Array) -> Array:
    """Channels of a pose bone (F, 3 or 4) as those of its node; quaternions are w, x, y, z before and last w after."""
    if path == "scale":
        return values
    if path == "translation":
        return rest.place + rotation.rotate(rest.turn, values)
    turned = rotation.multiply(rest.turn, rotation.normalize(values))
    return np.roll(rotation.align_hemisphere(turned), -1, axis=-1)


def _is_close(value: Array, other: Array, path: str) -> bool:
    if path == "rotation":
        return 1.0 - abs(float(value @ other)) / float(np.linalg.norm(other) or 1.0) < _SAME**2 / 8.0
    return float(np.linalg.norm(value - other)) <= _SAME * float(np.linalg.norm(other))


def _rest(node: dict[str, Any], path: str) -> Array:
    parts = _with_parts(node) if "matrix" in node else node
    return np.array(parts.get(path, _AT_REST[path]), dtype=float)


def _with_parts(node: dict[str, Any]) -> dict[str, Any]:
    """A node with translation, rotation and scale instead of a matrix."""
    matrix = Matrix(np.array(node["matrix"], dtype=float).reshape(4, 4).T.tolist())
    place, turn, scale = matrix.decompose()
    if not np.allclose(Matrix.LocRotScale(place, turn, scale), matrix, rtol=1e-5, atol=1e-6):
        raise WholeFileNeeded("A sheared node.")
    kept = {key: value for key, value in node.items() if key != "matrix"}
    return {**kept, "translation": list(place), "rotation": [*turn[1:], turn[0]], "scale": list(scale)}


@dataclass(frozen=True)
class _Rest:
    """Where a bone without channels of its own has its node."""

    place: Array
    """Location (3,)."""
    turn: Array
    """Rotation (4,): w, x, y, z."""


def _rest_of(source: GltfSource, clip: _Clip, bone: bpy.types.PoseBone, node: int) -> _Rest:
    """Raises WholeFileNeeded where the file's first keys are not what Blender has there.

    Edit bones are rounded: where the file has keys, these say more exactly what Blender made of them.
    """
    matrix = bone.bone.matrix_local
    matrix = bone.parent.bone.matrix_local.inverted() @ matrix if bone.parent is not None else _TO_GLTF @ matrix
    place, turn = np.array(matrix.translation), np.array(matrix.to_quaternion())
    first_key = _first_key(source, clip, bone, node, "rotation")
    if first_key is not None:
        stored, channels = first_key
        exact = rotation.multiply(np.roll(stored, 1), rotation.inverse(rotation.normalize(channels)))
        if float(rotation.distance(exact, turn)) > _ALIKE:
            raise WholeFileNeeded(_OTHERWISE)
        turn = rotation.normalize(exact)
    first_key = _first_key(source, clip, bone, node, "translation")
    if first_key is not None:
        stored, channels = first_key
        exact = stored - rotation.rotate(turn, channels)
        if not np.allclose(exact, place, rtol=_ALIKE, atol=_ALIKE * max(1.0, float(np.abs(stored).max()))):
            raise WholeFileNeeded(_OTHERWISE)
        place = exact
    return _Rest(place, turn)


def _first_key(
    source: GltfSource, clip: _Clip, bone: bpy.types.PoseBone, node: int, path: str
) -> tuple[Array, Array] | None:
    """The first key of a node's channel, and what the bone has there; None where the file has none that is plain."""
    channel = clip.shared.get((node, path))
    curves = _curves(clip.before, bone, path)
    if channel is None or not all(curves):
        return None
    sampler = clip.base["samplers"][channel["sampler"]]
    skipped = 1 if sampler.get("interpolation") == "CUBICSPLINE" else 0
    seconds = _element(source, sampler["input"], 0, 1)
    stored = _element(source, sampler["output"], skipped, _SIZES[path])
    if seconds is None or stored is None:
        return None
    frame = float(seconds[0]) * retime.rate(bpy.context.scene)
    return stored, _evaluated(curves, clip, bone, path, np.array([frame]))[0]


def _element(source: GltfSource, index: int, number: int, size: int) -> Array | None:
    """One element of an accessor of floats; None of one that is stored in another way."""
    accessor = source.document["accessors"][index]
    if "bufferView" not in accessor or accessor["componentType"] != _FLOAT or "sparse" in accessor:
        return None
    view = source.document["bufferViews"][accessor["bufferView"]]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0) + number * view.get("byteStride", 4 * size)
    return np.array(struct.unpack_from(f"<{size}f", source.binary, start))
