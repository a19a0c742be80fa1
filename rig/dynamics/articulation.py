"""From an armature to an articulated body: rotating bones become joints, the bones that move with them become their
mass."""

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.dynamics import Body, mass
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..sampling import own_channels
from ..sampling.sampler import Sampler, Samples
from . import bone_attachment
from .masses import Masses


@dataclass(frozen=True)
class Articulation:
    """The bones of a rig as the joints of a body."""

    armature: bpy.types.Object
    bones: tuple[str, ...]
    """Names of the n joints, parents first."""
    base: str
    """Their common ancestor, "" for the object itself."""
    body: Body
    unit: float
    """Metres of a unit of the armature's space."""
    fixed: Array = field(repr=False)
    """(n, 4), the rotation between a joint's parent and its own channel."""
    assumed: Body | None = None
    """The body for which the joints apply their torques, None if it is `body`."""
    felt: Body | None = None
    """The body whose masses show in its motion, with as much of the loads as these count; None if it is `body`."""
    moving: frozenset[str] = frozenset()
    """The joints and the bones with mass that move with them."""
    posed: frozenset[str] = frozenset()
    """Joints that a constraint poses: their own channels do not turn them."""

    def poses(self, samples: Samples) -> Array:
        """Local rotations (F, n, 4) from the channels of `samples`, or from the pose where a constraint gives it."""
        own = [_own_rotation(self.armature, samples, name, self.posed) for name in self.bones]
        return rotation.multiply(self.fixed, np.stack(own, axis=1))

    def hangs_from(self, samples: Samples) -> Array:
        """Orientations (F, n, 4) in the armature's space of the frames to which the rotations of the joints are
        relative, as sampled."""
        rows = [samples.bones.index(name) for name in self.bones]
        return rotation.multiply(samples.rotations[:, rows], rotation.inverse(self.poses(samples)))

    def in_armature(self, local: Array, base: Array) -> Array:
        """Orientations (F, n, 4) in the armature's space from local rotations (F, n, 4). base: (F, n, 4), the frames
        from which joints without one above them hang."""
        orientations = np.empty_like(local)
        for n, parent in enumerate(np.asarray(self.body.parents).tolist()):
            above = base[:, n] if parent < 0 else orientations[:, parent]
            orientations[:, n] = rotation.multiply(above, local[:, n])
        return orientations

    def values(self, samples: Samples, rotations: Array) -> dict[str, tuple[str, Array, Array]]:
        """For each bone that its channels turn its rotation mode, the channel values (F, 3 or 4) of local `rotations`
        (F, n, 4), and those that it has in `samples`."""
        offsets = rotation.multiply(rotation.inverse(self.poses(samples)), rotations)
        offsets[rotation.angle(offsets) < _NOTHING] = rotation.IDENTITY
        values = {}
        for n, name in enumerate(self.bones):
            if name in self.posed:
                continue
            mode, raw = samples.channel(name)
            values[name] = mode, channels.turned(raw, mode, offsets[:, n]), raw
        return values

    def gravity(self, scene: bpy.types.Scene, samples: Samples) -> tuple[float, float, float]:
        """The scene's gravity [m/s²] in the axes of the base at the first frame; none if it is disabled."""
        if not scene.use_gravity:
            return (0.0, 0.0, 0.0)
        pull = np.array(scene.gravity) * scene.unit_settings.scale_length
        local = np.linalg.solve(samples.worlds[0, :3, :3], pull)
        local *= np.linalg.norm(pull) / max(float(np.linalg.norm(local)), 1e-300)
        x, y, z = rotation.rotate(rotation.inverse(_pose_of(samples, self.base)[0][0]), local)
        return float(x), float(y), float(z)

    def base_pose(self, samples: Samples) -> tuple[Array, Array]:
        """Rotations (F, 4) and positions (F, 3) of the base in the armature's space."""
        return _pose_of(samples, self.base)

    def base_motion(self, samples: Samples) -> tuple[Array, Array]:
        """Position (F, 3) [m] and orientation (F, 4) of the base relative to its pose at the first frame."""
        orientations, places = self.base_pose(samples)
        worlds = samples.worlds
        size = self.unit / np.cbrt(np.abs(np.linalg.det(worlds[0, :3, :3])))
        turned = rotation.multiply(rotation.from_matrix(worlds[:, :3, :3]), orientations)
        stands = size * ((worlds[:, :3, :3] @ places[..., None])[..., 0] + worlds[:, :3, 3])
        back = rotation.inverse(turned[0])
        return rotation.rotate(back, stands - stands[0]), rotation.multiply(back, turned)


_NOTHING = 1e-7
"""A rotation [rad] below which a bone keeps its raw values: the precision of Blender's numbers."""


def base_of(armature: bpy.types.Object, joints: Sequence[str]) -> str:
    """The nearest common ancestor of all joints that is not a joint; "" if there is none."""
    lines = []
    for name in joints:
        above = [bone.name for bone in armature.pose.bones[name].parent_recursive]
        if not any(bone in joints for bone in above):
            lines.append(above)
    return next((name for name in lines[0] if all(name in line for line in lines)), "")


def seen(
    armature: bpy.types.Object, joints: Sequence[str], heavy: Sequence[str], posed: Iterable[str] = ()
) -> tuple[str, ...]:
    """Bones that must be sampled to build the tree. posed: joints that a constraint poses."""
    base = base_of(armature, joints)
    above = [bone.name for bone in (armature.pose.bones[name].parent for name in posed) if bone is not None]
    return tuple(dict.fromkeys((*joints, *heavy, *((base,) if base else ()), *above)))


def building(
    armature: bpy.types.Object,
    sampler: Sampler,
    samples: Samples,
    joints: Sequence[str],
    masses: Masses,
    unit: float,
    lines: Mapping[str, Sequence[str]] | None = None,
    *,
    weight: float = 0.0,
    idle: Collection[str] = (),
    posed: Collection[str] = (),
) -> Generator[float, None, Articulation]:
    """The body of these joints in the pose of the rig at the first frame of `samples`; yields the completed fraction.
    Raises LookAtError.

    Bones that are not joints, such as helpers, are part of the rigid body of their joint. lines: the bones above each
    joint, the nearest first, where not the rotations that a rig passes on decide what hangs on what. weight: from 0 to
    1, how much the joints do not make up for loads. idle: joints that are left out if they move no mass. posed: joints
    that a constraint poses.
    """
    bones = (*joints, *(name for name in masses.bones if name not in joints))
    if bone_attachment.is_plain(armature, bones):
        moves = bone_attachment.by_parents(armature, joints, bones)
    else:
        moves = yield from bone_attachment.by_turning(sampler, armature, joints, bones, samples, posed)
    if lines is not None:
        moves[: len(joints)] = [[above == name or above in lines[name] for above in joints] for name in joints]
    heavy = {name for name, own in zip(masses.bones, masses.properties.mass, strict=True) if own > 0.0}
    kept = _with_mass(bones, moves, heavy, idle)
    moves = np.concatenate((moves[kept], moves[len(joints) :]))[:, kept]
    joints, rest = [joints[n] for n in kept], bones[len(joints) :]
    bones = (*joints, *rest)
    order = [int(n) for n in np.argsort(moves[: len(joints)].sum(axis=1), kind="stable")]
    turning = tuple(joints[n] for n in order)
    moves = np.concatenate((moves[order], moves[len(order) :]))[:, order]
    parents = bone_attachment.nearest(moves)[: len(turning)]
    # A bone with mass that is itself a joint belongs to itself.
    joint_of = {name: n for n, name in enumerate(turning)}
    for name, joint in zip(bones[len(turning) :], bone_attachment.nearest(moves)[len(turning) :], strict=True):
        joint_of[name] = int(joint)
    base = base_of(armature, turning)
    offsets, fixed = _stand(armature, samples, turning, parents, base, unit, posed)

    def body(properties: mass.MassProperties) -> Body:
        loads = _loads(samples, turning, masses.bones, properties, joint_of, unit)
        weights, centers, inertias = (np.array(column) for column in zip(*loads, strict=True))
        return Body(parents, offsets, weights, centers, inertias, names=turning)

    whole = body(masses.properties)
    others = [None if some is None else body(some) for some in (masses.assumed(weight), masses.assumed(1.0 - weight))]
    assumed, felt = (None if other is None or _is_same(whole, other) else other for other in others)
    moving = frozenset(name for name, joint in joint_of.items() if joint >= 0)
    return Articulation(armature, turning, base, whole, unit, fixed, assumed, felt, moving, frozenset(posed))


def _with_mass(bones: Sequence[str], moves: Array, heavy: Collection[str], idle: Collection[str]) -> list[int]:
    """The joints, the first of the bones, without those of `idle` that move nothing heavy. moves: (b, n)."""
    kept = list(range(moves.shape[1]))
    while True:
        order = sorted(kept, key=lambda n: moves[n, kept].sum())
        rest = [k for k in range(moves.shape[1], len(bones)) if bones[k] in heavy]
        owners = bone_attachment.nearest(moves[[*order, *rest]][:, order])[len(order) :]
        loaded = {order[n] for n in owners if n >= 0} | {n for n in kept if bones[n] in heavy}
        still_kept = [n for n in kept if n in loaded or bones[n] not in idle]
        if still_kept == kept:
            return kept
        kept = still_kept


def _pose_of(samples: Samples, bone: str) -> tuple[Array, Array]:
    """Rotations (F, 4) and positions (F, 3) of a bone, or of the object itself, in the armature's space."""
    if not bone:
        return rotation.identity(len(samples.frames)), np.zeros((len(samples.frames), 3))
    row = samples.bones.index(bone)
    return samples.rotations[:, row], samples.positions[:, row]


def _own_rotation(armature: bpy.types.Object, samples: Samples, bone: str, posed: Collection[str]) -> Array:
    """The rotation (F, 4) of a bone from its channels, or what these would be for its pose if it is in `posed`."""
    if bone not in posed:
        mode, raw = samples.channel(bone)
        return channels.to_quaternion(raw, mode)
    above = own_channels.parent_orientation(armature, samples, bone)
    return own_channels.own_rotation(armature, bone, above, samples.rotations[:, samples.bones.index(bone)])


def _stand(
    armature: bpy.types.Object,
    samples: Samples,
    joints: Sequence[str],
    parents: Array,
    base: str,
    unit: float,
    posed: Collection[str],
) -> tuple[Array, Array]:
    """Offsets (n, 3) [m] of the joints in the frame of their parents, and their rotations (n, 4) without their own
    channels."""
    offsets, fixed = np.empty((len(joints), 3)), np.empty((len(joints), 4))
    for n, name in enumerate(joints):
        orientations, place = (part[0] for part in _pose_of(samples, name))
        parent = base if parents[n] < 0 else joints[int(parents[n])]
        above, at = (part[0] for part in _pose_of(samples, parent))
        offsets[n] = unit * rotation.rotate(rotation.inverse(above), place - at)
        own = _own_rotation(armature, samples, name, posed)[0]
        fixed[n] = rotation.multiply(rotation.multiply(rotation.inverse(above), orientations), rotation.inverse(own))
    return offsets, fixed


def _is_same(body: Body, other: Body) -> bool:
    return np.array_equal(np.asarray(body.masses), np.asarray(other.masses))


def _loads(
    samples: Samples,
    joints: Sequence[str],
    bones: Sequence[str],
    properties: mass.MassProperties,
    joint_of: dict[str, int],
    unit: float,
) -> list[mass.MassProperties]:
    """The mass properties of each joint, in its own frame. Raises RigError if a joint has no mass."""
    pieces: list[list[mass.MassProperties]] = [[] for _ in joints]
    for n, name in enumerate(bones):
        own = mass.MassProperties(*(column[n] for column in properties))
        joint = joint_of.get(name, -1)
        if joint < 0 or not own.mass > 0.0:
            continue
        orientations, place = (part[0] for part in _pose_of(samples, name))
        frame, at = (part[0] for part in _pose_of(samples, joints[joint]))
        back = rotation.inverse(frame)
        turn, offset = rotation.multiply(back, orientations), unit * rotation.rotate(back, place - at)
        pieces[joint].append(mass.moved(own, turn, offset))
    for name, parts in zip(joints, pieces, strict=True):
        if not parts:
            raise RigError(
                "Bone '{bone}' moves no mass; set a mass, switch its limb to FK, or deselect the bone.", bone=name
            )
    return [mass.combined(*(np.array(column) for column in zip(*parts, strict=True))) for parts in pieces]
