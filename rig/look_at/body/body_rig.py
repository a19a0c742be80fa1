"""The bones of a rig for the body response to a look-at, and its parameters."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import bpy

from ....lookat_pd import rotation
from ....lookat_pd.body.breathing import Breathing
from ....lookat_pd.body.recoil import Recoil
from ....lookat_pd.body.weight_shift import WeightShift
from ....lookat_pd.errors import RigError
from ....lookat_pd.eyes import Eyes
from ....lookat_pd.rotation import Array
from ....lookat_pd.skeleton import Skeleton
from ...detection import limbs, stance
from ...detection.limbs import ArmBones, EyeBone, LegBones, LidPoints
from ...sampling import plain_chain
from . import blink, shape_eyes
from .shape_eyes import EyeControl, ShapeEye


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
        anchors=tuple(anchor(armature, bone, chain) for bone in sampled),
        forward=tuple(rotation.rotate(back, forward).tolist()),
        upright=tuple(up.tolist()),
        plain=is_plain(armature, (bone for bone in sampled if bone != body.hips_control), chain),
    )


def anchor(armature: bpy.types.Object, bone: str, chain: Sequence[str]) -> int:
    """Index in the chain of the ancestor of a bone; -1 for none."""
    line = armature.pose.bones[bone].parent_recursive
    return next((chain.index(parent.name) for parent in line if parent.name in chain), -1)


def is_plain(armature: bpy.types.Object, bones: Iterable[str], chain: Sequence[str]) -> bool:
    """Whether bones move with their parents, without constraints in between."""
    between = [link for bone in bones for link in plain_chain.line(armature, bone, chain)]
    return plain_chain.is_plain(armature, between, inheriting=between)
