"""The human's own performance, keyed as an animator would: sparse Bezier keys on control bones, one action, one slot.

Every rotation below is written in the character's space, in degrees: pitch (+ looks down), yaw (+ to its left), roll
(+ leans to its left); every location in metres: x to its left, y backwards, z up. The tables become each bone's own
channels, quaternion or Euler, when they are keyed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import radians

import bpy
from mathutils import Euler, Matrix, Quaternion, Vector

from .performance import (
    ARM_POSES,
    ARM_STORY,
    FEET,
    FINGER_CURL,
    HAND_POSES,
    HAND_STORY,
    HEELS,
    LOCATIONS,
    ROTATIONS,
    STORY_SECONDS,
)

IK_PARENT_CHEST = 4  # Rigify's menu on the arm's gear bone: none, root, torso, hips, chest, head, shoulder


@dataclass(frozen=True)
class Clock:
    """Seconds of the story to whole frames; the story is fitted into the range, repeated if that is long."""

    first: int
    last: int
    fps: float

    def frames(self, seconds: float) -> list[int]:
        repeats = max(1, round((self.last - self.first) / (STORY_SECONDS * self.fps)))
        length = (self.last - self.first) / repeats
        return [round(self.first + length * (i + seconds / STORY_SECONDS)) for i in range(repeats)]


@dataclass(frozen=True)
class Performer:
    """Writes keys for `rig` into one channelbag."""

    rig: bpy.types.Object
    channelbag: bpy.types.ActionChannelbag
    clock: Clock

    def key(self, bone: str, channel: str, keys: Iterable[tuple[float, tuple[float, ...]]]) -> None:
        """One F-curve per component, keys as (seconds, value)."""
        timed = sorted({frame: value for seconds, value in keys for frame in self.clock.frames(seconds)}.items())
        path = self.rig.pose.bones[bone].path_from_id(channel)
        group = self.channelbag.groups.get(bone) or self.channelbag.groups.new(bone)
        for index in range(len(timed[0][1])):
            curve = self.channelbag.fcurves.new(path, index=index)
            curve.group = group
            fill(curve, [(frame, value[index]) for frame, value in timed])

    def rotate(self, bone: str, keys: Iterable[tuple[float, Quaternion]]) -> None:
        """Keys on the bone's own rotation channels, whichever mode it is in; the turns are basis rotations."""
        mode = self.rig.pose.bones[bone].rotation_mode
        values: list[tuple[float, tuple[float, ...]]] = []
        before: Quaternion | Euler | None = None
        for seconds, turn in sorted(keys, key=lambda key: key[0]):
            if mode == "QUATERNION":
                value = turn.copy()
                if before is not None:
                    value.make_compatible(before)
            else:
                value = turn.to_euler(mode, before) if before is not None else turn.to_euler(mode)
            values.append((seconds, tuple(value)))
            before = value
        self.key(bone, "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler", values)

    def rest(self, bone: str) -> Matrix:
        return self.rig.data.bones[bone].matrix_local

    def basis_turn(self, bone: str, turn: Quaternion) -> Quaternion:
        """A turn in the character's space as the bone's basis, its parent being at rest."""
        rest = self.rest(bone).to_quaternion()
        return rest.inverted() @ turn @ rest

    def basis_shift(self, bone: str, shift: Vector) -> Vector:
        """A shift in the character's space as the bone's location, its parent being at rest."""
        if not self.rig.data.bones[bone].use_local_location:
            return shift
        return self.rest(bone).to_quaternion().inverted() @ shift


def animate_body(rig: bpy.types.Object, first: int, last: int, fps: float) -> bpy.types.Action:
    """Give `rig` the action "Idle" over the frames first … last and return it.

    About ten seconds of standing, breathing, shifting weight, talking hands, a step forwards and one back. A much
    longer range repeats it. Raises ValueError if the range is empty.
    """
    if last <= first:
        raise ValueError(f"The performance needs at least two frames, got {first} to {last}")
    _set_limb_modes(rig)
    action, channelbag = new_action(rig, "Idle")
    performer = Performer(rig, channelbag, Clock(first, last, fps))
    for bone, keys in ROTATIONS.items():
        performer.rotate(bone, [(t, performer.basis_turn(bone, character_turn(*angles))) for t, *angles in keys])
    for bone, keys in LOCATIONS.items():
        performer.key(bone, "location", [(t, tuple(performer.basis_shift(bone, Vector(v)))) for t, *v in keys])
    _key_feet(performer)
    _key_right_arm(performer)
    _key_left_hand(performer)
    if "f_index.01_master.L" in rig.pose.bones:
        _key_fingers(performer)
    return action


def character_turn(pitch: float, yaw: float, roll: float) -> Quaternion:
    """Degrees to a rotation in the character's space (looks to -Y): roll first, then pitch, then yaw."""
    return Euler((radians(pitch), radians(roll), radians(yaw)), "YXZ").to_quaternion()


def new_action(item: bpy.types.Object, name: str) -> tuple[bpy.types.Action, bpy.types.ActionChannelbag]:
    """An action that the object plays, and what holds its F-curves."""
    action = bpy.data.actions.new(name)
    slot = action.slots.new(id_type="OBJECT", name=item.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    animation = item.animation_data or item.animation_data_create()
    animation.action = action
    animation.action_slot = slot  # assigning the action alone may leave this empty, and then nothing moves
    return action, strip.channelbag(slot, ensure=True)


def fill(curve: bpy.types.FCurve, keys: list[tuple[int, float]], handles: str = "AUTO_CLAMPED") -> None:
    """Give an F-curve without keys these: frame and value."""
    curve.keyframe_points.add(len(keys))
    for point, (frame, value) in zip(curve.keyframe_points, keys, strict=True):
        point.co = (frame, value)
        point.interpolation = "BEZIER"
        point.handle_left_type = point.handle_right_type = handles
    curve.update()


def _set_limb_modes(rig: bpy.types.Object) -> None:
    """Right arm FK, left arm IK that goes with the chest, legs IK: one of each that a rig meets in production."""
    bones = rig.pose.bones
    bones["upper_arm_parent.R"]["IK_FK"] = 1.0
    bones["upper_arm_parent.L"]["IK_FK"] = 0.0
    bones["upper_arm_parent.L"]["IK_parent"] = IK_PARENT_CHEST
    for side in "LR":
        bones[f"thigh_parent.{side}"]["IK_FK"] = 0.0
    rig.update_tag()


def _key_feet(performer: Performer) -> None:
    for bone, keys in FEET.items():
        performer.key(bone, "location", [(t, tuple(performer.basis_shift(bone, Vector(v)))) for t, *v, _p, _y in keys])
        performer.rotate(
            bone, [(t, performer.basis_turn(bone, character_turn(pitch, yaw, 0.0))) for t, *_v, pitch, yaw in keys]
        )
    for bone, keys in HEELS.items():
        performer.rotate(bone, [(t, Quaternion((1.0, 0.0, 0.0), radians(angle))) for t, angle in keys])


def _key_right_arm(performer: Performer) -> None:
    """FK: each pose says where upper arm, forearm and hand point; the shortest turn from rest takes them there."""
    bones = ["upper_arm_fk.R", "forearm_fk.R", "hand_fk.R"]
    tracks: dict[str, list[tuple[float, Quaternion]]] = {bone: [] for bone in bones}
    for seconds, pose in ARM_STORY:
        *directions, twist = ARM_POSES[pose]
        turned = Quaternion()
        for bone, direction in zip(bones, directions, strict=True):
            rest = performer.rest(bone)
            own = (turned @ rest.col[1].xyz).rotation_difference(Vector(direction)) @ turned
            if bone == "hand_fk.R":
                own = Quaternion(Vector(direction).normalized(), radians(twist)) @ own
            tracks[bone].append((seconds, performer.basis_turn(bone, turned.inverted() @ own)))
            turned = own
    for bone, keys in tracks.items():
        performer.rotate(bone, keys)


def _key_left_hand(performer: Performer) -> None:
    """IK: each pose says where the wrist is, where the fingers point and where the palm looks."""
    bone = "hand_ik.L"
    rest = performer.rest(bone)
    shifts: list[tuple[float, tuple[float, ...]]] = []
    turns: list[tuple[float, Quaternion]] = []
    for seconds, pose in HAND_STORY:
        wrist, fingers, palm = (Vector(v) for v in HAND_POSES[pose])
        along = fingers.normalized()
        inward = (palm - along * palm.dot(along)).normalized()
        turn = Matrix((inward, along, inward.cross(along))).transposed().to_quaternion()
        shifts.append((seconds, tuple(performer.basis_shift(bone, wrist - rest.translation))))
        turns.append((seconds, rest.to_quaternion().inverted() @ turn))
    performer.key(bone, "location", shifts)
    performer.rotate(bone, turns)


def _key_fingers(performer: Performer) -> None:
    """A relaxed curl that opens with the gestures; Rigify's finger masters bend the whole finger by their scale."""
    for side, story in FINGER_CURL.items():
        for finger, share in (("f_index", 0.7), ("f_middle", 0.85), ("f_ring", 1.0), ("f_pinky", 1.0)):
            bends = [(seconds, (1.0, 1.0 - share * curl, 1.0)) for seconds, curl in story]
            performer.key(f"{finger}.01_master.{side}", "scale", bends)
