"""The best place to cut from one clip to another: samples both, compares all pairs of frames, and draws the result."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import drained, subrange
from ...lookat_pd.rotation import Array
from ...lookat_pd.transitions import best_cut, clip_extent, ground_speed
from ...lookat_pd.transitions.clip_extent import ClipExtent
from ..animation import cycles, editable
from ..animation.playing import playing
from ..detection import rest, stance
from ..detection import vocabulary as words
from ..detection.anatomy import Anatomy
from ..sampling import scene_time
from ..sampling.sampler import Sampler, sample_frames
from ..sampling.suspend import suspend_live
from . import clips, sequence
from .clips import Clip
from .root_motion import find_root

PICTURE = "Look-at PD Cuts"
_COLOURS = np.array([(0.99, 0.91, 0.14), (0.37, 0.79, 0.38), (0.13, 0.57, 0.55), (0.24, 0.29, 0.54), (0.27, 0.0, 0.33)])
_PIXELS = 256
SPACING = 0.3
"""Smallest distance [s] between two cuts of the list, in at least one of the clips."""
Range = tuple[int, int] | None
_UP = np.array([0.0, 0.0, 1.0])


class FoundCut(NamedTuple):
    """A place to cut."""

    source_frame: int
    """First frame at which the source no longer plays; after its end, it is a cycle that plays once more."""
    destination_frame: int
    """Frame of the destination that plays there."""
    cost: float
    """The difference of the clips, and what is thrown away of them."""
    difference: float
    kept: tuple[float, float]
    """Shares of the frames of both clips that play."""
    repeat: int
    """How many times the destination plays: more than once where it is a cycle of which little would be left."""


@dataclass(frozen=True)
class Found:
    """Places to cut, best first."""

    cuts: list[FoundCut]
    cost: Array
    """(F1, F2) differences of all pairs of frames, starting at the frames `first` of both clips."""
    first: tuple[int, int]


def finding(
    armature: bpy.types.Object,
    source: bpy.types.Action,
    destination: bpy.types.Action,
    *,
    count: int = 10,
    room: int = 0,
    ranges: tuple[Range, Range] = (None, None),
    scene: bpy.types.Scene | None = None,
) -> Generator[float, None, Found]:
    """Compare all frames of two actions as this armature plays them; the best cuts, at most `count`. Yields the
    completed fraction.

    room: frames of the destination that must come after the cut, such as the length of the blend. ranges: first and
    last frame that a cut may have in the source and in the destination; None for the second half of the source, and the
    first half of the destination, and for all frames of a cycle, which plays once more where little would be left of it
    (see `ClipExtent`). Raises LookAtError. Nothing is changed.
    """
    editable.check_armature(armature)
    scene = scene or bpy.context.scene
    used = [sequence.Used.of(armature, sequence.ClipRef(action, 0)) for action in (source, destination)]
    yield 0.0
    body = ComparedBody(armature, used)
    yield 0.0
    dt = scene_time.seconds_per_frame(scene)
    positions = []
    for n, item in enumerate(used):
        positions.append((yield from subrange(body.sample(scene, item), 0.45 * n, 0.45 * (n + 1))))
    contacts = None
    if body.feet:
        first, second = (body.contacts(clip, dt) for clip in positions)
        contacts = first, second
    costs = best_cut.search(positions[0], positions[1], dt, root=body.root, contacts=contacts)
    yield 0.92
    extents = []
    for item, clip, frames in zip(used, positions, ranges, strict=True):
        extents.append(_extent(body, item, clip, dt, frames))
        yield 0.95
    leave, enter = extents
    begins = used[0].first, used[1].first
    within = [
        default if frames is None else rows((item.action.name, item.first, item.last), frames)
        for item, frames, default in zip(used, ranges, (leave.leave(), enter.enter()), strict=True)
    ]
    found = costs.repeated(leave.rows, enter.rows).best(
        count,
        spacing=max(round(SPACING / dt), 1),
        room=max(room, 1),
        source=within[0],
        destination=within[1],
        extra=(leave.thrown_after(), enter.thrown_before()),
    )
    cuts = [_cut_at(pair, begins, leave, enter, costs.cost) for pair in found]
    return Found(cuts, costs.cost, begins)


def _cut_at(
    pair: best_cut.Cut, begins: tuple[int, int], leave: ClipExtent, enter: ClipExtent, costs: Array
) -> FoundCut:
    """The cut at a pair of rows, of clips with these first frames: the source is cut after the matching frame, and the
    destination entered after its own."""
    return FoundCut(
        begins[0] + pair.i + 1,
        begins[1] + pair.j + 1,
        pair.cost,
        float(costs[leave.rows[pair.i], enter.rows[pair.j]]),
        (leave.kept_until(pair.i), enter.kept_from(pair.j)),
        enter.times(pair.j),
    )


find = drained("find", finding)


def _extent(body: "ComparedBody", item: sequence.Used, positions: Array, dt: float, frames: Range) -> ClipExtent:
    """What a cut may use of a clip; in a range that is given nothing plays twice."""
    if frames is not None:
        return clip_extent.extent(positions)
    return clip_extent.extent(
        positions,
        ends_meet=cycles.ends_meet(item.action, item.slot, item.first, item.last),
        ground_speed=body.ground_speed(positions, dt),
        is_marked=cycles.is_marked(item.action, item.slot),
    )


def rows(clip: tuple[str, int, int], frames: Range) -> slice:
    """The rows of a clip, of which are given name, first and last frame, at which it may be cut.

    Raises RigError if there are none.
    """
    if frames is None:
        return slice(None)
    (name, begin, end), (first, last) = clip, frames
    if last < first or last <= begin or first > end + 1:
        raise RigError(
            "The range {begin} to {end} has no frame at which '{action}' can be cut; choose frames from {first} to "
            "{last}.",
            begin=first,
            end=last,
            action=name,
            first=begin + 1,
            last=end,
        )
    return slice(max(first - begin - 1, 0), last - begin)


class ComparedBody:
    """The compared joints of an armature. root: index of the root of the body; feet: of the feet."""

    def __init__(self, armature: bpy.types.Object, used: Sequence[sequence.Used]) -> None:
        self.armature = armature
        skeleton, hints = rest.skeleton(armature), rest.hints(armature)
        anatomy = Anatomy(skeleton, hints.deform, hints.vertical)
        self.size = 0.5 * skeleton.size
        joints = [skeleton.names[bone] for bone in anatomy.flesh]
        root = find_root(skeleton, [_ends(armature, item, used) for item in used], 2.0 * self.size)
        if root and root not in joints:
            joints.append(root)
        self.joints, self.root = joints, joints.index(root) if root else 0
        feet = {skeleton.names[bone] for bone in anatomy.legs if anatomy.names[bone].has(words.FOOT, words.TOE)}
        self.feet = [n for n, name in enumerate(joints) if name in feet]
        self._upright = rotation.shortest_arc(stance.of(armature).axes.up, _UP)

    def sample(self, scene: bpy.types.Scene, item: sequence.Used) -> Generator[float, None, Array]:
        """Positions (F, J, 3) of the joints over all frames of a clip, Z up; yields the completed fraction."""
        frames = np.arange(item.first, item.last + 1)
        with (
            suspend_live(),
            playing(self.armature, item.action, item.slot),
            Sampler(scene, self.armature, self.joints) as sampler,
        ):
            samples = yield from sample_frames(sampler, frames)
        return rotation.rotate(self._upright, samples.positions)

    def contacts(self, positions: Array, dt: float) -> best_cut.Mask:
        """Contacts (F, K) of the feet with the ground, from sampled positions. dt: [s]."""
        return best_cut.foot_contacts(positions[:, self.feet], dt, size=self.size)

    def ground_speed(self, positions: Array, dt: float) -> float:
        """The speed [sizes/s] that the feet give a clip, also one in place; 0 without feet."""
        if not self.feet or len(positions) < 3:
            return 0.0
        below = positions[:, self.root, None] * (1.0, 1.0, 0.0)
        velocity, _ = ground_speed.ground_speed(positions[:, self.feet] - below, dt, self.size)
        return float(np.linalg.norm(velocity)) / self.size


def _ends(armature: bpy.types.Object, item: sequence.Used, used: Sequence[sequence.Used]) -> Clip:
    """Some frames of a clip with the channels of both clips."""
    keyed = list(dict.fromkeys(channel for each in used for channel in each.channels(armature)))
    frames = np.unique(np.linspace(item.first, item.last, 5).round())
    return clips.read(armature, item.action, item.slot, frames, keyed)


def picture(search: Found, pixels: Array | None = None) -> bpy.types.Image:
    """A heat map as an image: the source's frames upwards, the destination's to the right, yellow for small
    differences, white for the best cuts. An existing image is overwritten. pixels: as `painted` gives them, where they
    are known."""
    pixels = painted(search) if pixels is None else pixels
    height, width = pixels.shape[:2]
    image = bpy.data.images.get(PICTURE)
    if image is None:
        image = bpy.data.images.new(PICTURE, width, height)
    elif tuple(image.size) != (width, height):
        image.scale(width, height)
    image.pixels.foreach_set(pixels.astype(np.float32).reshape(-1))
    image.update()
    image.pack()
    return image


def painted(search: Found) -> Array:
    """The pixels (height, width, 4) of a heat map, the lowest row first."""
    cost = search.cost
    # Costs are squares, most of them large: ranks show small differences as well.
    order = np.empty(cost.size)
    order[np.argsort(cost, axis=None)] = np.linspace(0.0, 1.0, cost.size)
    share = np.sqrt(order.reshape(cost.shape))
    places = np.linspace(0.0, 1.0, len(_COLOURS))
    pixels = np.ones((*cost.shape, 4))
    for n in range(3):
        pixels[..., n] = np.interp(share, places, _COLOURS[:, n])
    for found in search.cuts:
        row = found.source_frame - 1 - search.first[0]
        # After the end of a cycle, its first frame is the last one again.
        row -= len(cost) - 1 if row >= len(cost) else 0
        pixels[row, found.destination_frame - 1 - search.first[1], :3] = 1.0
    times = max(1, int(np.ceil(_PIXELS / max(cost.shape))))
    return pixels.repeat(times, axis=0).repeat(times, axis=1)
