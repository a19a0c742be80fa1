"""Preview of a transition: the deviation of each part of the body from the destination, and its decay."""

from collections.abc import Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from ...lookat_pd.transitions import methods, profiles
from ..animation import actions, channels
from ..detection import rest
from ..detection.anatomy import Anatomy
from ..sampling import scene_time
from . import blend_profiles, clips, profile_settings, splice
from .clips import Channel, Clip

LONGEST = 0.8
"""Duration [s] of the preview after the cut."""
PARTS = ("head", "torso", "arms", "legs")
_last: dict[str, object] = {}


@dataclass(frozen=True)
class DecayPreview:
    """Deviations from the destination after a cut."""

    times: Array
    """(F,) times [s]."""
    parts: Mapping[str, Array]
    """For each part of the body the mean deviation (F,) [deg]."""
    compared: Mapping[str, Array] | None
    """The same with the method to compare with, None without one."""
    methods: tuple[str, str]
    """Labels of both methods; of an automatic choice those that were chosen."""


def preview(scene: bpy.types.Scene, armature: bpy.types.Object) -> DecayPreview | None:
    """The decay of the transition in the scene's settings, its profile included; None if it cannot be made.

    The last result is cached until the settings or the keys of the actions change.
    """
    settings = scene.lookat_pd_transition
    data = armature.animation_data
    source = bpy.data.actions.get(settings.source) or (data.action if data else None)
    destination = bpy.data.actions.get(settings.destination)
    if source is None or destination is None:
        return None
    dt = scene_time.seconds_per_frame(scene)
    try:
        contents = _content(armature, source), _content(armature, destination)
    except LookAtError:
        return None
    numbers = (settings.source_frame, settings.destination_frame, settings.use_auto_blend, settings.blend)
    how = (settings.method, settings.compare, settings.damping_ratio, profile_settings.used(settings))
    key = (armature.name, *how, dt, *numbers, *contents)
    if _last.get("key") != key:
        try:
            decays = _preview(armature, source, destination, settings, dt)
        except LookAtError:
            decays = None
        _last.update(key=key, decays=decays)
    return _last["decays"]  # type: ignore[return-value]


def _content(armature: bpy.types.Object, action: bpy.types.Action) -> tuple[str, int]:
    """A value that changes with the keys of an action."""
    slot = actions.find_slot(armature, action) if action.slots else None
    number = 0
    for curve in actions.curves(action, slot):
        for name in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get(name, values)
            number = hash((number, values.tobytes()))
    return action.name, number


def _preview(armature, source, destination, settings, dt: float) -> DecayPreview:
    cut, enter = settings.source_frame, settings.destination_frame
    count = int(np.ceil(LONGEST / dt))
    after = _rotations(armature, destination, enter + np.arange(count))
    before = _rotations(armature, source, cut - 2 + np.arange(2), list(after.raw))
    seconds = None if settings.use_auto_blend else settings.blend
    profile = blend_profiles.fitted(profiles.read_text(profile_settings.used(settings)), armature)
    going_on = None
    parts = _parts(armature)
    curves: list[Mapping[str, Array]] = []
    labels = []
    for method in (settings.method, settings.compare):
        if methods.of_identifier(method) is None:
            continue
        blend = splice.chosen(splice.Blend(seconds, method, profile, settings.damping_ratio), before, after, dt)
        # Both with one length.
        seconds = blend.seconds
        if going_on is None and (blend.how.plays_both or profile.source_time() > 0.0):
            going_on = _rotations(armature, source, cut + np.arange(count), list(after.raw))
        curves.append(_deviations(splice.splice(before, after, dt, blend, going_on), after, parts))
        labels.append(blend.how.label)
    times = dt * np.arange(1, count + 1)
    return DecayPreview(times, curves[0], curves[1] if len(curves) > 1 else None, (labels[0], labels[-1]))


def _deviations(blended: Clip, after: Clip, parts: Mapping[str, str]) -> dict[str, Array]:
    """The mean deviation (F,) [deg] of each part of the body; of "" if the body has none of them."""
    off: dict[str, list[Array]] = {}
    for channel, raw in blended.raw.items():
        here, there = (channels.to_quaternion(a, channel.mode) for a in (raw, after.raw[channel]))
        angle = np.degrees(rotation.distance(here, there))
        off.setdefault(parts.get(channel.bone, ""), []).append(angle)
    means = {part: np.mean(off[part], axis=0) for part in PARTS if part in off}
    everything = [angle for angles in off.values() for angle in angles]
    return means or {"": np.mean(everything, axis=0) if everything else np.zeros(len(after.frames))}


def _rotations(armature, action, frames: Array, wanted: list[Channel] | None = None) -> Clip:
    slot = actions.find_slot(armature, action)
    if wanted is None:
        wanted = [channel for channel in clips.channels_of(armature, action, slot) if channel.kind == "rotation"]
    return clips.read(armature, action, slot, frames, wanted)


def _parts(armature: bpy.types.Object) -> dict[str, str]:
    """Part of the body by bone."""
    skeleton = rest.skeleton(armature)
    hints = rest.hints(armature)
    anatomy = Anatomy(skeleton, hints.deform, hints.vertical)
    legs, arms = set(anatomy.legs), set(anatomy.arms)
    parts = {}
    for bone, name in enumerate(skeleton.names):
        line = {bone, *skeleton.ancestors(bone)}
        part = "legs" if line & legs else "arms" if line & arms else "torso"
        words = anatomy.names[bone].words
        parts[name] = "head" if part == "torso" and {"head", "neck"} & set(words) else part
    return parts
