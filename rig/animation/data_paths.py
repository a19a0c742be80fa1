"""Data paths from an armature to its bones, their constraints and custom properties."""

import re
from dataclasses import dataclass

import bpy

_NAME = r'\["((?:[^"\\]|\\.)*)"\]'
_POSE_BONE = re.compile(rf"pose\.bones{_NAME}\.?")
_ANY_BONE = re.compile(rf"(?:^|\.)bones{_NAME}")
_CONSTRAINT = re.compile(rf"constraints{_NAME}\.")
_KEY = re.compile(rf"{_NAME}$")


def bone_path(bone: str) -> str:
    """Data path from the armature object to a pose bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'


def place(owner: bpy.types.Object, bone: str) -> bpy.types.Object | bpy.types.PoseBone:
    """A pose bone of an object, or the object itself where `bone` is ""."""
    return owner.pose.bones[bone] if bone else owner


@dataclass(frozen=True)
class Place:
    """An object, or one of its pose bones."""

    object: bpy.types.Object
    bone: str = ""
    """Name of the bone, "" for the object itself."""

    @property
    def item(self) -> bpy.types.Object | bpy.types.PoseBone:
        """What has the channels and settings."""
        return place(self.object, self.bone)


def constraint_path(bone: str, constraint: str) -> str:
    """Data path from the armature object to a constraint of a pose bone."""
    return f'{bone_path(bone)}.constraints["{bpy.utils.escape_identifier(constraint)}"]'


def split_bone(path: str) -> tuple[str, str]:
    """The pose bone at the begin of a data path, "" for none, and the path from there on."""
    match = _POSE_BONE.match(path)
    return (bpy.utils.unescape_identifier(match[1]), path[match.end() :]) if match else ("", path)


def any_bone(path: str) -> str:
    """The bone that a data path leads to or through, of the pose or of the armature's data; "" for none."""
    match = _ANY_BONE.search(path)
    return bpy.utils.unescape_identifier(match[1]) if match else ""


def split_constraint(path: str) -> tuple[str, str, str]:
    """Bone and constraint, and the path from there on; empty names where a data path leads to no constraint."""
    bone, rest = split_bone(path)
    match = _CONSTRAINT.match(rest)
    return (bone, bpy.utils.unescape_identifier(match[1]), rest[match.end() :]) if bone and match else ("", "", path)


def split_key(path: str) -> tuple[str, str]:
    """The path of the owner of a custom property, and its name; "" as the name where a data path leads to none."""
    match = _KEY.search(path)
    return (path[: match.start()], bpy.utils.unescape_identifier(match[1])) if match else (path, "")


def put(owner: bpy.types.ID, path: str, value: object) -> None:
    """Set the property or custom property that a data path leads to."""
    holder, key = split_key(path)
    if key:
        (owner.path_resolve(holder) if holder else owner)[key] = value
        return
    holder, _, name = path.rpartition(".")
    setattr(owner.path_resolve(holder) if holder else owner, name, value)
