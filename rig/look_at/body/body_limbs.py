"""The hips, legs, arms and shoulders of a rig for the body response to a look-at, and how they are tuned."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....lookat_pd.body.breathing import Breathing
from ....lookat_pd.body.recoil import Recoil
from ....lookat_pd.body.weight_shift import WeightShift
from ....lookat_pd.message import Message
from ....lookat_pd.skeleton import Skeleton
from ...detection import limbs
from ...detection.limbs import LegBones
from .body_rig import BodyRequest, BodyRig, anchor


def find_hips(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The bone that moves the hips, and the length of the legs below it."""
    hips = request.hips_control
    length = _leg_length(request.skeleton, request.legs, request.chain)
    return replace(body, hips_control=hips, leg_length=length)


def find_arms(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The arms that lag behind the rib cage. Inverse kinematics holds the hands of others in their places."""
    arms, notes = limbs.find_arms(request.armature), request.notes
    free = tuple(arm for arm in arms if not arm.held)
    if arms and not free and not request.settings.body.use_hand_recoil:
        notes.append(
            "IK holds the hands in their places, so the arms do not recoil; enable Hands on IK, switch them to FK in "
            "the rig, or disable Arm Recoil."
        )
    elif not arms:
        notes.append("No arm was found, so no arm recoils; disable Arm Recoil, or choose another rig.")
    return replace(body, arms=free)


def find_held_hands(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The arms whose hands inverse kinematics holds, where something moves these."""
    held, notes = tuple(arm for arm in limbs.find_arms(request.armature) if arm.held), request.notes
    if not all(arm.goal for arm in held):
        notes.append(
            "The location of what moves a hand on IK is locked or constrained, so that hand does not recoil; free it, "
            "or disable Hands on IK."
        )
    return replace(body, held=tuple(arm for arm in held if arm.goal))


def find_shoulders(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The collar bones, which rise and fall with the breath."""
    arms, notes = limbs.find_arms(request.armature), request.notes
    shoulders = tuple((arm.clavicle, arm.upper) for arm in arms if arm.clavicle)
    if not shoulders:
        notes.append(
            "No collar bone was found, so the shoulders do not rise with the breath; disable Breathing, or choose "
            "another rig."
        )
    return replace(body, shoulders=shoulders)


def find_feet(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The legs, and the bone that moves the hips, since these may have to go down for a leg that is too short.

    Nothing where nothing moves the feet, unless they were asked for.
    """
    armature, chain, notes = request.armature, request.chain, request.notes
    unknown = limbs.find_unplanted(armature, chain)
    dependent = any(anchor(armature, bone, chain) >= 0 for leg in request.legs for bone in (leg.upper, *leg.goals))
    if unknown:
        notes.append(
            Message(
                "Some feet cannot be planted, because the bones that move their legs are unknown; if the feet "
                "slide, remove '{bone}' and the bones after it from the chain.",
                bone=unknown[0],
            )
        )
    elif request.asks_for_feet and not request.legs:
        notes.append(
            "No leg with two bones and a foot was found, so the feet are not planted; disable "
            "Planted Feet, or choose another rig."
        )
    if not (dependent or body.hips_control or request.asks_for_feet):
        return body
    body = find_hips(request, body)
    legs = [leg for leg in request.legs if not {leg.upper, leg.lower, leg.foot} & set(chain)]
    missed = ((leg.goals[0], leg.shown) for leg in legs if leg.shown)
    return replace(
        body,
        legs=tuple(leg for leg in legs if not leg.held),
        reaching=tuple(legs),
        handles=tuple(dict.fromkeys(request.handled.values())),
        missed=tuple((goal, bone) for goal, bone in missed if anchor(armature, goal, chain) < 0),
    )


def tune_weight(request: BodyRequest, body: BodyRig) -> BodyRig:
    if not body.hips_control:
        return body
    settings, wants = request.settings, request.settings.body
    reach = 0.01 * wants.weight_shift * body.leg_length
    shift = WeightShift(
        reach * wants.weight_side,
        reach * wants.weight_back,
        settings.settle_time * wants.weight_settle_factor,
        pitch=reach * wants.weight_pitch,
    )
    return replace(body, shift=shift)


def tune_arms(request: BodyRequest, body: BodyRig) -> BodyRig:
    if not (body.arms or body.held):
        return body
    settings, wants = request.settings, request.settings.body
    recoil = Recoil(wants.arm_recoil, settings.settle_time * wants.arm_settle_factor, wants.arm_damping_ratio)
    return replace(body, recoil=recoil)


def tune_breathing(request: BodyRequest, body: BodyRig) -> BodyRig:
    wants, seed = request.settings.body, request.settings.eyes.seed
    return replace(body, breathing=Breathing(wants.breathing, wants.breathing_rate, seed, chest=wants.breathing_chest))


def _leg_length(skeleton: Skeleton, legs: Sequence[LegBones], chain: Sequence[str]) -> float:
    """The length of the legs; without legs, that of the chain."""
    lengths = []
    for leg in legs:
        hip, knee, ankle = (skeleton.heads[skeleton.index(bone)] for bone in (leg.upper, leg.lower, leg.foot))
        lengths.append(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
    if lengths:
        return float(np.mean(lengths))
    head, hips = skeleton.index(chain[0]), skeleton.index(chain[-1])
    return float(np.linalg.norm(skeleton.tails[head] - skeleton.heads[hips]))
