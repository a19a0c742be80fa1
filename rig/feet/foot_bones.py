"""The feet and hands of a rig: the bones of each limb, what moves them, and the points that touch the ground."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.body import contacts
from ...lookat_pd.body.contacts import Detection, Interval
from ...lookat_pd.body.legs import Leg
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from ..detection import detect, limb_chains, limbs, rest, stance
from ..detection import vocabulary as words
from ..detection.anatomy import Anatomy
from ..detection.limbs import LegBones
from ..sampling.sampler import Samples

_RIGIFY_HELD = "_ik"
_FLAT = 0.02
"""Of the length of a leg: a foot whose ankle is not higher above its tip has no heel."""


@dataclass(frozen=True)
class Foot:
    """A leg whose foot can be kept on its place."""

    bones: tuple[str, str, str]
    """Upper, lower and foot bone as they are seen."""
    control: str
    """The bone that moves the foot of a leg that the rig's own inverse kinematics bends; "" where the bones themselves
    turn."""
    points: tuple[tuple[float, float, float], ...]
    """(P, 3) what touches the ground, the ball or tip first, in the frame of the foot bone."""
    hand: bool = False
    """Whether it is an arm and its hand, which supports the body only where it touches the ground of the feet."""

    def touch(self, samples: Samples) -> Array:
        """Places (F, P, 3) of the points in the world."""
        n = samples.bones.index(self.bones[2])
        local = samples.sizes[:, n, None, None] * np.array(self.points)
        here = samples.positions[:, n, None] + rotation.rotate(samples.rotations[:, n, None], local)
        return np.einsum("fij,fpj->fpi", samples.worlds[:, :3, :3], here) + samples.worlds[:, None, :3, 3]

    def length(self, samples: Samples) -> float:
        """Length of the leg in the world."""
        hip, knee, ankle = (samples.positions[0, samples.bones.index(name)] for name in self.bones)
        size = abs(np.linalg.det(samples.worlds[0, :3, :3])) ** (1.0 / 3.0)
        return float(size * (np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))) or 1.0


@dataclass(frozen=True)
class Footing:
    """The feet of an armature, hands last, and the control that lowers its hips; "" for none."""

    feet: tuple[Foot, ...]
    hips: str

    @property
    def turned(self) -> tuple[str, ...]:
        """The bones of legs that turn."""
        return tuple(bone for foot in self.feet if not foot.control for bone in foot.bones)

    @property
    def moved(self) -> tuple[str, ...]:
        """The controls that change their location."""
        return tuple(filter(None, (self.hips, *(foot.control for foot in self.feet))))

    def legs(self, samples: Samples) -> Leg:
        """The legs in armature space."""
        rows = [[samples.bones.index(name) for name in foot.bones] for foot in self.feet]
        joints, turns = (
            [values[:, [row[k] for row in rows]] for k in range(3)] for values in (samples.positions, samples.rotations)
        )
        return Leg(*joints, *turns)

    def part(self, rows: Sequence[int]) -> "Footing":
        """Only these feet."""
        return Footing(tuple(self.feet[n] for n in rows), self.hips)

    @property
    def sampled(self) -> tuple[str, ...]:
        """The bones that must be known."""
        return tuple(dict.fromkeys((*(bone for foot in self.feet for bone in foot.bones), *self.moved)))

    def contacts(
        self, samples: Samples, dt: float, frames: Detection | Sequence[Interval]
    ) -> list[list[list[Interval]]]:
        """The contacts of each point of each foot, as indices of the sampled frames.

        dt: [s] per frame. frames: how contacts are detected, or the first and last frame of those of all points. Hands
        touch the ground of the feet.
        """
        if not isinstance(frames, Detection):
            marked = [(a - int(samples.frames[0]), b - int(samples.frames[0])) for a, b in frames]
            return [[marked] * len(foot.points) for foot in self.feet]
        of_feet = []
        touched = [foot.touch(samples) for foot in self.feet]
        lowest = min(
            float(places[..., 2].min()) for foot, places in zip(self.feet, touched, strict=True) if not foot.hand
        )
        for foot, places in zip(self.feet, touched, strict=True):
            size, floor = foot.length(samples), lowest if foot.hand else None
            of_feet.append(
                [contacts.detect(places[:, point], dt, size, frames, floor) for point in range(places.shape[1])]
            )
        return of_feet


def find(armature: bpy.types.Object, *, hands: bool = False) -> Footing:
    """The feet of an armature, and its hands. Raises RigError if it has no feet."""
    legs = limbs.find_legs(armature)
    if not legs:
        raise RigError(
            "No leg with two bones and a foot was found on '{armature}'; disable Lock Feet, or choose another rig.",
            armature=armature.name,
        )
    skeleton, axes, arms = stance.skeleton(armature), stance.of(armature).axes, limbs.find_hands(armature)
    up, rig = np.array(axes.up), _Limbs(armature, skeleton, (*legs, *arms))
    feet = tuple(foot for leg in legs if (foot := _foot(rig, up, leg)) is not None)
    if not feet:
        raise RigError(
            "The inverse kinematics of '{armature}' holds its feet, but no bone that can be moved holds '{foot}' "
            "alone; switch the legs to FK, or mute the constraints.",
            armature=armature.name,
            foot=legs[0].foot,
        )
    hints = rest.hints(armature)
    head = limb_chains.head_of(Anatomy(skeleton, hints.deform, hints.vertical))
    above = skeleton.names[head] if head is not None else legs[0].upper
    handles = [foot.control for foot in feet if foot.control]
    hips = limbs.find_hips_control(armature, [above], handles) or ""
    if hands:
        feet += tuple(hand for arm in arms if (hand := _hand(rig, arm)))
    return Footing(feet, hips)


@dataclass(frozen=True)
class _Limbs:
    """An armature, its skeleton, and all limbs that may have feet."""

    armature: bpy.types.Object
    skeleton: Skeleton
    limbs: Sequence[LegBones]


def _foot(rig: _Limbs, up: Array, leg: LegBones) -> Foot | None:
    found = _moved_by(rig, leg)
    if found is None:
        return None
    bones, toe, control = found
    return Foot(bones, control, _points(rig.skeleton, up, bones, toe))


def _hand(rig: _Limbs, arm: LegBones) -> Foot | None:
    """A hand, which touches the ground with its knuckles or its wrist."""
    found = _moved_by(rig, arm)
    if found is None:
        return None
    bones, _, control = found
    row = rig.skeleton.index(bones[2])
    length = float(np.linalg.norm(rig.skeleton.tails[row] - rig.skeleton.heads[row]))
    return Foot(bones, control, ((0.0, length, 0.0), (0.0, 0.0, 0.0)), hand=True)


def _moved_by(rig: _Limbs, leg: LegBones) -> tuple[tuple[str, str, str], str, str] | None:
    """The bones of a limb as they are seen, its toe, and the control of its end; None if the armature lacks some."""
    bones, toe, control = (leg.upper, leg.lower, leg.foot), leg.toe, ""
    if leg.held and detect.is_rigify(rig.skeleton):
        bones = _in_layer(leg.upper), _in_layer(leg.lower), _in_layer(leg.foot)
        toe, control = _in_layer(toe), leg.foot.replace(words.RIGIFY_TURNED, _RIGIFY_HELD)
    elif leg.held:
        control = limbs.find_foot_control(rig.armature, leg, rig.limbs) or ""
    known = rig.armature.pose.bones
    if any(name not in known for name in bones) or (leg.held and control not in known):
        return None
    return bones, toe, control


def _in_layer(name: str) -> str:
    """The bone of the body that a control of a Rigify rig turns."""
    return words.RIGIFY_LAYER + name.replace(words.RIGIFY_TURNED, "") if name else ""


def _points(skeleton: Skeleton, up: Array, bones: Sequence[str], toe: str) -> tuple[tuple[float, float, float], ...]:
    foot = skeleton.index(bones[2])
    ankle = skeleton.heads[foot]
    ball = skeleton.heads[skeleton.index(toe)] if toe in skeleton.names else skeleton.tails[foot]
    joints = [skeleton.heads[skeleton.index(name)] for name in bones]
    length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(joints))
    height = float((ankle - ball) @ up)
    places = [ball]
    if height > _FLAT * length:
        places.append(ankle - height * up)
    back = rotation.inverse(skeleton.rotations[foot])
    return tuple(tuple(rotation.rotate(back, place - ankle).tolist()) for place in places)
