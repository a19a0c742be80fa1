"""The rest of the body that answers a look-at: which bones of a rig those are, and what is asked of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.body import Recoil, WeightShift
from ...lookat_pd.errors import RigError
from ...lookat_pd.eyes import Eyes
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from .. import offsets
from ..detection import detect, limbs, rest
from ..detection.limbs import Arm, Eye, Leg
from . import blink

LAYERS = {
    "weight": ("body", "use_weight_shift"),
    "arms": ("body", "use_arm_recoil"),
    "feet": ("body", "use_planted_feet"),
    "eyes": ("eyes", "use"),
    "blink": ("eyes", "use_blink"),
}
"""What may answer a look-at besides its chain, and the setting that switches it on."""
_COMFORTABLE = 2.0 / 3.0
"""The part of the ocular range in which eyes stay by choice; the rest is for what the head has not turned yet."""
_AT_EYE = 0.12
"""How far from the middle of its eye, as a part of the distance of the eyes, a lid may have its pivot."""


@dataclass(frozen=True)
class Body:
    """What answers the look-at of a chain, and how; nothing of it where a layer is switched off.

    mover: the bone that moves the hips and all above them, "" for none. lids, shapes: what closes the eyes, bones that
    turn or shape keys. legs and arms: without those that the rig's
    own inverse kinematics holds; reaching: all legs, held or not. turned, moved: bones that get offsets and ways,
    beyond the chain. sampled: bones to be sampled beyond the chain; anchors: for each the place in the chain of the
    bone that carries it, -1 for none. forward: the character's, in the rest frame of the mover; upright: its up in
    armature space. plain: forward kinematics predicts where all of these are carried. notes: what was not found.
    """

    mover: str = ""
    legs: tuple[Leg, ...] = ()
    reaching: tuple[Leg, ...] = ()
    arms: tuple[Arm, ...] = ()
    eyes: tuple[Eye, ...] = ()
    lids: tuple[str, ...] = ()
    shapes: tuple[blink.Lid, ...] = ()
    shift: WeightShift | None = None
    recoil: Recoil | None = None
    ocular: Eyes | None = None
    head_delay: float = 0.0
    blink_angle: float = 0.0
    drift: float = 0.0
    seed: int = 0
    turned: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    sampled: tuple[str, ...] = ()
    anchors: tuple[int, ...] = ()
    forward: tuple[float, float, float] = (0.0, -1.0, 0.0)
    upright: tuple[float, float, float] = (0.0, 0.0, 1.0)
    leg_length: float = 1.0
    plain: bool = True
    notes: tuple[str, ...] = ()


def switch_on(settings, layers: Iterable[str] = LAYERS) -> None:
    """Let layers of the body answer a look-at with these settings."""
    for layer in layers:
        group, switch = LAYERS[layer]
        setattr(getattr(settings, group), switch, True)


def is_wanted(settings) -> bool:
    """Whether anything but the chain of a look-at is asked to move."""
    # Only eyes that look blink.
    layers = (getattr(getattr(settings, group), switch) for group, switch in LAYERS.values() if switch != "use_blink")
    return any(layers) or settings.eyes.drift > 0.0


def left_to_others(settings, with_eyes: bool) -> dict[str, object]:
    """What a look-at's settings say of how the chain divides a turn with the eyes, as `gaze.Chain` has it."""
    eyes = settings.eyes
    reach = (eyes.yaw_limit, eyes.pitch_up_limit, eyes.pitch_down_limit)
    return {
        "eyes_take": 1.0 - eyes.head_share if with_eyes else 0.0,
        "eyes_reach": tuple(_COMFORTABLE * limit for limit in reach),
        "torso_from": settings.body.torso_from,
    }


def find(armature: bpy.types.Object, chain: Sequence[str], settings) -> Body | None:
    """The bones that a look-at's settings ask for; None where they ask for nothing. Raises RigError."""
    if not is_wanted(settings):
        return None
    skeleton = rest.skeleton(armature)
    wants = settings.body
    notes: list[str] = []
    mover, legs, arms, eyes = "", (), (), ()
    if wants.use_weight_shift or wants.use_planted_feet:
        mover = _mover(armature, chain, wants.mover, notes)
        legs = tuple(limbs.find_legs(armature))
        if wants.use_planted_feet and not legs:
            notes.append("No leg of two bones and a foot was found, so no feet are planted.")
    if wants.use_arm_recoil:
        arms = tuple(arm for arm in limbs.find_arms(armature) if not arm.held)
        if not arms:
            notes.append("No arm was found that hangs on the rib cage, so none recoils.")
    if settings.eyes.use:
        eyes = _eyes(armature, chain, settings.eyes, notes)
    lids, shapes = (), ()
    if eyes and settings.eyes.use_blink:
        lids, shapes = _lids(armature, chain, skeleton, eyes, settings.eyes.blink_key, notes)
    planted = tuple(leg for leg in legs if not leg.held) if wants.use_planted_feet else ()
    chosen = Body(
        mover=mover,
        legs=planted,
        reaching=legs if wants.use_planted_feet else (),
        arms=arms,
        eyes=eyes,
        lids=lids,
        shapes=shapes,
        leg_length=_leg_length(skeleton, legs, chain),
        notes=tuple(notes),
    )
    return _placed(chosen, armature, chain, skeleton)


def tuned(body: Body, armature: bpy.types.Object, chain: Sequence[str], settings, aim: tuple[Array, Array]) -> Body:
    """The same body with what the settings say of how it moves.

    aim: forward and up (3,) of the look-at in the frame of the chain's first bone.
    """
    wants, eyes = settings.body, settings.eyes
    shift = recoil = ocular = None
    if wants.use_weight_shift and body.mover:
        reach = 0.01 * wants.weight_shift * body.leg_length
        shift = WeightShift(
            reach * wants.weight_side, reach * wants.weight_back, settings.settle_time * wants.weight_settle_factor
        )
    if wants.use_arm_recoil and body.arms:
        recoil = Recoil(wants.arm_recoil, settings.settle_time * wants.arm_settle_factor, wants.arm_damping_ratio)
    if body.eyes:
        ocular = Eyes(
            forward=_eye_axes(armature, chain, body.eyes, aim),
            head_forward=aim[0],
            head_up=aim[1],
            yaw_limit=eyes.yaw_limit,
            pitch_up_limit=eyes.pitch_up_limit,
            pitch_down_limit=eyes.pitch_down_limit,
            vergence=eyes.vergence,
            vergence_limit=eyes.vergence_limit,
            blink_from=eyes.blink_from,
            micro=eyes.micro,
            seed=eyes.seed,
        )
    return replace(
        body,
        shift=shift,
        recoil=recoil,
        ocular=ocular,
        # As it was typed, not as single precision has it: 75 milliseconds end on a step of the solver.
        head_delay=round(eyes.head_delay, 6) if body.eyes else 0.0,
        blink_angle=eyes.blink_angle,
        drift=eyes.drift,
        seed=eyes.seed,
    )


def _mover(armature: bpy.types.Object, chain: Sequence[str], chosen: str, notes: list[str]) -> str:
    if chosen:
        if chosen not in armature.pose.bones:
            raise RigError(f"Armature '{armature.name}' has no bone '{chosen}' to move the hips by; choose another.")
        return chosen
    found = limbs.find_mover(armature, chain)
    if found is None:
        notes.append("No bone was found that moves the hips, so they stay; choose one under Body.")
    return found or ""


def _eyes(armature: bpy.types.Object, chain: Sequence[str], chosen, notes: list[str]) -> tuple[Eye, ...]:
    names = [name for name in (chosen.left, chosen.right) if name]
    for name in names:
        if name not in armature.pose.bones:
            raise RigError(f"Armature '{armature.name}' has no bone '{name}' for an eye; choose another.")
        if name in chain:
            raise RigError(f"Bone '{name}' cannot be an eye: it is in the chain of the look-at; choose another.")
    found = limbs.find_eyes(armature)
    if names:
        known = {eye.bone: eye for eye in found}
        found = [known.get(name, Eye(name)) for name in dict.fromkeys(names)]
    if not found:
        notes.append("No bone of an eye was found, so only the head looks; choose one under Eyes.")
    return tuple(found)


def _lids(
    armature: bpy.types.Object,
    chain: Sequence[str],
    skeleton: Skeleton,
    eyes: Sequence[Eye],
    chosen: str,
    notes: list[str],
) -> tuple[tuple[str, ...], tuple[blink.Lid, ...]]:
    """What closes the eyes: bones of lids, or else shape keys."""
    lids = () if chosen else _lid_bones(armature, chain, skeleton, eyes)
    shapes = () if lids else tuple(blink.find(armature, chosen))
    if not lids and not shapes:
        notes.append("No lid bone and no shape key was found that closes the eyes, so they stay open in a blink.")
    blink.note(shapes, notes)
    return lids, shapes


def _lid_bones(
    armature: bpy.types.Object, chain: Sequence[str], skeleton: Skeleton, eyes: Sequence[Eye]
) -> tuple[str, ...]:
    """Upper lids that turn about the middle of their eye, so that a turn closes it."""
    lids = limbs.find_lids(armature)
    if len(lids) != len(eyes) or any(lid in chain or not _is_plain(armature, lid, chain) for lid in lids):
        return ()
    middles = np.array([skeleton.heads[skeleton.index(eye.bone)] for eye in eyes])
    pivots = np.array([skeleton.heads[skeleton.index(lid)] for lid in lids])
    size = np.linalg.norm(np.ptp(middles, axis=0))
    return tuple(lids) if np.all(np.linalg.norm(pivots - middles, axis=1) < _AT_EYE * size) else ()


def _leg_length(skeleton: Skeleton, legs: Sequence[Leg], chain: Sequence[str]) -> float:
    """How long the legs are; of a body without any, as long as its chain."""
    lengths = []
    for leg in legs:
        hip, knee, ankle = (skeleton.heads[skeleton.index(bone)] for bone in (leg.upper, leg.lower, leg.foot))
        lengths.append(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
    if lengths:
        return float(np.mean(lengths))
    head, hips = skeleton.index(chain[0]), skeleton.index(chain[-1])
    return float(np.linalg.norm(skeleton.tails[head] - skeleton.heads[hips]))


def _placed(body: Body, armature: bpy.types.Object, chain: Sequence[str], skeleton: Skeleton) -> Body:
    """Which bones are sampled and get offsets, and what carries them."""
    turned: list[str] = []
    sampled: list[str] = [body.mover] if body.mover else []
    moved: list[str] = [body.mover] if body.mover else []
    for arm in body.arms:
        turned += [bone for bone in (arm.clavicle, arm.upper) if bone]
        sampled += [arm.hand]
    for leg in body.reaching:
        turned += [] if leg.held else [leg.upper, leg.lower, leg.foot]
        sampled += [leg.upper, leg.lower, leg.foot]
    for eye in body.eyes:
        sampled.append(eye.bone)
        (moved if eye.target else turned).append(eye.target or eye.bone)
        sampled += [eye.target] if eye.target else []
    turned += body.lids
    for bone in turned:
        if bone in chain:
            raise RigError(
                f"Bone '{bone}' is in the chain of the look-at and cannot be a limb or an eye too; take it out of "
                "the chain."
            )
    sampled = list(dict.fromkeys([*sampled, *turned]))
    forward, up = detect.find_axes(skeleton, rest.clues(armature))
    back = rotation.inverse(skeleton.rotations[skeleton.index(body.mover)]) if body.mover else rotation.IDENTITY
    return replace(
        body,
        turned=tuple(dict.fromkeys(turned)),
        moved=tuple(dict.fromkeys(moved)),
        sampled=tuple(sampled),
        anchors=tuple(_anchor(armature, bone, chain) for bone in sampled),
        forward=tuple(rotation.rotate(back, forward).tolist()),
        upright=tuple(up.tolist()),
        plain=all(_is_plain(armature, bone, chain) for bone in sampled if bone != body.mover),
    )


def _anchor(armature: bpy.types.Object, bone: str, chain: Sequence[str]) -> int:
    """Place in the chain of the bone that carries a bone; -1 for none."""
    line = armature.pose.bones[bone].parent_recursive
    return next((chain.index(parent.name) for parent in line if parent.name in chain), -1)


def _is_plain(armature: bpy.types.Object, bone: str, chain: Sequence[str]) -> bool:
    """Whether a bone is carried as a child is, with no constraint in between."""
    here = armature.pose.bones[bone]
    for link in (here, *here.parent_recursive):
        if link.name in chain:
            return True
        if any(not constraint.mute and not offsets.is_own(constraint) for constraint in link.constraints):
            return False
        if link.parent is not None and not link.bone.use_inherit_rotation:
            return False
    return True


def _eye_axes(armature: bpy.types.Object, chain: Sequence[str], eyes: Sequence[Eye], aim: tuple[Array, Array]) -> Array:
    """Where each eye looks (k, 3), in its own frame: at rest as the head does."""
    skeleton = rest.skeleton(armature)
    ahead = rotation.rotate(skeleton.rotations[skeleton.index(chain[0])], aim[0])
    return np.array(
        [rotation.rotate(rotation.inverse(skeleton.rotations[skeleton.index(eye.bone)]), ahead) for eye in eyes]
    )
