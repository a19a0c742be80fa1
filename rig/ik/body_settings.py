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
from ..animation.stored_settings import read, registration
from ..detection import limb_controls, limbs
from ..sampling.targets import Target
from ..settings import EDITABLE, Properties, values
from . import saved_settings
from .body import BodyEffector
from .body_goals import BodyTuning
from .settings import BodySolving, EffectorFollowing

_WEIGHT = re.compile(r"^lookat_pd_ik_body\.effectors\[(\d+)\]\.weight$")
_own = Properties(override=EDITABLE)


class IKEffector(EffectorFollowing, bpy.types.PropertyGroup):
    """A bone and what it is to do."""

    bone: _own.text("Bone", "Bone that follows the target or stays where it is animated")
    target: _own.pointer(
        bpy.types.Object, "Target", "Object that the bone follows; leave empty to pin the bone where it is animated"
    )
    subtarget: _own.text("Target Bone", "Bone of the target armature that the bone follows")
    pole: _own.pointer(
        bpy.types.Object, "Pole Target", "Object towards which the elbow or knee points; leave empty for none"
    )


class IKBody(BodySolving, bpy.types.PropertyGroup):
    """Several effectors of one armature."""

    version: _own.integer("Version", options={"HIDDEN"})
    effectors: _own.collection(IKEffector, "Effectors")
    effectors_index: _own.integer("Active Effector", max=1000, min=0, options={"SKIP_SAVE"})


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
        match = _WEIGHT.match(curve.data_path)
        number = -1 if match is None else int(match.group(1))
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
    return any(item.bone for item in read(armature, "lookat_pd_ik_body").effectors)


def effectors(armature: bpy.types.Object, frames: Array) -> list[BodyEffector]:
    """The effectors of the list over frames (F,), those without a bone left out."""
    listed = []
    for index, item in enumerate(read(armature, "lookat_pd_ik_body").effectors):
        if not item.bone:
            continue
        target = None
        if item.target is not None:
            target = Target(item.target, item.subtarget if item.target.type == "ARMATURE" else "")
        pole = None if item.pole is None else Target(item.pole)
        chosen = values(item, EffectorFollowing) | {"weight": _weights(armature, index, frames)}
        listed.append(BodyEffector(item.bone, target, pole=pole, **chosen))
    return listed


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
    return BodyTuning(**values(read(armature, "lookat_pd_ik_body"), BodySolving))


register, unregister = registration(
    (IKEffector, IKBody),
    (bpy.types.Object, "lookat_pd_ik_body", _own.pointer(IKBody, "Look-at PD Effectors")),
    then=(saved_settings,),
)
