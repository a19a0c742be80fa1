"""Things to look at: a ball that flies about the character, and a bird elsewhere."""

from __future__ import annotations

from math import cos, radians, sin

import bpy
from mathutils import Vector

from .animation import fill, new_action
from .geometry import Ring, Surface, ellipsoid_rings, rigid
from .materials import paint

EYES = Vector((0.0, -0.12, 1.86))  # where the directions below start

# seconds, yaw (+ to the character's left), pitch (+ up) in degrees, distance in metres
BALL_FLIGHT = (
    (0.0, 15, 2, 1.5), (0.8, 42, 4, 1.5), (1.6, 68, 10, 1.45), (2.4, 88, 20, 1.4), (3.0, 98, 26, 1.35),
    (3.7, 78, 34, 1.35), (4.4, 42, 40, 1.4), (5.1, 5, 34, 1.45), (5.8, -32, 16, 1.5), (6.5, -64, -4, 1.55),
    (7.2, -78, -24, 1.6), (7.9, -60, -38, 1.7), (8.6, -28, -36, 1.75), (9.3, -4, -18, 1.65), (10.0, 15, 2, 1.5),
)  # fmt: skip
BIRD_FLIGHT = (
    (0.0, -35, 24, 2.6), (1.0, -62, 30, 2.5), (2.0, -88, 26, 2.4), (3.0, -100, 16, 2.4), (4.0, -84, 8, 2.5),
    (5.0, -56, 12, 2.6), (6.0, -24, 24, 2.8), (7.0, 6, 32, 2.9), (8.0, 24, 28, 2.9), (9.0, 2, 20, 2.8),
    (10.0, -35, 24, 2.6),
)  # fmt: skip
FLIGHT_SECONDS = 10.0


def add_targets(
    scene: bpy.types.Scene, first: int = 1, last: int = 250, fps: float = 24.0
) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Link the animated targets "Ball" and "Bird" to `scene`; a range much longer than ten seconds repeats them."""
    ball = _link(scene, "Ball", _ball_mesh())
    _fly(ball, BALL_FLIGHT, first, last, fps)
    return ball, add_bird(scene, first, last, fps)


def add_bird(
    scene: bpy.types.Scene, first: int, last: int, fps: float, flight: tuple = BIRD_FLIGHT
) -> bpy.types.Object:
    """Link the target "Bird" to `scene`; it flies as a table like those above says."""
    bird = _link(scene, "Bird", _bird_mesh())
    _fly(bird, flight, first, last, fps)
    return bird


def _link(scene: bpy.types.Scene, name: str, mesh: bpy.types.Mesh) -> bpy.types.Object:
    target = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(target)
    return target


def _place(yaw: float, pitch: float, distance: float) -> Vector:
    a, b = radians(yaw), radians(pitch)
    return EYES + Vector((sin(a) * cos(b), -cos(a) * cos(b), sin(b))) * distance


def _fly(target: bpy.types.Object, flight: tuple, first: int, last: int, fps: float) -> None:
    """Location keys along the flight, and a heading that follows it, so that the bird flies beak first."""
    repeats = max(1, round((last - first) / (FLIGHT_SECONDS * fps)))
    length = (last - first) / repeats
    places = [(seconds, _place(*place)) for seconds, *place in flight]
    headings = _headings([place for _seconds, place in places])
    keys = {}
    for i in range(repeats):
        turn = i * (headings[-1] - headings[0])
        for (seconds, place), heading in zip(places, headings, strict=True):
            frame = round(first + length * (i + seconds / FLIGHT_SECONDS))
            keys[frame] = (*place, heading + turn)
    _action, channelbag = new_action(target, f"{target.name} Flight")
    for column, (path, index) in enumerate((("location", 0), ("location", 1), ("location", 2), ("rotation_euler", 2))):
        curve = channelbag.fcurves.new(path, index=index)
        fill(curve, [(frame, values[column]) for frame, values in sorted(keys.items())], "AUTO")


def _headings(places: list[Vector]) -> list[float]:
    """Turn about Z that points -Y along the path at each place, unwrapped; the path is closed."""
    headings: list[float] = []
    for i in range(len(places)):
        before = places[i - 1] if i > 0 else places[-2]
        after = places[i + 1] if i + 1 < len(places) else places[1]
        heading = Vector((0.0, -1.0)).angle_signed((after - before).xy, 0.0) * -1.0
        if headings:
            heading = headings[-1] + (heading - headings[-1] + radians(180)) % radians(360) - radians(180)
        headings.append(heading)
    return headings


def _ball_mesh() -> bpy.types.Mesh:
    surface = Surface()
    radius = 0.075
    rings = ellipsoid_rings(Vector(), Vector((0, 0, radius)), Vector((radius, 0, 0)), Vector((0, radius, 0)), 13)
    surface.loft(rings, 24, lambda band: 1 if band in (5, 6) else 0, rigid(""))
    return surface.to_mesh("Ball", [paint("Ball"), paint("Eye White")])


def _bird_mesh() -> bpy.types.Mesh:
    """A body and two lifted wings; it flies to -Y."""
    surface = Surface()
    x, y, z = Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))
    body = (
        (-0.135, 0.004),
        (-0.115, 0.020),
        (-0.080, 0.034),
        (-0.030, 0.044),
        (0.040, 0.036),
        (0.110, 0.018),
        (0.140, 0.010),
    )
    surface.loft(
        [Ring(y * along, x * r, z * r * 0.95) for along, r in body], 12, lambda b: 1 if b == 0 else 0, rigid("")
    )
    surface.loft(
        [Ring(y * a, x * w, z * t) for a, w, t in ((0.12, 0.012, 0.005), (0.21, 0.050, 0.004))], 8, 0, rigid("")
    )
    for sign in (1.0, -1.0):
        wing = (
            (0.02, 0.000, 0.00, 0.055, 0.010),
            (0.10, 0.040, 0.00, 0.052, 0.008),
            (0.19, 0.075, 0.03, 0.036, 0.005),
            (0.26, 0.090, 0.07, 0.012, 0.002),
        )
        rings = [Ring(x * sign * out + z * up + y * back, y * deep, z * thick) for out, up, back, deep, thick in wing]
        surface.loft(rings, 10, 0, rigid(""))
    return surface.to_mesh("Bird", [paint("Bird"), paint("Dark")])
