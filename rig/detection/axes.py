"""Where the character's forward and up are, read from the rest pose.

Left and right bones give the sideways axis, legs and spine give up, and forward = left x up. Names may be on the wrong
side, so toes, face, tail, knees and elbows vote on which of the two directions is forward.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import axis_votes, limb_shapes, limbless
from .anatomy import VERTICAL, Anatomy
from .axis_votes import EYES_OVER_MOUTH, FACE, KNEES, LEGS, NAMES, SPINE, Vote
from .directions import SAME_WAY, nearest_axis, perpendicular, snapped, straight, upright
from .left_axis import GUESSED, NAMED, SYMMETRIC, left_axis
from .limb_pairs import HORIZONTAL, hind_legs, hind_pairs, on_all_fours
from .limb_shapes import LegPair

_AGREEING = np.cos(np.radians(12.0))  # votes on up closer than this leave no doubt
_NO_STANCE = np.cos(np.radians(120.0))
_ALONG = np.cos(np.radians(8.0))
_DOUBT = 0.7
"""The weight of votes that leaves a confidence of one half where no vote is against."""
CERTAIN = 0.8
"""A confidence below this is reported."""
_ATTITUDE = 0.8
"""Trust in a standing spine below which it is next in question that it lies."""
_SHAPE_ALONE = 0.6
"""What is left of the trust where only the shape of a body shows forward."""
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
    left, known = left_axis(anatomy, mesh_normal)
    votes_up = axis_votes.up_votes(anatomy, line, left)
    shaped = [] if votes_up else limb_shapes.find(anatomy)
    if shaped:
        votes_up = axis_votes.shape_up_votes(anatomy, line, left, shaped)
    other = None
    if votes_up:
        up, trust = _up(votes_up, left, np.array(anatomy.vertical), has_ends=anatomy.has_tails)
    else:
        along = limbless.along_spine(anatomy, line)
        if along is None:
            return Axes(np.array([0.0, -1.0, 0.0]), np.array(VERTICAL), 0.0)
        stands = limbless.standing(anatomy, line, along, left, known)
        ahead, above, sure, vote = limbless.lying(anatomy, line, along, left, known)
        if limbless.lies(anatomy, line, along):
            return Axes(ahead, above, sure * _certainty([vote], along), (vote,), (), (stands[2], stands[0]))
        up, trust, _ = stands
        if trust < _ATTITUDE:
            other = ahead, above
    forward = straight(rotation.cross(perpendicular(left, up), up), up)
    votes = _forward_votes(anatomy, line, up, shaped, mesh_face)
    if known == NAMED:
        votes.insert(0, Vote(NAMES, forward, 1.0))
    elif not votes:
        has_legs, is_symmetric = bool(votes_up), known == SYMMETRIC
        ahead, above, evidence, next_best = limbless.machine(
            anatomy, line[0], up, forward, has_legs=has_legs, is_symmetric=is_symmetric
        )
        return Axes(ahead, above, evidence, (), tuple(votes_up), next_best)
    if known == GUESSED:
        forward = straight(snapped(rotation.normalize(sum(vote.weight * vote.direction for vote in votes)), up), up)
    if sum(vote.weight * float(vote.direction @ forward) for vote in votes) < 0.0:
        forward = -forward
    vertical = np.array(anatomy.vertical)
    if trust < 0.5 and up @ vertical < HORIZONTAL:
        other = perpendicular(forward, vertical), vertical
    certainty = _certainty(votes, forward)
    trust *= _SHAPE_ALONE if _is_of_shape_alone(anatomy, line[0], votes) else 1.0
    if other is not None and certainty < trust:
        other = None  # the opposite is next in question
    return Axes(forward, up, trust * certainty, tuple(votes), tuple(votes_up), other)


def _forward_votes(
    anatomy: Anatomy,
    line: list[int],
    up: Array,
    shaped: list[LegPair],
    mesh_face: Callable[[], Array | None],
) -> list[Vote]:
    """What names, the shapes of legs without names and, without a face, meshes show about forward."""
    votes = axis_votes.forward_votes(anatomy, line, up)
    if shaped:
        votes += axis_votes.shape_forward_votes(anatomy, line, up, shaped)
    if not any(vote.source == FACE for vote in votes):
        votes += axis_votes.mesh_votes(anatomy, line[0], up, mesh_face())
    return votes


def _is_of_shape_alone(anatomy: Anatomy, head: int, votes: list[Vote]) -> bool:
    """Whether only knees or the shape of the trunk show forward, and no name which end of that is ahead."""
    sources = {vote.source for vote in votes}
    return sources <= {SPINE, KNEES} and not (SPINE in sources and axis_votes.is_called(anatomy, head))


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
    along = limbless.along_spine(anatomy, line)
    return along is not None and limbless.lies(anatomy, line, along)


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
            return upright(up, left), 1.0
        return upright(stands, left), 0.9
    # The armature's axis says otherwise.
    confirmed = sum(float(vote.direction @ up) > SAME_WAY for vote in votes)
    unknown = up @ vertical < 0.0 and not has_ends and all(vote.source == LEGS for vote in body)
    if confirmed > 1 and not unknown:
        return upright(up, left), 0.7
    return upright(stands, left), 0.45
