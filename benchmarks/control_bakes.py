"""Bakes on the controls of a generated Rigify human: physical keys, contacts and a hit, beside the plain loop."""

from collections.abc import Callable, Generator
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from standalone import load

from . import scenes, solver
from .extension import finish, registered
from .rows import Goal, Row
from .timing import clocked, shortest

bake_options, contact_plan = load("rig.animation.bake_options"), load("rig.feet.contact_plan")
contacts, hitting, interpolation, reaching = (
    load(f"rig.{name}") for name in ("ik.contacts", "dynamics.hitting", "dynamics.interpolation", "dynamics.reaching")
)
hit_request, reach_request = load("rig.dynamics.hit_request"), load("rig.dynamics.reach_request")
targets = load("rig.sampling.targets")

FRAMES, EVERY, REPEATS = 250, 10, 2
ARM = "upper_arm_fk.L", "forearm_fk.L", "hand_fk.L"
FEET = {"foot_ik.L": ((10, 70), (130, 190)), "foot_ik.R": ((60, 140), (180, 240))}
"""Feet, and first and last frame of each of their contacts."""
GOAL, MACHINE = 2.0, 50e-3
"""Seconds that a bake may take, and those of the plain loop, on the machine for which goals are set."""
GROUP = f"Bakes on the controls of a generated Rigify human, {FRAMES} frames"


def baked(armature: bpy.types.Object, begin: Callable[[], Generator[float, None, Any]]) -> Callable[[], float]:
    """Seconds of a bake into a new action; what played before plays afterwards."""

    def work() -> float:
        animation, own = armature.animation_data, armature.animation_data.action
        slot, start = animation.action_slot, perf_counter()
        finish(begin())
        seconds = perf_counter() - start
        made, animation.action = animation.action, own
        animation.action_slot = slot
        if made is not own:
            bpy.data.actions.remove(made)
        return seconds

    return work


def swinging() -> bpy.types.Object:
    """The human with an arm in FK that is keyed at every tenth frame, in the performance of the demo."""
    scene = scenes.empty_file()
    scene.frame_end = FRAMES
    armature = scenes.rigify_human(scene).armature
    for side in "LR":
        armature.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = 1.0
    random = np.random.default_rng(0)
    for name in ARM:
        bone = armature.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for curve in list(_curves(armature)):
            if curve.data_path.startswith(f'pose.bones["{name}"]'):
                _curves(armature).remove(curve)
        for frame in range(1, FRAMES + 1, EVERY):
            bone.rotation_euler = random.normal(scale=0.4, size=3)
            bone.keyframe_insert("rotation_euler", frame=frame)
    return armature


def _curves(armature: bpy.types.Object) -> Any:
    animation = armature.animation_data
    strip = animation.action.layers[0].strips[0]
    return strip.channelbag(animation.action_slot).fcurves


def run() -> list[Row]:
    """The table; all ratios are to the plain loop of the solvers' table, run in turn with the bakes."""
    with registered():
        armature, scene = swinging(), bpy.context.scene
        options = bake_options.BakeOptions(1, FRAMES, "NEW")
        touches = {foot: contacts.Touch(contact_plan.Contact(spans)) for foot, spans in FEET.items()}
        keys = interpolation.InterpolationRequest(ARM, 1, FRAMES, selected=False)
        hit = hit_request.HitRequest((hit_request.HitSpec(FRAMES // 2, "chest"),))
        goal = targets.Target(point=(0.35, -0.4, 1.3))
        reach = reach_request.ReachRequest(ARM[-1], goal, FRAMES // 2, point="HAND")
        works = {
            "loop": clocked(solver.plain_loop(solver.FRAMES)),
            "keys": baked(armature, lambda: interpolation.start(scene, armature, keys)),
            "contacts": baked(armature, lambda: contacts.clean_up_body(scene, armature, touches, options)),
            "hit": baked(armature, lambda: hitting.start(scene, armature, hit)),
            "reach": baked(armature, lambda: reaching.start(scene, armature, reach)),
        }
        times = shortest(works, REPEATS)
    named = {
        "keys": f"*Interpolate Keys* of {len(ARM)} bones with a key at every tenth frame",
        "contacts": f"contacts of {len(FEET)} feet",
        "hit": "a hit on the chest",
        "reach": "a reach with the palm",
    }
    return [
        Row(f"control_bakes.{name}", what, times[name], times[name] / times["loop"], "the plain loop", _goal(), GROUP)
        for name, what in named.items()
    ]


def _goal() -> Goal:
    return Goal(GOAL / MACHINE)
