"""A cycle follows a path: a curve object, or the motion of any other object.

The clip is played in place, and the character is placed on the path by the distance that the clip travels. Along a
curve the clip keeps its own speed; with an object the speed is that of the object, and the cycle plays as fast as its
steps need.
"""

from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.body.contacts import Detection
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..animation.bake_options import BakeOptions, check_frames
from ..animation.key_writer import KeyWriter
from ..animation.playing import playing
from ..feet import skate
from ..feet.contact_report import ContactReport
from ..sampling.own_data import TEMPORARY
from ..sampling.sampler import Sampler, sample_frames
from ..sampling.targets import Target
from . import clips, join, sequence, splice
from .clips import Clip
from .lock_feet import WHERE_POSSIBLE, PlayedClip, locking
from .locomotion import GroundPath, Speed, TravelClip

EASE = 0.5
"""Time [s] over which the heading follows the path, by default."""
_SLOWEST = 0.02
"""Smallest speed [sizes/s] of a clip that can follow a path."""
_PLANTED = 0.5
"""Largest speed of a foot on the ground, of that of the clip: a cycle has no constant speed."""
_CLOSE = 1e-9


def find_path(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    """The object of that name, as a path. Raises RigError."""
    item = scene.objects.get(name)
    if item is None:
        raise RigError("There is no object '{name}' in the scene; choose a path.", name=name)
    return item


@dataclass(frozen=True)
class PathFollowed:
    """A clip that was made to follow a path."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    first: int
    last: int
    speed: float
    """Speed [m/s] of the clip."""
    distance: float
    """Distance [m] covered on the path."""
    cycles: float
    """Number of cycles that the clip plays."""
    feet: ContactReport | None = None
    """What locking the feet did, None where they are not locked or never planted."""
    unlocked: RigError | None = None
    """Why feet are not locked though the rig has legs, where nobody asked for it."""


@dataclass(frozen=True)
class _Course:
    """A path on the ground as a polyline."""

    places: Array
    """(N, 3) points of the path."""
    along: Array
    """(N,) distances from its beginning."""

    @classmethod
    def of(cls, places: Array) -> "_Course":
        return cls(places, np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1)))))

    def at(self, distance: Array) -> Array:
        """Places (F, 3); beyond its ends the path goes straight on."""
        places = np.stack([np.interp(distance, self.along, self.places[:, k]) for k in range(3)], axis=-1)
        for row, sign in ((0, -1.0), (-1, 1.0)):
            end = 0.0 if row == 0 else self.along[-1]
            beyond = np.maximum(sign * (distance - end), 0.0)
            step = self.places[1] - self.places[0] if row == 0 else self.places[-1] - self.places[-2]
            places = places + sign * beyond[:, None] * rotation.normalize(step)
        return places


def follow(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    path: bpy.types.Object,
    *,
    speed: float | None = None,
    ease: float = EASE,
    lock_feet: bool | None = WHERE_POSSIBLE,
    name: str = "",
    assign: bool = True,
    writer: KeyWriter | None = None,
) -> Generator[float, None, PathFollowed]:
    """A new action in which the clip is repeated along a path; yields the completed fraction.

    speed: of the clip [m/s]; None for that with which it travels or, in place, that of its planted feet. ease: time [s]
    over which the heading follows the tangent. lock_feet: keep planted feet on their places, by default where
    possible. Nothing is left if it fails. Raises LookAtError.
    """
    make = partial(
        _follow, scene, armature, action, path, speed=speed, ease=ease, name=name, assign=assign, writer=writer
    )
    return (yield from locking(armature, lambda lock: make(lock_feet=lock), lock_feet))


def _follow(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    path: bpy.types.Object,
    *,
    speed: float | None,
    ease: float,
    lock_feet: bool,
    name: str,
    assign: bool,
    writer: KeyWriter | None,
) -> Generator[float, None, PathFollowed]:
    known = TravelClip(scene, armature, action)
    own = yield from subrange(_travel(known, speed), 0.0, 0.1)
    step = own.speed / known.scale * known.dt
    if path.type == "CURVE":
        course = _course(known, path, _curve_points(path))
        distance = np.arange(int(np.floor(course.along[-1] / step + 1e-6)) + 1) * step
        first = known.first
    else:
        first, places = yield from subrange(_motion(known, path), 0.1, 0.2)
        course = _course(known, path, places)
        distance = course.along
    check_frames(first, first + len(distance) - 1)
    if len(distance) < 3:
        raise RigError(
            "The path '{path}' is shorter than the distance of two frames of '{action}'; choose a longer path.",
            path=path.name,
            action=action.name,
        )
    clip = _played(known, distance / step, first)
    wanted = _along(known, course, distance, own.direction, ease * step / known.dt)
    result = known.moved(clip, known.still(len(distance)), wanted)
    called = name or f"{action.name} along {path.name}"
    made = yield from subrange(known.writing(result, called, assign=False, markers=False, writer=KeyWriter()), 0.2, 0.3)
    feet = None
    with actions.removed_if_failed(made.action):
        if lock_feet:
            options = BakeOptions(made.first, made.last, "CURRENT")
            # The contacts of a fast run may be shorter than any that is found.
            with suppress(skate.NotPlanted), playing(armature, made.action, made.slot):
                detection = Detection(speed=max(_PLANTED * step / known.dt / known.leg(), Detection.speed))
                contact = replace(skate.CONTACT, frames=detection)
                feet = yield from subrange(skate.clean(scene, armature, options, contact), 0.3, 1.0)
        if assign:
            sequence.check_may_play(armature)
        yield from join.with_keys(armature, made.action, made.slot, _cycles(known, first, len(distance)), writer)
        if assign:
            join.use(armature, made.action, made.slot)
    covered = float(distance[-1]) * known.scale
    return PathFollowed(
        made.action, made.slot, made.first, made.last, own.speed, covered, covered / (own.speed * known.seconds), feet
    )


def _travel(known: TravelClip, speed: float | None) -> Generator[float, None, Speed]:
    """How a clip travels along a path, at a speed [m/s] if one is given. Raises LookAtError if it does not."""
    own = known.speed() if known.travels() else (yield from known.measuring())
    own = replace(own, turn=0.0) if speed is None else replace(own, speed=speed, turn=0.0)
    if not own.speed / known.scale > _SLOWEST * known.ground.size:
        raise RigError(
            "'{action}' does not travel and its feet do not move over the ground; enter its speed, or choose another "
            "action.",
            action=known.action.name,
        )
    return own


def _cycles(known: TravelClip, first: int, count: int) -> list[PlayedClip]:
    """The clip as it plays again and again over so many frames from the first one."""
    begin, end = sequence.key_ends(known.action, known.slot)
    starts = np.arange(0.0, count, end - begin)
    whole = np.ceil(starts - 1e-6)
    return [
        known.as_played(first + int(at), begin + at - start)
        for at, start in zip(whole, starts, strict=True)
        if at < count
    ]


def _played(known: TravelClip, rows: Array, first: int) -> Clip:
    """The clip in place at rows (F,) from its first frame, as often as it needs. first: frame of the result."""
    begin, end = sequence.key_ends(known.action, known.slot)
    within = rows % (end - begin)
    clip = known.read(begin + within)
    clip.frames = np.arange(first, first + len(rows), dtype=float)
    known.hold_added(clip)
    for channel, raw in clip.raw.items():
        if channel.kind == "rotation":
            values = clips.to_values(channel, raw)
            clip.raw[channel] = splice.channels_from(channel.mode, values[:, None], raw[:1])[:, 0]
    shares = (begin + within - known.first) / (known.last - known.first)
    return known.moved(clip, known.even_path(shares), known.still(len(rows)))


def _along(known: TravelClip, course: _Course, distance: Array, direction: float, ease: float) -> GroundPath:
    """Where the character is at distances (F,) on a path, and its heading. direction: in which it goes, from where it
    faces; ease: length of the path over which the heading follows it."""
    reach = max(0.5 * ease, 1e-4 * known.ground.size)
    chord = course.at(distance + reach) - course.at(distance - reach)
    angles = np.unwrap(np.arctan2(chord @ known.left, chord @ known.forward)) - direction
    return GroundPath(course.at(distance), angles)


def _course(known: TravelClip, path: bpy.types.Object, places: Array) -> _Course:
    """The path of places (N, 3) of the world on the ground. Raises RigError if it has no length."""
    found = _Course.of(known.level(known.to_ground(places)))
    if not np.isfinite(places).all() or len(places) < 2 or not found.along[-1] > _CLOSE * known.ground.size:
        raise RigError("The path '{path}' has no length on the ground; choose a longer path.", path=path.name)
    return found


def _curve_points(path: bpy.types.Object) -> Array:
    """Places (N, 3) of the world along the first spline of a curve object. Raises RigError if there is none."""
    if not path.data.splines:
        raise RigError("The curve '{path}' has no points; add some, or choose another path.", path=path.name)
    data = path.data.copy()
    item = None
    try:
        # Without its thickness, a curve is a line of vertices.
        data.bevel_depth = data.extrude = data.offset = 0.0
        data.bevel_object = data.taper_object = None
        data.dimensions = "3D"
        for spline in list(data.splines)[1:]:
            data.splines.remove(spline)
        item = bpy.data.objects.new(TEMPORARY, data)
        mesh = item.to_mesh()
        local = np.empty(3 * len(mesh.vertices))
        mesh.vertices.foreach_get("co", local)
        closed = len(mesh.edges) >= len(mesh.vertices) > 2
        item.to_mesh_clear()
    finally:
        if item is not None:
            bpy.data.objects.remove(item)
        bpy.data.curves.remove(data)
    local = local.reshape(-1, 3)
    if closed:
        local = np.concatenate((local, local[:1]))
    matrix = np.array(path.matrix_world)
    return local @ matrix[:3, :3].T + matrix[:3, 3]


def _motion(known: TravelClip, path: bpy.types.Object) -> Generator[float, None, tuple[int, Array]]:
    """The first frame of an object's motion, and its places (F, 3) of the world. Raises RigError if it has none."""
    data = path.animation_data
    if path == known.armature or data is None or data.action is None:
        raise RigError(
            "'{path}' is not a path; choose a curve, or another object with keys on its location.", path=path.name
        )
    first, last = sequence.key_range(data.action, data.action_slot)
    check_frames(first, last)
    bone = known.armature.data.bones[0].name
    with Sampler(known.scene, known.armature, [bone], [Target(path)]) as sampler:
        samples = yield from sample_frames(sampler, np.arange(first, last + 1))
    local = samples.targets[0]
    return first, np.einsum("fij,fj->fi", samples.worlds[:, :3, :3], local) + samples.worlds[:, :3, 3]
