"""Root motion: the position of a character, and placing a clip where another one ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ...lookat_pd import rotation
from ...lookat_pd.errors import InvalidArgument
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from ..detection import rest, stance
from . import animated, clips, splice
from .animated import Channel
from .clips import Clip

ROOTS = ("NONE", "POSITION", "HEADING", "ALL")
_MOVES = 1e-4
"""Smallest change of location of a moving bone, as a fraction of the size of the skeleton."""
_TURNS = 1e-4
"""Smallest change of rotation [rad] and relative change of scale of a moving bone."""
_MOST = 0.25
"""Smallest fraction of all bones that are descendants of a root."""


@dataclass(frozen=True)
class Placement:
    """A rigid transform: rotate by `rotation` (4,), then move by `translation` (3,)."""

    rotation: Array
    translation: Array

    @classmethod
    def identity(cls) -> "Placement":
        return cls(rotation.IDENTITY.copy(), np.zeros(3))

    def after(self, first: "Placement") -> "Placement":
        """Another placement, and then this one."""
        moved = rotation.rotate(self.rotation, first.translation) + self.translation
        return Placement(rotation.multiply(self.rotation, first.rotation), moved)

    @property
    def turns(self) -> bool:
        return bool(np.any(self.rotation != rotation.IDENTITY))

    @property
    def is_identity(self) -> bool:
        return not self.turns and not np.any(self.translation)


@dataclass(frozen=True)
class GroundHandle:
    """A bone, or with "" the object, that moves part of the character and has no moving or placed ancestor.

    Its position is linear @ location + offset, its orientation frame @ rotation.
    """

    bone: str
    rotation: Channel
    location: Channel | None
    """None if it cannot move."""
    frame: Array
    linear: Array
    offset: Array


class Ground:
    """The motion of an armature over the ground in its clips. root: the bone of the position, "" for the object."""

    def __init__(self, armature: bpy.types.Object, read: Sequence[Clip]) -> None:
        """read: the clips, all with the same channels."""
        self.armature, self._skeleton, self._read = armature, rest.skeleton(armature), read
        self.size = self._skeleton.size
        scale = float(np.max(np.abs(armature.scale)))
        self.by_object = "" in _moving(read, self.size * scale)
        self.root = find_root(self._skeleton, read, self.size)
        self.animated = tuple(read[0].raw)
        self._transforms: dict[str, list[Channel]] = {}
        for channel in self.animated:
            if channel.is_transform:
                self._transforms.setdefault(channel.bone, []).append(channel)

    @property
    def is_placed(self) -> bool:
        """Whether anything has a position, so that clips can be placed."""
        return bool(self.root) or self.by_object

    @cached_property
    def up(self) -> Array:
        """(3,) in the space of the handles: that of the armature, or of the object's parent if the object is
        animated."""
        if not self.by_object:
            return stance.of(self.armature).axes.up
        item = self.armature
        parent = item.matrix_world @ item.matrix_basis.inverted_safe()
        return rotation.normalize(np.array(parent.inverted_safe().to_3x3())[:, 2])

    @cached_property
    def handles(self) -> list[GroundHandle]:
        if self.by_object:
            return [self._handle("")]
        tops = [bone for bone in self.armature.data.bones if bone.parent is None]
        return [self._handle(name) for top in tops for name in self._handles_below(top)]

    def _handles_below(self, bone: bpy.types.Bone, below_keys: bool = False) -> list[str]:
        """The topmost bones of a branch that must be placed to place all of it.

        A bone at rest whose children travel is not a handle even if it has keys: if placed, its children would swing
        about it during a blend. It does not move, and all its children are placed, with or without keys. below_keys:
        whether the branch is below such a bone.
        """
        if self._moves(bone.name):
            return [bone.name]
        keyed = bone.name in self._transforms
        handles = [name for child in bone.children for name in self._handles_below(child, below_keys or keyed)]
        if keyed or (below_keys and not self.armature.pose.bones[bone.name].constraints):
            # A connected bone cannot be moved without its parent.
            bound = any(self.armature.data.bones[name].use_connect for name in handles)
            if bound or not any(self._moves(name, ("location",)) for name in handles):
                return [bone.name]
        return handles

    def _moves(self, name: str, kinds: Sequence[str] = ("location", "rotation", "scale")) -> bool:
        """Whether a bone's location, rotation or scale changes in one of the clips, or from one to the next."""
        return any(
            _changes(channel, self._read, self.size)
            for channel in self._transforms.get(name, ())
            if (channel.name if channel.kind == "vector" else "rotation") in kinds
        )

    def _handle(self, name: str) -> GroundHandle:
        item = self.armature
        turn = animated.transform(item, name, "rotation")
        bone = item.data.bones[name] if name else None
        place = animated.transform(item, name, "location")
        if bone is None:
            return GroundHandle(name, turn, place, rotation.IDENTITY, np.eye(3), np.zeros(3))
        move = None if bone.parent and bone.use_connect else place
        above = self._pose(bone.parent, self._read[0], 0)
        there = [
            np.array(_posed(bone, above, Matrix.Translation(v))) for v in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
        ]
        linear = np.stack([moved[:3, 3] - there[0][:3, 3] for moved in there[1:]], axis=-1)
        return GroundHandle(name, turn, move, rotation.from_matrix(there[0][:3, :3]), linear, there[0][:3, 3])

    def _pose(self, bone: bpy.types.Bone | None, clip: Clip | None, row: int) -> Matrix | None:
        """A bone's matrix in armature space at one frame of a clip, or, without a clip, on the current rig."""
        if bone is None:
            return None
        return _posed(bone, self._pose(bone.parent, clip, row), self._basis(bone.name, clip, row))

    def _basis(self, name: str, clip: Clip | None, row: int) -> Matrix:
        owner = self.armature.pose.bones[name] if name else self.armature
        location, turn, scale = owner.matrix_basis.decompose()
        if clip is None:
            return owner.matrix_basis
        for channel in self._transforms.get(name, ()):
            stored = clip.raw[channel][row][None]
            if channel.kind == "rotation":
                turn = Quaternion(clips.to_values(channel, stored)[0])
            elif channel.name == "location":
                location = stored[0].tolist()
            else:
                scale = stored[0].tolist()
        return Matrix.LocRotScale(location, turn, scale)

    def stand(self, clip: Clip, row: int) -> tuple[Array, Array]:
        """Position (3,) and orientation (4,) of the root at one frame of a clip."""
        pose = self._pose(self.armature.data.bones[self.root], clip, row) if self.root else Matrix.Identity(4)
        if self.by_object:
            pose = self._basis("", clip, row) @ pose
        matrix = np.array(pose)
        return matrix[:3, 3], rotation.from_matrix(matrix[:3, :3])

    def orientation(self, clip: Clip, bone: str, row: int) -> Array:
        """The orientation (4,) of a bone at one frame of a clip, by keys alone, in armature space."""
        pose = np.array(self._pose(self.armature.data.bones[bone], clip, row))
        return rotation.from_matrix(pose[:3, :3])

    def placement(self, wanted: tuple[Array, Array], there: tuple[Array, Array], root: str) -> Placement:
        """The placement from `there` to `wanted`, restricted by `root` ("POSITION", "HEADING": on the ground only;
        "ALL": with height; heading is the rotation about the up axis)."""
        if root not in ROOTS:
            raise InvalidArgument("Root motion {root!r} is unknown; use {roots}.", root=root, roots=", ".join(ROOTS))
        if root == "NONE" or not self.is_placed:
            return Placement.identity()
        return on_ground(wanted, there, self.up, turns=root != "POSITION", rises=root == "ALL")

    def channels(self, root: str) -> list[Channel]:
        """The channels that a placement changes."""
        if root == "NONE" or not self.is_placed:
            return []
        moves = [handle.location for handle in self.handles if handle.location is not None]
        return moves if root == "POSITION" else [*moves, *(handle.rotation for handle in self.handles)]

    def place(self, clip: Clip, by: Placement | Sequence[Placement]) -> Clip:
        """A clip with the whole character placed, by one placement or by one for each frame."""
        return placed(clip, self.handles, by)

    def upright(self) -> dict[Channel, Array]:
        """For each location that a placement changes, the matrix (3, 3) of its height."""
        up = np.outer(self.up, self.up)
        return {
            handle.location: np.linalg.solve(handle.linear, up @ handle.linear)
            for handle in self.handles
            if handle.location is not None
        }

    def root_handle(self) -> str | None:
        """The handle of the root: a bone, or "" for the object; None if it has no location."""
        located = {handle.bone for handle in self.handles if handle.location is not None}
        bone = None if self.by_object or not self.root else self.armature.data.bones[self.root]
        chain = [""] if bone is None else [bone.name, *(above.name for above in bone.parent_recursive)]
        return next((name for name in chain if name in located), None)

    def step(self, clip: Clip, row: int, *, upwards: bool = False) -> Array:
        """The step (3,) of the handle of the root from a frame to the next, over the ground or with height."""
        handle = next((handle for handle in self.handles if handle.bone == self.root_handle()), None)
        if handle is None or handle.location not in clip.raw or row + 1 >= len(clip.frames):
            return np.zeros(3)
        stored = clip.raw[handle.location]
        step = handle.linear @ (stored[row + 1] - stored[row])
        return step if upwards else step - (step @ self.up) * self.up


def placed(clip: Clip, handles: Sequence[GroundHandle], by: Placement | Sequence[Placement]) -> Clip:
    """A clip with all handles placed, by one placement or by one for each frame."""
    turn, move = _table([by] if isinstance(by, Placement) else by)
    raw = dict(clip.raw)
    for handle in handles:
        if handle.location in raw:
            raw[handle.location] = _moved(handle, raw[handle.location], turn, move)
        if handle.rotation in raw and np.any(turn != rotation.IDENTITY):
            raw[handle.rotation] = _turned(handle, raw[handle.rotation], turn)
    return Clip(clip.armature, clip.frames, raw)


def _moved(handle: GroundHandle, location: Array, turn: Array, move: Array) -> Array:
    still = np.all(turn == rotation.IDENTITY, axis=-1) & np.all(move == 0.0, axis=-1)
    place = location @ handle.linear.T + handle.offset
    change = rotation.rotate(turn, place) + move - place
    moved = location + np.linalg.solve(handle.linear, change.T).T
    return np.where(still[:, None], location, moved)


def _table(placements: Sequence[Placement]) -> tuple[Array, Array]:
    return np.array([p.rotation for p in placements]), np.array([p.translation for p in placements])


def _turned(handle: GroundHandle, stored: Array, turn: Array) -> Array:
    """Stored rotations (F, size) of a handle rotated in its space by (F or 1, 4)."""
    local = rotation.multiply(rotation.inverse(handle.frame), rotation.multiply(turn, handle.frame))
    turned = rotation.multiply(local, clips.to_values(handle.rotation, stored))
    return splice.channels_from(handle.rotation.mode, turned[:, None], stored[:1])[:, 0]


def _posed(bone: bpy.types.Bone, above: Matrix | None, basis: Matrix) -> Matrix:
    """A bone's matrix in armature space: with Blender's rules of inheritance."""
    if above is None:
        return bone.convert_local_to_pose(basis, bone.matrix_local)
    return bone.convert_local_to_pose(
        basis, bone.matrix_local, parent_matrix=above, parent_matrix_local=bone.parent.matrix_local
    )


def on_ground(
    wanted: tuple[Array, Array], there: tuple[Array, Array], up: Array, *, turns: bool = True, rises: bool = False
) -> Placement:
    """The placement of a position (3,) and orientation (4,) that is `there` at the wanted one, as far as a rotation
    about up (3,), if it turns, and a move over the ground, or with height if it rises, can do it."""
    turn = rotation.IDENTITY.copy()
    if turns:
        turn = rotation.swing_twist(rotation.multiply(wanted[1], rotation.inverse(there[1])), up)[1]
    move = wanted[0] - rotation.rotate(turn, there[0])
    return Placement(turn, move if rises else move - (move @ up) * up)


def find_root(skeleton: Skeleton, read: Sequence[Clip], size: float) -> str:
    """The bone with the most descendants of those whose location changes in the clips; "" if there is none."""
    placed = [channel.bone for channel in read[0].raw if channel.bone and channel.name == "location"]
    below = np.zeros(len(skeleton), dtype=int)
    for bone in range(len(skeleton) - 1, -1, -1):
        if skeleton.parents[bone] >= 0:
            below[skeleton.parents[bone]] += 1 + below[bone]
    descendants = dict(zip(skeleton.names, below.tolist(), strict=True))
    moves = _moving(read, size)
    moving = [name for name in placed if name in moves and descendants[name] >= _MOST * len(skeleton)]
    return max(moving or placed, key=descendants.__getitem__, default="")


def _moving(read: Sequence[Clip], size: float) -> set[str]:
    """Bones, and "" for the object, that change their location in one of the clips, or from one to the next."""
    found = set()
    for channel in read[0].raw:
        if channel.name == "location" and channel.kind == "vector" and _changes(channel, read, size):
            found.add(channel.bone)
    return found


def _changes(channel: Channel, read: Sequence[Clip], size: float) -> bool:
    """Whether the transform of a channel changes in one of the clips, or from one to the next."""
    stored = np.concatenate([clip.raw[channel] for clip in read])
    if np.all(stored == stored[0]):
        return False
    if channel.kind == "rotation":
        difference = rotation.multiply(
            clips.to_values(channel, stored), rotation.inverse(clips.to_values(channel, stored[:1]))
        )
        return bool(2.0 * np.linalg.norm(difference[:, 1:], axis=-1).max() > _TURNS)
    least = _MOVES * size if channel.name == "location" else _TURNS
    return bool(np.ptp(stored, axis=0).max() > least)


def heading(up: Array, turn: Array) -> float:
    """Angle [rad] of a rotation (4,) about the up axis, along the shorter arc."""
    turn = -turn if turn[0] < 0.0 else turn
    return float(2.0 * np.arctan2(turn[1:] @ up, turn[0]))


def inverse(placement: Placement) -> Placement:
    back = rotation.inverse(placement.rotation)
    return Placement(back, -rotation.rotate(back, placement.translation))


def part(placement: Placement, up: Array, share: float) -> Placement:
    """A fraction of a placement, uniformly along its arc: 0 is none, -1 the inverse."""
    angle = heading(up, placement.rotation)
    rise = (placement.translation @ up) * up
    level = placement.translation - rise
    # The horizontal translation is the chord of an arc: v = A(angle)⁻¹ level, with A(x) = sin x / x + (1 - cos x) / x
    # up cross.
    whole, less = _arc(angle), _arc(share * angle)
    size = whole[0] ** 2 + whole[1] ** 2
    tangent = (whole[0] * level - whole[1] * rotation.cross(up, level)) / size
    moved = share * (less[0] * tangent + less[1] * rotation.cross(up, tangent))
    return Placement(rotation.exp(share * angle * up), moved + share * rise)


def _arc(angle: float) -> tuple[float, float]:
    if abs(angle) < 1e-6:
        return 1.0, 0.5 * angle
    return float(np.sin(angle) / angle), float((1.0 - np.cos(angle)) / angle)
