"""From bones to what the inverse kinematics solver needs: which joints turn, within which limits, where they are.

The bake, the drag and the contact clean-up all solve here, so that they cannot disagree.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from .. import channels, look_at, offsets
from ..sample import channel

METHODS = ik.METHODS
WHOLE = 0
"""A chain's length that reaches up to the root."""
_MECHANISM = ("MCH-", "ORG-", "DEF-")
_POSERS = ("IK", "SPLINE_IK")
_HARMLESS = ("LIMIT_ROTATION",)
_NEARLY_NOTHING = 1e-7
"""A turn [rad] below which a bone keeps its raw values: less than Blender's numbers can hold."""
_HUGE = 1e12
_IN_REACH = 0.999
"""Part of its length to which a chain counts as long enough: there it is all but straight."""
_AXES = "xyz"


@dataclass(frozen=True)
class Tuning:
    """How to solve. tolerance: part of the chain's length by which the effector may miss. smoothness: [s], over which
    the turns of a bake are evened out, 0 for not at all. orientation_weight: 0 to 1, where an orientation is wanted."""

    method: str = "ccd_root"
    iterations: int = 100
    tolerance: float = 1e-5
    smoothness: float = 0.0
    orientation_weight: float = 1.0


@dataclass(frozen=True)
class Chain:
    """Bones that turn so that a point of the last one, the effector, comes to a target.

    joints: names, the base first. effector: the bone whose tip or head is meant. hand: whether the effector, being no
    joint itself, is turned to keep or take an orientation. parent: what the base hangs on, "" for nothing. limits: of
    the joints, None where all are free; hand_limits likewise. plain: whether bones carry each other as parents do.
    """

    armature: bpy.types.Object
    joints: tuple[str, ...]
    effector: str
    at_tip: bool
    hand: bool
    parent: str
    limits: ik.Limits | None
    hand_limits: ik.Limits | None
    plain: bool
    rests: Array = field(repr=False)
    """(b, 4) of the bones that turn: rest rotation relative to what carries them."""

    @property
    def bones(self) -> tuple[str, ...]:
        """All that turn, the base first."""
        return (*self.joints, self.effector) if self.hand else self.joints

    @property
    def seen(self) -> tuple[str, ...]:
        """Bones that must be looked at, the effector first as complaints want it."""
        named = (self.effector, *reversed(self.joints), *((self.parent,) if self.parent else ()))
        return tuple(dict.fromkeys(named))


# Which bones


def resolve(
    armature: bpy.types.Object | None,
    effector: str,
    *,
    length: int = WHOLE,
    base: str = "",
    at_tip: bool = True,
    hand: bool = False,
    pinned: bool = False,
) -> Chain:
    """The chain that ends with `effector`. Raises LookAtError.

    length: how many bones turn at most, WHOLE for all; base: the first that turns, instead. at_tip: whether the
    effector's tip is brought to the target, or its head, and then the effector turns only where `hand` says so. pinned:
    the effector may be a pinned bone, which is to stay where it is.
    """
    armature = look_at.check_armature(armature)
    for name in (effector, *((base,) if base else ())):
        if name not in armature.pose.bones:
            raise RigError(f"Armature '{armature.name}' has no bone '{name}'; choose one that exists.")
    if armature.mode == "EDIT":
        raise RigError(f"Armature '{armature.name}' is in edit mode; leave it (Tab) and try again.")
    if armature.data.pose_position == "REST":
        raise RigError(f"Armature '{armature.name}' is shown in rest position; switch it to pose position.")
    joints = _joints(armature, effector, length, base, at_tip, pinned=pinned)
    hand = hand and not at_tip
    bones = armature.pose.bones
    turned = [*joints, effector] if hand else joints
    _check_free(armature, turned)
    first = bones[joints[0]]
    parent = first.parent.name if first.parent is not None and first.bone.use_inherit_rotation else ""
    rests = _rests(armature, turned, parent)
    limits = _limits(armature, joints, rests[: len(joints)])
    if limits is not None and limits.all_locked:
        raise RigError(
            f"All bones from '{joints[0]}' to '{joints[-1]}' are locked; unlock one of their axes (Bone > Inverse "
            "Kinematics)."
        )
    return Chain(
        armature,
        tuple(joints),
        effector,
        at_tip,
        hand,
        parent,
        limits,
        _limits(armature, [effector], rests[-1:]) if hand else None,
        _is_plain(armature, (*joints, effector)),
        rests,
    )


def _joints(
    armature: bpy.types.Object, effector: str, length: int, base: str, at_tip: bool, *, pinned: bool = False
) -> list[str]:
    """Names of the bones that turn, the base first. Raises RigError."""
    tip = armature.pose.bones[effector]
    if base and base != effector and armature.pose.bones[base] not in tip.parent_recursive:
        raise RigError(
            f"Bone '{effector}' is not below '{base}'; choose an effector that '{base}' carries, or another base."
        )
    for bone in (armature.pose.bones[base],) if base else (tip,) if at_tip else ():
        if is_mechanism(bone):
            raise RigError(f"Bone '{bone.name}' is no control of this Rigify rig; choose the control that moves it.")
    if tip.lookat_pd_ik_pin and not pinned:
        raise RigError(f"Bone '{effector}' is pinned; unpin it to move it.")
    found: list[str] = []
    for bone in (*((tip,) if at_tip else ()), *tip.parent_recursive):
        if bone.lookat_pd_ik_pin or (not base and length and len(found) == length):
            break
        if not is_mechanism(bone):
            found.append(bone.name)
        if bone.name == base:
            break
    if not found:
        raise RigError(f"Bone '{effector}' hangs on nothing that could turn; choose a bone further down.")
    if len(found) == 1:
        raise RigError(
            f"The chain of '{effector}' has only one bone, '{found[0]}'; make it longer, or choose a bone further down."
        )
    return found[::-1]


def is_mechanism(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone of a generated Rigify rig is not there to be turned by hand."""
    return bone.name.startswith(_MECHANISM) and "rig_id" in bone.id_data.data


def longest(armature: bpy.types.Object, effector: str, at_tip: bool) -> int:
    """How many bones the chain of `effector` may have at most."""
    try:
        return len(_joints(armature, effector, WHOLE, "", at_tip))
    except RigError:
        return 0


def _check_free(armature: bpy.types.Object, bones: Sequence[str]) -> None:
    """Raise RigError where another inverse kinematics poses one of the bones."""
    for owner in armature.pose.bones:
        for constraint in owner.constraints:
            if constraint.type not in _POSERS or constraint.mute or constraint.influence == 0.0:
                continue
            line = [owner.name, *(bone.name for bone in owner.parent_recursive)]
            count = constraint.chain_count or len(line)
            if constraint.type == "IK" and not constraint.use_tail:
                line = line[1:]
            taken = next((name for name in bones if name in line[:count]), None)
            if taken is not None:
                raise RigError(
                    f"Bone '{taken}' is posed by the constraint '{constraint.name}' on '{owner.name}' already; mute "
                    "that constraint, or choose other bones."
                )
    for name in bones[1:]:
        if not armature.data.bones[name].use_inherit_rotation:
            raise RigError(
                f"Bone '{name}' does not inherit its parent's rotation, so the chain does not carry it; switch on "
                "Inherit Rotation, or let the chain begin there."
            )


def _is_plain(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether the bones carry each other as parents do, with no constraint on the way."""
    bone = armature.pose.bones[bones[-1]]
    for here in (bone, *bone.parent_recursive):
        for constraint in here.constraints:
            limits = constraint.type in _HARMLESS and constraint.owner_space == "LOCAL"
            if not (constraint.mute or constraint.influence == 0.0 or limits or offsets.is_own(constraint)):
                return False
        if here.name == bones[0]:
            return True
    return False


# Limits


def _rests(armature: bpy.types.Object, bones: Sequence[str], parent: str) -> Array:
    matrices = np.array([armature.data.bones[name].matrix_local for name in ((parent,) if parent else ()) + (*bones,)])
    lies = rotation.from_matrix(matrices[:, :3, :3])
    above = lies[:-1] if parent else np.concatenate((rotation.identity(1), lies[:-1]))
    return rotation.multiply(rotation.inverse(above), lies[1:] if parent else lies)


def _limits(armature: bpy.types.Object, bones: Sequence[str], rests: Array) -> ik.Limits | None:
    """What Blender stores of how far bones may turn; None where all are free. Raises InvalidArgument."""
    n = len(bones)
    locks, stiffness = np.zeros((n, 3), dtype=bool), np.zeros((n, 3))
    ranges = {name: np.full((n, 3), np.inf if "maximum" in name else -np.inf) for name in _RANGES}
    orders = ["XYZ"] * n
    for k, name in enumerate(bones):
        bone = armature.pose.bones[name]
        for axis, letter in enumerate(_AXES):
            locks[k, axis] = getattr(bone, f"lock_ik_{letter}") or _is_locked(bone)
            stiffness[k, axis] = getattr(bone, f"ik_stiffness_{letter}")
            if getattr(bone, f"use_ik_limit_{letter}"):
                ranges["minimum"][k, axis] = getattr(bone, f"ik_min_{letter}")
                ranges["maximum"][k, axis] = getattr(bone, f"ik_max_{letter}")
        orders[k] = _add_constraints(bone, ranges["euler_minimum"][k], ranges["euler_maximum"][k])
    free = not (locks.any() or stiffness.any() or any(np.isfinite(values).any() for values in ranges.values()))
    if free:
        return None
    return ik.Limits(locks, stiffness=stiffness, rest=rests, euler_order=orders, names=list(bones), **ranges)


_RANGES = ("minimum", "maximum", "euler_minimum", "euler_maximum")


def _is_locked(bone: bpy.types.PoseBone) -> bool:
    """Whether the animator has locked a bone's rotation as a whole."""
    return all(bone.lock_rotation)


def _add_constraints(bone: bpy.types.PoseBone, low: Array, high: Array) -> str:
    """Narrow a bone's Euler ranges (3,) to what its Limit Rotation constraints allow; their order of axes."""
    order = bone.rotation_mode if bone.rotation_mode in rotation.EULER_ORDERS else "XYZ"
    for constraint in bone.constraints:
        if constraint.type not in _HARMLESS or constraint.mute or constraint.influence < 1.0:
            continue
        if constraint.owner_space != "LOCAL":
            # Blender itself keeps to it, which is seen when the result is verified.
            continue
        if constraint.euler_order != "AUTO":
            order = constraint.euler_order
        for axis, letter in enumerate(_AXES):
            if getattr(constraint, f"use_limit_{letter}"):
                low[axis] = max(low[axis], getattr(constraint, f"min_{letter}"))
                high[axis] = min(high[axis], getattr(constraint, f"max_{letter}"))
    return order


# Where they are


@dataclass(frozen=True)
class Seen:
    """A chain over F frames as Blender evaluates it, in armature space.

    parent: (F, 4). rotations: (F, n, 4) and positions: (F, n, 3) of the joints. end: (F, 3) the effector's point. hand:
    (F, 4) the effector's rotation. raw: (F, 3 or 4) channels of each bone that turns.
    """

    parent: Array
    rotations: Array
    positions: Array
    end: Array
    hand: Array
    raw: dict[str, tuple[str, Array]]

    @property
    def local(self) -> Array:
        """(F, n, 4), each joint relative to the one before, the base relative to its parent."""
        above = np.concatenate((self.parent[:, None], self.rotations[:, :-1]), axis=1)
        return rotation.multiply(rotation.inverse(above), self.rotations)

    @property
    def offsets(self) -> Array:
        """(F, n, 3), the next joint or the effector's point in each joint's frame."""
        after = np.concatenate((self.positions[:, 1:], self.end[:, None]), axis=1)
        return rotation.rotate(rotation.inverse(self.rotations), after - self.positions)

    @property
    def reach(self) -> Array:
        """(F,), lengths of all bones together."""
        return np.linalg.norm(self.offsets, axis=-1).sum(axis=-1)

    def take(self, chosen: Array) -> "Seen":
        """Some of the frames."""
        raw = {name: (mode, values[chosen]) for name, (mode, values) in self.raw.items()}
        parent, rotations, positions, end, hand = (
            part[chosen] for part in (self.parent, self.rotations, self.positions, self.end, self.hand)
        )
        return Seen(parent, rotations, positions, end, hand, raw)


def evaluated(chain: Chain, pose: "bpy.types.bpy_prop_collection") -> Seen:
    """The chain as these evaluated pose bones have it: one frame. Raises RigError."""
    matrices = {name: np.array(pose[name].matrix) for name in chain.seen}
    # From the root on: those that a bone carries suffer with it.
    for name in reversed(chain.seen):
        matrix = matrices[name]
        sizes = np.linalg.norm(matrix[:3, :3], axis=0)
        if not np.abs(matrix).max() < _HUGE:
            raise RigError(f"Bone '{name}' has a pose that is not a number; mend its F-curves or constraints.")
        if sizes.min() < 1e-9:
            raise RigError(f"Bone '{name}' has zero scale; give it a scale above zero.")
    lies = rotation.from_matrix(np.array([matrices[name][:3, :3] for name in chain.seen]))
    lies = dict(zip(chain.seen, lies, strict=True))
    end = pose[chain.effector].tail if chain.at_tip else pose[chain.effector].head
    return Seen(
        lies[chain.parent][None] if chain.parent else rotation.identity(1),
        np.array([lies[name] for name in chain.joints])[None],
        np.array([matrices[name][:3, 3] for name in chain.joints])[None],
        np.array(end, dtype=float)[None],
        lies[chain.effector][None],
        {name: raw_channel(chain.armature, name) for name in chain.bones},
    )


def raw_channel(armature: bpy.types.Object, bone: str) -> tuple[str, Array]:
    """A bone's rotation mode and its channel (1, 3 or 4) as it stands."""
    mode = armature.pose.bones[bone].rotation_mode
    return mode, np.array(getattr(armature.pose.bones[bone], channel(mode)[0]), dtype=float)[None]


# Solving


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a chain over F frames, in armature space. orientation: (F, 4) of the effector. pole: (F, 3)."""

    target: Array
    orientation: Array | None = None
    pole: Array | None = None

    def take(self, chosen: Array) -> "Wanted":
        """Some of the frames."""
        orientation, pole = (None if part is None else part[chosen] for part in (self.orientation, self.pole))
        return Wanted(self.target[chosen], orientation, pole)


def in_reach(seen: Seen, wanted: Wanted) -> Array:
    """(F,) whether the chain is long enough for its target, and not too long."""
    far = np.linalg.norm(wanted.target - seen.positions[:, 0], axis=-1)
    lengths = np.linalg.norm(seen.offsets, axis=-1)
    nearest = 2.0 * lengths.max(axis=-1) - lengths.sum(axis=-1)
    return (far <= _IN_REACH * lengths.sum(axis=-1)) & (far >= nearest)


@dataclass(frozen=True)
class Turns:
    """What was found: local offsets (F, b, 4) of the bones that turn, by how much the effector misses (F,), how many
    iterations it took (F,), and the errors (1 + iterations, F) after each where they were asked for."""

    offsets: Array
    error: Array
    iterations: Array
    history: Array | None = None


def solve(chain: Chain, seen: Seen, wanted: Wanted, tuning: Tuning, *, dt: float = 0.0, history: bool = False) -> Turns:
    """Turn the chain so that its effector comes to the target, every frame from the pose that it has."""
    start = seen.local
    found = _solve(chain, seen, wanted, tuning, start, history=history)
    if tuning.smoothness > 0.0 and dt > 0.0 and len(start) > 1:
        # The way that the turns take over time is evened out, and from there the target is found again, nearby.
        turns = rotation.align_hemisphere(rotation.multiply(rotation.inverse(start), found.rotations))
        evened = rotation.normalize(_evened(turns, tuning.smoothness / dt))
        found = _solve(chain, seen, wanted, tuning, rotation.multiply(start, evened), history=history)
    offsets = _in_channels(chain, seen, wanted, tuning, start, found.rotations)
    return Turns(offsets, found.error, found.iterations, found.history)


def _solve(
    chain: Chain, seen: Seen, wanted: Wanted, tuning: Tuning, start: Array, *, history: bool = False
) -> ik.Solution:
    base = np.concatenate((seen.positions[:, 0], seen.parent), axis=-1)
    lengths = seen.offsets
    scale = float(np.linalg.norm(lengths[0], axis=-1).sum()) or 1.0
    return ik.solve(
        lengths,
        start,
        wanted.target,
        method=tuning.method,
        iterations=tuning.iterations,
        tolerance=tuning.tolerance * scale,
        limits=chain.limits,
        base=base,
        orientation=wanted.orientation if chain.at_tip else None,
        orientation_weight=tuning.orientation_weight,
        pole=wanted.pole,
        history=history,
    )


def _evened(turns: Array, width: float) -> Array:
    """Means over time of (F, n, 4), weighted by a bell of that width in frames; ends count as going on."""
    half = int(np.ceil(1.5 * width))
    bell = np.exp(-0.5 * (np.arange(-half, half + 1) / max(0.5 * width, 1e-6)) ** 2)
    padded = np.concatenate((np.repeat(turns[:1], half, 0), turns, np.repeat(turns[-1:], half, 0)))
    result = np.zeros_like(turns)
    for k, weight in enumerate(bell / bell.sum()):
        result += weight * padded[k : k + len(turns)]
    return result


def _in_channels(chain: Chain, seen: Seen, wanted: Wanted, tuning: Tuning, start: Array, found: Array) -> Array:
    """Offsets (F, b, 4) of the bones' own channels."""
    turns = rotation.multiply(rotation.inverse(start), found)
    if chain.hand:
        turns = np.concatenate((turns, _hand_turn(chain, seen, wanted, tuning, found)[:, None]), axis=1)
    turns[rotation.angle(turns) < _NEARLY_NOTHING] = rotation.IDENTITY
    for n, name in enumerate(chain.bones):
        limits = chain.limits if n < len(chain.joints) else chain.hand_limits
        mode, raw = seen.raw[name]
        if limits is None or not np.isfinite(limits.euler_minimum).any() | np.isfinite(limits.euler_maximum).any():
            continue
        # Behind a Limit Rotation the channels may hold more than is seen.
        above = start[:, n] if n < len(chain.joints) else _hand_local(chain, seen)
        shown = rotation.multiply(rotation.inverse(chain.rests[n]), above)
        hidden = rotation.multiply(rotation.inverse(channels.to_quaternion(raw, mode)), shown)
        hidden[rotation.angle(hidden) < 1e-5] = rotation.IDENTITY
        turns[:, n] = rotation.multiply(hidden, turns[:, n])
    return turns


def _hand_local(chain: Chain, seen: Seen) -> Array:
    return rotation.multiply(rotation.inverse(seen.rotations[:, -1]), seen.hand)


def _hand_turn(chain: Chain, seen: Seen, wanted: Wanted, tuning: Tuning, found: Array) -> Array:
    """(F, 4), what the effector turns itself by: to the wanted orientation, as far as its limits let it."""
    above = seen.parent
    for n in range(found.shape[1]):
        above = rotation.multiply(above, found[:, n])
    local = _hand_local(chain, seen)
    goal = rotation.multiply(rotation.inverse(above), seen.hand if wanted.orientation is None else wanted.orientation)
    if tuning.orientation_weight < 1.0:
        goal = rotation.slerp(local, goal, np.full(len(goal), tuning.orientation_weight))
    if chain.hand_limits is not None:
        goal = chain.hand_limits.clamp(goal[:, None], local[:, None])[:, 0]
    return rotation.multiply(rotation.inverse(local), goal)
