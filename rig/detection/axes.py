"""Where the character's forward and up are, read from the rest pose.

Left and right bones give the sideways axis, legs and spine give up, and forward = left x up. Names may be on the wrong
side, so toes, face, tail, knees and elbows vote on which of the two directions is forward.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import attitude, axis_votes, limb_shapes
from . import vocabulary as words
from .anatomy import VERTICAL, Anatomy
from .axis_votes import EYES_OVER_MOUTH, FACE, KNEES, LEGS, NAMES, SPINE, Vote, perpendicular
from .limb_pairs import HORIZONTAL, hind_legs, hind_pairs, on_all_fours

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
CERTAIN = 0.8
"""A confidence below this is reported."""
NAMED, SYMMETRIC, GUESSED = "named", "symmetric", "guessed"
"""How left and right are known."""
_ATTITUDE = 0.8
"""Trust in a standing spine below which it is next in question that it lies."""
_WIDE, _FLAT = 0.1, 0.02
"""Of how far bones reach in one direction: how far they do in another one, at least, and in the third, at most, if they
show a plane in which the body is symmetric."""
_LAST_BONE, _USUAL = 0.04, 0.06
"""Evidence for looking along the last bone, and for looking where most figures in Blender do."""
_SHAPE_ALONE = 0.6
"""What is left of the trust where only knees or the shape of the trunk show forward, and no name which end it is."""
_CALIBRATION = (
    (0.0, 0.06, 0.1, 0.3, 0.38, 0.5, 0.6, 0.7, 1.0),
    (0.2, 0.57, 0.75, 0.79, 0.87, 0.93, 0.98, 0.995, 1.0),
)
"""Evidence, and how often forward and up were right with it on the random figures of docs/measured/axes.py."""


@dataclass(frozen=True)
class Axes:
    """Where a rig faces, and how sure that is."""

    forward: Array
    up: Array
    """`forward`, `up`: unit vectors (3,) in armature space."""
    evidence: float
    """How much speaks for them and how little against them, 0 to 1."""
    forward_votes: tuple[Vote, ...] = ()
    up_votes: tuple[Vote, ...] = ()
    """`forward_votes`, `up_votes`: what they were read from."""
    other: tuple[Array, Array] | None = None
    """The forward and up that are next in question."""

    @property
    def confidence(self) -> float:
        """The probability that they are right, as measured on many figures."""
        return float(np.interp(self.evidence, *_CALIBRATION))

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
    mesh_face: Callable[[], Array | None] = lambda: None,
) -> Axes:
    """Forward and up with the votes for them. line: the head and its ancestors, head first.

    mesh_normal: gives the normal (3,) of the plane in which the character's mesh is symmetric; used only where neither
    names nor bones distinguish left from right. mesh_face: gives where its face is (3,); used only where bones do not.
    """
    left, known = _sideways(anatomy, mesh_normal)
    votes_up = axis_votes.up_votes(anatomy, line, left)
    shaped = [] if votes_up else limb_shapes.find(anatomy)
    if shaped:
        votes_up = axis_votes.shape_up_votes(anatomy, line, left, shaped)
    other = None
    if votes_up:
        up, trust = _up(votes_up, left, np.array(anatomy.vertical), has_ends=anatomy.has_tails)
    else:
        along = _along(anatomy, line)
        if along is None:
            return Axes(np.array([0.0, -1.0, 0.0]), np.array(VERTICAL), 0.0)
        stands, lies = _standing(anatomy, line, along, left, known), _lying(anatomy, line, along, left, known)
        if _swims(anatomy, line, along):
            return replace(lies, other=(stands[2], stands[0]))
        up, trust, _ = stands
        if trust < _ATTITUDE:
            other = lies.forward, lies.up
    forward = _straight(rotation.cross(perpendicular(left, up), up), up)
    votes = axis_votes.forward_votes(anatomy, line, up)
    if shaped:
        votes += axis_votes.shape_forward_votes(anatomy, line, up, shaped)
    if not any(vote.source == FACE for vote in votes):
        votes += axis_votes.mesh_votes(anatomy, line[0], up, mesh_face())
    if known == NAMED:
        votes.insert(0, Vote(NAMES, forward, 1.0))
    elif not votes:
        return _machine(anatomy, line[0], up, forward, votes_up, is_symmetric=known == SYMMETRIC)
    if known == GUESSED:
        forward = _straight(_snapped(rotation.normalize(sum(vote.weight * vote.direction for vote in votes)), up), up)
    if sum(vote.weight * float(vote.direction @ forward) for vote in votes) < 0.0:
        forward = -forward
    vertical = np.array(anatomy.vertical)
    if trust < 0.5 and up @ vertical < HORIZONTAL:
        other = perpendicular(forward, vertical), vertical
    certainty = _certainty(votes, forward)
    if all(vote.source in (SPINE, KNEES) for vote in votes):
        called = any(vote.source == SPINE for vote in votes) and axis_votes.is_called(anatomy, line[0])
        trust *= 1.0 if called else _SHAPE_ALONE
    if other is not None and certainty < trust:
        other = None  # the opposite is next in question
    return Axes(forward, up, trust * certainty, tuple(votes), tuple(votes_up), other)


def _standing(anatomy: Anatomy, line: list[int], along: Array, left: Array, known: str) -> tuple[Array, float, Array]:
    """Up, how far it is trusted and forward of a body without legs if its spine stands."""
    up = _upright(along, left if known == NAMED else perpendicular(left, along))
    trust = 0.9 if up @ np.array(anatomy.vertical) > HORIZONTAL else 0.4
    sure = min(0.5 + 0.3 * max(attitude.uprightness(anatomy, line[0], along), 0.0), 1.0)
    forward = _straight(rotation.cross(perpendicular(left, up), up), up)
    return up, trust * sure, forward


def _machine(
    anatomy: Anatomy, head: int, up: Array, across: Array, votes_up: list[Vote], *, is_symmetric: bool
) -> Axes:
    """The axes of what has no left and right, no legs and no face, such as a lamp or a crane: if it stands rather than
    lies it does so along the vertical, and it looks along its last bone where that is level.

    across: the forward that is next in question; it or its opposite is forward where the body is symmetric.
    """
    vertical = np.array(anatomy.vertical)
    if not votes_up and up @ vertical > HORIZONTAL:
        up = vertical
    along = anatomy.skeleton.tails[head] - anatomy.skeleton.heads[head]
    level = along - (along @ up) * up
    across = perpendicular(across, up)
    if np.linalg.norm(level) > HORIZONTAL * np.linalg.norm(along) and anatomy.has_tails:
        forward = _straight(rotation.normalize(level), up)
        return Axes(forward, up, _LAST_BONE, (), tuple(votes_up), (-forward, up))
    usual = default_forward(up)
    if is_symmetric:
        forward = -across if across @ usual < 0.0 else across
        return Axes(forward, up, _USUAL, (), tuple(votes_up), (-forward, up))
    return Axes(usual, up, 0.0, (), tuple(votes_up), (across, up))


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


def also(found: Axes, vote: Vote) -> Axes:
    """The axes with one more vote on forward, which may turn them round; as they are if it is across."""
    along = float(vote.direction @ found.forward)
    if not found.forward_votes:
        axis = nearest_axis(vote.direction)
        if abs(axis @ found.up) > 1e-6 or axis @ vote.direction < HORIZONTAL:
            return found
        return replace(found, forward=axis, evidence=_certainty([vote], axis), forward_votes=(vote,), other=None)
    if abs(along) < HORIZONTAL:
        return found
    trust = min(found.evidence / max(_certainty(list(found.forward_votes), found.forward), 1e-9), 1.0)
    votes = [*found.forward_votes, vote]
    turned = sum(v.weight * float(v.direction @ found.forward) for v in votes) < 0.0
    forward = -found.forward if turned else found.forward
    other = None if turned else found.other
    evidence = trust * _certainty(votes, forward)
    return replace(found, forward=forward, evidence=evidence, forward_votes=tuple(votes), other=other)


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
    if hind is None or len(hind_pairs(anatomy)) > 1:
        # Knees of many legs are above the body, and so may be the last joints that are known.
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


def _sideways(anatomy: Anatomy, mesh_normal: Callable[[], Array | None]) -> tuple[Array, str]:
    """Unit axis to the character's left and how it is known, NAMED, SYMMETRIC or GUESSED; its sign means something only
    if it is named."""
    heads = anatomy.skeleton.heads
    across = _across(anatomy)
    if len(across):
        return rotation.normalize(_agreed(across)), NAMED
    axis, images = anatomy.mirror
    if len(images) >= 4:
        return np.eye(3)[axis], SYMMETRIC
    normal = mesh_normal()
    if normal is not None:
        return normal, SYMMETRIC
    # All bones of a snake or a crane are in one plane.
    points = np.concatenate((heads, anatomy.skeleton.tails))
    _, sizes, along = np.linalg.svd(points - np.mean(points, axis=0))
    sizes = np.pad(sizes, (0, 3 - len(sizes)))
    flat = sizes[1] > _WIDE * sizes[0] and sizes[2] < _FLAT * sizes[0]
    return along[2], SYMMETRIC if flat else GUESSED


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


def _up(votes: list[Vote], left: Array, vertical: Array, *, has_ends: bool) -> tuple[Array, float]:
    """Up (3,) from the votes for it, perpendicular to left, and how far it is trusted, 0 to 1.

    Votes that do not agree leave it to the armature's own axis, and so does one vote alone that is far from that, and
    legs alone that seem to be upside down where not known is how far they reach (has_ends).
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
    unknown = up @ vertical < 0.0 and not has_ends and all(vote.source == LEGS for vote in body)
    if confirmed > 1 and not unknown:
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


def _snapped(forward: Array, up: Array) -> Array:
    """forward, or the armature's axis perpendicular to up that is near: a face need not be in the middle."""
    axis = nearest_axis(forward)
    return axis if axis @ forward > _SAME_WAY and abs(axis @ up) < 1e-6 else perpendicular(forward, up)


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
    """Whether the spine of a body without legs lies, as of a fish or a snake, rather than stands as of a bust."""
    return attitude.uprightness(anatomy, line[0], along) < 0.0


def _lying(anatomy: Anatomy, line: list[int], along: Array, side: Array, known: str) -> Axes:
    """Forward and up of a body without legs with a horizontal spine.

    Where its sides and the vertical differ about what is up, the sides were named the wrong way round.
    """
    head, vertical = line[0], np.array(anatomy.vertical)
    left = side if known == NAMED else None
    lies = min(-attitude.uprightness(anatomy, head, along), 1.5)
    votes = [Vote(SPINE, along, max(lies, 0.3) * (0.5 if axis_votes.is_called(anatomy, head) else 0.25))]
    stands = perpendicular(vertical, along) if abs(along @ vertical) < HORIZONTAL else None
    mouth = anatomy.center(anatomy.named(words.MOUTH))
    said = [(2.0, stands)]
    if left is not None:
        said.append((1.0, rotation.cross(along, left)))
    if mouth is not None and np.linalg.norm(anatomy.skeleton.heads[head] - mouth) > 1e-4 * anatomy.size:
        said.append((1.0, perpendicular(anatomy.skeleton.heads[head] - mouth, along)))
    shown = [(weight, perpendicular(v, along)) for weight, v in said if v is not None]
    up = perpendicular(default_forward(along), along)
    if shown:
        up = rotation.normalize(np.sum([weight * v for weight, v in shown], axis=0))
    if left is not None:
        side = perpendicular(rotation.cross(along, left), along)
        up = side if side @ up > 0.0 else -side
        left = rotation.cross(up, along)
    up = _upright(up, rotation.normalize(left if left is not None else rotation.cross(up, along)))
    trust = sum(weight * max(float(v @ up), 0.0) for weight, v in shown) / max(sum(weight for weight, _ in shown), 1.0)
    return Axes(perpendicular(along, up), up, trust * _certainty(votes, along), tuple(votes))


def default_forward(up: Array) -> Array:
    """Blender's own forward, -Y, or what it is where the armature's Y points up: +Z."""
    forward = np.array([0.0, -1.0, 0.0])
    return perpendicular(forward, up) if abs(forward @ up) < 0.9 else perpendicular(np.array([0.0, 0.0, 1.0]), up)
