"""Rows of `ik` for dragging: the time of a step of the mouse, from its place to the evaluated pose."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from standalone import load

from . import scenes
from .extension import registered
from .rows import SECONDS, Goal, Row, duration

body_settings, control_drag, setup = (load(f"rig.ik.{name}") for name in ("body_settings", "control_drag", "setup"))

STEPS, PLAIN, FRAMES = 60, 60, 20
"""Steps of a drag, bones of the plain rig, and frames of its animation."""
PLAIN_GOAL, RIGIFY_GOAL = Goal(16e-3, SECONDS), Goal(40e-3, SECONDS)
NEAR, FAR = 0.1, 1.0
"""Sizes [m] of the path of the mouse, within the reach of the arm and mostly beyond it."""


def steps(begin: Callable[[], Any], size: float) -> list[float]:
    """Seconds of each step of a drag along a loop in front of the body and above, until the pose is evaluated."""
    drag = begin()
    try:
        drag.move(drag.place)
        times = []
        for turn in np.linspace(0.0, 2.0 * np.pi, STEPS + 2)[1:-1]:
            target = drag.place + size * np.array([0.0, -0.5 * np.sin(turn), 1.0 - np.cos(turn)])
            start = perf_counter()
            drag.move(target)
            times.append(perf_counter() - start)
        return times
    finally:
        drag.restore()


def drag(armature: bpy.types.Object, bone: str, *, holds: bool) -> Callable[[], Any]:
    """What begins a drag with the default settings."""
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    settings = scene.lookat_pd_ik
    return lambda: control_drag.begin(
        scene,
        view_layer,
        armature,
        bone,
        extent=lambda name: setup.extent(armature, name, settings, at_tip=False),
        at_tip=False,
        keeps=settings.orientation != "FREE",
        tuning=setup.tuning(settings),
        body=body_settings.tuning(armature) if holds else None,
    )


def rows() -> list[Row]:
    """The rows of dragging a hand, with its limb alone and with effectors held."""
    with registered():
        made = scenes.chain_character(scenes.empty_file(), FRAMES, limbs=PLAIN - scenes.BONES - 14, body=True)
        what = f"plain rig of {len(made.armature.pose.bones)} bones"
        held = ("foot.L", "foot.R", "hand.R", made.bones[0])
        plain = _rows(made.armature, "hand.L", held, "plain", what, PLAIN_GOAL)
        rig = scenes.rigify_human(scenes.empty_file()).armature
        held = ("foot_ik.L", "foot_ik.R", "hand_ik.R", "head")
        return [*plain, *_rows(rig, "hand_ik.L", held, "rigify", "generated Rigify human", RIGIFY_GOAL)]


def _rows(armature: bpy.types.Object, hand: str, held: Sequence[str], kind: str, what: str, goal: Goal) -> list[Row]:
    bpy.context.scene.frame_set(1)
    body_settings.add(armature, held)
    group = f"IK, a step of the mouse in a drag of a hand, {what}"
    table, alone = [], 0.0
    for name, part, holds, size in (
        ("limb", "its limb alone", False, NEAR),
        ("body", f"{len(held)} effectors held", True, NEAR),
        ("far", f"{len(held)} effectors held, beyond the reach", True, FAR),
    ):
        times = steps(drag(armature, hand, holds=holds), size)
        longest = f"median of {STEPS}, longest {duration(max(times))}"
        median = float(np.median(times))
        alone = alone or median
        peer = (median / alone, "its limb alone") if holds else (None, "")
        table.append(Row(f"ik.drag.{kind}.{name}", part, median, *peer, goal, group, also=longest))
    return table
