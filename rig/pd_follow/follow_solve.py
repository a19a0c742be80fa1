"""Sampling what follows and what is followed, and solving the motion that is added."""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.pd import offsets
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.channels import LOCATION, channel
from ..animation.unkeyed_pose import Channels
from ..layers import bone_chains
from ..layers.layer import ROTATION, Item, Row, disabled
from ..layers.track import part
from ..sampling import fingerprint, suspend
from ..sampling.sampler import Sampler
from ..sampling.targets import Target
from .follow_layer import FollowLayer
from .owners import Owner, aim_axis
from .settings import AXES, KEYABLE, controller

_ORIGIN = (0.0, 0.0, 0.0)


@dataclass
class FollowSamples:
    """What follows over F frames, as it is without PD Follow."""

    label: str
    frames: Array
    own: Array
    """(F, 4, 4) in the world."""
    target: Array | None
    """(F, 4, 4) in the world, None where it follows its own motion."""
    use: Array
    """(F,)"""
    influence: Array
    """(F,)"""
    raw: dict[str, Array]
    """Its rotation channels (F, 3 or 4), by their mode, and those of its `LOCATION`."""
    frames_of_location: Array
    """(F, 3, 3), what its location channels move it by in the world."""
    target_label: str = ""
    carry: Array | None = None
    """(F, 4, 4) by which a parent that follows carries it along, to be multiplied on the left; None for nothing."""

    @property
    def base(self) -> Array:
        """(F, 4, 4) in the world, where it is on the result of its parent."""
        return self.own if self.carry is None else self.carry @ self.own

    @property
    def moved_by_location(self) -> Array:
        """(F, 3, 3), what its location channels move it by in the world, there."""
        return self.frames_of_location if self.carry is None else self.carry[:, :3, :3] @ self.frames_of_location

    def check_finite(self) -> None:
        """Raise RigError where a place is no number."""
        for matrices, label in ((self.own, self.label), (self.target, self.target_label)):
            bad = np.zeros(0, bool) if matrices is None else ~np.isfinite(matrices).all(axis=(1, 2))
            if bad.any():
                raise RigError(
                    "'{name}' has a transform that is not a number at frame {frame}; fix its animation.",
                    name=label,
                    frame=self.frames[np.argmax(bad)],
                )

    def check(self) -> None:
        """Raise RigError where the parents or the own scale leave no room for a motion."""
        sizes = np.linalg.det(self.own[:, :3, :3])
        if np.any(np.abs(np.linalg.det(self.frames_of_location)) < 1e-18) or np.any(np.abs(sizes) < 1e-18):
            raise RigError("'{name}' or its parent has a scale of 0; set a scale above 0.", name=self.label)
        if np.any(sizes < 0.0):
            raise RigError("'{name}' or its parent has a negative scale; set a positive scale.", name=self.label)


@dataclass(frozen=True)
class FollowMotion:
    """What is added: displacements (F, 3) in the world, and local rotations (F, 4), from frame `first` on."""

    first: int
    moves: Array
    turns: Array
    bone: str = ""
    """The bone that follows, "" for the object."""
    used: tuple[str, ...] = (LOCATION, ROTATION)
    """What of it may change."""

    def rows(self) -> list[Row]:
        """What the layer adds."""
        return [Row(self.bone, LOCATION, self.moves), Row(self.bone, ROTATION, self.turns)]

    def same_as(self, other: "FollowMotion") -> bool:
        """Whether it is the same, up to what two that depend on each other never agree on."""
        if (self.first, self.bone, len(self.moves)) != (other.first, other.bone, len(other.moves)):
            return False
        pairs = (self.moves, other.moves), (self.turns, other.turns)
        return all(np.abs(one - same).max(initial=0.0) <= FollowLayer.tolerance for one, same in pairs)

    def carries(self, s: FollowSamples) -> Array:
        """By what matrices (F, 4, 4) in the world that which hangs on it is carried along, with what carries it."""
        base = s.base
        turned = _rotations(base)
        result = base.copy()
        result[:, :3, 3] += self.moves
        own = np.swapaxes(rotation.to_matrix(turned), 1, 2) @ base[:, :3, :3]
        result[:, :3, :3] = rotation.to_matrix(rotation.multiply(turned, self.turns)) @ own
        return bone_chains.carrying(s.own, result)

    def channels(
        self, s: FollowSamples, frames: Array, baked: Mapping[Channels, Array], weights: Array
    ) -> dict[Channels, tuple[Array, Array]]:
        """What a bake keys, see `Track.channels`. Raises RigError where parents or the own scale leave no room."""
        chosen = slice(int(frames[0]) - self.first, int(frames[-1]) + 1 - self.first)
        s.check()
        moves, to_channels = self.moves[chosen], s.moved_by_location[chosen]
        added = np.linalg.solve(to_channels, weights[:, None, None] * moves[..., None])[..., 0]
        result = {}
        for kind, every in s.raw.items():
            before = baked.get((self.bone, kind), every[chosen])
            if kind == LOCATION and LOCATION in self.used:
                result[self.bone, kind] = np.where(moves == 0.0, before, before + added), before
            elif kind != LOCATION and ROTATION in self.used:
                turns = part(self.turns[chosen], weights)
                result[self.bone, kind] = channels.turned(before, kind, turns), before
        return result

    @classmethod
    def read(cls, layer: FollowLayer, first: int, last: int) -> "FollowMotion | None":
        """The motion over these frames that a layer shows, None if that is over others."""
        frames = last - first + 1
        if not layer.is_installed(layer.places):
            return None
        shown = layer.read(layer.places)
        if shown is None:
            # A follower that is always where it would be without PD Follow.
            is_idle = all(constraint.influence == 0.0 for _, constraint in layer.constraints())
            return cls(first, np.zeros((frames, 3)), rotation.identity(frames), layer.bone) if is_idle else None
        begin, (moves, turns) = shown
        moves = np.zeros((frames, 3)) if moves is None else moves
        turns = rotation.identity(frames) if turns is None else turns
        return cls(first, moves, turns, layer.bone) if begin == first and len(moves) == len(turns) == frames else None


def sample(
    scene: bpy.types.Scene, group: Sequence[Owner], first: int, last: int
) -> Generator[float, None, list[FollowSamples]]:
    """Step through the frames first to last, yielding the fraction done; samples of each of a group.

    group: one owner, or bones of one armature that none of them moves but as their parent.
    """
    frames, rig, count = np.arange(first, last + 1), group[0].object, last + 1 - first
    targets = [owner.target for owner in group]
    watched = [Target(owner.object, owner.bone, _ORIGIN) for owner in group]
    watched += [Target(rig, "", _ORIGIN)] if group[0].bone else []
    to = {n: len(watched) + k for k, n in enumerate(n for n, target in enumerate(targets) if target is not None)}
    watched += [target for target in targets if target is not None]
    worlds = np.empty((count, len(watched), 4, 4))
    place = len(group) if group[0].bone else 0
    result = [
        _empty(owner, frames, worlds[:, n], worlds[:, to[n]] if n in to else None) for n, owner in enumerate(group)
    ]
    moving = fingerprint.animated_paths(rig)
    keyed = any(owner.settings_path + name in moving for owner in group for name in KEYABLE)
    whole = None if group[0].bone else {}
    with Sampler(scene, rig, (), watched, cut_down=whole, left_out=_left_out(group)) as sampler:
        for _ in sampler.prepare(frames.tolist()):
            yield 0.0
        for k, frame in enumerate(frames.tolist()):
            sampler.open()
            moved = sampler.stand_in(rig)
            if keyed and moved.name not in sampler.scene.objects:
                # Blender evaluates a setting only of what is in the scene.
                sampler.scene.collection.objects.link(moved)
            depsgraph = sampler.step(frame)
            worlds[k] = sampler.matrices(depsgraph)
            seen = moved.evaluated_get(depsgraph)
            for owner, samples in zip(group, result, strict=True):
                item = Owner(seen, owner.bone).item
                settings = item.lookat_pd_follow
                samples.use[k], samples.influence[k] = settings.use, settings.influence
                for kind, rows in samples.raw.items():
                    rows[k] = getattr(item, channel(kind)[0])
                samples.frames_of_location[k] = _location_frame(item, worlds[k, place])
            yield (k + 1) / count
    return result


def _empty(owner: Owner, frames: Array, own: Array, target: Array | None) -> FollowSamples:
    """Samples of an owner, whose matrices are filled elsewhere."""
    mode, count = owner.item.rotation_mode, len(frames)
    return FollowSamples(
        owner.label,
        frames,
        own,
        target,
        np.ones(count, dtype=bool),
        np.ones(count),
        {mode: np.empty((count, channel(mode)[1])), LOCATION: np.empty((count, 3))},
        np.empty((count, 3, 3)),
        owner.target.label if owner.target is not None else "",
    )


def _left_out(group: Sequence[Owner]) -> suspend.LeftOut:
    """What follows is sampled without PD Follow, and without look-ats that look at it: they would chase each other."""
    rig, is_watched = group[0].object, suspend.is_watched(group[0].object)

    def find(item: bpy.types.Object) -> Iterator[tuple[Item, bpy.types.Constraint]]:
        return (pair for owner in group for pair in FollowLayer(Owner(item, owner.bone)).constraints())

    @contextmanager
    def on_rigs(spared: Collection[bpy.types.Object]) -> Iterator[bool]:
        with ExitStack() as stack:
            changed = stack.enter_context(disabled([item for item in (rig,) if item not in spared], find))
            if is_watched:
                changed = stack.enter_context(suspend.layers_disabled(spared)) or changed
            yield changed

    def on_copy(copy: bpy.types.Object, original: bpy.types.Object) -> None:
        for _, constraint in find(copy) if original == rig else ():
            constraint.influence = 0.0
        if is_watched:
            suspend.disable_on({original: copy})

    return suspend.LeftOut(on_rigs, on_copy)


def _location_frame(item: bpy.types.Object | bpy.types.PoseBone, world: Array) -> Array:
    """What the location channels move an item by in the world, (3, 3). world: (4, 4) of the object that it is, or that
    it is a bone of."""
    with np.errstate(all="ignore"):
        if isinstance(item, bpy.types.Object):
            basis = np.array(item.matrix_basis)[:3, :3]
            return world[:3, :3] @ np.linalg.pinv(basis)
    moved = np.array([_placed(item, place) for place in (np.zeros(3), *np.eye(3))])
    return world[:3, :3] @ (moved[1:] - moved[0]).T


def _placed(bone: bpy.types.PoseBone, location: Array) -> Array:
    """Where a bone is in its armature with this location and nothing else."""
    local, parent = Matrix.Translation(location.tolist()), bone.parent
    rest = bone.bone.matrix_local
    if parent is None:
        return np.array(bone.bone.convert_local_to_pose(local, rest).to_translation())
    found = bone.bone.convert_local_to_pose(
        local, rest, parent_matrix=parent.matrix, parent_matrix_local=parent.bone.matrix_local
    )
    return np.array(found.to_translation())


def solve(owner: Owner, s: FollowSamples, dt: float) -> FollowMotion:
    """The motion that is added to an owner. dt: seconds a frame. Raises LookAtError."""
    settings, tuning = owner.settings, controller(owner.settings)
    s.check_finite()
    base = s.base
    places, turned = base[:, :3, 3], _rotations(base)
    moves, turns = np.zeros((len(places), 3)), rotation.identity(len(places))
    goal_places, goal_turns = _goals(owner, s, turned)
    if settings.use_location:
        moves = offsets.position_offsets(places, goal_places, s.use, dt, tuning) * s.influence[:, None]
    if settings.turn == "AIM" and s.target is not None:
        goal_turns = offsets.aim(places + moves, s.target[:, :3, 3], AXES[aim_axis(owner)], turned)
    if settings.turn != "NONE":
        turns = offsets.rotation_offsets(turned, goal_turns, s.use, dt, tuning)
        part = s.influence < 1.0
        turns[part] = rotation.exp(rotation.log(turns[part]) * s.influence[part, None])
    return FollowMotion(int(s.frames[0]), moves, turns, owner.bone, owner.used)


def _goals(owner: Owner, s: FollowSamples, turned: Array) -> tuple[Array | None, Array | None]:
    """Positions (F, 3) and orientations (F, 4) to be at; None to follow the own motion."""
    if s.target is None:
        return None, None
    settings, places = owner.settings, s.base[:, :3, 3]
    to, to_turned = s.target[:, :3, 3], _rotations(s.target)
    if not settings.keep_offset:
        return to, to_turned
    since = np.array(settings.target_location)
    change = rotation.multiply(to_turned, rotation.inverse(rotation.normalize(np.array(settings.target_rotation))))
    if settings.turn == "FOLLOW":
        # As a rigid body: the offset turns with the target.
        return to + rotation.rotate(change, places - since), rotation.multiply(change, turned)
    return places + to - since, turned


def _rotations(matrices: Array) -> Array:
    """Orientations (F, 4) of matrices (F, 4, 4), as Blender takes them apart: mirrored ones are negated."""
    axes = matrices[:, :3, :3]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-30)
    axes = np.where(np.linalg.det(axes)[:, None, None] < 0.0, -axes, axes)
    return rotation.from_matrix(axes)
