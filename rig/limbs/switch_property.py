"""The numbers that switch a limb between IK and FK: custom properties of bones, of the armature or of its data that
drive the influence of constraints, or that influence itself."""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, data_paths
from ..detection.limb_controls import LimbControls

STATES = {"FK": 0.0, "IK": 1.0}
"""Influence of IK in each state."""
_HELD = 1e-6
"""Influence of IK from which it poses a limb."""
_OPERATIONS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class SwitchProperty:
    """A number that is keyed to switch a limb. owner: the armature or its data. bone: the pose bone that has it, "" for
    none. path: from there on. fk, ik: its values in both states."""

    owner: bpy.types.ID
    bone: str
    path: str
    fk: float
    ik: float

    def value(self, state: str) -> float:
        """The value in a state."""
        return self.ik if state == "IK" else self.fk

    def animated(self, frames: Array) -> Array:
        """The value (F, 1) over these frames."""
        return animated(self.owner, self.bone, self.path, 1, frames)

    def is_in(self, state: str, frames: Array) -> bool:
        """Whether the limb is in a state at all of these frames."""
        return bool(np.all(np.abs(self.animated(frames) - self.value(state)) < _HELD))

    def holds(self, frames: Array) -> bool:
        """Whether inverse kinematics poses the limb at any of these frames."""
        return bool(np.any(np.abs(self.animated(frames) - self.fk) > _HELD))


def of(armature: bpy.types.Object, limb: LimbControls) -> list[SwitchProperty]:
    """All that switch a limb, that of its inverse kinematics first. Raises RigError."""
    found = [_of_influence(armature, limb, *limb.switch, inverted=limb.inverted)]
    for name in limb.turning:
        found.append(_of_influence(armature, limb, limb.turned[-1], name, inverted=False))
    return list(dict.fromkeys(found))


def is_animated(armature: bpy.types.Object, limb: LimbControls) -> bool:
    """Whether the influence of a limb's inverse kinematics has keys or a driver."""
    data, path = armature.animation_data, f"{data_paths.constraint_path(*limb.switch)}.influence"
    if data is None:
        return False
    curves = actions.curves_at(data.action, data.action_slot, path, 1) if data.action is not None else []
    return any(curve is not None for curve in curves) or data.drivers.find(path) is not None


def _of_influence(
    armature: bpy.types.Object, limb: LimbControls, bone: str, constraint: str, *, inverted: bool
) -> SwitchProperty:
    path = f"{data_paths.constraint_path(bone, constraint)}.influence"
    driven = armature.animation_data and armature.animation_data.drivers.find(path)
    fk, ik = (1.0 - value if inverted else value for value in STATES.values())
    if not driven:
        return SwitchProperty(armature, bone, data_paths.split_bone(path)[1], fk, ik)
    variables, line = driven.driver.variables, _straight_line(driven)
    place = _place(armature, variables[0].targets[0]) if len(variables) == 1 else None
    if place is None or line is None:
        raise RigError(
            "IK-FK of '{bone}' is not driven by one custom property of a bone or of the armature; key the switch and "
            "the controls by hand, or drive it by such a property.",
            bone=limb.goal,
        )
    return SwitchProperty(*place, *((value - line[0]) / line[1] for value in (fk, ik)))


def _place(armature: bpy.types.Object, target: bpy.types.DriverTarget) -> tuple[bpy.types.ID, str, str] | None:
    """Owner, bone and path of the custom property that a driver reads; None if it is none of the armature."""
    owner, path = target.id, target.data_path
    if owner == armature and path.startswith(("data[", "data.")):
        owner, path = armature.data, path.removeprefix("data").removeprefix(".")
    if owner not in (armature, armature.data) or not data_paths.split_key(path)[1]:
        return None
    try:
        value = owner.path_resolve(path)
    except ValueError:
        return None
    bone, rest = data_paths.split_bone(path) if owner == armature else ("", path)
    return (owner, bone, rest) if isinstance(value, bool | int | float) else None


def _straight_line(curve: bpy.types.FCurve) -> tuple[float, float] | None:
    """What a driver makes of its only variable at 0, and by how much that grows with it; None if that is no straight
    line."""
    factors = next((list(m.coefficients) for m in curve.modifiers if m.type == "GENERATOR" and not m.mute), [0.0, 1.0])
    if len(factors) != 2 or not curve.driver.variables:
        return None
    driver, at = curve.driver, [0.0, 1.0, 0.5]
    if driver.type == "SCRIPTED":
        try:
            tree = ast.parse(driver.expression.strip(), mode="eval").body
            at = [_computed(tree, {driver.variables[0].name: value}) for value in at]
        except (SyntaxError, ValueError, ZeroDivisionError):
            return None
    elif driver.type not in ("SUM", "AVERAGE"):
        return None
    zero, one, middle = (factors[0] + factors[1] * value for value in at)
    slope = one - zero
    return (zero, slope) if abs(slope) > _HELD and abs(middle - 0.5 * (zero + one)) < _HELD else None


def _computed(node: ast.expr, names: dict[str, float]) -> float:
    """The value of a sum or product of numbers and variables. Raises ValueError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_computed(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_computed(node.left, names), _computed(node.right, names))
    raise ValueError(ast.dump(node))


def animated(owner: bpy.types.ID, bone: str, name: str, size: int, frames: Array) -> Array:
    """The numbers (F, size) of a property of a pose bone, or of the owner itself with "", as its action plays them, or
    as they stand."""
    data = owner.animation_data
    path = f"{data_paths.bone_path(bone)}{'' if name.startswith('[') else '.'}{name}" if bone else name
    still, found = np.atleast_1d(np.array(owner.path_resolve(path), dtype=float)), np.empty((len(frames), size))
    action = data.action if data is not None else None
    curves = actions.curves_at(action, data.action_slot, path, size) if action is not None else [None] * size
    for n, curve in enumerate(curves):
        found[:, n] = still[n]
        if curve is not None and actions.plays(curve):
            found[:, n] = [curve.evaluate(frame) for frame in frames.tolist()]
    return found
