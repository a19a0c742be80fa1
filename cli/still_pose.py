"""Bones that an action leaves alone keep their pose in a .glb too: the exporter would put them back to rest."""

from collections.abc import Iterator

import bpy
import numpy as np

from ..rig.animation import actions, keys
from ..rig.animation.channels import channel
from ..rig.detection import moving_actions

_AT_REST = {"location": (0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0)}
_NO_TURN = {"rotation_quaternion": (1.0, 0.0, 0.0, 0.0), "rotation_euler": (0.0, 0.0, 0.0)}


def hold(armature: bpy.types.Object) -> None:
    """Key, once in every action of the armature, what is posed but not animated by it."""
    posed = list(_posed(armature))
    for action, slot in _played(armature):
        bag = actions.channelbag(action, slot)
        if bag is None:
            continue
        animated = {curve.data_path for curve in bag.fcurves}
        first = np.array([action.curve_frame_range[0]])
        for bone, path, values in posed:
            if path not in animated:
                for index, value in enumerate(values):
                    curve = actions.new_curve(bag, path, index, bone)
                    keys.Keys.dense(first, np.array([value])).write(curve)


def _posed(armature: bpy.types.Object) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    """Bone, data path and value of every transform that is not as at rest."""
    for bone in armature.pose.bones:
        name = channel(bone.rotation_mode)[0]
        turned = _NO_TURN.get(name)
        for prop, rest in {**_AT_REST, **({name: turned} if turned is not None else {})}.items():
            value = tuple(getattr(bone, prop))
            if not np.allclose(value, rest, atol=1e-7):
                yield bone.name, bone.path_from_id(prop), value


def _played(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.Action, bpy.types.ActionSlot]]:
    """Every action that moves the armature's bones: the exporter makes clips of those that nothing plays as well."""
    for action in bpy.data.actions:
        for slot in action.slots:
            if action.is_editable and moving_actions.moves_bones(armature, action, slot):
                yield action, slot
