"""The joints of arms, legs, fingers, tail and spine: which bones belong together, and how each of them turns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from ..animation.stored_settings import stored
from . import limbs, stance
from . import vocabulary as words
from .names import BoneName, read_names

_STRAIGHT = 0.1
"""Sine of the bend of the rest pose above which it decides about the axis of a hinge rather than the anatomy."""
_MOST_KEPT = 32


@dataclass(frozen=True)
class JointPart:
    """A kind of joint."""

    id: str
    label: str
    stiffness: float
    """0 to 0.99."""
    bend: tuple[float, float] | None = None
    """Bend [rad], range of a hinge; None for a ball joint."""


def _hinge(low: float, high: float) -> tuple[float, float]:
    return float(np.radians(low)), float(np.radians(high))


# Ranges of motion as in Boone and Azen, 1979, and Roaas and Andersson, 1982, rounded up.
PARTS: dict[str, JointPart] = {
    part.id: part
    for part in (
        JointPart("shoulder", "Shoulder", 0.0),
        JointPart("elbow", "Elbow", 0.0, _hinge(0.0, 150.0)),
        JointPart("wrist", "Wrist", 0.8),
        JointPart("hip", "Hip", 0.0),
        JointPart("knee", "Knee", 0.0, _hinge(0.0, 155.0)),
        JointPart("ankle", "Ankle", 0.6),
        JointPart("toe", "Toes", 0.8),
        JointPart("twist", "Twist", 0.95),
        JointPart("knuckle", "Knuckle", 0.3),
        JointPart("finger", "Finger", 0.0, _hinge(0.0, 110.0)),
        JointPart("collar", "Collarbone", 0.8),
        JointPart("neck", "Neck", 0.4),
        JointPart("spine", "Spine", 0.7),
        JointPart("tail", "Tail", 0.0),
        JointPart("other", "Other", 0.0),
    )
}


@dataclass(frozen=True)
class BodyJoint:
    """A joint as detected."""

    bone: str
    part: JointPart
    hinge: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """(3,), the axis of its bend in the bone's frame; zeros for a ball joint."""


def base_of(armature: bpy.types.Object, effector: str, line: Sequence[bpy.types.PoseBone]) -> str:
    """The first bone of the limb, finger, tail or spine that ends with `effector`; "" if none with two joints is known.

    That is the shoulder for a hand and what hangs on it, the hip for a foot, else the first of bones of the same part,
    else the bone after the last branch. line: the bones that may turn, the effector or its parent first.
    """
    body, names = _body(armature), [bone.name for bone in line]
    if not body.is_digit(effector):
        for limb in body.limbs:
            if limb[0] in names:
                return limb[0] if names.index(limb[0]) else ""
    kind, count = body.kind(effector), 0
    for bone in line:
        branches = bone.name != effector and len(bone.children) > 1
        if body.kind(bone.name) != kind or (not kind and (branches or body.is_root(bone.name))):
            break
        count += 1
    return names[count - 1] if count > 1 else ""


def joints(armature: bpy.types.Object, bones: Sequence[str]) -> list[BodyJoint]:
    """The joints of a chain, its base first: the detected ones, or the parts that the animator has set."""
    body, chain = _body(armature), []
    for name in bones:
        settings = custom(armature.pose.bones[name])
        chain.append(body.joint(name, "" if settings is None else settings.part.lower()))
    return chain


def detected(armature: bpy.types.Object, bone: str) -> BodyJoint:
    """A joint as detected."""
    return _body(armature).joint(bone)


def posture(armature: bpy.types.Object, bones: Sequence[str]) -> ik.Posture:
    """The posture of a chain, with what the animator has set for its bones. Raises LookAtError."""
    chain = joints(armature, bones)
    settings = [custom(armature.pose.bones[name]) for name in bones]
    bends = [joint.part.bend or (-np.pi, np.pi) for joint in chain]
    return ik.Posture(
        [joint.part.stiffness if s is None else s.stiffness for joint, s in zip(chain, settings, strict=True)],
        [joint.hinge for joint in chain],
        [bend[0] if s is None else s.minimum for bend, s in zip(bends, settings, strict=True)],
        [bend[1] if s is None else s.maximum for bend, s in zip(bends, settings, strict=True)],
    )


def custom(bone: bpy.types.PoseBone) -> bpy.types.PropertyGroup | None:
    """The settings of a joint that replace the detected ones; None if there are none."""
    settings = stored(bone, "lookat_pd_ik_joint")
    return settings if settings is not None and settings.use_custom else None


class _Body:
    """The parts of a skeleton. limbs: the bones of each arm and leg, the upper one first."""

    def __init__(self, armature: bpy.types.Object) -> None:
        self.skeleton: Skeleton = stance.skeleton(armature)
        self.named: dict[str, BoneName] = dict(zip(self.skeleton.names, read_names(self.skeleton.names), strict=True))
        self.forward, self.up = np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
        self.limbs: list[list[str]] = []
        self.parts: dict[str, str] = {}
        try:
            axes = stance.of(armature).axes
            self.forward, self.up = axes.forward, axes.up
            lines = limbs.limb_lines(armature)
        except LookAtError:
            lines = [], []
        for line in lines[0]:
            self._add(line, _arm_parts(self.skeleton, self.named, line))
        for line in lines[1]:
            front = any(self.named[name].has(words.ARM, words.FRONT) for name in line)
            parts = ("shoulder", "elbow", "wrist") if front else ("hip", "knee", "ankle")
            self._add(line, (*parts, *("toe",) * (len(line) - 3))[: len(line)])
        self.joints: dict[tuple[str, str], BodyJoint] = {}

    def _add(self, line: list[str], parts: Sequence[str]) -> None:
        self.limbs.append(line)
        self.parts |= dict(zip(line, parts, strict=True))

    def is_digit(self, name: str) -> bool:
        return name not in self.parts and self.named[name].has(words.DIGIT)

    def is_root(self, name: str) -> bool:
        return name == words.RIGIFY_HIPS or self.named[name].has(words.HIPS, words.ROOT)

    def kind(self, name: str) -> str:
        """What kind of run a bone belongs to; "" if none."""
        bone = self.named[name]
        if name in self.parts or self.is_root(name):
            return ""
        for kind, vocabulary in (("finger", words.DIGIT), ("tail", words.TAIL), ("spine", words.TORSO | words.HEAD)):
            if bone.has(vocabulary):
                return kind
        return ""

    def joint(self, name: str, part: str = "") -> BodyJoint:
        """A joint as detected, or as that part of the body."""
        part = part or self.parts.get(name) or self._part(name)
        if (name, part) not in self.joints:
            hinge = self._hinge(name, PARTS[part]) if PARTS[part].bend is not None else None
            known = PARTS["other"] if PARTS[part].bend is not None and hinge is None else PARTS[part]
            self.joints[name, part] = BodyJoint(name, known, hinge or (0.0, 0.0, 0.0))
        return self.joints[name, part]

    def _part(self, name: str) -> str:
        kind, parent = self.kind(name), self._parent(name)
        if kind == "finger":
            return "finger" if parent and self.kind(parent) == "finger" else "knuckle"
        if kind == "spine":
            return "neck" if self.named[name].has(words.NECK, words.HEAD) else "spine"
        if not kind and self.named[name].has(words.COLLAR):
            return "collar"
        if not kind and self.named[name].has(words.PALM):
            return "wrist"
        return kind or "other"

    def _parent(self, name: str) -> str:
        above = int(self.skeleton.parents[self.skeleton.index(name)])
        return self.skeleton.names[above] if above >= 0 else ""

    def _hinge(self, name: str, part: JointPart) -> tuple[float, float, float] | None:
        """The axis of a bend in the bone's frame: that of the stance, or of the anatomy if that is straight."""
        bone = self.skeleton.index(name)
        limb = next((limb for limb in self.limbs if name in limb), None)
        above = int(self.skeleton.parents[bone])
        start = self.skeleton.index(limb[0]) if limb else above
        if above < 0 or start == bone:
            return None
        after = limb[limb.index(name) + 1 :] if limb else []
        end = self.skeleton.heads[self.skeleton.index(after[0])] if after else self.skeleton.tails[bone]
        before, own = self.skeleton.heads[bone] - self.skeleton.heads[start], end - self.skeleton.heads[bone]
        lengths = np.linalg.norm(before), np.linalg.norm(own)
        if min(lengths) < 1e-9:
            return None
        before, own = before / lengths[0], own / lengths[1]
        towards = {"knee": -self.forward, "elbow": self.forward}.get(part.id, -self.up)
        side = rotation.cross(before, towards)
        size = float(np.linalg.norm(side))
        axis = rotation.cross(before, own) + (_STRAIGHT * side / size if size > 1e-3 else 0.0)
        size = float(np.linalg.norm(axis))
        if size < 1e-6:
            return None
        x, y, z = rotation.rotate(rotation.inverse(self.skeleton.rotations[bone]), axis / size).tolist()
        return x, y, z


def _arm_parts(skeleton: Skeleton, named: dict[str, BoneName], line: Sequence[str]) -> list[str]:
    """The parts of an arm's bones from the upper arm on. The elbow is the joint that divides the arm most evenly."""
    heads = [skeleton.heads[skeleton.index(name)] for name in line]
    last = len(line) - 1 if len(line) > 2 or named[line[-1]].has(words.PALM) else len(line)
    parts = ["shoulder", *("twist",) * (last - 1), *("wrist",) * (len(line) - last)]
    end: Array = heads[last] if last < len(line) else skeleton.tails[skeleton.index(line[-1])]
    if last > 1:

        def shorter(n: int) -> float:
            return float(min(np.linalg.norm(heads[n] - heads[0]), np.linalg.norm(end - heads[n])))

        parts[max(range(1, last), key=shorter)] = "elbow"
    return parts


def _body(armature: bpy.types.Object) -> _Body:
    """The parts of an armature, kept by its rest pose."""
    key = tuple(_content(armature))
    if key not in _kept:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[key] = _Body(armature)
    return _kept[key]


def _content(armature: bpy.types.Object) -> Iterator[object]:
    bones = armature.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    action = armature.animation_data.action if armature.animation_data else None
    yield tuple(bones.keys())
    yield matrices.tobytes()
    yield "" if action is None else action.name
    yield tuple(map(tuple, armature.matrix_world))


_kept: dict[tuple[object, ...], _Body] = {}
"""May be thrown away at any time."""
