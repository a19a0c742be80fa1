"""The best place to cut from one clip to another: samples both, compares all pairs of frames, and draws the result."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ...lookat_pd.transitions import best_cut
from ..animation import editable
from ..animation.playing import playing
from ..detection import rest, stance
from ..detection import vocabulary as words
from ..detection.anatomy import Anatomy
from ..sampling import scene_time
from ..sampling.sampler import Sampler, run
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


@dataclass(frozen=True)
class Found:
    """Places to cut, best first: frame of the source and of the destination for `join.ClipRef`, and the cost."""

    cuts: list[tuple[int, int, float]]
    cost: Array
    """(F1, F2) costs of all pairs of frames, starting at the frames `first` of both clips."""
    first: tuple[int, int]


def find(
    armature: bpy.types.Object,
    source: bpy.types.Action,
    destination: bpy.types.Action,
    *,
    count: int = 10,
    room: int = 0,
    ranges: tuple[Range, Range] = (None, None),
    scene: bpy.types.Scene | None = None,
) -> Found:
    """Compare all frames of two actions as this armature plays them; the best cuts, at most `count`.

    room: frames of the destination that must come after the cut, such as the length of the blend. ranges: first and
    last frame that a cut may have in the source and in the destination, None for all. Raises LookAtError. Nothing is
    changed.
    """
    editable.check_armature(armature)
    scene = scene or bpy.context.scene
    used = [sequence.Used.of(armature, sequence.ClipRef(action, 0)) for action in (source, destination)]
    body = ComparedBody(armature, used)
    dt = scene_time.seconds_per_frame(scene)
    positions = [body.sample(scene, item) for item in used]
    contacts = None
    if body.feet:
        first, second = (body.contacts(clip, dt) for clip in positions)
        contacts = first, second
    costs = best_cut.search(positions[0], positions[1], dt, root=body.root, contacts=contacts)
    # The source is cut after the matching frame, and the destination entered after its own.
    within = [
        rows((item.action.name, item.first, item.last), frames) for item, frames in zip(used, ranges, strict=True)
    ]
    best = [
        (used[0].first + pair.i + 1, used[1].first + pair.j + 1, pair.cost)
        for pair in costs.best(
            count, spacing=max(round(SPACING / dt), 1), room=max(room, 1), source=within[0], destination=within[1]
        )
    ]
    return Found(best, costs.cost, (used[0].first, used[1].first))


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

    def sample(self, scene: bpy.types.Scene, item: sequence.Used) -> Array:
        """Positions (F, J, 3) of the joints over all frames of a clip, Z up."""
        frames = range(item.first, item.last + 1)
        with playing(self.armature, item.action, item.slot), Sampler(scene, self.armature, self.joints) as sampler:
            samples = run(sampler.sample(frames))
        return rotation.rotate(self._upright, samples.positions)

    def contacts(self, positions: Array, dt: float) -> best_cut.Mask:
        """Contacts (F, K) of the feet with the ground, from sampled positions. dt: [s]."""
        return best_cut.foot_contacts(positions[:, self.feet], dt, size=self.size)


def _ends(armature: bpy.types.Object, item: sequence.Used, used: Sequence[sequence.Used]) -> Clip:
    """Some frames of a clip with the channels of both clips."""
    keyed = list(dict.fromkeys(channel for each in used for channel in each.channels(armature)))
    frames = np.unique(np.linspace(item.first, item.last, 5).round())
    return clips.read(armature, item.action, item.slot, frames, keyed)


def picture(search: Found) -> bpy.types.Image:
    """A heat map as an image: the source's frames upwards, the destination's to the right, yellow for small
    differences, white for the best cuts. An existing image is overwritten."""
    pixels = _painted(search)
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


def _painted(search: Found) -> Array:
    """Pixels (height, width, 4), the lowest row first."""
    cost = search.cost
    # Costs are squares, most of them large: ranks show small differences as well.
    order = np.empty(cost.size)
    order[np.argsort(cost, axis=None)] = np.linspace(0.0, 1.0, cost.size)
    share = np.sqrt(order.reshape(cost.shape))
    places = np.linspace(0.0, 1.0, len(_COLOURS))
    pixels = np.ones((*cost.shape, 4))
    for n in range(3):
        pixels[..., n] = np.interp(share, places, _COLOURS[:, n])
    for out, into, _ in search.cuts:
        pixels[out - 1 - search.first[0], into - 1 - search.first[1], :3] = 1.0
    times = max(1, int(np.ceil(_PIXELS / max(cost.shape))))
    return pixels.repeat(times, axis=0).repeat(times, axis=1)
