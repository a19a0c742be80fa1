"""In place and travelling: the motion of the root over the ground is removed from a clip, or given to it.

Both move the whole character, frame by frame, from one `GroundPath` to another.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import InvalidArgument, RigError
from ...lookat_pd.progress import drained, subrange
from ...lookat_pd.rotation import Array
from ...lookat_pd.transitions.ground_speed import ground_speed
from ...lookat_pd.transitions.ground_turn import ground_turn
from ..animation import actions, editable
from ..animation.bake_options import check_frames
from ..animation.key_writer import KeyWriter
from ..animation.playing import playing
from ..detection import stance
from ..feet import foot_bones
from ..sampling import scene_time
from ..sampling.sampler import Sampler, sample_frames
from . import animated, clips, join, pose_markers, sequence
from .clips import Clip
from .lock_feet import PlayedClip
from .root_motion import Ground, Placement, heading, part

REMOVED = ("EVEN", "SMOOTH", "ALL")
"""What of the motion of the root is removed: its mean velocity, what is slower than a stride, or all of it."""
_STRIDE = 1.0
"""Seconds over which the sway of a walk cancels out."""
_TURNS = np.radians(10.0)
"""Smallest turn of a clip; the hips sway by less."""
_GOES = 0.05
"""Smallest travel [sizes/s] of a clip that is not in place."""


@dataclass(frozen=True)
class GroundPath:
    """Places (F, 3) on the ground in the space of `Ground`, and headings (F,) [rad] about up from that of the clip."""

    places: Array
    angles: Array


@dataclass(frozen=True)
class Speed:
    """Velocity over the ground in the frame of the character: [m/s] along `direction` [rad] from where it faces, to the
    left, and turning speed [rad/s]."""

    speed: float
    direction: float = 0.0
    turn: float = 0.0
    turns: Array | None = field(default=None, compare=False)
    """(F,) turning speed at each frame of a clip, of which `turn` is the mean; None where it is constant."""


@dataclass(frozen=True)
class Travelled:
    """The clip that was made, and its speed."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    first: int
    last: int
    speed: Speed
    """The speed that was given to the clip, or removed from it."""


class TravelClip:
    """An action of an armature with its motion over the ground. clip: all its frames; dt: [s] between them."""

    def __init__(self, scene: bpy.types.Scene, armature: bpy.types.Object, action: bpy.types.Action) -> None:
        """Raises LookAtError."""
        editable.check_armature(armature)
        self.scene, self.armature, self.action = scene, armature, action
        self.slot = actions.find_slot(armature, action)
        keyed = sequence.fitting(armature, action, self.slot).channels
        self.first, self.last = sequence.whole_frames(action, self.slot)
        check_frames(self.first, self.last)
        if self.last - self.first < 2:
            raise RigError(
                "Action '{action}' is too short to travel; choose an action of three frames.", action=action.name
            )
        self.dt = scene_time.seconds_per_frame(scene)
        self._keyed = keyed
        self.clip = self.read(np.arange(self.first, self.last + 1))
        self.ground = Ground(armature, [self.clip])
        if not self.ground.root and not self.ground.by_object:
            raise RigError(
                "Action '{action}' moves no bone of '{armature}' that could travel; key the location of its root.",
                action=action.name,
                armature=armature.name,
            )
        self.added = [channel for channel in self.ground.channels("HEADING") if channel not in self.clip.raw]
        self.hold_added(self.clip)
        forward = stance.of(armature).axes.forward
        if self.ground.by_object:
            forward = np.eye(3)[np.argmin(np.abs(self.ground.up))]
        self.forward = rotation.normalize(forward - (forward @ self.ground.up) * self.ground.up)
        self.left = np.cross(self.ground.up, self.forward)

    @property
    def seconds(self) -> float:
        return (self.last - self.first) * self.dt

    @property
    def scale(self) -> float:
        """Units of the world, in m, of one unit of the space of the ground."""
        linear = np.array(self._to_world())[:3, :3]
        return abs(float(np.linalg.det(linear))) ** (1.0 / 3.0) * self.scene.unit_settings.scale_length or 1.0

    def read(self, frames: Array) -> Clip:
        return clips.read(self.armature, self.action, self.slot, frames, self._keyed)

    def hold_added(self, clip: Clip) -> None:
        """Give a clip the channels that only a placement needs, with their current values."""
        clip.raw.update({c: np.tile(animated.current(self.armature, c), (len(clip.frames), 1)) for c in self.added})

    def _to_world(self):
        item = self.armature
        return item.matrix_world @ item.matrix_basis.inverted_safe() if self.ground.by_object else item.matrix_world

    def to_ground(self, places: Array) -> Array:
        """Places (..., 3) of the world in the space of the ground."""
        matrix = np.array(self._to_world().inverted_safe())
        return places @ matrix[:3, :3].T + matrix[:3, 3]

    def level(self, vectors: Array) -> Array:
        """Vectors (..., 3) without their height."""
        return vectors - (vectors @ self.ground.up)[..., None] * self.ground.up

    def along(self, angle: float | Array) -> Array:
        """Unit vectors (..., 3) on the ground at angles from where the character faces at rest, to the left."""
        return np.cos(angle)[..., None] * self.forward + np.sin(angle)[..., None] * self.left

    # Paths

    def own_path(self, removed: str = "EVEN") -> GroundPath:
        """The path of the clip that is removed to play it in place. Raises InvalidArgument."""
        if removed not in REMOVED:
            raise InvalidArgument(
                "Motion {removed!r} is unknown; use {known}.", removed=removed, known=", ".join(REMOVED)
            )
        if removed == "EVEN":
            return self.even_path(np.linspace(0.0, 1.0, len(self.clip.frames)))
        places = np.array([self.ground.stand(self.clip, row)[0] for row in range(len(self.clip.frames))])
        if removed == "SMOOTH":
            places = _smoothed(places, max(round(_STRIDE / self.dt), 1))
        return GroundPath(places, np.zeros(len(places)))

    def even_path(self, shares: Array) -> GroundPath:
        """The path of the root with constant speed and turn. shares: (F,) of the clip that has been played."""
        begin, end = (self.ground.stand(self.clip, row) for row in (0, -1))
        travel = self.ground.placement(end, begin, "HEADING")
        if abs(heading(self.ground.up, travel.rotation)) < _TURNS:
            travel = self.ground.placement(end, begin, "POSITION")
        parts = [part(travel, self.ground.up, share) for share in shares.tolist()]
        places = np.array([rotation.rotate(p.rotation, begin[0]) + p.translation for p in parts])
        return GroundPath(places, heading(self.ground.up, travel.rotation) * shares)

    def still(self, rows: int) -> GroundPath:
        """The path of somebody who stays where the clip begins."""
        return GroundPath(np.tile(self.ground.stand(self.clip, 0)[0], (rows, 1)), np.zeros(rows))

    def straight(self, speed: Speed, times: Array) -> GroundPath:
        """The path from where the clip begins with a constant speed, and a constant turn or that of each frame.

        times: (F,) [s], those of the frames of the clip if its turn changes.
        """
        if speed.turns is not None:
            return self._turning(speed, times)
        angles = speed.turn * times
        # The integral of a velocity that turns, from its closed form.
        near = np.abs(angles) < 1e-6
        safe = np.where(near, 1.0, angles)
        ahead, aside = (
            np.where(near, 1.0, np.sin(safe) / safe),
            np.where(near, 0.5 * angles, (1.0 - np.cos(safe)) / safe),
        )
        velocity = speed.speed / self.scale * self.along(np.array(speed.direction))
        moved = ahead[:, None] * velocity + aside[:, None] * np.cross(self.ground.up, velocity)
        return GroundPath(self.ground.stand(self.clip, 0)[0] + times[:, None] * moved, angles)

    def _turning(self, speed: Speed, times: Array) -> GroundPath:
        angles = _integral(np.asarray(speed.turns)[:, None], times)[:, 0]
        velocity = speed.speed / self.scale * self.along(angles + speed.direction)
        return GroundPath(self.ground.stand(self.clip, 0)[0] + _integral(velocity, times), angles)

    def moved(self, clip: Clip, old: GroundPath, new: GroundPath) -> Clip:
        """A clip that follows one path, moved to another one."""
        placements = []
        for begin, a, end, b in zip(old.places, old.angles, new.places, new.angles, strict=True):
            turn = rotation.exp((b - a) * self.ground.up)
            placements.append(Placement(turn, self.level(end - rotation.rotate(turn, begin))))
        return self.ground.place(clip, placements)

    # Speeds

    def speed(self) -> Speed:
        """The mean speed with which the clip travels by itself."""
        path = self.own_path()
        turn = float(path.angles[-1]) / self.seconds
        whole = self.level(path.places[-1] - path.places[0])
        # The chord of an arc is shorter than the arc, and half of the turn ahead of its begin.
        half = 0.5 * float(path.angles[-1])
        chord = float(np.linalg.norm(whole)) * self.scale / self.seconds
        arc = chord / np.sinc(half / np.pi) if abs(half) < 3.0 else chord
        direction = float(np.arctan2(whole @ self.left, whole @ self.forward)) - half if chord > 0.0 else 0.0
        return Speed(float(arc), direction, turn)

    def travels(self) -> bool:
        path = self.own_path()
        distance = float(np.linalg.norm(self.level(path.places[-1] - path.places[0])))
        return distance > _GOES * self.ground.size * self.seconds

    def measuring(self, *, turns: bool = False) -> Generator[float, None, Speed]:
        """The speed that the planted feet of the clip have over the ground, where it is played in place.

        turns: whether the turn of each frame is measured, too. Yields the completed fraction.

        Raises RigError if the rig has no feet.
        """
        try:
            footing = foot_bones.find(self.armature)
        except RigError:
            raise RigError(
                "No leg with two bones and a foot was found on '{armature}', so the feet do not give the speed; enter "
                "the speed.",
                armature=self.armature.name,
            ) from None
        frames = range(self.first, self.last + 1)
        with (
            playing(self.armature, self.action, self.slot),
            Sampler(self.scene, self.armature, footing.sampled) as sampler,
        ):
            samples = yield from sample_frames(sampler, np.array(frames))
        places = self.to_ground(np.concatenate([foot.touch(samples) for foot in footing.feet], axis=1))
        places = places - self.own_path().places[:, None] if self.travels() else places - self.still(1).places
        axes = np.stack((self.forward, self.left, self.ground.up), axis=-1)
        size = np.mean([foot.length(samples) for foot in footing.feet])
        unit = self.scale / self.scene.unit_settings.scale_length
        leg, changing = float(size / unit), None
        if turns:
            velocity, changing = ground_turn(places @ axes, self.dt, leg)
        else:
            velocity = ground_speed(places @ axes, self.dt, leg)[0]
        speed, turn = float(np.linalg.norm(velocity)) * self.scale, 0.0 if changing is None else float(changing.mean())
        return Speed(speed, float(np.arctan2(velocity[1], velocity[0])), turn, changing)

    def leg(self) -> float:
        """Mean length of the legs in the space of the ground. Raises RigError if the rig has none."""
        footing = foot_bones.find(self.armature)
        bones = self.armature.data.bones
        joints = [[np.array(bones[name].head_local) for name in foot.bones] for foot in footing.feet]
        lengths = [np.linalg.norm(b - a) + np.linalg.norm(c - b) for a, b, c in joints]
        scale = float(np.max(np.abs(self.armature.scale))) if self.ground.by_object else 1.0
        return scale * float(np.mean(lengths))

    def as_played(self, at: int, frame: float) -> PlayedClip:
        """The clip as it plays from its frame `frame` at frame `at`."""
        return PlayedClip(self.action, self.slot, self.first, self.last, frame, at, 0.0)

    def writing(
        self,
        clip: Clip,
        name: str,
        *,
        assign: bool = True,
        markers: bool = True,
        played: Sequence[PlayedClip] = (),
        writer: KeyWriter | None = None,
    ) -> Generator[float, None, Travelled]:
        """Make an action of a clip; yields the completed fraction.

        played: of which clips it is made, by default of the whole one. writer: as for `join.with_keys`. Raises
        LookAtError.
        """
        if assign:
            sequence.check_may_play(self.armature)
        for channel in self.added:
            if np.all(clip.raw[channel] == animated.current(self.armature, channel)):
                del clip.raw[channel]
        kept = pose_markers.read(self.action, self.first, self.last) if markers else ()
        made, slot = yield from subrange(join.making(self.armature, name, clip, kept), 0.0, 0.3)
        played = played or [self.as_played(self.first, float(self.first))]
        yield from subrange(join.with_keys(self.armature, made, slot, played, writer), 0.3, 1.0)
        with actions.removed_if_failed(made):
            yield 1.0
        if assign:
            join.use(self.armature, made, slot)
        return Travelled(made, slot, int(clip.frames[0]), int(clip.frames[-1]), Speed(0.0))


def _smoothed(places: Array, window: int) -> Array:
    """The mean (F, 3) over a window, twice; beyond its ends a path goes on as it does there."""
    half = min(window // 2, len(places) - 1)
    for _ in range(2):
        before, after = 2.0 * places[0] - places[half:0:-1], 2.0 * places[-1] - places[-2 : -half - 2 : -1]
        sums = np.cumsum(np.concatenate((np.zeros((1, 3)), before, places, after)), axis=0)
        width = 2 * half + 1
        places = (sums[width:] - sums[:-width]) / width
    return places


def _integral(values: Array, times: Array) -> Array:
    """The integral (F, n) of values (F, n) from the first of the times (F,) on, by trapezoids."""
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(times)[:, None]
    return np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(steps, axis=0)))


def making_in_place(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    removed: str = "EVEN",
    *,
    name: str = "",
    assign: bool = True,
    writer: KeyWriter | None = None,
) -> Generator[float, None, Travelled]:
    """A new action without the motion of the root over the ground; yields the completed fraction.

    removed: one of `REMOVED`. Raises LookAtError.
    """
    yield 0.0
    known = TravelClip(scene, armature, action)
    yield 0.4
    path = known.own_path(removed)
    yield 0.6
    result = known.moved(known.clip, path, known.still(len(path.angles)))
    yield 0.8
    made = yield from subrange(
        known.writing(result, name or f"{action.name} in place", assign=assign, writer=writer), 0.8, 1.0
    )
    return replace(made, speed=known.speed())


def making_travelling(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    speed: Speed | None = None,
    *,
    turns: bool = False,
    name: str = "",
    assign: bool = True,
    writer: KeyWriter | None = None,
) -> Generator[float, None, Travelled]:
    """A new action that moves over the ground with a constant speed; yields the completed fraction.

    speed: None for that of the planted feet, whose turn is measured too with `turns`. Raises LookAtError.
    """
    yield 0.0
    known = TravelClip(scene, armature, action)
    yield 0.2
    if speed is None:
        speed = yield from subrange(known.measuring(turns=turns), 0.2, 0.7)
    if not np.isfinite([speed.speed, speed.direction, speed.turn]).all():
        raise RigError("The speed of '{action}' is not a number; enter another one.", action=action.name)
    rows = len(known.clip.frames)
    still = known.moved(known.clip, known.own_path(), known.still(rows)) if known.travels() else known.clip
    yield 0.8
    result = known.moved(still, known.still(rows), known.straight(speed, known.dt * np.arange(rows)))
    yield 0.9
    made = yield from subrange(
        known.writing(result, name or f"{action.name} travelling", assign=assign, writer=writer), 0.9, 1.0
    )
    return replace(made, speed=speed)


in_place = drained("in_place", making_in_place)
travelling = drained("travelling", making_travelling)
