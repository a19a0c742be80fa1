"""The bones of a rig for the body response to a look-at, and its parameters."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.body.breathing import Breathing
from ....lookat_pd.body.recoil import Recoil
from ....lookat_pd.body.weight_shift import WeightShift
from ....lookat_pd.errors import RigError
from ....lookat_pd.eyes import Eyes
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ....lookat_pd.skeleton import Skeleton
from ...detection import limbs, stance
from ...detection.limbs import ArmBones, EyeBone, LegBones, LidPoints
from ...sampling import plain_chain
from . import blink, shape_eyes, shape_table
from .shape_eyes import EyeControl, ShapeEye

_NO_EYE_BONE = Message("No eye bone was found, so only the head turns; choose one in the Eyes panel.")
_AT_EYE = 0.12
"""Largest distance of the pivot of a lid from the center of its eye, as a fraction of the distance of the eyes."""


@dataclass(frozen=True)
class BodyRig:
    """The bones of the body response to a look-at, and its parameters. Fields of disabled layers are empty."""

    hips_control: str = ""
    """The bone that moves the hips and everything above them, "" for none."""
    legs: tuple[LegBones, ...] = ()
    """Legs except those that the rig's own inverse kinematics holds."""
    reaching: tuple[LegBones, ...] = ()
    """All legs."""
    handles: tuple[str, ...] = ()
    """Bones that hold feet by it, which are put back where the chain moves them."""
    missed: tuple[tuple[str, str], ...] = ()
    """Goals of legs with the deforming bones that they miss, which are brought back by moving the goal."""
    arms: tuple[ArmBones, ...] = ()
    """Arms except those that the rig's own inverse kinematics holds."""
    held: tuple[ArmBones, ...] = ()
    """Arms that it holds, whose hands recoil by their goals."""
    shoulders: tuple[tuple[str, str], ...] = ()
    """Collar bones, each with the upper arm at its end."""
    eyes: tuple[EyeBone, ...] = ()
    lids: tuple[str, ...] = ()
    """Bones that close the eyes."""
    lid_points: tuple[LidPoints, ...] = ()
    """For each eye, bones that close the lids by their location."""
    closers: tuple[EyeControl, ...] = ()
    """Control bones that close the lids."""
    shapes: tuple[blink.Lid, ...] = ()
    """Shape keys that close the eyes."""
    looks: tuple[ShapeEye, ...] = ()
    """Eyes that shape keys or control bones turn."""
    shift: WeightShift | None = None
    recoil: Recoil | None = None
    breathing: Breathing | None = None
    ocular: Eyes | None = None
    head_delay: float = 0.0
    blink_angle: float = 0.0
    lid_follow: float = 0.0
    drift: float = 0.0
    seed: int = 0
    repeat: float = 0.0
    """Time [s] after which random motion repeats, 0 for never."""
    turned: tuple[str, ...] = ()
    """Bones beyond the chain that get offsets."""
    moved: tuple[str, ...] = ()
    """Bones beyond the chain that get displacements."""
    sampled: tuple[str, ...] = ()
    """Bones to sample beyond the chain."""
    anchors: tuple[int, ...] = ()
    """For each sampled bone the index in the chain of the bone that moves it, -1 for none."""
    forward: tuple[float, float, float] = (0.0, -1.0, 0.0)
    """Forward of the character in the rest frame of the hips control."""
    upright: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Up in armature space."""
    leg_length: float = 1.0
    plain: bool = True
    """Whether forward kinematics predicts where the chain moves all of these."""
    responses: tuple[Callable[..., None], ...] = ()
    """For each enabled layer, in order, the function that adds its response to a `response.BodyMotion`."""
    notes: tuple[str, ...] = ()
    """What was not found."""

    @property
    def lid_bones(self) -> tuple[str, ...]:
        """The bones that close the eyes, by rotation or location."""
        points = (bone for points in self.lid_points for bone in points.upper)
        return (*self.lids, *points, *dict.fromkeys(control.bone for control in self.closers))

    @property
    def all_shapes(self) -> tuple[blink.Lid, ...]:
        """The shape keys that close and that turn the eyes."""
        return tuple(dict.fromkeys((*self.shapes, *shape_eyes.lids(self.looks))))


def repeating(body: BodyRig, seconds: float) -> BodyRig:
    """The same with random motion that is the same again after a cycle of so many seconds."""
    ocular, breathing = (part and replace(part, repeat=seconds) for part in (body.ocular, body.breathing))
    return replace(body, repeat=seconds, ocular=ocular, breathing=breathing)


@dataclass
class BodyRequest:
    """What a look-at asks of its body."""

    armature: bpy.types.Object
    chain: Sequence[str]
    """Bones of the chain, head first."""
    settings: Any
    aim: tuple[Array, Array] | None = None
    """Forward and up (3,) in the frame of the aiming bone, known once the chain is."""
    axes: tuple[Array, Array] | None = None
    """Forward and up (3,) of the character in armature space."""
    notes: list[str] = field(default_factory=list)
    """What was not found."""

    @cached_property
    def skeleton(self) -> Skeleton:
        return stance.skeleton(self.armature)

    @cached_property
    def legs(self) -> tuple[LegBones, ...]:
        return tuple(limbs.find_legs(self.armature))

    @property
    def asks_for_feet(self) -> bool:
        """Whether planted feet were switched on, rather than being on from the start."""
        body = self.settings.body
        return body.use_planted_feet and body.is_property_set("use_planted_feet")

    @cached_property
    def handled(self) -> dict[str, str]:
        """Of what holds feet and goes where the chain goes: the bone that puts it back."""
        if not self.settings.body.use_planted_feet:
            return {}
        handles = {}
        for goal in dict.fromkeys(goal for leg in self.legs for goal in leg.goals):
            handle = limbs.find_handle(self.armature, goal, self.chain)
            if handle is not None:
                handles[goal] = handle
        return handles

    @cached_property
    def hips_control(self) -> str:
        """The bone that moves the hips; "" for none. Raises RigError if the chosen one does not exist."""
        chosen, notes = self.settings.body.mover, self.notes
        if chosen:
            if chosen not in self.armature.pose.bones:
                raise RigError(
                    "Armature '{armature}' has no bone '{bone}' for the hips; choose another bone.",
                    armature=self.armature.name,
                    bone=chosen,
                    code="bone-missing",
                )
            return chosen
        control = limbs.find_hips_control(self.armature, self.chain, list(self.handled))
        if control is None and (self.settings.body.use_weight_shift or self.asks_for_feet):
            notes.append("No hips bone was found, so the hips do not move; choose one in the Body panel.")
        return control or ""


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
    dependent = any(_anchor(armature, bone, chain) >= 0 for leg in request.legs for bone in (leg.upper, *leg.goals))
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
        missed=tuple((goal, bone) for goal, bone in missed if _anchor(armature, goal, chain) < 0),
    )


def find_eyes(request: BodyRequest, body: BodyRig) -> BodyRig:
    """Eye bones, or shape keys that turn the eyes: those of the table, or where there is no bone."""
    chosen, notes = request.settings.eyes, request.notes
    by_shapes = chosen.turned_by == "SHAPE_KEYS" or (chosen.turned_by == "AUTO" and shape_table.turns_eyes(chosen))
    eyes: tuple[EyeBone, ...] = () if by_shapes else _eyes(request.armature, request.chain, chosen, notes)
    if not by_shapes and chosen.turned_by == "AUTO" and not (chosen.left or chosen.right):
        driving = shape_eyes.driving_controls(request.armature, eyes)
        if driving:
            notes.append(
                Message(
                    "Drivers turn the eyes, probably by control bones such as '{bone}'; use Detect Eye Controls in "
                    "the Eyes panel.",
                    bone=driving[0],
                )
            )
    if eyes or chosen.turned_by == "BONES":
        return replace(body, eyes=eyes)
    looks, lacking = _looks(request)
    if looks:
        # They need no bone.
        notes[:] = [note for note in notes if note != _NO_EYE_BONE]
        blink.note(shape_eyes.lids(looks), notes)
        shape_eyes.note_unseen(request.armature, (c.bone for c in shape_eyes.controls(looks)), notes)
    elif lacking:
        notes += lacking
    elif by_shapes:
        notes.append("No shape keys that turn the eyes were found, so only the head turns; add them in the Eyes panel.")
    return replace(body, looks=looks)


def _looks(request: BodyRequest) -> tuple[tuple[ShapeEye, ...], list[str]]:
    """The eyes that shape keys turn."""
    assert request.axes is not None
    head = request.chain[0]
    back = rotation.inverse(request.skeleton.rotations[request.skeleton.index(head)])
    forward, up = (rotation.rotate(back, axis) for axis in request.axes)
    return shape_eyes.find(request.armature, request.skeleton, head, (forward, up), request.settings.eyes)


def find_lids(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The lids of a body with eyes."""
    if not (body.eyes or body.looks):
        return body
    chosen, notes = request.settings.eyes.blink_key, request.notes
    middles = _middles(request, body)
    shapes, closers = shape_eyes.closing(request.armature, request.settings.eyes)
    if shapes or closers:
        blink.note(shapes, notes)
        shape_eyes.note_unseen(request.armature, (control.bone for control in closers), notes)
        return replace(body, closers=closers, shapes=shapes)
    lids = () if chosen else _lid_bones(request.armature, request.chain, request.skeleton, middles)
    points = () if chosen or lids else _lid_points(request.armature, request.chain, middles)
    shapes = () if lids or points else tuple(blink.find(request.armature, chosen))
    if not (lids or points or shapes):
        notes.append(
            "No eyelid bone or shape key was found, so the eyes do not blink; choose a shape key in the Eyes panel."
        )
    blink.note(shapes, notes)
    return replace(body, lids=lids, lid_points=points, shapes=shapes)


def find_following_lids(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The same lids, also if they do not blink."""
    if not (body.eyes or body.looks):
        return body
    if not (body.lid_bones or body.shapes):
        quiet = replace(request, notes=[])
        body = find_lids(quiet, body)
        if body.lid_bones or body.shapes:
            request.notes += [note for note in quiet.notes if note not in request.notes]
        else:
            request.notes.append(
                "No eyelid bone or shape key was found, so the eyelids do not follow the eyes; choose a shape key in "
                "the Eyes panel."
            )
    return body


def _middles(request: BodyRequest, body: BodyRig) -> Array:
    """The centers (k, 3) of the eyes at rest, in armature space."""
    skeleton = request.skeleton
    if body.eyes:
        return np.array([skeleton.heads[skeleton.index(eye.bone)] for eye in body.eyes])
    head = skeleton.index(request.chain[0])
    centers = np.array([eye.center for eye in body.looks])
    return skeleton.heads[head] + rotation.rotate(skeleton.rotations[head], centers)


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


def tune_eyes(request: BodyRequest, body: BodyRig) -> BodyRig:
    if not (body.eyes or body.looks):
        return body
    eyes, aim = request.settings.eyes, request.aim
    assert aim is not None
    limits = eyes.yaw_limit, eyes.pitch_up_limit, eyes.pitch_down_limit
    if body.looks:
        limits = tuple(map(min, limits, shape_eyes.largest_turns(body.looks)))
    ocular = Eyes(
        forward=np.tile(aim[0], (len(body.looks), 1))
        if body.looks
        else _eye_axes(request.skeleton, request.chain, body.eyes, aim),
        head_forward=aim[0],
        head_up=aim[1],
        yaw_limit=limits[0],
        pitch_up_limit=limits[1],
        pitch_down_limit=limits[2],
        vergence=eyes.vergence,
        vergence_limit=eyes.vergence_limit,
        blink_from=eyes.blink_from,
        micro=eyes.micro,
        seed=eyes.seed,
    )
    # The typed value without the error of single precision: 75 milliseconds end at a step of the solver.
    return replace(body, ocular=ocular, head_delay=round(eyes.head_delay, 6))


def tune_lids(request: BodyRequest, body: BodyRig) -> BodyRig:
    return replace(body, blink_angle=request.settings.eyes.blink_angle)


def tune_following(request: BodyRequest, body: BodyRig) -> BodyRig:
    eyes = request.settings.eyes
    return replace(body, lid_follow=eyes.lid_follow, blink_angle=eyes.blink_angle)


def check_eye(armature: bpy.types.Object, bone: str) -> None:
    """Raise RigError if there is no such bone."""
    if bone not in armature.pose.bones:
        raise RigError(
            "Armature '{armature}' has no bone '{bone}' for an eye; choose another bone.",
            armature=armature.name,
            bone=bone,
            code="bone-missing",
        )


def _eyes(armature: bpy.types.Object, chain: Sequence[str], chosen, notes: list[str]) -> tuple[EyeBone, ...]:
    names = [name for name in (chosen.left, chosen.right) if name]
    for name in names:
        check_eye(armature, name)
        if name in chain:
            raise RigError(
                "Bone '{bone}' is in the chain of the look-at and cannot be an eye; choose another bone.", bone=name
            )
    eyes_of_rig = limbs.find_eyes(armature)
    if names:
        known = {eye.bone: eye for eye in eyes_of_rig}
        eyes_of_rig = [known.get(name, EyeBone(name)) for name in dict.fromkeys(names)]
    if not eyes_of_rig:
        notes.append(_NO_EYE_BONE)
    return tuple(eyes_of_rig)


def _lid_bones(armature: bpy.types.Object, chain: Sequence[str], skeleton: Skeleton, middles: Array) -> tuple[str, ...]:
    """Upper lids whose pivot is at the center of their eye, so that rotation closes them."""
    lids = limbs.find_lids(armature)
    if len(lids) != len(middles) or set(lids) & set(chain) or not _is_plain(armature, lids, chain):
        return ()
    pivots = np.array([skeleton.heads[skeleton.index(lid)] for lid in lids])
    size = np.linalg.norm(np.ptp(middles, axis=0))
    return tuple(lids) if np.all(np.linalg.norm(pivots - middles, axis=1) < _AT_EYE * size) else ()


def _lid_points(armature: bpy.types.Object, chain: Sequence[str], middles: Array) -> tuple[LidPoints, ...]:
    """The controls along the lids, if there are as many lids as eyes."""
    found = limbs.find_lid_points(armature)
    if len(found) != len(middles) or any(set(points.upper) & set(chain) for points in found):
        return ()
    return tuple(found)


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


def placed(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The body with the bones to sample and to offset, and their parents in the chain; the bones that layers have put
    into `turned`, `moved` or `sampled` follow."""
    armature, chain, skeleton = request.armature, request.chain, request.skeleton
    turned: list[str] = []
    sampled: list[str] = [body.hips_control] if body.hips_control else []
    moved: list[str] = [body.hips_control] if body.hips_control else []
    for arm in body.arms:
        turned += [bone for bone in (arm.clavicle, arm.upper) if bone]
        sampled += [arm.hand]
    for arm in body.held:
        turned.append(arm.goal)
        moved.append(arm.goal)
        sampled += [arm.goal, arm.upper, *filter(None, [arm.clavicle])]
    turned += [clavicle for clavicle, _ in body.shoulders]
    sampled += [upper for _, upper in body.shoulders]
    for leg in body.reaching:
        turned += [] if leg.held else [leg.upper, leg.lower, leg.foot]
        sampled += [leg.upper, leg.lower, leg.foot]
    turned += body.handles
    moved += body.handles
    for goal, bone in body.missed:
        moved.append(goal)
        sampled += [goal, bone]
    for eye in body.eyes:
        sampled.append(eye.bone)
        (moved if eye.target else turned).append(eye.target or eye.bone)
        sampled += [eye.target] if eye.target else []
    turned += [*body.lids, *body.turned]
    for points in body.lid_points:
        moved += points.upper
        sampled += [*points.upper, *points.lower]
    controls = list(dict.fromkeys(control.bone for control in (*shape_eyes.controls(body.looks), *body.closers)))
    moved += [*controls, *body.moved]
    sampled += controls
    for bone in (*turned, *controls):
        if bone in chain:
            raise RigError(
                "Bone '{bone}' is in the chain of the look-at and cannot also be a limb or an eye; "
                "remove it from the chain.",
                bone=bone,
            )
    sampled = list(dict.fromkeys([*sampled, *turned, *body.moved, *body.sampled]))
    assert request.axes is not None
    forward, up = request.axes
    back = (
        rotation.inverse(skeleton.rotations[skeleton.index(body.hips_control)])
        if body.hips_control
        else rotation.IDENTITY
    )
    return replace(
        body,
        turned=tuple(dict.fromkeys(turned)),
        moved=tuple(dict.fromkeys(moved)),
        sampled=tuple(sampled),
        anchors=tuple(_anchor(armature, bone, chain) for bone in sampled),
        forward=tuple(rotation.rotate(back, forward).tolist()),
        upright=tuple(up.tolist()),
        plain=_is_plain(armature, (bone for bone in sampled if bone != body.hips_control), chain),
    )


def _anchor(armature: bpy.types.Object, bone: str, chain: Sequence[str]) -> int:
    """Index in the chain of the ancestor of a bone; -1 for none."""
    line = armature.pose.bones[bone].parent_recursive
    return next((chain.index(parent.name) for parent in line if parent.name in chain), -1)


def _is_plain(armature: bpy.types.Object, bones: Iterable[str], chain: Sequence[str]) -> bool:
    """Whether bones move with their parents, without constraints in between."""
    between = [link for bone in bones for link in plain_chain.line(armature, bone, chain)]
    return plain_chain.is_plain(armature, between, inheriting=between)


def _eye_axes(skeleton: Skeleton, chain: Sequence[str], eyes: Sequence[EyeBone], aim: tuple[Array, Array]) -> Array:
    """The gaze axis of each eye (k, 3) in its own frame: at rest that of the head."""
    ahead = rotation.rotate(skeleton.rotations[skeleton.index(chain[0])], aim[0])
    return np.array(
        [rotation.rotate(rotation.inverse(skeleton.rotations[skeleton.index(eye.bone)]), ahead) for eye in eyes]
    )
