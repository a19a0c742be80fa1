"""What the viewport shows of a look-at: lines and fans in world space, worked out from the pose as it stands.

Nothing is evaluated for it: poses and targets are read where Blender has left them, and what only the rest pose decides
is kept until that changes.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..detection import detect, limbs, rest, stance
from ..detection.chain_defaults import ChainDefault
from ..sampling import targets
from ..sampling.targets import Target
from . import eye_origin, facing, mixing
from . import resolve as look_at
from .directing import looks

_STEP = np.radians(4.0)
_BACK = np.linspace(-1.0, 0.0, 25)
"""Places along an arc, from where the animation has the bone."""
_LEAST_ARC = np.radians(0.05)
_CLOSED = np.radians(179.9)
_DASHES, _FEW_DASHES = 40, 7
_TINY = 1e-12
_rest: dict[tuple[object, ...], "_AtRest"] = {}
"""What rest poses decide; may be thrown away at any time."""
_MOST_KEPT = 64


@dataclass(frozen=True)
class Fan:
    """Where the look can turn in one plane."""

    apex: Array
    """(3,) tip of the fan."""
    rim: Array
    """(n, 3) points of its rim."""
    strength: Array
    """(n,), 1 inside, fading to the limits."""

    @property
    def triangles(self) -> Array:
        """(n - 1, 3, 3), the apex first."""
        apexes = np.broadcast_to(self.apex, self.rim[1:].shape)
        return np.stack((apexes, self.rim[:-1], self.rim[1:]), axis=1)

    @property
    def shades(self) -> Array:
        """(n - 1, 3): the strength at the corners of the triangles."""
        mean = 0.5 * (self.strength[:-1] + self.strength[1:])
        return np.stack((mean, self.strength[:-1], self.strength[1:]), axis=1)


def place(target: Target) -> Array | None:
    """Where a target is in the world (3,), where there is such a thing."""
    item, bone = target.object, target.bone
    if item is None:
        return None
    if bone and (not item.pose or bone not in item.pose.bones):
        return None
    return (np.array(targets.world_matrix(item, bone)) @ (*(target.point or (0.0, 0.0, 0.0)), 1.0))[:3]


@dataclass(frozen=True)
class Arc:
    """What a look-at adds to one bone: from where the animation has it, along `points` (n, 3), to where it is now."""

    apex: Array
    points: Array
    angle: float

    @property
    def outline(self) -> Array:
        """The arc with the lines from the bone to its ends, as segments (n, 2, 3)."""
        return segments(np.vstack((self.apex[None], self.points, self.apex[None])))


@dataclass(frozen=True)
class _AtRest:
    """What the overlay draws of a look-at that the pose does not change."""

    bones: tuple[str, ...]
    """The chain, head first."""
    forward: Array
    """(b, 3) unit forward axes in each bone's own frame."""
    up: Array
    """(b, 3) unit up axes in each bone's own frame."""
    detected: tuple[ChainDefault, ...]
    """The chain's links where the settings name none."""
    lengths: Array
    """(b,) lengths of the bones."""
    legs: tuple[tuple[str, ...], ...]
    """The bones of each leg."""
    eyes: tuple[str, ...]
    """Bones of the eyes."""
    facing: tuple[Array, Array]
    """Forward and up (3,) of the character in the frame of the first bone."""
    other: Array | None
    """The other candidate for forward, None where the axis is certain."""
    eye: Array
    """(3,) where the look begins, in the frame of the first bone."""


def posed(armature: bpy.types.Object, bone: str) -> "Posed | None":
    """The look-at on a bone as it stands; None where its chain names a bone that is not there."""
    chain = armature.pose.bones[bone].lookat_pd.chain
    return Posed(armature, bone) if all(item.bone in armature.pose.bones for item in chain) else None


class Posed:
    """A look-at's chain as it stands, head first, in armature space."""

    def __init__(self, armature: bpy.types.Object, bone: str) -> None:
        self.armature, self.settings = armature, armature.pose.bones[bone].lookat_pd
        self.at_rest = _at_rest(armature, bone)
        self.bones = self.at_rest.bones
        pose = armature.pose.bones
        matrices = np.array([pose[name].matrix for name in self.bones])
        self.heads = matrices[:, :3, 3]
        axes = matrices[:, :3, :3]
        self.turns = axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), _TINY)
        """(b, 3, 3) orientations: a few small products are faster on matrices than on quaternions."""
        self.world = np.array(armature.matrix_world)

    @property
    def eye(self) -> Array:
        """Where the look begins (3,)."""
        return self._to_world(self._eye)

    @property
    def target(self) -> Array | None:
        """What is looked at (3,), where there is such a thing."""
        if not self.settings.use_mix:
            return place(eye_origin.met(looks.chosen(self.settings), self.armature, self.settings))
        listed = eye_origin.all_met(targets.listed(self.settings), self.armature, self.settings)
        return mixing.point(self.settings, [place(target) for target in listed], self.eye)

    @property
    def sight(self) -> Array:
        """The line of sight (2, 3): from the eye along the aim axis, as far as the target is."""
        eye, target = self.eye, self.target
        ahead = self._to_world(2.0 * self._radius * self.turns[0] @ self.at_rest.forward[0]) - self._to_world(
            np.zeros(3)
        )
        if target is not None:
            ahead *= np.linalg.norm(target - eye) / max(float(np.linalg.norm(ahead)), _TINY)
        return np.stack((eye, eye + ahead))

    @property
    def front(self) -> Array:
        """Arrow (n, 2, 3) from the head to the front of the character; the last line goes to its up."""
        forward, up = (self.turns[0] @ axis for axis in self.at_rest.facing)
        tip, side = 1.2 * self._radius * forward, 0.12 * self._radius * rotation.cross(forward, up)
        barbs = [(tip, 0.85 * tip + side), (tip, 0.85 * tip - side)]
        lines = np.array([(np.zeros(3), tip), *barbs, (np.zeros(3), self._radius * up)])
        return self._to_world(self._eye + lines)

    @property
    def doubted(self) -> Array | None:
        """The other front (n, 2, 3) that is in question, dashed."""
        if self.at_rest.other is None:
            return None
        tip = self._eye + 1.2 * self._radius * self.turns[0] @ self.at_rest.other
        return dashes(self.eye, self._to_world(tip), _FEW_DASHES)

    @property
    def found(self) -> Array:
        """Legs, and the line between the eyes (n, 2, 3)."""
        pose, pieces = self.armature.pose.bones, [np.zeros((0, 2, 3))]
        for names in (*self.at_rest.legs, self.at_rest.eyes):
            bones = [pose[name] for name in names if name in pose]
            if len(bones) > 1:
                pieces.append(segments(np.array([bone.head for bone in bones])))
        return self._to_world(np.concatenate(pieces))

    def fans(self, offsets: Mapping[str, Array]) -> tuple[Fan, Fan]:
        """Where all limits together let the look go, sideways and up and down, around where the animation looks.

        offsets: what the look-at adds to which bone (4,).
        """
        animated = self._animated(offsets)
        forward, up = animated @ self.at_rest.forward[0], animated @ self.at_rest.up[0]
        limits = self._limits()
        yaw, pitch_up, pitch_down = limits.sum(axis=0)
        edge = np.minimum(self.settings.soft_edge, limits).sum(axis=0)
        return (
            self._fan(forward, rotation.cross(up, forward), -yaw, yaw, edge[[0, 0]]),
            self._fan(forward, up, -min(pitch_down, np.pi / 2), min(pitch_up, np.pi / 2), edge[[2, 1]]),
        )

    def arcs(self, offsets: Mapping[str, Array], bones: Container[str]) -> list[Arc]:
        """What the look-at adds to those of these bones that are in the chain."""
        rows = [n for n, name in enumerate(self.bones) if name in offsets and name in bones]
        if not rows:
            return []
        turns = rotation.log(np.array([offsets[self.bones[n]] for n in rows]))
        angles = np.linalg.norm(turns, axis=-1)
        back = rotation.exp(_BACK[:, None] * turns[:, None])
        directions = rotation.rotate(back, self.at_rest.forward[rows][:, None]) @ self.turns[rows].swapaxes(1, 2)
        points = self.heads[rows][:, None] + self.at_rest.lengths[rows][:, None, None] * directions
        apexes, points = self._to_world(self.heads[rows]), self._to_world(points)
        return [
            Arc(apex, line, float(angle))
            for apex, line, angle in zip(apexes, points, angles, strict=True)
            if angle > _LEAST_ARC
        ]

    def _animated(self, offsets: Mapping[str, Array]) -> Array:
        """The head's orientation (3, 3) without what the look-at adds; exact where bones are each other's parents."""
        added = rotation.to_matrix(np.array([offsets.get(name, rotation.IDENTITY) for name in self.bones]))
        found = self.turns[0] @ added[0].T
        for here, own in zip(self.turns[1:], added[1:], strict=True):
            found = here @ own.T @ here.T @ found
        return found

    def _limits(self) -> Array:
        """(b, 3) to either side, up and down."""
        links = look_at.named_links(self.settings) or self.at_rest.detected
        return np.array([(link.yaw_limit, link.pitch_up_limit, link.pitch_down_limit) for link in links])

    def _fan(self, forward: Array, aside: Array, low: float, high: float, edges: Array) -> Fan:
        low, high = max(low, -_CLOSED), min(high, _CLOSED)
        soft = [low, low + edges[0], high - edges[1], high]
        angles = np.unique(np.concatenate((np.arange(low, high, _STEP), np.clip(soft, low, high))))
        rim = np.cos(angles)[:, None] * forward + np.sin(angles)[:, None] * aside
        room = np.minimum((angles - low) / max(edges[0], 1e-6), (high - angles) / max(edges[1], 1e-6))
        return Fan(self.eye, self._to_world(self._eye + self._radius * rim), np.clip(room, 0.0, 1.0))

    @property
    def _eye(self) -> Array:
        """The same (3,) in armature space."""
        return self.heads[0] + self.turns[0] @ self.at_rest.eye

    @property
    def _radius(self) -> float:
        return 2.0 * float(self.at_rest.lengths[0])

    def _to_world(self, points: Array) -> Array:
        return points @ self.world[:3, :3].T + self.world[:3, 3]


def segments(line: Array) -> Array:
    """A line through points (n, 3) as its pieces (n - 1, 2, 3)."""
    return np.stack((line[:-1], line[1:]), axis=1)


def dashes(begin: Array, end: Array, count: int = _DASHES) -> Array:
    """A dashed line between two points, as pieces (count, 2, 3)."""
    places = np.linspace(0.0, 1.0, 2 * count)[:, None]
    return (begin + places * (end - begin)).reshape(count, 2, 3)


def ring(center, radius: float) -> Array:
    """A ring in the plane of the screen, as pieces (n, 2, 3); center: (2,)."""
    turn = np.linspace(0.0, 2.0 * np.pi, _DASHES + 1)
    circle = np.stack((np.cos(turn), np.sin(turn), np.zeros_like(turn)), axis=1)
    return segments(np.array((*center, 0.0)) + radius * circle)


def forget() -> None:
    """Throw away what is kept of rest poses."""
    _rest.clear()


def _at_rest(armature: bpy.types.Object, bone: str) -> _AtRest:
    settings = armature.pose.bones[bone].lookat_pd
    named = tuple(item.bone for item in look_at.named_links(settings))
    bones = armature.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    aimed = settings.aim_axis, *settings.facing, *facing.detected(armature).forward
    eye = eye_origin.place(armature, bone, settings)
    key = armature.session_uid, bone, named, aimed, matrices.tobytes(), eye.tobytes()
    if key not in _rest:
        if len(_rest) >= _MOST_KEPT:
            _rest.clear()
        _rest[key] = _read_rest(armature, bone, named, eye)
    return _rest[key]


def _read_rest(armature: bpy.types.Object, bone: str, named: tuple[str, ...], eye: Array) -> _AtRest:
    skeleton, hints = stance.skeleton(armature), rest.hints(armature)
    detected = () if named else tuple(detect.find_chain(skeleton, bone, hints))
    names = named or tuple(link.bone for link in detected)
    rows = [skeleton.index(name) for name in names]
    forward, up = facing.aim(armature, bone, skeleton)
    up = rotation.normalize(up - (up @ forward) * forward)
    back = rotation.inverse(skeleton.rotations[rows])
    lengths = np.linalg.norm(skeleton.tails[rows] - skeleton.heads[rows], axis=-1)
    legs = tuple(
        tuple(name for name in (leg.upper, leg.lower, leg.foot, leg.toe) if name) for leg in limbs.find_legs(armature)
    )
    eyes = tuple(eye.bone for eye in limbs.find_eyes(armature))
    front, above = (rotation.rotate(back[0], axis) for axis in facing.character(armature, bone, skeleton))
    other = None
    if facing.is_uncertain(armature, bone):
        other = rotation.rotate(back[0], facing.detected(armature).candidates[1][0])
    ahead, upwards = rotation.rotate(back, forward), rotation.rotate(back, up)
    return _AtRest(names, ahead, upwards, detected, lengths, legs, eyes, (front, above), other, eye)
