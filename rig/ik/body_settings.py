"""The effectors of a body, stored with the armature object, and what a bake makes of them.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

import re
from collections.abc import Iterable

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..detection import limb_controls, limbs
from ..sampling.targets import Target
from ..settings import choice, collection, factor, integer, pointer, switch, text
from . import settings as chain_settings
from .body import BodyEffector
from .body_bake import BodyTuning

PRIORITY_ITEMS = (
    ("HIGH", "High", "Reached first, as feet on the ground"),
    ("NORMAL", "Normal", "Reached as far as effectors of high priority and the balance allow"),
    ("LOW", "Low", "Reached as far as all others allow"),
)
ORIENTATION_ITEMS = (
    ("FREE", "Free", "Let the effector turn with the body"),
    *chain_settings.ORIENTATION_ITEMS[1:],
    ("AIM", "Point at Target", "Point the effector at the target; the head and the spine look at it"),
)
_WEIGHT = re.compile(r"^lookat_pd_ik_body\.effectors\[(\d+)\]\.weight$")


class IKEffector(bpy.types.PropertyGroup):
    """A bone and what it is to do."""

    bone: text("Bone", "Bone that follows the target or stays where it is animated")
    target: pointer(
        bpy.types.Object, "Target", "Object that the bone follows; leave empty to pin the bone where it is animated"
    )
    subtarget: text("Target Bone", "Bone of the target armature that the bone follows")
    use_position: switch("Position", "Place the head of the bone on the target", True)
    orientation: choice("Effector Orientation", "Orientation of the effector", ORIENTATION_ITEMS)
    use_offset: chain_settings.kept_offset()
    pole: pointer(
        bpy.types.Object, "Pole Target", "Object towards which the elbow or knee points; leave empty for none"
    )
    weight: factor(
        "Weight",
        "1 reaches the target, 0 has no effect; between, the bone is between animation and target and "
        "gives way to all effectors with a weight of 1",
        1.0,
    )
    priority: choice("Priority", "Which effectors are reached where not all can be", PRIORITY_ITEMS, "NORMAL")


class IKBody(bpy.types.PropertyGroup):
    """Several effectors of one armature."""

    effectors: collection(IKEffector, "Effectors")
    effectors_index: integer("Active Effector", max=1000, min=0, options={"SKIP_SAVE"})
    balance: factor(
        "Balance", "Keep the centre of mass above the feet; 0 for no balance. Feet that are no effectors are pinned"
    )
    move_hips: switch("Move Hips", "Let the hips change their location, as in a squat", True)
    ease: chain_settings.ease_time()


def add(armature: bpy.types.Object, bones: Iterable[str]) -> None:
    """Add effectors for bones that are not in the list: feet, whichever of their controls it is, with high priority."""
    settings = armature.lookat_pd_ik_body
    listed = {item.bone for item in settings.effectors}
    standing = feet(armature)
    for name in bones:
        if name and name in listed:
            continue
        item = settings.effectors.add()
        item.bone = name
        if limb_controls.control_of(armature, name) in standing:
            item.priority = "HIGH"
    settings.effectors_index = len(settings.effectors) - 1


def remove(armature: bpy.types.Object, index: int) -> None:
    """Remove an effector and the keys of its weight; those of the others stay with their effectors."""
    settings = armature.lookat_pd_ik_body
    settings.effectors.remove(index)
    settings.effectors_index = max(min(settings.effectors_index, len(settings.effectors) - 1), 0)
    data = armature.animation_data
    bag = None if data is None else actions.channelbag(data.action, data.action_slot)
    for curve in [] if bag is None else list(bag.fcurves):
        found = _WEIGHT.match(curve.data_path)
        number = -1 if found is None else int(found.group(1))
        if number == index:
            bag.fcurves.remove(curve)
        elif number > index:
            curve.data_path = f"lookat_pd_ik_body.effectors[{number - 1}].weight"


def feet(armature: bpy.types.Object) -> set[str]:
    """Names of the detected feet."""
    try:
        return {line[2] for line in limbs.limb_lines(armature)[1] if len(line) > 2}
    except LookAtError:
        return set()


def has_effectors(armature: bpy.types.Object) -> bool:
    """Whether there is any in the list."""
    return any(item.bone for item in armature.lookat_pd_ik_body.effectors)


def effectors(armature: bpy.types.Object, frames: Array) -> list[BodyEffector]:
    """The effectors of the list over frames (F,), those without a bone left out."""
    found = []
    for index, item in enumerate(armature.lookat_pd_ik_body.effectors):
        if not item.bone:
            continue
        target = None
        if item.target is not None:
            target = Target(item.target, item.subtarget if item.target.type == "ARMATURE" else "")
        found.append(
            BodyEffector(
                item.bone,
                target,
                item.use_position,
                item.orientation,
                _weights(armature, index, frames),
                item.priority,
                item.use_offset,
                pole=None if item.pole is None else Target(item.pole),
            )
        )
    return found


def _weights(armature: bpy.types.Object, index: int, frames: Array) -> Array:
    """The weight of an effector at each frame (F,), from its keys if it has any."""
    data = armature.animation_data
    curve = None
    if data is not None:
        path = f"lookat_pd_ik_body.effectors[{index}].weight"
        curve = actions.curves_at(data.action, data.action_slot, path, 1)[0]
    if curve is None or not actions.plays(curve):
        return np.full(len(frames), armature.lookat_pd_ik_body.effectors[index].weight)
    return np.clip([curve.evaluate(float(frame)) for frame in frames], 0.0, 1.0)


def tuning(armature: bpy.types.Object) -> BodyTuning:
    """The solver settings."""
    settings = armature.lookat_pd_ik_body
    return BodyTuning(settings.balance, settings.move_hips, settings.ease)


_register, _unregister = bpy.utils.register_classes_factory((IKEffector, IKBody))


def register() -> None:
    _register()
    bpy.types.Object.lookat_pd_ik_body = pointer(IKBody, "Look-at PD Effectors")


def unregister() -> None:
    del bpy.types.Object.lookat_pd_ik_body
    _unregister()
