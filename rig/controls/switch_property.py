"""The numbers that switch a limb between IK and FK: custom properties or locations of bones and objects that drive the
influence of constraints, or that influence itself."""

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, channels, data_paths, editable
from ..detection.limb_controls import LimbControls

STATES = {"FK": 0.0, "IK": 1.0}
"""Influence of IK in each state."""
_HELD = 1e-6
"""Influence of IK from which it poses a limb."""
_LOCATION = re.compile(r"(?:^|\.)location(?:\[([0-2])\]|\.([xyz]))$")
_AXES = "xyz"
_OPERATIONS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class SwitchProperty:
    """A number that is keyed to switch a limb."""

    owner: bpy.types.ID
    """The armature, its data, or another object."""
    bone: str
    """The pose bone that has it, "" for none."""
    path: str
    """Data path from the bone or owner on."""
    fk: float
    """Its value in FK."""
    ik: float
    """Its value in IK."""
    index: int = -1
    """Which number of a location it is, -1 for one that stands alone."""

    @property
    def channel(self) -> tuple[str, int]:
        """Path from the owner or bone, and size, of what is keyed."""
        return (self.path, 1) if self.index < 0 else channels.channel(channels.LOCATION)

    @property
    def place(self) -> tuple[bpy.types.ID, str, str]:
        """Of what is keyed."""
        return self.owner, self.bone, self.channel[0]

    @property
    def number_of(self) -> tuple[tuple[bpy.types.ID, str, str], int]:
        """The same, and which number of it the switch is."""
        return self.place, self.index

    @property
    def mode(self) -> str:
        """The same for `BakeTransaction.write`."""
        return self.path if self.index < 0 else channels.LOCATION

    def check(self, into: str) -> None:
        """Raise RigError if keys of it cannot be baked into that destination."""
        editable.check_local(self.owner)
        actions.check(self.owner, into)
        if self.index >= 0:
            actions.check_curves(self.owner, {self.bone: channels.LOCATION}, into)

    def key_values(self, frames: Array) -> Array:
        """What is keyed (F, 1 or 3) as animated over these frames."""
        return animated(self.owner, self.bone, *self.channel, frames)

    def number(self, keyed: Array) -> Array:
        """The switch itself (F, 1) in what is keyed (F, 1 or 3)."""
        return keyed[:, [max(self.index, 0)]]

    def with_number(self, keyed: Array, values: Array) -> Array:
        """What is keyed (F, 1 or 3) with values (F, 1) of the switch."""
        keyed = keyed.copy()
        keyed[:, [max(self.index, 0)]] = values
        return keyed

    def value(self, state: str) -> float:
        """The value in a state."""
        return self.ik if state == "IK" else self.fk

    def animated(self, frames: Array) -> Array:
        """The value (F, 1) over these frames."""
        return self.number(self.key_values(frames))

    def is_in(self, state: str, frames: Array) -> bool:
        """Whether the limb is in a state at all of these frames."""
        return bool(np.all(np.abs(self.animated(frames) - self.value(state)) < _HELD))

    def holds(self, frames: Array) -> bool:
        """Whether inverse kinematics poses the limb at any of these frames."""
        return bool(np.any(np.abs(self.animated(frames) - self.fk) > _HELD))


def of(armature: bpy.types.Object, limb: LimbControls) -> list[SwitchProperty]:
    """All that switch a limb, that of its inverse kinematics first. Raises RigError."""
    switches = [_of_influence(armature, limb, *limb.switch, inverted=limb.inverted)]
    for name in limb.turning:
        switches.append(_of_influence(armature, limb, limb.turned[-1], name, inverted=False))
    return list(dict.fromkeys(switches))


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
    place = _place(armature, variables[0]) if len(variables) == 1 else None
    if place is None or line is None:
        raise RigError(
            "IK-FK of '{bone}' is driven by nothing that could be keyed for a state; drive it in proportion by one "
            "custom property, or by one local location, of a bone or an object, or key the switch and the controls by "
            "hand.",
            bone=limb.goal,
        )
    owner, name, rest, index = place
    fk, ik = ((value - line[0]) / line[1] for value in (fk, ik))
    return SwitchProperty(owner, name, rest, fk, ik, index)


def _place(armature: bpy.types.Object, variable: bpy.types.DriverVariable) -> tuple[bpy.types.ID, str, str, int] | None:
    """Owner, bone, path and index of the number that a driver reads; None if it is not one that can be keyed."""
    target = variable.targets[0]
    if variable.type == "TRANSFORMS":
        return _slider(target)
    owner, path = target.id, target.data_path
    if variable.type != "SINGLE_PROP" or owner is None:
        return None
    if owner == armature and path.startswith(("data[", "data.")):
        owner, path = armature.data, path.removeprefix("data").removeprefix(".")
    bone, rest = data_paths.split_bone(path) if isinstance(owner, bpy.types.Object) else ("", path)
    location = _LOCATION.fullmatch(rest)
    if location and isinstance(owner, bpy.types.Object):
        return owner, bone, rest, int(location[1]) if location[1] else _AXES.index(location[2])
    if not isinstance(owner, bpy.types.Object | bpy.types.Armature) or not data_paths.split_key(path)[1]:
        return None
    try:
        value = owner.path_resolve(path)
    except ValueError:
        return None
    return (owner, bone, rest, -1) if isinstance(value, bool | int | float) else None


def _slider(target: bpy.types.DriverTarget) -> tuple[bpy.types.ID, str, str, int] | None:
    """The same for a location in local space, of what only its own channels move."""
    owner, bone = target.id, target.bone_target
    if owner is None or not target.transform_type.startswith("LOC_") or target.transform_space != "LOCAL_SPACE":
        return None
    item = owner.pose.bones.get(bone) if bone else owner
    if item is None or any(not constraint.mute for constraint in item.constraints):
        return None
    axis = target.transform_type[-1].lower()
    return owner, bone, f"location.{axis}", _AXES.index(axis)


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
    still, values = np.atleast_1d(np.array(owner.path_resolve(path), dtype=float)), np.empty((len(frames), size))
    action = data.action if data is not None else None
    curves = actions.curves_at(action, data.action_slot, path, size) if action is not None else [None] * size
    for n, curve in enumerate(curves):
        values[:, n] = still[n]
        if curve is not None and actions.plays(curve):
            values[:, n] = [curve.evaluate(frame) for frame in frames.tolist()]
    return values
