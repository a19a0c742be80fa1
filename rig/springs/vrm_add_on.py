"""What the VRM add-on has stored about the springs of an armature: joints, and colliders with their groups.

Colliders are empties there; each becomes one of our own beside it. Source: the property groups of
https://github.com/saturday06/VRM-Addon-for-Blender, as they are on the data of armatures.
"""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.message import Message
from ..layers.bone_chains import lines
from . import vrm_data, vrm_known
from .vrm_data import VrmChain, VrmCollider, VrmJoint, VrmSprings

_OTHER_VERSION = Message(
    "The colliders of the VRM add-on are left out, since this version of it stores them otherwise; update the add-on."
)
_ON_NO_BONE = Message(
    "The collider '{name}' of the VRM add-on is on no bone of '{armature}', so it is left out; parent it to a bone."
).template
_OLD = "0.0"
"""What the add-on calls VRM 0.x."""


def springs_of(armature: bpy.types.Object) -> VrmSprings | None:
    """The springs that the VRM add-on has for an armature, None where it has none or is not installed."""
    extension = getattr(armature.data, "vrm_addon_extension", None)
    if extension is None:
        return None
    # Of a character of VRM 0.x the add-on makes a copy for 1.0, without the last bones.
    order = (_Old, _New) if getattr(extension, "spec_version", "") == _OLD else (_New, _Old)
    try:
        found = (version(armature, extension).read() for version in order)
        return next((said for said in found if said is not None), None)
    except (AttributeError, TypeError, ValueError):
        # Another version of the add-on.
        return None


class _AddOn:
    """Springs of one version of VRM."""

    def __init__(self, armature: bpy.types.Object, extension: Any) -> None:
        self.armature, self.own = armature, self._part(extension)
        self.others: list[Message] = []
        self.groups: dict[str, str] = {}
        """Names of the groups of colliders by the identifiers of the add-on."""

    @staticmethod
    def _part(extension: Any) -> Any:
        raise NotImplementedError

    def _chains(self) -> Iterator[VrmChain]:
        raise NotImplementedError

    def _colliders(self) -> Iterator[VrmCollider]:
        raise NotImplementedError

    def read(self) -> VrmSprings | None:
        colliders: tuple[VrmCollider, ...] = ()
        try:
            names = vrm_data.unique([self._name(group) for group in self.own.collider_groups])
            self.groups = dict(zip([group.uuid for group in self.own.collider_groups], names, strict=True))
            colliders = tuple(self._colliders())
        except (AttributeError, TypeError, ValueError):
            self.others, self.groups = [_OTHER_VERSION], {}
        chains = tuple(chain for chain in self._chains() if chain.joints)
        others, groups = tuple(self.others), tuple(self.groups.values())
        return VrmSprings(chains, colliders, others=others, groups=groups) if chains else None

    @staticmethod
    def _name(group: Any) -> str:
        raise NotImplementedError

    def _groups_of(self, spring: Any) -> tuple[str, ...]:
        """The groups with which a spring collides."""
        if not self.groups:
            return ()
        known = (reference.collider_group_uuid for reference in spring.collider_groups)
        return tuple(self.groups[name] for name in known if name in self.groups)

    def _collider(
        self, bone: str, item: bpy.types.Object | None, shape: str, groups: tuple[str, ...]
    ) -> VrmCollider | None:
        """An empty of the add-on, None where it is gone or not on its bone."""
        on_bone = item is not None and item.parent == self.armature and item.parent_type == "BONE"
        if item is None:
            return None
        if not on_bone or item.parent_bone != bone or bone not in self.armature.data.bones:
            self.others.append(Message(_ON_NO_BONE, name=item.name, armature=self.armature.name))
            return None
        lifted = vrm_known.on_bone(self.armature, item)
        begin = lifted[:3, 3]
        end = begin
        if shape == "CAPSULE" and item.children:
            tail = item.children[0]
            end = (lifted @ np.array(tail.matrix_parent_inverse @ tail.matrix_basis))[:3, 3]
        if shape == "PLANE":
            end = begin + lifted[:3, 1] / max(float(np.linalg.norm(lifted[:3, 1])), 1e-9)
        radius = float(np.mean(np.abs(item.matrix_basis.to_scale()))) * item.empty_display_size
        radius = 0.0 if shape == "PLANE" else radius
        return VrmCollider(bone, shape, vrm_data.three(begin), vrm_data.three(end), radius, groups, item.name)


class _New(_AddOn):
    """Springs of VRM 1.0."""

    @staticmethod
    def _part(extension: Any) -> Any:
        return extension.spring_bone1

    @staticmethod
    def _name(group: Any) -> str:
        return group.vrm_name

    def _chains(self) -> Iterator[VrmChain]:
        for spring in self.own.springs:
            names = [joint.node.bone_name for joint in spring.joints]
            joints = tuple(
                VrmJoint(
                    joint.node.bone_name,
                    _distance(self.armature, joint.node.bone_name, following),
                    joint.stiffness,
                    joint.drag_force,
                    _times(joint.gravity_dir, joint.gravity_power),
                    joint.hit_radius,
                )
                for joint, following in zip(spring.joints, names[1:], strict=False)
            )
            yield VrmChain(joints, spring.center.bone_name, self._groups_of(spring))

    def _colliders(self) -> Iterator[VrmCollider]:
        for own in self.own.colliders:
            shape, is_inside = _shape_of(own)
            bone = own.node.bone_name
            if is_inside:
                self.others.append(vrm_data.inside(bone))
                continue
            every = (
                group for group in self.own.collider_groups if own.uuid in {c.collider_uuid for c in group.colliders}
            )
            found = self._collider(bone, own.bpy_object, shape, tuple(self.groups[group.uuid] for group in every))
            if found is not None:
                yield found


class _Old(_AddOn):
    """Springs of VRM 0.x."""

    @staticmethod
    def _part(extension: Any) -> Any:
        return extension.vrm0.secondary_animation

    @staticmethod
    def _name(group: Any) -> str:
        return group.node.bone_name

    def _chains(self) -> Iterator[VrmChain]:
        for group in self.own.bone_groups:
            values = (
                group.stiffiness,
                group.drag_force,
                _times(group.gravity_dir, group.gravity_power),
                group.hit_radius,
            )
            for root in group.bones:
                for line in _lines(self.armature, root.bone_name):
                    pairs = zip(line, [*line[1:], ""], strict=True)
                    joints = tuple(
                        VrmJoint(bone, _distance(self.armature, bone, other), *values) for bone, other in pairs
                    )
                    yield VrmChain(joints, group.center.bone_name, self._groups_of(group))

    def _colliders(self) -> Iterator[VrmCollider]:
        for group in self.own.collider_groups:
            for own in group.colliders:
                found = self._collider(group.node.bone_name, own.bpy_object, "SPHERE", (self.groups[group.uuid],))
                if found is not None:
                    yield found


def _shape_of(own: Any) -> tuple[str, bool]:
    """The shape of a collider of VRM 1.0, and whether it keeps springs inside."""
    extended = own.extensions.vrmc_spring_bone_extended_collider
    if not extended.enabled:
        return own.shape_type.upper(), False
    shape = extended.shape_type.removeprefix("extended").upper()
    return shape, shape != "PLANE" and getattr(extended.shape, shape.lower()).inside


def _lines(armature: bpy.types.Object, root: str) -> Iterator[list[str]]:
    if root not in armature.data.bones:
        yield [root]
        return
    for line in lines([armature.data.bones[root]], lambda bone: list(bone.children)):
        yield [bone.name for bone in line]


def _distance(armature: bpy.types.Object, bone: str, other: str) -> float:
    bones = armature.data.bones
    if bone not in bones or other not in bones:
        return vrm_data.LAST_LENGTH
    way = armature.matrix_world.to_3x3() @ (bones[other].head_local - bones[bone].head_local)
    return float(np.linalg.norm(way))


def _times(direction: Any, power: float) -> tuple[float, float, float]:
    x, y, z = (float(value) * power for value in direction)
    return x, y, z
