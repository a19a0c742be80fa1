"""Blender's force fields of the type Wind, where what they do can be known exactly.

A wind that is the same everywhere pushes a particle of mass 1 by its strength [m/s²] along its local Z axis, and its
flow holds it back as still air does. So it is at 25 frames a second, to which the time of particles is tuned; other
kinds of physics of Blender scale it in ways of their own. Fields of which the force depends on the place, which itself
depends on the force, and those with noise, which Blender draws anew at each evaluation, are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..sampling.sampler import Samples
from ..sampling.targets import Target

_SETTINGS = "field."
_STRENGTH = f"{_SETTINGS}strength"
_MANY = ("SURFACE", "POINTS")
"""Shapes with a direction at each place of a mesh."""
LEFT_OUT = Message(
    "Force field '{name}' has no effect on springs: {reason}; use a field of the type Wind with Falloff Power 0, "
    "without noise and without a maximum distance."
).template


@dataclass(frozen=True)
class Field:
    """A force field of the scene."""

    object: bpy.types.Object

    def values(self) -> tuple:
        """All that decides about it besides where it is."""
        field = self.object.field
        curve = _curve(self.object)
        keys = () if curve is None else tuple(tuple(key.co) for key in curve.keyframe_points)
        return self.left_out, field.strength, field.flow, keys

    @property
    def left_out(self) -> str:
        """Why it cannot be known what it does, "" where it can."""
        return _reason(self.object)

    def strengths(self, frames: Array) -> Array:
        """(F,) [m/s²]"""
        curve = _curve(self.object)
        if curve is None:
            return np.full(len(frames), self.object.field.strength)
        return np.array([curve.evaluate(float(frame)) for frame in frames])


def _curve(item: bpy.types.Object) -> bpy.types.FCurve | None:
    """The F-curve of the strength."""
    return next((curve for curve in _curves(item) if curve.data_path == _STRENGTH), None)


def _curves(item: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The F-curves of its settings."""
    data = item.animation_data
    if data is None or data.action is None:
        return []
    every = actions.curves(data.action, data.action_slot)
    return [curve for curve in every if curve.data_path.startswith(_SETTINGS) and not curve.mute]


def _reason(item: bpy.types.Object) -> str:
    """See `Field.left_out`."""
    field, data = item.field, item.animation_data
    if field.type != "WIND":
        return Message("only wind is the same everywhere").template
    if data is not None and any(driver.data_path.startswith(_SETTINGS) for driver in data.drivers):
        return Message("a driver moves its settings").template
    if any(curve.data_path != _STRENGTH for curve in _curves(item)):
        return Message("settings besides its strength are keyed").template
    if data is not None and any(not track.mute for track in data.nla_tracks):
        return Message("its animation is in the NLA").template
    if field.noise > 0.0:
        return Message("its noise is another one each time").template
    has_ends = field.use_max_distance or field.falloff_type != "SPHERE" or field.z_direction != "BOTH"
    if field.falloff_power != 0.0 or has_ends or field.shape in _MANY:
        return Message("its strength depends on the place").template
    if not field.apply_to_location:
        return Message("its effect on locations is off").template
    if field.use_absorption:
        return Message("objects absorb it").template
    return ""


def on(scene: bpy.types.Scene) -> list[Field]:
    """The force fields of a scene that Blender evaluates in one of its view layers, hidden by the eye or not."""
    found = [item for item in scene.objects if item.field is not None and item.field.type != "NONE"]
    found = [item for item in found if not item.hide_viewport]
    if not found:
        return []
    shown = {collection for layer in scene.view_layers for collection in _shown(layer.layer_collection)}
    return [Field(item) for item in found if not shown.isdisjoint(item.users_collection)]


def _shown(own: bpy.types.LayerCollection) -> Iterator[bpy.types.Collection]:
    """The collections below one of a view layer that are neither excluded nor disabled in viewports."""
    if own.collection.hide_viewport:
        return
    if not own.exclude:
        yield own.collection
    for child in own.children:
        yield from _shown(child)


def notes(every: Sequence[Field]) -> tuple[Message, ...]:
    """What is said of those that are left out."""
    out = ((field.object.name, field.left_out) for field in every)
    return tuple(Message(LEFT_OUT, name=name, reason=Message(reason)) for name, reason in out if reason)


def targets(every: Sequence[Field]) -> list[Target]:
    """Two points of each, to be sampled."""
    return [Target(field.object, "", (0.0, 0.0, height)) for field in every for height in (0.0, 1.0)]


def pushed(points: Array, s: Samples, every: Sequence[Field]) -> tuple[Array, float]:
    """The acceleration (F, 3) [m/s²] by all of them, and the drag [1/s].

    points: (2 w, F, 3) samples of their `targets` in the armature's space.
    """
    seen = np.einsum("fij,nfj->nfi", s.worlds[:, :3, :3], points)
    result, drag = np.zeros((len(s.frames), 3)), 0.0
    for n, field in enumerate(every):
        if not field.left_out:
            along = seen[2 * n + 1] - seen[2 * n]
            along = along / np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-12)
            result += field.strengths(s.frames)[:, None] * along
            drag += field.object.field.flow
    return result, drag
