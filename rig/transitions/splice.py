"""Splicing clips: the channels of one clip continued by those of another with a decaying difference."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import checks, rotation
from ...lookat_pd.rotation import Array
from ...lookat_pd.transitions import cut, hinges, inertialization, methods, spring
from ...lookat_pd.transitions.hinges import BlendedHinges
from ...lookat_pd.transitions.methods import TransitionMethod
from ...lookat_pd.transitions.profiles import ProfileRow
from ..animation import channels
from . import blend_profiles
from .animated import Channel
from .blend_profiles import BlendProfile
from .clips import Clip

_LOOKED_AT = 300
"""About how many poses of a clip say how far its joints turn."""


@dataclass(frozen=True)
class Blend:
    """Settings of a blend."""

    seconds: float | None = None
    """Length of the blend, None for automatic."""
    method: str = methods.default().identifier
    """Identifier of one of `lookat_pd.transitions.methods`, such as "INERTIAL" (the difference decays); by default
    the one that a cut needs is chosen."""
    profile: BlendProfile = blend_profiles.NONE
    """Bones and curves that blend differently."""
    damping_ratio: float = 1.0
    """Damping ratio, for methods that have one."""
    travel: str = ""
    """Identifier of the method for locations, where it is another one."""
    hard: bool = False
    """Clips are placed for the blend and cut, and what is seen is blended later."""

    def __post_init__(self) -> None:
        for method in filter(None, (self.method, self.travel)):
            checks.check_method(method, [row.identifier for row in methods.METHODS.values()])
        if self.seconds is not None and not (np.isfinite(self.seconds) and self.seconds >= 0.0):
            raise cut.wrong_duration(self.seconds)
        checks.number("damping ratio", self.damping_ratio, *spring.DAMPING_RATIOS)

    @property
    def how(self) -> TransitionMethod:
        """The row of the method."""
        return _row(self.method)

    def how_of(self, kind: str) -> TransitionMethod:
        """The row of the method for a kind of channel."""
        row = _row(self.travel or self.method) if kind == "vector" else self.how
        return methods.METHODS[row.scalars] if kind == "scalar" and row.scalars else row

    @property
    def glide(self) -> float | None:
        """Fraction of the blend for which the velocity of the difference would persist; None if it does not."""
        glide = self.how_of("vector").glide
        return None if glide is None else glide(self.damping_ratio)

    def at_most(self, seconds: float) -> "Blend":
        """The same, no longer than this."""
        assert self.seconds is not None
        return replace(self, seconds=min(self.seconds, seconds))


def _row(identifier: str) -> TransitionMethod:
    method = methods.of_identifier(identifier)
    assert method is not None
    return method


AUTOMATIC = Blend()
CUT = Blend(0.0, methods.METHODS["cut"].identifier)


def _sides(before: Clip, after: Clip) -> tuple[str, Array, Array] | None:
    """The kind of the channels that represent a cut, its last two poses before and its first two after it (2, B, n).

    Rotations, or vectors if nothing rotates; None if there are neither.
    """
    for kind in ("rotation", "vector"):
        wanted = [channel for channel in after.raw if channel.kind == kind]
        if wanted:
            previous = np.concatenate([_ends(before, group, slice(-2, None)) for group in _groups(wanted)], axis=1)
            target = np.concatenate([_ends(after, group, slice(0, 2)) for group in _groups(wanted)], axis=1)
            return kind, previous, target
    return None


def chosen(blend: Blend, before: Clip, after: Clip, dt: float, size: float = 1.0) -> Blend:
    """The blend with the method and the length [s] that an automatic choice gives for the cut between the end of one
    clip and the start of the other.

    size: length in the armature's space that counts as one radian, used only if nothing rotates.
    """
    return chosen_for([] if (sides := _sides(before, after)) is None else [sides], blend, dt, size)


def chosen_for(sides: Sequence[tuple[str, Array, Array]], blend: Blend, dt: float, size: float) -> Blend:
    """The same for a cut whose sides are known: for each kind of value, the last two poses before it and the first ones
    after it (F, B, n). The method is that for the first kind."""
    share = inertialization.MOST_BONES
    if blend.how.chooses:
        how = methods.METHODS["inertial"] if not sides else methods.choose(*sides[0][1:], dt, sides[0][0], size)
        # Dead blending would let a character that travels stop on its way.
        swing = methods.METHODS["swing"]
        blend = replace(blend, method=how.identifier, travel="" if how.glide else swing.identifier)
        share = 1.0 if how is swing else share
    if blend.seconds is None:
        lengths = [
            inertialization.blend_time(before, after, dt, kind=kind, size=size, share=share)
            for kind, before, after in sides
        ]
        blend = replace(blend, seconds=max(lengths, default=inertialization.BLEND_TIMES[0]))
    return blend


def splice(
    before: Clip,
    after: Clip,
    dt: float,
    blend: Blend,
    going_on: Clip | None = None,
    upright: Mapping[Channel, Array] | None = None,
) -> Clip:
    """`after` blended from `before`, both with the same channels; its frames follow directly.

    before: needs at least two frames. going_on: continuation of `before` over the frames of `after`, for a cross-fade
    and for rows of the profile with which the source plays on.
    upright: for locations whose height and ground position decay separately, the matrix (3, 3) of their height.
    blend.seconds must be a number. After the blend, the stored numbers are exactly those of `after`, or another
    representation of the same rotations if that is continuous.
    """
    if blend.how.chooses:
        blend = chosen(blend, before, after, dt)
    rows = {channel: blend.profile.row(channel) for channel in after.raw}
    raw: dict[Channel, Array] = {}
    for start, wanted in _starts(rows, len(after.frames), dt).items():
        sides = before, after, going_on
        if start:
            assert going_on is not None, "the caller reads on where the source plays on"
            rest = slice(start, None)
            sides = before.then(going_on.part(slice(0, start))), after.part(rest), going_on.part(rest)
            raw.update({channel: going_on.raw[channel][:start] for channel in wanted})
        spliced = _spliced(*sides, wanted, rows, dt, blend, upright)
        raw.update({c: np.concatenate((raw[c], part)) if start else part for c, part in spliced.items()})
    return Clip(after.armature, after.frames, {channel: raw[channel] for channel in after.raw})


def _starts(rows: Mapping[Channel, ProfileRow | None], frames: int, dt: float) -> dict[int, list[Channel]]:
    """The channels by the number of frames for which the source plays on."""
    found: dict[int, list[Channel]] = {}
    for channel, row in rows.items():
        start = 0 if row is None else round(min(row.source_time / dt, frames))
        found.setdefault(start, []).append(channel)
    return found


def _spliced(
    before: Clip,
    after: Clip,
    going_on: Clip | None,
    wanted: Sequence[Channel],
    rows: Mapping[Channel, ProfileRow | None],
    dt: float,
    blend: Blend,
    upright: Mapping[Channel, Array] | None,
) -> dict[Channel, Array]:
    """The stored numbers of channels, blended from the first frame of `after` on."""
    if not len(after.frames):
        return {channel: after.raw[channel] for channel in wanted}
    factors = {channel: 1.0 if row is None else row.time_factor for channel, row in rows.items()}
    raw: dict[Channel, Array] = {}
    for group in _groups(wanted):
        durations = np.array([(blend.seconds or 0.0) * factors[channel] for channel in group])
        frames = min(len(after.frames), int(np.ceil(durations.max() / dt)) + 2)
        kind, mode = group[0].kind, group[0].mode
        if kind == "switch":
            raw.update({channel: after.raw[channel] for channel in group})
            continue
        stored = _stack([after.raw[channel] for channel in group])
        last = _stack([before.raw[channel][-1:] for channel in group])[0]
        previous, target = _ends(before, group, slice(-2, None)), _values(group[0], stored[:frames])
        source = None
        if blend.how.plays_both and going_on is not None:
            source = _ends(going_on, group, slice(0, frames))
        joints = _hinges(before, after, group) if kind == "rotation" and blend.how_of(kind).swings else None
        result = _blended(kind, previous, target, source, dt, durations, blend, joints)
        for n, channel in enumerate(group):
            if upright and channel in upright and blend.glide is not None:
                result[:, n] = _blended_upright(previous[:, n], target[:, n], upright[channel], dt, durations[n], blend)
        column = (
            _continued(mode, stored, target, result, last) if kind == "rotation" else _joined(stored, target, result)
        )
        raw.update({channel: column[:, n] for n, channel in enumerate(group)})
    return raw


def _hinges(before: Clip, after: Clip, group: Sequence[Channel]) -> BlendedHinges:
    """What both clips turn about one axis, and where it is straight."""
    poses = [_ends(clip, group, slice(None, None, max(len(clip.frames) // _LOOKED_AT, 1))) for clip in (before, after)]
    above, along = zip(*(_directions(after.armature, channel.bone) for channel in group), strict=True)
    return hinges.find(poses, np.array(above), np.array(along))


def _directions(armature: bpy.types.Object, name: str) -> tuple[Array, Array]:
    """The directions in a bone's frame of the bone above it and of itself, at rest, from joint to joint; zero without a
    bone above."""
    bone = armature.data.bones.get(name)
    if bone is None or bone.parent is None:
        return np.zeros(3), np.zeros(3)
    end = bone.children[0].head_local if len(bone.children) == 1 else bone.tail_local
    back = np.array(bone.matrix_local.to_3x3()).T
    ways = [np.array(way) @ back.T for way in (bone.head_local - bone.parent.head_local, end - bone.head_local)]
    return ways[0], ways[1]


def _groups(wanted: Iterable[Channel]) -> list[list[Channel]]:
    """Groups of channels that can be blended as one array."""
    groups: dict[tuple[str, str], list[Channel]] = {}
    for channel in wanted:
        groups.setdefault((channel.kind, channel.mode), []).append(channel)
    return list(groups.values())


def _stack(columns: Sequence[Array]) -> Array:
    """Arrays (F, size), one for each channel, to (F, B, size)."""
    result = np.empty((len(columns[0]), len(columns), columns[0].shape[1]))
    for n, values in enumerate(columns):
        result[:, n] = values
    return result


def _ends(clip: Clip, group: Sequence[Channel], chosen: slice) -> Array:
    """Some frames of channels of one kind as values for blending (F, B, size)."""
    return _values(group[0], _stack([clip.raw[channel][chosen] for channel in group]))


def _values(channel: Channel, raw: Array) -> Array:
    """Stored numbers (..., size) of channels of one kind; rotations to unit quaternions."""
    if channel.kind != "rotation":
        return raw
    return channels.to_quaternion(raw.reshape(-1, raw.shape[-1]), channel.mode).reshape(*raw.shape[:-1], 4)


def _blended(
    kind: str,
    previous: Array,
    target: Array,
    source: Array | None,
    dt: float,
    durations: Array,
    blend: Blend,
    joints: BlendedHinges | None = None,
) -> Array:
    how = blend.how_of(kind)
    options: dict[str, Any] = {"damping_ratio": blend.damping_ratio} if how.has_damping else {}
    if joints is not None:
        options["hinges"] = joints
    return how.blend(previous, target, source, dt, durations, "rotation" if kind == "rotation" else "vector", **options)


def _blended_upright(previous: Array, target: Array, height: Array, dt: float, duration: float, blend: Blend) -> Array:
    """Locations (F, 3) whose difference decays separately along up and on the ground plane."""
    parts = np.stack((height, np.eye(3) - height))
    before, there = (np.einsum("pij,fj->fpi", parts, values) for values in (previous, target))
    return target + np.sum(_blended("vector", before, there, None, dt, np.asarray(duration), blend) - there, axis=1)


def _joined(stored: Array, target: Array, result: Array) -> Array:
    """The stored numbers, replaced by those of the blend where it changes them."""
    column = stored.copy()
    column[: len(result)] = np.where(_blending(target, result)[..., None], result, stored[: len(result)])
    return column


def _blending(target: Array, result: Array) -> Array:
    """(F, B) whether a blend with an effect is still running."""
    changed = np.any(result != target, axis=-1)
    return np.logical_or.accumulate(changed[::-1], axis=0)[::-1]


def _continued(mode: str, stored: Array, target: Array, result: Array, last: Array) -> Array:
    """As `_joined` for rotations: the blended values are continuous with `last` (B, size), and the values after them
    use the nearest representation."""
    blending = _blending(target, result)
    written = np.concatenate((last[None], channels_from(mode, result, last)))
    length = np.sum(blending, axis=0)
    row = np.arange(stored.shape[1])
    follows = nearest_writing(mode, stored, stored[np.minimum(length, len(stored) - 1), row], written[length, row])
    follows[: len(result)] = np.where(blending[..., None], written[1:], follows[: len(result)])
    return follows


def channels_from(mode: str, values: Array, start: Array) -> Array:
    """Quaternions (F, B, 4) to stored numbers (F, B, size) that are continuous from near `start` (B, size)."""
    if mode == "QUATERNION":
        return rotation.align_hemisphere(np.concatenate((start[None], values)))[1:]
    if mode == "AXIS_ANGLE":
        return _stack([channels.continuous_axis_angle(values[:, n], start[n]) for n in range(len(start))])
    return rotation.continuous_euler(rotation.to_euler(values, mode), mode, start=start)


def nearest_writing(mode: str, stored: Array, at: Array, near: Array) -> Array:
    """Stored rotations (F, B, size) in the representation for which `at` (B, size), one of them, is nearest to `near`
    (B, size). The rotations are the same, also between frames, and so are the numbers if they are already nearest.
    """
    if mode == "QUATERNION":
        return np.where((np.sum(at * near, axis=-1) < 0.0)[:, None], -stored, stored)
    # An offset and a sign for each number: multiples of 2 pi, and the second representation of a rotation.
    size = stored.shape[-1]
    same, sign, shift = np.zeros(size), np.ones(size), np.zeros(size)
    turns = np.array([1.0, 0.0, 0.0, 0.0]) if mode == "AXIS_ANGLE" else np.ones(3)
    if mode == "AXIS_ANGLE":
        sign = -sign
    else:
        middle = "XYZ".index(mode[1])
        sign, shift = np.where(np.arange(3) == middle, -1.0, 1.0), np.full(3, np.pi)
    best, distance = stored, np.full(len(at), np.inf)
    for factor, offset in ((np.ones(size), same), (sign, shift)):
        there = at * factor + offset
        whole = turns * np.round((near - there) / (2.0 * np.pi)) * (2.0 * np.pi)
        away = np.sum(np.abs(there + whole - near), axis=-1)
        better = away < distance - 1e-6
        best = np.where(better[:, None], stored * factor + (offset + whole), best)
        distance = np.where(better, away, distance)
    return best
