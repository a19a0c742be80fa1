"""A face on which controls are moved, each alone: how far they turn and close the eyes, by eye bones or shape keys."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.eyes import shape_gaze
from ....lookat_pd.progress import drain
from ....lookat_pd.rotation import Array
from ...controls import coupling
from ...detection import eye_shapes, limbs, shape_keys, stance
from ...detection import vocabulary as words
from ...detection.names import read_names
from ...sampling import suspend
from ...sampling.sampler import Sampler
from .. import facing
from . import blink, shape_eyes

_TURNS, _FAR = np.radians(3.0), np.radians(45.0)
"""An eye turns from the first angle on; to the second one the control is moved where nothing limits it."""
_CLOSED = np.radians(30.0)
"""Angle of a lid that closes the eye, and of a shape key at value 1."""
_DOUBLINGS, _HALVINGS = 17, 8
_SHORTEST = 2.0**-8
"""The first step, of the length of a control."""
_SATURATED, _SAME = 1.02, 0.999
_SHARED = 0.5
_TINY = 1e-9
Distances = Mapping[tuple[str, int], float]
"""How far controls are moved, by bone and axis."""


@dataclass(frozen=True)
class Move:
    """A control at a distance along an axis, and what it does to the eyes of these sides."""

    bone: str
    axis: int
    distance: float
    angles: dict[str, Any]
    """Yaw and pitch (2,) [rad] by side, or how far the lid is closed [rad]."""


class Stage:
    """A rig evaluated with its controls at chosen places, as a context manager."""

    def __init__(self, scene: bpy.types.Scene, armature: bpy.types.Object, head: str, controls: Sequence[str]) -> None:
        self.armature, self.head = armature, head
        self.bones = [armature.pose.bones[name] for name in controls]
        self._frame = scene.frame_current_final
        self._sampler = Sampler(scene, armature, [head], cut_down={})
        self._open = ExitStack()

    def __enter__(self) -> "Stage":
        try:
            self._open.enter_context(suspend.suspend_live())
            self._open.enter_context(self._sampler)
            reader = bpy.data.objects.new("Look-at PD Keys", None)
            self._open.callback(bpy.data.objects.remove, reader)
            self._sampler.scene.collection.objects.link(reader)
            # What reads the shape keys has their drivers evaluated, without any mesh.
            for keys in self._shape_keys:
                variable = reader.driver_add("delta_scale", 0).driver.variables.new()
                variable.targets[0].id_type, variable.targets[0].id = "KEY", keys
                variable.targets[0].data_path = f"{keys.key_blocks[0].path_from_id()}.value"
            whole = int(np.floor(self._frame))
            self._sampler.scene.frame_set(whole, subframe=self._frame - whole)
            for bone in self.bones:
                self._open.callback(setattr, bone, "location", bone.location.copy())
            (self._rest,) = self.probed([{}])
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self.armature.update_tag(refresh={"OBJECT"})

    # What there is

    @cached_property
    def _skeleton(self):
        return stance.skeleton(self.armature)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Forward and up (3,) in the frame of the head."""
        skeleton = self._skeleton
        back = rotation.inverse(skeleton.rotations[skeleton.index(self.head)])
        forward, up = facing.character(self.armature, self.head, skeleton)
        return rotation.rotate(back, forward), rotation.rotate(back, up)

    @cached_property
    def _eyes(self) -> dict[str, str]:
        """The eye bones, by side."""
        found = [eye.bone for eye in limbs.find_eyes(self.armature)]
        return dict(zip(shape_eyes.SIDES, found, strict=True)) if len(found) == len(shape_eyes.SIDES) else {}

    @cached_property
    def _centers(self) -> dict[str, Array]:
        """The centers (3,) of the eye bones at rest, in the frame of the head."""
        return shape_eyes.eye_bones(self.armature, self._skeleton, self.head)

    @cached_property
    def _shape_keys(self) -> list[bpy.types.Key]:
        """Shape keys with drivers."""
        found = (keys for _, keys in shape_eyes.meshes(self.armature))
        return [keys for keys in found if keys.animation_data is not None and len(keys.animation_data.drivers)]

    @cached_property
    def _shifts(self) -> dict[str, list[tuple[bpy.types.Key, str, Array]]]:
        """By side the shape keys with drivers that turn the eye, and how they shift its pupil (3,)."""
        shifts: dict[str, list[tuple[bpy.types.Key, str, Array]]] = {side: [] for side in shape_eyes.SIDES}
        for item, keys in shape_eyes.meshes(self.armature):
            if keys not in self._shape_keys:
                continue
            frame = shape_eyes.to_head(self.armature, self._skeleton, self.head, item)
            for (side, where), name in eye_shapes.looking(keys.key_blocks.keys()[1:]).items():
                for own in (side,) if side else shape_eyes.SIDES:
                    lid = blink.Lid(keys, name)
                    turn = shape_eyes.key_turn(lid, item, frame, self.axes, own, where, shared=not side)
                    shifts[own].append((keys, name, shape_gaze.shift(self.axes[0], *turn)))
        return shifts

    @cached_property
    def _closing_keys(self) -> dict[str, list[tuple[bpy.types.Key, str]]]:
        """By side the shape keys with drivers that close the eye."""
        found: dict[str, list[tuple[bpy.types.Key, str]]] = {side: [] for side in shape_eyes.SIDES}
        for keys in self._shape_keys:
            names = shape_keys.closing(keys.key_blocks.keys()[1:])
            for sides, name in zip([tuple(found)] if len(names) == 1 else [("L",), ("R",)], names, strict=False):
                for side in sides:
                    found[side].append((keys, name))
        return found

    @cached_property
    def _lids(self) -> dict[str, list[str]]:
        """By side the bones of the upper lid."""
        names = self.armature.data.bones.keys()
        beside = words.CONTROL | words.HELPER | words.LEAF
        found: dict[str, list[str]] = {side: [] for side in shape_eyes.SIDES}
        for bone, name in zip(names, read_names(names), strict=True):
            if name.side and name.has(words.LID) and not name.has(words.LOWER_LID) and not name.has(beside):
                found[name.side].append(bone)
        return found

    # What is seen

    def _pose(self) -> dict[Any, Any]:
        """What the rig shows now, in the frame of the head: matrices of eyes and lids, values of shape keys."""
        layer = self._sampler.scene.view_layers[0]
        layer.update()
        depsgraph = layer.depsgraph
        pose = self.armature.evaluated_get(depsgraph).pose.bones
        back = np.linalg.inv(np.array(pose[self.head].matrix))
        named = [*self._eyes.values(), *(bone for lids in self._lids.values() for bone in lids)]
        shown: dict[Any, Any] = {bone: back @ np.array(pose[bone].matrix) for bone in named}
        for keys in self._shape_keys:
            blocks = keys.evaluated_get(depsgraph).key_blocks
            shown |= {(keys, block.name): block.value for block in blocks}
        return shown

    def gaze(self, now: dict[Any, Any]) -> dict[str, Array]:
        """Unit gaze directions (3,) by side."""
        ahead, directions = self.axes[0], {}
        for side in shape_eyes.SIDES:
            eye = self._eyes.get(side)
            if eye is not None and not np.allclose(now[eye][:3, :3], self._rest[eye][:3, :3], atol=1e-6):
                directions[side] = rotation.normalize(now[eye][:3, :3] @ np.linalg.inv(self._rest[eye][:3, :3]) @ ahead)
                continue
            moved = [(now[keys, name] - self._rest[keys, name]) * shift for keys, name, shift in self._shifts[side]]
            directions[side] = rotation.normalize(ahead + np.sum(moved, axis=0)) if moved else ahead
        return directions

    def _turn(self, now: dict[Any, Any]) -> dict[str, Array]:
        """Yaw to the left and pitch up (2,) [rad] by side, of eyes that turn."""
        forward, up = self.axes
        left = rotation.cross(up, forward)
        found = {}
        for side, seen in self.gaze(now).items():
            yaw, pitch = np.arctan2(seen @ left, seen @ forward), np.arcsin(np.clip(seen @ up, -1.0, 1.0))
            found[side] = np.array((yaw, pitch))
        return found

    def _closing(self, now: dict[Any, Any]) -> dict[str, float]:
        """How far the lids are closed [rad], by side."""
        found = {}
        for side in shape_eyes.SIDES:
            by_keys = [now[key] - self._rest[key] for key in self._closing_keys[side]]
            by_bones = [self._lowered(side, bone, now) for bone in self._lids[side]]
            found[side] = max((*(_CLOSED * value for value in by_keys), *by_bones), default=0.0)
        return found

    def _lowered(self, side: str, bone: str, now: dict[Any, Any]) -> float:
        """Angle [rad] about the center of the eye by which a bone of a lid goes down; negative up."""
        length = self.armature.data.bones[bone].length
        center = self._centers.get(side, self._rest[bone][:3, 3])
        angles = [0.0]
        for place in ((0.0, 0.0, 0.0, 1.0), (0.0, length, 0.0, 1.0)):
            before, after = ((matrix @ place)[:3] - center for matrix in (self._rest[bone], now[bone]))
            if np.linalg.norm(before) > _TINY + 0.01 * length:
                angle = float(rotation.angle_between(before, after))
                angles.append(-angle if (after - before) @ self.axes[1] > 0.0 else angle)
        return max(angles, key=abs)

    # Moving the controls

    def probed(self, poses: Sequence[Distances]) -> list[dict[Any, Any]]:
        """What the rig shows in each of these poses of the controls."""

        def evaluate(_: int) -> Generator[float, None, dict[Any, Any]]:
            yield 1.0
            return self._pose()

        return [seen for _, _, seen in drain(coupling.probing(poses, 1, self._place, evaluate))]

    def _place(self, poses: Sequence[Distances]) -> None:
        for bone in self.bones:
            bone.location = (0.0, 0.0, 0.0)
        for (name, axis), distance in poses[0].items():
            self.armature.pose.bones[name].location[axis] = distance

    def turns(self, bone: str) -> Iterator[Move]:
        """The moves of a control that turn an eye."""
        for move in self._moves(bone, self._turn, lambda seen: float(np.linalg.norm(seen)), _FAR):
            most = max(float(np.linalg.norm(angles)) for angles in move.angles.values())
            kept = {s: a for s, a in move.angles.items() if np.linalg.norm(a) > max(_SHARED * most, _TURNS)}
            yield Move(move.bone, move.axis, move.distance, kept)

    def closings(self, bone: str) -> Iterator[Move]:
        """The moves of a control that close an eye."""
        for move in self._moves(bone, self._closing, float, _CLOSED):
            most = max(move.angles.values())
            kept = {side: angle for side, angle in move.angles.items() if angle > max(_SHARED * most, _TURNS)}
            yield Move(move.bone, move.axis, move.distance, kept)

    def _moves(
        self, name: str, see: Callable[[dict[Any, Any]], dict[Any, Any]], size: Callable[[Any], float], far: float
    ) -> Iterator[Move]:
        bone = self.armature.pose.bones[name]
        for axis, sign in product(range(3), (1.0, -1.0)):
            if bone.lock_location[axis]:
                continue

            def at(distance: float, axis: int = axis, sign: float = sign) -> tuple[float, dict[Any, Any]]:
                (pose,) = self.probed([{(name, axis): sign * distance}])
                seen = see(pose)
                return max(map(size, seen.values())), seen

            reached = self._reach(at, bone.bone.length, _limit(bone, axis, sign), far)
            if reached is not None:
                yield Move(name, axis, sign * reached[0], reached[1])

    def _reach(
        self, at: Callable[[float], tuple[float, Any]], length: float, limit: float | None, far: float
    ) -> tuple[float, Any] | None:
        """The distance at which a control has its full effect, and what is seen there; None where it has none."""
        if limit is not None and limit < _TINY:
            return None
        distance, before = length * _SHORTEST if limit is None else limit * _SHORTEST, (0.0, 0.0)
        for _ in range(_DOUBLINGS):
            if limit is not None:
                distance = min(distance, limit)
            angle, _seen = at(distance)
            if angle > far and limit is None:
                distance *= far / angle
                return distance, at(distance)[1]
            if distance == limit or (before[1] > _TURNS and angle < before[1] * _SATURATED):
                break
            before = distance, angle
            distance *= 2.0
        if max(angle, before[1]) < _TURNS:
            return None
        # Where it grows no more is its end.
        low, high, most = 0.0, distance, angle
        for _ in range(_HALVINGS + 2):
            middle = 0.5 * (low + high)
            if at(middle)[0] >= _SAME * most:
                high = middle
            else:
                low = middle
        return high, at(high)[1]


def _limit(bone: bpy.types.PoseBone, axis: int, sign: float) -> float | None:
    """How far constraints let a control go along an axis of its own; None where they do not limit it."""
    name, least = "xyz"[axis], None
    for constraint in bone.constraints:
        if constraint.type != "LIMIT_LOCATION" or constraint.mute or constraint.owner_space != "LOCAL":
            continue
        end = "max" if sign > 0.0 else "min"
        if constraint.influence > 0.0 and getattr(constraint, f"use_{end}_{name}"):
            far = max(sign * getattr(constraint, f"{end}_{name}"), 0.0)
            least = far if least is None else min(least, far)
    return least
