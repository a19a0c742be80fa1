"""Faces with eyeballs that shape keys turn, and where these look."""

from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np

from extension import load

from ... import scenes
from . import bodies

rotation = load("lookat_pd.rotation")

EYELESS = tuple(row for row in bodies.PERSON if not row[0].startswith("eye"))
"""A person without eye bones."""
CENTERS = {"Left": (0.032, -0.075, 1.68), "Right": (-0.032, -0.075, 1.68)}
_RADIUS, _RINGS = 0.012, 7
ARKIT = {
    f"eyeLook{where}{side}": ((side,), (axis if side == "Left" else mirrored))
    for side in CENTERS
    for where, axis, mirrored in (
        ("In", (0, 0, -1), (0, 0, 1)),
        ("Out", (0, 0, 1), (0, 0, -1)),
        ("Up", (-1, 0, 0), (-1, 0, 0)),
        ("Down", (1, 0, 0), (1, 0, 0)),
    )
}
"""Shape keys: which eyeballs they turn about which axis of the world."""
BOTH = {
    "lookLeft": (tuple(CENTERS), (0, 0, 1)),
    "lookRight": (tuple(CENTERS), (0, 0, -1)),
    "lookUp": (tuple(CENTERS), (-1, 0, 0)),
    "lookDown": (tuple(CENTERS), (1, 0, 0)),
}


def person(keys: dict[str, tuple], angle: float = 30.0, **settings: Any):
    """A person without eye bones whose eyeballs these shape keys turn by an angle [deg]; armature, mesh, settings."""
    armature = scenes.figure("Person", EYELESS)
    item = face(armature, keys, angle)
    found = bodies.look(armature, scenes.ball((0.6, -1.5, 2.0)), **settings)
    found.eyes.head_share = 0.3
    return armature, item, found


def face(armature: bpy.types.Object, keys: dict[str, tuple], angle: float = 30.0) -> bpy.types.Object:
    """A mesh of two eyeballs that deform with the head."""
    points, quads, owner = [], [], []
    for side, center in CENTERS.items():
        begin = len(points)
        # The first vertex is the pupil.
        rings = np.linspace(0.0, np.pi, _RINGS)
        for theta in rings:
            for phi in np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False):
                x, z = np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi)
                points.append(np.array(center) + _RADIUS * np.array((x, -np.cos(theta), z)))
        for ring in range(_RINGS - 1):
            for n in range(8):
                corners = (8 * ring + n, 8 * ring + (n + 1) % 8, 8 * ring + 8 + (n + 1) % 8, 8 * ring + 8 + n)
                quads.append([begin + corner for corner in corners])
        owner += [side] * (len(points) - begin)
    mesh = bpy.data.meshes.new("Face")
    mesh.from_pydata([tuple(point) for point in points], [], quads)
    item = bpy.data.objects.new("Face", mesh)
    bpy.context.scene.collection.objects.link(item)
    item.modifiers.new("Armature", "ARMATURE").object = armature
    item.parent = armature
    item.vertex_groups.new(name="head").add(list(range(len(points))), 1.0, "REPLACE")
    item.shape_key_add(name="Basis", from_mix=False)
    for name, (sides, axis) in keys.items():
        block = item.shape_key_add(name=name, from_mix=False)
        block.value = 0.0
        turn = rotation.exp(np.radians(angle) * np.array(axis, float))
        for n, (point, side) in enumerate(zip(points, owner, strict=True)):
            if side in sides:
                block.data[n].co = np.array(CENTERS[side]) + rotation.rotate(turn, point - np.array(CENTERS[side]))
    return item


def gaze(item: bpy.types.Object, frame: float) -> tuple[np.ndarray, np.ndarray]:
    """Centers and directions (2, 3) of the eyeballs in the world, from the evaluated vertices."""
    evaluated = item.evaluated_get(scenes.goto(frame))
    values = np.empty(3 * len(evaluated.data.vertices), dtype=np.float32)
    evaluated.data.vertices.foreach_get("co", values)
    points = values.reshape(2, -1, 3).astype(float)
    world = np.array(evaluated.matrix_world)
    points = points @ world[:3, :3].T + world[:3, 3]
    pupils, middles = points[:, :8].mean(axis=1), points.mean(axis=1)
    return middles, rotation.normalize(pupils - middles)


def errors(item: bpy.types.Object, frames: Sequence[float], target: Callable[[], Any]) -> np.ndarray:
    """Angles (F, 2) [deg] between the gaze of each eyeball and the target."""
    found = []
    for frame in frames:
        middles, directions = gaze(item, frame)
        found.append(np.degrees(rotation.angle_between(directions, np.array(target()) - middles)))
    return np.array(found)


def between_poles(item: bpy.types.Object, frame: float) -> np.ndarray:
    """Directions (2, 3) in the world from the back of each eyeball to its pupil, whatever the order of vertices."""
    rest = np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])
    seen = item.evaluated_get(scenes.goto(frame))
    points = np.array([seen.matrix_world @ vertex.co for vertex in seen.data.vertices])
    found = []
    for sign in (1.0, -1.0):
        side = sign * rest[:, 0] > 0.0
        front, back = (side & np.isclose(rest[:, 1], end, atol=1e-5) for end in (rest[:, 1].min(), rest[:, 1].max()))
        found.append(points[front].mean(axis=0) - points[back].mean(axis=0))
    return rotation.normalize(np.array(found))


def middles(item: bpy.types.Object) -> np.ndarray:
    """Middles (2, 3) of the eyeballs in the world at the current frame, whatever the order of vertices."""
    seen = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    rest = np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])
    points = np.array([seen.matrix_world @ vertex.co for vertex in seen.data.vertices])
    return np.array([points[sign * rest[:, 0] > 0.0].mean(axis=0) for sign in (1.0, -1.0)])
