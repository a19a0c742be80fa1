"""F-curves that were changed at every frame, and are to have other keys: from those of a channelbag to fewer."""

from typing import Any

import bpy
import numpy as np

from . import actions, channels, data_paths
from .channels import AMOUNT, LOCATION, SCALE
from .key_writer import ChannelMotion, KeyWriter
from .keys import Keys

_TRANSFORMS = {"location": LOCATION, "scale": SCALE}


def thin(item: bpy.types.ID, bag: Any, source: Any, writer: KeyWriter) -> None:
    """Let a writer choose the keys of the F-curves in `bag`, which belong to `item`, that differ from those in the
    channelbag `source`, None for none."""
    if not writer.is_sparse or bag is None:
        return
    by_path: dict[str, list[Any]] = {}
    for curve in bag.fcurves:
        by_path.setdefault(curve.data_path, []).append(curve)
    for path, curves in by_path.items():
        _thin(item, path, sorted(curves, key=lambda curve: curve.array_index), source, writer)


def bones(bag: Any, source: Any) -> set[str]:
    """Names of the bones of which F-curves in `bag` differ from those in the channelbag `source`, None for none; "" for
    other F-curves."""
    found = set()
    for curve in bag.fcurves if bag is not None else ():
        was = None if source is None else source.fcurves.find(curve.data_path, index=curve.array_index)
        if Keys.read(was).attributes.tobytes() != Keys.read(curve).attributes.tobytes():
            found.add(data_paths.split_bone(curve.data_path)[0])
    return found


def _thin(item: bpy.types.ID, path: str, curves: list[Any], source: Any, writer: KeyWriter) -> None:
    mode = mode_of(item, path)
    # Numbers that are no rotation have no keys in common.
    size = channels.channel(mode)[1]
    together = mode in _TRANSFORMS.values() or (mode != AMOUNT and len(curves) == size)
    mode, groups = (mode, [curves]) if together else (AMOUNT, [[curve] for curve in curves])
    for group in groups:
        before = [None if source is None else source.fcurves.find(path, index=curve.array_index) for curve in group]
        old = [Keys.read(curve) for curve in before]
        new = [Keys.read(curve) for curve in group]
        if all(a.attributes.tobytes() == b.attributes.tobytes() for a, b in zip(old, new, strict=True)):
            continue
        unit = metre(item, data_paths.split_bone(path)[0])
        motion = _motion(mode, group, before, old, new, unit)
        if motion is None:
            continue
        for curve, made in zip(group, writer.keys(motion), strict=True):
            made.write(curve)


def _motion(
    mode: str, curves: list[Any], before: list[Any], old: list[Keys], new: list[Keys], unit: float
) -> ChannelMotion | None:
    """The whole frames over which the curves differ from those before; None if they do not."""
    ends = [frame for keys in new if len(keys) for frame in (float(keys.frames[0]), float(keys.frames[-1]))]
    frames = np.arange(np.ceil(min(ends)), np.floor(max(ends)) + 1.0)
    plays = [curve is not None and actions.plays(curve) for curve in before]
    modified = any(own and any(not item.mute for item in was.modifiers) for was, own in zip(before, plays, strict=True))
    plays = [own and not modified for own in plays]
    evaluate = [
        was.evaluate if own else _constant(float(curve.evaluate(frames[0])))
        for was, curve, own in zip(before, curves, plays, strict=True)
    ]
    values = np.array([[curve.evaluate(frame) for curve in curves] for frame in frames])
    was = np.array([[value(frame) for value in evaluate] for frame in frames])
    rows = np.flatnonzero(np.any(values != was, axis=1) | modified)
    if not len(rows):
        return None
    part = slice(rows[0], rows[-1] + 1)
    edges = (bool(rows[0] > 0), bool(rows[-1] < len(frames) - 1))
    return ChannelMotion(
        mode,
        frames[part],
        values[part],
        [keys if own else Keys.read(None) for keys, own in zip(old, plays, strict=True)],
        evaluate,
        [edges] * len(curves),
        is_replaced=modified,
        metre=unit,
    )


def _constant(value: float) -> Any:
    return lambda frame: value


def mode_of(item: bpy.types.ID, path: str) -> str:
    """The rotation mode of a channel by its data path, or what stands for it."""
    bone, name = data_paths.split_bone(path)
    if name in _TRANSFORMS:
        return _TRANSFORMS[name]
    if name not in channels.TRANSFORM_SIZES:
        return AMOUNT
    owner = item.pose.bones.get(bone) if bone else item  # type: ignore[attr-defined]
    mode = getattr(owner, "rotation_mode", "XYZ")
    if channels.channel(mode)[0] == name:
        return mode
    return {"rotation_quaternion": "QUATERNION", "rotation_axis_angle": "AXIS_ANGLE"}.get(name, "XYZ")


def metre(item: bpy.types.ID, bone: str) -> float:
    """Metres in a unit of the location of a bone or, with "", of the object."""
    unit = bpy.context.scene.unit_settings.scale_length
    if not bone or not isinstance(item, bpy.types.Object):
        return unit
    size = abs(item.matrix_world.to_3x3().determinant()) ** (1.0 / 3.0)
    return unit * size or 1.0
