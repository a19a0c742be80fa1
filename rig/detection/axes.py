"""Where the character's forward and up are, read from the rest pose.

Left and right bones give the sideways axis, legs and spine give up, and forward = left x up. Names may be on the wrong
side, so toes, face, tail, knees and elbows vote on which of the two directions is forward.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import axis_votes, limb_shapes
from . import vocabulary as words
from .anatomy import VERTICAL, Anatomy
from .axis_votes import EYES_OVER_MOUTH, NAMES, SPINE, Vote, perpendicular
from .limb_pairs import HORIZONTAL, hind_legs, on_all_fours

# Characters are built upright on the armature's axes: what is off by less is posture, or an uneven rest pose.
_UPRIGHT = np.cos(np.radians(10.0))
_SQUARE = np.sin(np.radians(2.5))
_STRAIGHT = np.cos(np.radians(3.0))
_AGREEING = np.cos(np.radians(12.0))  # votes on up closer than this leave no doubt
_SAME_WAY = np.cos(np.radians(30.0))
_NO_STANCE = np.cos(np.radians(120.0))
_ALONG = np.cos(np.radians(8.0))
_DOUBT = 0.7
"""The weight of votes that leaves a confidence of one half where no vote is against."""
CERTAIN = 0.5
"""A confidence below this is reported."""


@dataclass(frozen=True)
class Axes:
    """Where a rig faces, and how sure that is."""

    forward: Array
    up: Array
    """`forward`, `up`: unit vectors (3,) in armature space."""
    confidence: float
    """Confidence, 0 to 1."""
    forward_votes: tuple[Vote, ...] = ()
    up_votes: tuple[Vote, ...] = ()
    """`forward_votes`, `up_votes`: what they were read from."""
    other: tuple[Array, Array] | None = None
    """The forward and up that are next in question."""

    @property
    def candidates(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Forward and up as read, and the other possibility."""
        return (self.forward, self.up), self.other or (-self.forward, self.up)

    @property
    def against(self) -> tuple[str, ...]:
        """The sources that say otherwise: splayed legs agree if all of them together do."""
        sources = [source for source, v in _together(self.forward_votes) if v @ self.forward < 0.0]
        sources += [source for source, v in _together(self.up_votes) if v @ self.up < HORIZONTAL]
        return tuple(dict.fromkeys(sources))


def _together(votes: tuple[Vote, ...]) -> list[tuple[str, Array]]:
    """What the votes of each source are together, unit vectors (3,)."""
    sums: dict[str, Array] = {}
    for vote in votes:
        sums[vote.source] = sums.get(vote.source, 0.0) + vote.weight * vote.direction
    return [(source, rotation.normalize(v)) for source, v in sums.items()]


def read(
    anatomy: Anatomy,
    line: list[int],
    mesh_normal: Callable[[], Array | None] = lambda: None,
) -> Axes:
    """Forward and up with the votes for them. line: the head and its ancestors, head first.

    mesh_normal: gives the normal (3,) of the plane in which the character's mesh is symmetric; used only where neither
    names nor bones distinguish left from right.
    """
    vertical = np.array(anatomy.vertical)
    left, paired = _sideways(anatomy, mesh_normal)
    votes_up = axis_votes.up_votes(anatomy, line, left)
    shaped = [] if votes_up else limb_shapes.find(anatomy)
    if shaped:
        votes_up = axis_votes.shape_up_votes(anatomy, line, left, shaped)
    if votes_up:
        up, trust = _up(votes_up, left, vertical)
    else:
        along = _along(anatomy, line)
        if along is None:
            return Axes(np.array([0.0, -1.0, 0.0]), np.array(VERTICAL), 0.0)
        if _swims(anatomy, line, along):
            return _swimmer(anatomy, line, along, left if paired else None)
        up = _upright(along, left if paired else perpendicular(left, along))
        trust = 0.9 if up @ vertical > HORIZONTAL else 0.4
    forward = _straight(rotation.cross(perpendicular(left, up), up), up)
    votes = axis_votes.forward_votes(anatomy, line, up)
    if shaped:
        votes = axis_votes.shape_forward_votes(anatomy, line, up, shaped)
    if paired:
        votes.insert(0, Vote(NAMES, forward, 1.0))
    elif not votes:
        return _machine(anatomy, line[0], up, forward, votes_up)
    if sum(vote.weight * float(vote.direction @ forward) for vote in votes) < 0.0:
        forward = -forward
    other = None
    if trust < 0.5 and up @ vertical < HORIZONTAL:
        other = perpendicular(forward, vertical), vertical
    return Axes(forward, up, trust * _certainty(votes, forward), tuple(votes), tuple(votes_up), other)


def _machine(anatomy: Anatomy, head: int, up: Array, across: Array, votes_up: list[Vote]) -> Axes:
    """The axes of what has no left and right, no legs and no face, such as a lamp or a crane: if it stands rather than
    lies it does so along the vertical, and it looks along its last bone where that is level.

    across: the forward that is next in question.
    """
    vertical = np.array(anatomy.vertical)
    if not votes_up and up @ vertical > HORIZONTAL:
        up = vertical
    along = anatomy.skeleton.tails[head] - anatomy.skeleton.heads[head]
    level = along - (along @ up) * up
    if np.linalg.norm(level) > HORIZONTAL * np.linalg.norm(along):
        forward = _straight(rotation.normalize(level), up)
        return Axes(forward, up, 0.1, (), tuple(votes_up), (-forward, up))
    return Axes(default_forward(up), up, 0.1, (), tuple(votes_up), (perpendicular(across, up), up))


def rest_axes(anatomy: Anatomy, line: list[int]) -> tuple[Array, Array]:
    """Unit forward and up (3,) in armature space. line: the head and its ancestors, head first."""
    axes = read(anatomy, line)
    return axes.forward, axes.up


def _certainty(votes: list[Vote], forward: Array) -> float:
    """How sure a direction is, 0 to 1: by how much more weight is for it than against it."""
    said = [vote.weight * float(vote.direction @ forward) for vote in votes]
    spread = sum(vote.weight for vote in votes)
    lead = max(sum(said), 0.0)
    return lead / (lead + _DOUBT) * lead / spread


def also(axes: Axes, vote: Vote) -> Axes:
    """The axes with one more vote on forward, which may turn them round; as they are if it is across."""
    along = float(vote.direction @ axes.forward)
    if not axes.forward_votes:
        axis = nearest_axis(vote.direction)
        if abs(axis @ axes.up) > 1e-6 or axis @ vote.direction < HORIZONTAL:
            return axes
        return replace(axes, forward=axis, confidence=_certainty([vote], axis), forward_votes=(vote,), other=None)
    if abs(along) < HORIZONTAL:
        return axes
    trust = min(axes.confidence / max(_certainty(list(axes.forward_votes), axes.forward), 1e-9), 1.0)
    votes = [*axes.forward_votes, vote]
    turned = sum(v.weight * float(v.direction @ axes.forward) for v in votes) < 0.0
    forward = -axes.forward if turned else axes.forward
    other = None if turned else axes.other
    confidence = trust * _certainty(votes, forward)
    return replace(axes, forward=forward, confidence=confidence, forward_votes=tuple(votes), other=other)


def is_stance(anatomy: Anatomy, line: list[int]) -> bool:
    """Whether limbs and spine of a skeleton stand as those of a body do.

    In the zero pose of some motion-capture skeletons all bones are along one axis, and legs point where the spine does.
    """
    if not anatomy.pairs:
        return True
    skeleton = anatomy.skeleton
    joints = [b for b in range(len(skeleton)) if skeleton.parents[b] >= 0]
    steps = np.array([skeleton.heads[b] - skeleton.heads[int(skeleton.parents[b])] for b in joints]).reshape(-1, 3)
    steps = steps[np.linalg.norm(steps, axis=-1) > 1e-3 * anatomy.size]
    if len(steps) > 4:
        directions = rotation.normalize(steps)
        axis = np.linalg.svd(directions)[2][0]
        if np.mean(np.abs(directions @ axis) > _ALONG) > 0.85:
            return False
    hind = hind_legs(anatomy)
    if hind is None:
        return True
    spine, legs = skeleton.heads[line[0]] - hind[0], hind[0] - hind[1]
    size = np.linalg.norm(spine) * np.linalg.norm(legs)
    return bool(size < 1e-9 * anatomy.size**2 or spine @ legs > _NO_STANCE * size)


def is_horizontal(anatomy: Anatomy, line: list[int]) -> bool:
    """Whether the spine is horizontal: that of a quadruped, or of a body without legs, a fish or a snake."""
    if hind_legs(anatomy) is not None:
        return on_all_fours(anatomy)
    along = _along(anatomy, line)
    return along is not None and _swims(anatomy, line, along)


def _sideways(anatomy: Anatomy, mesh_normal: Callable[[], Array | None]) -> tuple[Array, bool]:
    """Unit axis to the character's left and whether names say so; without names its sign means nothing."""
    heads = anatomy.skeleton.heads
    across = _across(anatomy)
    if len(across):
        return rotation.normalize(_agreed(across)), True
    axis, images = anatomy.mirror
    if len(images) >= 4:
        return np.eye(3)[axis], False
    normal = mesh_normal()
    if normal is not None:
        return normal, False
    # All bones of a snake or a crane are in one plane.
    points = np.concatenate((heads, anatomy.skeleton.tails))
    return np.linalg.svd(points - np.mean(points, axis=0))[2][2], False


def _across(anatomy: Anatomy) -> Array:
    """Vectors (n, 3) from right to left where each pair of limbs begins: further out, limbs may be posed unevenly."""
    skeleton = anatomy.skeleton
    begun: set[int] = set()
    vectors = []
    for left, right in sorted(anatomy.pairs):
        vector = skeleton.heads[left] - skeleton.heads[right]
        if not begun & set(skeleton.ancestors(left)) and np.linalg.norm(vector) > 0.01 * anatomy.size:
            begun.add(left)
            vectors.append(vector)
    return np.array(vectors).reshape(-1, 3)


def _agreed(across: Array) -> Array:
    """Sum (3,) of vectors (n, 3) in which those that differ from the rest weigh little."""
    directions, total = rotation.normalize(across), np.sum(across, axis=0)
    for _ in range(10):
        off = np.linalg.norm(directions - rotation.normalize(total), axis=-1, keepdims=True)
        total = np.sum(across / (off + _SQUARE), axis=0)
    return total


def _up(votes: list[Vote], left: Array, vertical: Array) -> tuple[Array, float]:
    """Up (3,) from the votes for it, perpendicular to left, and how far it is trusted, 0 to 1.

    Votes that do not agree leave it to the armature's own axis, and so does one vote alone that is far from that.
    """
    body = [vote for vote in votes if vote.source != EYES_OVER_MOUTH]
    up = rotation.normalize(sum(vote.weight * vote.direction for vote in body))
    agreeing = len(body) > 1 and all(vote.direction @ up > _AGREEING for vote in body)
    stands = perpendicular(vertical, left) if abs(vertical @ left) < HORIZONTAL else up
    if up @ vertical > HORIZONTAL:
        if agreeing:
            return _upright(up, left), 1.0
        return _upright(stands, left), 0.9
    # The armature's axis says otherwise.
    confirmed = sum(float(vote.direction @ up) > _SAME_WAY for vote in votes)
    if confirmed > 1:
        return _upright(up, left), 0.7
    return _upright(stands, left), 0.45


def _upright(up: Array, left: Array) -> Array:
    """up made perpendicular to left, and to the armature's axis if only the posture leans: rest poses are on axes."""
    up = perpendicular(up, left)
    axis = nearest_axis(up)
    return axis if axis @ up > _UPRIGHT and abs(axis @ left) < _SQUARE else up


def _straight(forward: Array, up: Array) -> Array:
    """forward, or the armature's axis perpendicular to up that it is almost parallel to."""
    axis = nearest_axis(forward)
    return axis if axis @ forward > _STRAIGHT and axis @ up == 0.0 else forward


def nearest_axis(v: Array) -> Array:
    """The armature axis (3,) that is nearest to a direction (3,)."""
    axes = np.concatenate((np.eye(3), -np.eye(3)))
    return axes[int(np.argmax(axes @ v))]


def _along(anatomy: Anatomy, line: list[int]) -> Array | None:
    """From the rest of the body to the head; None where the head is all there is."""
    heads = anatomy.skeleton.heads
    head = heads[line[0]]
    tail = anatomy.center(anatomy.named(words.TAIL))
    lower = [bone for bone in line[1:] if not anatomy.names[bone].has(words.ROOT)]
    base = tail if tail is not None else heads[lower[-1]] if lower else None
    if base is None or np.linalg.norm(head - base) < 1e-6 * anatomy.size:
        others = [bone for bone in range(len(heads)) if not anatomy.names[bone].has(words.ROOT)]
        base = np.mean(heads[others], axis=0) if others else head
    if np.linalg.norm(head - base) < 1e-6 * anatomy.size:
        return None
    return rotation.normalize(head - base)


def _swims(anatomy: Anatomy, line: list[int], along: Array) -> bool:
    """Whether the spine of a body without legs is horizontal, as of a fish or a snake, not upright as of a bust."""
    if anatomy.named(words.TAIL, words.FIN):
        return True
    if anatomy.arms:
        return False
    eyes = anatomy.center(anatomy.named(words.EYE, words.NOSE))
    if eyes is not None:
        face = rotation.normalize(eyes - anatomy.skeleton.heads[line[0]])
        return bool(face @ along > HORIZONTAL)
    return bool(abs(along[2]) < HORIZONTAL)


def _swimmer(anatomy: Anatomy, line: list[int], along: Array, left: Array | None) -> Axes:
    """Forward and up of a body without legs with a horizontal spine."""
    votes = (Vote(SPINE, along, 1.0 if axis_votes.is_called(anatomy, line[0]) else 0.5),)
    mouth = anatomy.center(anatomy.named(words.MOUTH))
    if left is not None:
        up = rotation.cross(along, left)
    elif mouth is not None:
        up = anatomy.skeleton.heads[line[0]] - mouth
        left = rotation.cross(perpendicular(up, along), -along)
    else:
        up = np.array([0.0, 0.0, 1.0]) if abs(along[2]) < 0.9 else np.array([0.0, -1.0, 0.0])
        return Axes(perpendicular(along, up), up, _certainty(list(votes), along), votes)
    up = _upright(perpendicular(up, along), rotation.normalize(left))
    return Axes(perpendicular(along, up), up, _certainty(list(votes), along), votes)


def default_forward(up: Array) -> Array:
    """Blender's own forward, -Y, or what it is where the armature's Y points up: +Z."""
    forward = np.array([0.0, -1.0, 0.0])
    return perpendicular(forward, up) if abs(forward @ up) < 0.9 else perpendicular(np.array([0.0, 0.0, 1.0]), up)
