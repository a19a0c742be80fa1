"""Both hands of a figure reach for a box, with the palms on its sides, and lift it: the box is animated."""

from __future__ import annotations

from dataclasses import dataclass

import bmesh
import bpy
import numpy as np

from ...lookat_pd.progress import drain
from ...rig.dynamics import reach_hands, reaching
from ...rig.dynamics import settings as dynamics_settings
from ...rig.sampling.targets import Target
from .links import attach, ball, key, mesh, rod

HANDS = ("hand.L", "hand.R")
TRUNK = ((0.0, 0.0, 0.9), (0.0, 0.0, 1.4))
ARM = (("upper_arm", (0.19, 0.0, 1.38)), ("forearm", (0.49, 0.0, 1.38)), ("hand", (0.76, 0.0, 1.38)))
"""Heads of the bones of the left arm [m], the next one's their tails."""
TIP = (0.94, 0.0, 1.38)
HANGING = {"upper_arm": (0.0, 72.0, 0.0), "forearm": (0.0, 0.0, -20.0)}
"""Angles [degrees] of the left arm at the start."""
BOX, SIZE = ((0.0, -0.38, 0.98), (0.0, -0.38, 0.98), (0.0, -0.4, 1.24), (0.0, -0.4, 1.24)), (0.4, 0.26, 0.24)
KEYS, REACH_TIME = (1, 28, 58, 90), 1.0
"""Places of the box at these frames, its size [m], and the time in which the hands come to it [s]."""


@dataclass(frozen=True)
class Lifting:
    """Two arms that lift a box, and what the reach cost."""

    arm: bpy.types.Object
    box: bpy.types.Object
    costs: tuple[float, float]
    """Costs [N²m²/s] of the straight paths and of the result."""
    paths: tuple[np.ndarray, ...]
    """(F, 3) of both palms in the world [m]."""
    missed: float
    """Largest distance [m] of a palm from its place on arrival."""

    def report(self) -> dict:
        """What was measured, for the report."""
        return {"costs": {"straight path": self.costs[0], "optimal": self.costs[1]}, "missed_m": self.missed}


def lift(scene: bpy.types.Scene, place: tuple[float, float, float]) -> Lifting:
    """The figure and its box, with their motion."""
    arm = _figure(scene, place)
    box = bpy.data.objects.new("Box", _box())
    scene.collection.objects.link(box)
    for frame, at in zip(KEYS, BOX, strict=True):
        box.location = np.add(place, at)
        box.keyframe_insert("location", frame=frame)
    for frame in (KEYS[0], KEYS[-1]):
        pose = {"trunk": (0.0, 0.0, 0.0)}
        for side, sign in (("L", 1.0), ("R", -1.0)):
            pose |= {f"{name}.{side}": (x, sign * y, sign * z) for name, (x, y, z) in HANGING.items()}
        key(arm, float(frame), pose)
    scene.frame_set(1)
    faces = reach_hands.faces(arm, HANDS, (Target(box), Target()), dynamics_settings.GAP)
    request = reaching.ReachRequest(
        HANDS[0],
        faces[0].goal,
        1,
        duration=REACH_TIME,
        length=2,
        after="HOLD",
        others=((HANDS[1], faces[1].goal),),
        normals=tuple(face.normal for face in faces),
    )
    result = drain(reaching.start(scene, arm, request))
    costs = float(result.costs[0]), float(result.cost)
    return Lifting(arm, box, costs, result.paths, result.missed)


def _figure(scene: bpy.types.Scene, place: tuple[float, float, float]) -> bpy.types.Object:
    """A trunk with a head and two arms to the sides, of rods."""
    data = bpy.data.armatures.new("Lift")
    arm = bpy.data.objects.new("Lift", data)
    scene.collection.objects.link(arm)
    arm.location = place
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.mode_set(mode="EDIT")
    trunk = data.edit_bones.new("trunk")
    trunk.head, trunk.tail = TRUNK
    ends = [*(head for _, head in ARM[1:]), TIP]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        above = trunk
        for (name, head), tail in zip(ARM, ends, strict=True):
            bone = data.edit_bones.new(f"{name}.{side}")
            bone.head, bone.tail = ((sign * x, y, z) for x, y, z in (head, tail))
            bone.parent, above = above, bone
    lengths = {bone.name: bone.length for bone in data.edit_bones}
    bpy.ops.object.mode_set(mode="OBJECT")
    arm.lookat_pd_body.spread = "VOLUME"
    for name, length in lengths.items():
        attach(scene, arm, name, rod(length), -length)
    attach(scene, arm, "trunk", ball(0.11), 0.2)
    for bone in arm.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return arm


def _box() -> bpy.types.Mesh:
    shape = bmesh.new()
    bmesh.ops.create_cube(shape, size=1.0)
    bmesh.ops.scale(shape, vec=SIZE, verts=shape.verts)
    return mesh("Box", shape, "Bird")
