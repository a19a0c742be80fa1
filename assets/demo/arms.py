"""The demo's scenes of dynamics: arms of three links that move from pose to pose, and arms that reach.

Swings of 5 s and 2 s with several loads in the hand, four poses there and back with and without stops, and reaches to
one goal from three sides, with the cost of each. Both hands of a figure lift a box.

Source: Allen, Chu, Shapiro, Faloutsos, On the Beat!, SCA 2007, for motion between poses; Uno, Kawato, Suzuki 1989, for
reaches with the least change of torque.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.dynamics import engine
from ...lookat_pd.progress import drain
from ...rig.dynamics import interpolation, presets, reaching
from ...rig.dynamics import masses as body_masses
from ...rig.sampling.targets import Target
from .human import FPS, add_camera, add_ground, add_light
from .lifting import Lifting, lift
from .links import attach, ball, key, rod

LINKS = (("upper arm", 0.30), ("forearm", 0.27), ("hand", 0.18))
"""Names and lengths [m] of the links."""
_NAMES = tuple(name for name, _ in LINKS)
SWINGS, LOADS = (5.0, 2.0), (0.0, 5.0, 20.0)
"""Durations [s] of the swings, and loads [kg] in the hand."""
SWUNG = (
    ((0.0, 75.0, 0.0), (0.0, -30.0, 0.0), (0.0, -10.0, 0.0)),
    ((0.0, -75.0, 0.0), (0.0, -60.0, 0.0), (0.0, -30.0, 0.0)),
)
POSES = (
    ((0.0, 80.0, 0.0), (0.0, -20.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.0, 20.0, 20.0), (0.0, -70.0, 0.0), (0.0, -20.0, 0.0)),
    ((0.0, -40.0, 20.0), (0.0, -100.0, 0.0), (0.0, 20.0, 0.0)),
    ((0.0, -110.0, 0.0), (0.0, -20.0, 0.0), (0.0, 0.0, 0.0)),
)
"""Angles [degrees] of the links in poses 1 to 4."""
GOAL, REACH_TIME = (0.05, -0.35, 0.25), 0.8
"""The goal of all reaches relative to the shoulder [m], and their duration [s]."""
SIDES = {
    "side": ((0.0, 10.0, 20.0), (0.0, -40.0, 0.0), (0.0, 0.0, 0.0)),
    "below": ((0.0, 80.0, 0.0), (0.0, -35.0, 0.0), (0.0, 0.0, 0.0)),
    "above": ((0.0, -75.0, 0.0), (0.0, -45.0, 0.0), (0.0, 0.0, 0.0)),
}
"""Poses from which they start, by the side of the goal on which the hand is."""
LAST = 150
ARMS, REACHES, LIFTS = (
    ((1.7, -7.4, 2.1), (1.7, 0.0, 2.2), 58.0),
    ((9.3, -5.6, 2.0), (9.3, 0.0, 1.5), 72.0),
    ((14.7, -3.4, 1.9), (13.0, -0.1, 1.15), 60.0),
)
"""Places of the cameras, what they look at, and their lenses."""


@dataclass(frozen=True)
class Swing:
    """An arm between poses."""

    name: str
    seconds: float
    load: float
    path: np.ndarray
    """(F, 3) path [m] of the hand at frames from 1 on."""
    keys: list[float]
    """Frames of its poses."""
    missed: int


@dataclass(frozen=True)
class Reaching:
    """A reach."""

    side: str
    costs: dict[str, float]
    """Costs [N²m²/s] of the straight path, by *Smoothing* if the engine is there, and of the result."""
    passes: np.ndarray
    """The cost of each pass."""
    path: np.ndarray
    straight: np.ndarray
    """(F, 3) of the hand and of the straight path, from the goal [m]."""


@dataclass(frozen=True)
class ArmsDemo:
    scene: bpy.types.Scene
    cameras: tuple[bpy.types.Object, ...]
    swings: list[Swing]
    poses: list[Swing]
    reaches: list[Reaching]
    lifting: Lifting

    def report(self) -> dict:
        """What was measured, for the report."""
        return {
            "swings": [
                {"arm": s.name, "seconds": s.seconds, "load_kg": s.load, "keys": s.keys, "missed": s.missed}
                for s in (*self.swings, *self.poses)
            ],
            "reaches": [{"from": reach.side, "costs": reach.costs} for reach in self.reaches],
            "lift": self.lifting.report(),
        }


def build_scene(scene: bpy.types.Scene) -> ArmsDemo:
    """All arms, with their motion, in an empty `scene`."""
    scene.render.fps, scene.render.fps_base = FPS, 1.0
    scene.frame_start, scene.frame_end = 1, LAST
    presets.apply("Natural", scene)
    add_ground(scene)
    add_light(scene)
    loads = LOADS if engine.available() else LOADS[:1]
    swings = [
        _swing(scene, (1.5 * column, 0.0, 3.1 - row), seconds, load)
        for row, seconds in enumerate(SWINGS)
        for column, load in enumerate(loads)
    ]
    poses = [_pass(scene, (1.5 * n + 0.75, 0.0, 0.95), passes) for n, passes in enumerate((True, False))]
    reaches = [_reach(scene, (8.0 + n, 0.0, 1.4), side) for n, side in enumerate(SIDES)]
    lifting = lift(scene, (13.0, 0.0, 0.0))
    cameras = tuple(add_camera(scene, *given) for given in (ARMS, REACHES, LIFTS))
    scene.camera = cameras[0]
    scene.frame_set(1)
    return ArmsDemo(scene, cameras, swings, poses, reaches, lifting)


def _swing(scene: bpy.types.Scene, place: tuple[float, float, float], seconds: float, load: float) -> Swing:
    arm = _arm(scene, f"{seconds:g} s, {load:g} kg", place, load)
    return _between(scene, arm, [(1.0, SWUNG[0]), (1.0 + seconds * FPS, SWUNG[1])], load)


def _pass(scene: bpy.types.Scene, place: tuple[float, float, float], passes: bool) -> Swing:
    arm = _arm(scene, "Poses 1 to 4 and back" + ("" if passes else ", stops"), place, 0.0)
    keys = [(1.0 + n * FPS, pose) for n, pose in enumerate((*POSES, *POSES[-2::-1]))]
    return _between(scene, arm, keys, 0.0, passes=passes)


def _between(
    scene: bpy.types.Scene, arm: bpy.types.Object, keys: Sequence[tuple[float, Sequence]], load: float, *, passes=True
) -> Swing:
    for frame, pose in keys:
        key(arm, frame, dict(zip(_NAMES, pose, strict=True)))
    request = interpolation.InterpolationRequest(
        tuple(name for name, _ in LINKS),
        selected=False,
        at_keys="PASS" if passes else "STOP",
        weight=scene.lookat_pd_dynamics.weight,
    )
    result = drain(interpolation.start(scene, arm, request))
    path = _hand(scene, arm, range(1, int(result.frames[-1]) + 1))
    return Swing(arm.name, (keys[-1][0] - 1.0) / FPS, load, path, [float(k) for k in result.keys], len(result.misses))


def _reach(scene: bpy.types.Scene, place: tuple[float, float, float], side: str) -> Reaching:
    arm = _arm(scene, f"Reach from the {side}" if side == "side" else f"Reach from {side}", place, 0.0)
    key(arm, 1.0, dict(zip(_NAMES, SIDES[side], strict=True)))
    goal = bpy.data.objects.new(f"Goal, {side}", ball(0.035, "Ball"))
    goal.location = np.add(place, GOAL)
    scene.collection.objects.link(goal)
    scene.frame_set(1)
    source, costs = arm.animation_data.action, {}
    for method in ("smoothing", "optimal") if engine.available() else ("optimal",):
        arm.animation_data.action = source
        arm.animation_data.action_slot = source.slots[0]
        request = reaching.ReachRequest(
            "hand",
            Target(goal),
            1,
            duration=REACH_TIME,
            length=3,
            at_tip=True,
            method=method.upper(),
            after="HOLD",
            passes=30,
        )
        result = drain(reaching.start(scene, arm, request))
        costs |= {"straight path": float(result.costs[0]), method: float(result.cost)}
        if method == "smoothing":
            bpy.data.actions.remove(result.action)
    lines = (line - np.array(goal.location) for line in (result.path, result.straight))
    return Reaching(side, costs, np.asarray(result.costs), *lines)


def _arm(scene: bpy.types.Scene, name: str, place: tuple[float, float, float], load: float) -> bpy.types.Object:
    """An arm that points to the side, with rods for its links, and a ball in its hand that shows the load."""
    data = bpy.data.armatures.new(name)
    arm = bpy.data.objects.new(name, data)
    scene.collection.objects.link(arm)
    arm.location = place
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.mode_set(mode="EDIT")
    start, above = 0.0, None
    for bone, length in LINKS:
        edit = data.edit_bones.new(bone)
        edit.head, edit.tail, edit.parent = (start, 0.0, 0.0), (start + length, 0.0, 0.0), above
        edit.roll = 0.0
        start, above = start + length, edit
    bpy.ops.object.mode_set(mode="OBJECT")
    arm.lookat_pd_body.spread = "VOLUME"
    for bone, length in LINKS:
        attach(scene, arm, bone, rod(length), -length)
    hand, length = LINKS[-1]
    if load:
        measured = body_masses.of(scene, arm)
        own = float(measured.properties.mass[measured.bones.index(hand)])
        arm.pose.bones[hand].lookat_pd_body.mass = own + load
        attach(scene, arm, hand, ball(0.04 * load ** (1.0 / 3.0), "Dark"), 0.0)
    for bone in arm.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return arm


def _hand(scene: bpy.types.Scene, arm: bpy.types.Object, frames: Sequence[int]) -> np.ndarray:
    """The place (F, 3) of the tip of the hand in the armature's space [m]."""
    places = []
    for frame in frames:
        scene.frame_set(frame)
        places.append(tuple(arm.pose.bones[LINKS[-1][0]].tail))
    return np.array(places)
