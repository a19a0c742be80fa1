"""Arms and legs that switch between IK and FK on any rig with controls, read from constraints and drivers.

Each bone of such a limb copies two others: an FK control and a bone that inverse kinematics poses. A driver on the
influence of a copying constraint chooses between them. Or inverse kinematics poses the FK controls themselves, as far
as its own influence says; what it reaches for may then be an object, or a bone of another armature.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..animation import data_paths, outside_controls
from ..animation.outside_controls import OutsideControl
from ..sampling.posed_bones import posed_bones

_TURNING = ("COPY_TRANSFORMS", "COPY_ROTATION")
_SWITCHED = 0.5
"""Influence of IK from which on the IK control moves a limb."""
_PARTS = 3
"""Bones of a limb that switch: two and the hand or foot."""


@dataclass(frozen=True)
class LimbControls:
    """A limb that either its FK controls turn or its IK control moves."""

    shown: tuple[str, ...]
    """Its bones from the body outwards, which have the pose of whichever is in use."""
    turned: tuple[str, ...]
    """The FK control of each."""
    goal: str
    """The IK control of the last."""
    moved: str
    """The bone that has the pose of the last in IK; both may be names of outside controls."""
    switch: tuple[str, str]
    """Names of a bone and of its constraint, whose influence is 1 for IK and 0 for FK."""
    inverted: bool = False
    """Whether it is 1 for FK."""
    posed: tuple[str, ...] = ()
    """The bone that has the pose of each in IK, the last one `moved`; () where that is not known."""
    direct: bool = False
    """Whether inverse kinematics poses the FK controls themselves."""
    turning: tuple[str, ...] = ()
    """Names of the constraints by which the last of these then takes the rotation of `moved`, none where it keeps its
    own."""
    heel: str = ""
    """A control that turns `moved` about the place of the IK control, which itself turns it in part only, as in a paw;
    "" if there is none."""

    @property
    def turner(self) -> str:
        """The control that turns the last bone in IK."""
        return self.heel or self.goal

    @property
    def turns_end(self) -> bool:
        """Whether the IK control turns the last bone."""
        return not self.direct or bool(self.turning)

    def influence(self, rig: bpy.types.Object) -> float:
        """The influence of IK, 0 to 1, on an evaluated rig."""
        constraint = rig.pose.bones[self.switch[0]].constraints[self.switch[1]]
        value = 0.0 if constraint.mute else constraint.influence
        return float(1.0 - value if self.inverted else value)

    def is_in_ik(self, rig: bpy.types.Object) -> bool:
        """Whether the IK control moves it on an evaluated rig."""
        return self.influence(rig) >= _SWITCHED


@dataclass(frozen=True)
class Solver:
    """An IK constraint."""

    owner: str
    """The bone that has it."""
    bones: tuple[str, ...]
    """Those that it poses, the end of the chain first."""
    target: str
    pole: str
    """`target`, `pole`: bones of the same armature, or names of outside controls; no pole is ""."""
    constraint: bpy.types.Constraint


@dataclass(frozen=True)
class _Copy:
    """A constraint that gives a bone the rotation of another one."""

    constraint: str
    source: str
    driven: bool
    whole: bool


class RigCopies:
    """Which bones of an armature copy which, and which bones its inverse kinematics poses."""

    def __init__(self, armature: bpy.types.Object) -> None:
        self.armature = armature
        driven = set(_driven(armature))
        self.copies: dict[str, list[_Copy]] = {}
        """By bone."""
        self.outside: dict[str, list[_Copy]] = {}
        """By bone what it copies of outside controls."""
        for bone in armature.pose.bones:
            for constraint in bone.constraints:
                source = _copied(constraint, armature)
                if source:
                    by_driver = (bone.name, constraint.name) in driven
                    whole = not by_driver and constraint.influence >= 1.0
                    copies = self.copies if source in armature.pose.bones else self.outside
                    copies.setdefault(bone.name, []).append(_Copy(constraint.name, source, by_driver, whole))
        self.solvers = list(solvers(armature))

    @property
    def switches(self) -> bool:
        """Whether a driver chooses what a bone copies."""
        return any(copy.driven for copies in self.copies.values() for copy in copies)

    def source(self, bone: str) -> str:
        """The bone whose rotation a bone has at the end of all copying, itself where it copies none as a whole."""
        seen: set[str] = set()
        while bone not in seen:
            seen.add(bone)
            copies = self.copies.get(bone, ())
            if len(copies) != 1 or not copies[0].whole:
                break
            bone = copies[0].source
        return bone

    def limb(self, line: Sequence[str]) -> LimbControls | None:
        """The controls of a limb, given as the bones of the body from the upper one on; None if it does not switch."""
        if len(line) < _PARTS:
            return None
        return self._copying(line) or self._direct(line)

    def _copies_of(self, bone: str) -> list[_Copy]:
        return [*self.copies.get(bone, ()), *self.outside.get(bone, ())]

    def _direct(self, line: Sequence[str]) -> LimbControls | None:
        """A limb whose FK controls inverse kinematics poses."""
        shown = tuple(line[:_PARTS])
        upper, lower = (self.source(name) for name in shown[:2])
        solver = next((s for s in self.solvers if {upper, lower} <= set(s.bones) and s.target not in s.bones), None)
        if upper == lower or solver is None:
            return None
        goal = self._goal(solver.target, solver.target, upper)
        if not goal:
            return None
        moving = {goal}
        if goal in self.armature.pose.bones:
            moving |= {bone.name for bone in self.armature.pose.bones[goal].children_recursive}
        end = shown[-1]
        while len(own := self.copies.get(end, ())) == 1 and own[0].whole and own[0].source not in moving:
            end = own[0].source
        if end in solver.bones or end in moving or not self._hangs_on(end, {solver.bones[0]}):
            return None
        turning = [copy for copy in self._copies_of(end) if copy.source in moving]
        moved = turning[-1].source if turning else solver.target
        switch = (solver.owner, solver.constraint.name)
        names, turned = tuple(copy.constraint for copy in turning), (upper, lower, end)
        return LimbControls(shown, turned, goal, moved, switch, posed=turned, direct=True, turning=names)

    def _copying(self, line: Sequence[str]) -> LimbControls | None:
        """A limb that copies FK controls and bones that inverse kinematics poses."""
        shown = tuple(line[:_PARTS])
        if not all(any(c.driven for c in self._copies_of(name)) for name in shown):
            return None
        chosen: list[tuple[_Copy, _Copy]] = []
        solver = None
        for name in shown[:-1]:
            pair = self._pair(name)
            if pair is None:
                return None
            fk, ik, solver = pair
            chosen.append((fk, ik))
        assert solver is not None
        last = self._copies_of(shown[-1])
        below = {self.source(fk.source) for fk, _ in chosen}
        fk_ends = [copy for copy in last if self._hangs_on(self.source(copy.source), below)]
        ik_ends = [copy for copy in last if copy not in fk_ends]
        if len(fk_ends) != 1 or len(ik_ends) != 1:
            return None
        chosen.append((fk_ends[0], ik_ends[0]))
        turned = [self.source(fk.source) for fk, _ in chosen]
        posed = [ik.source for _, ik in chosen]
        goal = self._goal(solver.target, posed[-1], shown[0])
        fk, ik = chosen[-1]
        if not goal or len(set(turned)) < _PARTS or not (ik.driven or fk.driven):
            return None
        switch = (shown[-1], ik.constraint if ik.driven else fk.constraint)
        return LimbControls(shown, tuple(turned), goal, posed[-1], switch, not ik.driven, tuple(posed))

    def _pair(self, name: str) -> tuple[_Copy, _Copy, Solver] | None:
        """What a bone copies in FK and in IK, and what poses the latter."""
        copies: list[tuple[_Copy, Solver]] = []
        others: list[_Copy] = []
        for copy in self.copies.get(name, ()):
            solver = next((item for item in self.solvers if self.source(copy.source) in item.bones), None)
            if solver is None:
                others.append(copy)
            else:
                copies.append((copy, solver))
        if len(copies) != 1 or len(others) != 1:
            return None
        return others[0], *copies[0]

    def _goal(self, target: str, moved: str, upper: str) -> str:
        """The control that moves the target of a limb's inverse kinematics and what the last bone copies; "" if there
        is none. Of several, one above the other, those with a shape are controls, and the first of all moves most."""
        bones = self.armature.pose.bones
        if target not in bones:
            # What moves other limbs as well is no control of this one.
            lines = [{*solver.bones} for solver in self.solvers if solver.target == target]
            shared = any(lines[0].isdisjoint(line) for line in lines[1:])
            return target if moved == target and not shared else ""
        apart = {bone.name for bone in bones[upper].parent_recursive}
        for solver in self.solvers:
            other = solver.target != target and target not in solver.bones and moved not in solver.bones
            if other and solver.target in bones:
                # The same.
                apart |= {*self._line(solver.target)} - {target, moved}
        both = [name for name in self._line(target) if name in self._line(moved) and name not in apart]
        free = [name for name in both if name not in self.copies and not all(bones[name].lock_location)]
        shaped = [name for name in free if bones[name].custom_shape is not None]
        return next(reversed(shaped or free), "")

    def control_of_target(self, target: str, upper: str) -> str:
        """The control that moves the target of inverse kinematics whose chain begins with the bone `upper`; "" if there
        is none."""
        return self._goal(target, target, upper)

    def _line(self, bone: str) -> list[str]:
        """A bone and its ancestors; an outside control has none."""
        here = self.armature.pose.bones.get(bone)
        return [bone] if here is None else [bone, *(above.name for above in here.parent_recursive)]

    def _hangs_on(self, bone: str, others: set[str]) -> bool:
        return bool(others & set(self._line(bone)))


def outside_of(armature: bpy.types.Object, bone: str) -> dict[str, OutsideControl]:
    """By name the outside controls to which inverse kinematics that poses a bone reaches and bends."""
    constraints = [item.constraint for item in solvers(armature) if bone in item.bones]
    places = [place for c in constraints for place in ((c.target, c.subtarget), (c.pole_target, c.pole_subtarget))]
    outside = (
        OutsideControl(target, subtarget, name=outside_controls.name_of(armature, target, subtarget))
        for target, subtarget in places
        if _is_outside(armature, target, subtarget)
    )
    return {control.name: control for control in outside}


def content(armature: bpy.types.Object) -> tuple[object, ...]:
    """What the controls of an armature depend on: the same where they are the same."""
    bones = armature.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    data = armature.animation_data
    copies = tuple(
        (bone.name, item.name, item.mute, _named(armature, item.target, item.subtarget), _round(item.influence))
        for bone in armature.pose.bones
        for item in bone.constraints
        if item.type in _TURNING
    )
    chains = tuple(
        (
            *(bone.name, item.name, item.mute, item.chain_count, item.use_tail),
            _named(armature, item.target, item.subtarget),
            _named(armature, item.pole_target, item.pole_subtarget),
        )
        for bone in armature.pose.bones
        for item in bone.constraints
        if item.type == "IK"
    )
    drivers = tuple(curve.data_path for curve in data.drivers) if data is not None else ()
    return armature.session_uid, tuple(bones.keys()), matrices.tobytes(), copies, chains, drivers


def solvers(armature: bpy.types.Object) -> Iterator[Solver]:
    """The inverse kinematics of an armature that has a target."""
    for owner in armature.pose.bones:
        for constraint in owner.constraints:
            if constraint.type != "IK" or constraint.mute:
                continue
            target = _named(armature, constraint.target, constraint.subtarget)
            if target:
                pole = _named(armature, constraint.pole_target, constraint.pole_subtarget)
                bones_of = tuple(posed_bones(owner, constraint))
                yield Solver(owner.name, bones_of, target, pole, constraint)


def _named(armature: bpy.types.Object, target: bpy.types.Object | None, subtarget: str) -> str:
    """What a constraint of a bone follows, as a bone of the armature or the name of an outside control; "" for none."""
    if _is_outside(armature, target, subtarget):
        return outside_controls.name_of(armature, target, subtarget)
    return subtarget if target == armature and subtarget in armature.pose.bones else ""


def _is_outside(armature: bpy.types.Object, target: bpy.types.Object | None, subtarget: str) -> bool:
    """Whether that is another object, or a bone of another armature."""
    if target is None or target == armature:
        return False
    if target.type == "ARMATURE":
        return subtarget in target.pose.bones
    return not subtarget


def _round(influence: float) -> float:
    """Influences of constraints that are neither without an effect nor whole are alike."""
    return influence if influence in (0.0, 1.0) else 0.5


def _driven(armature: bpy.types.Object) -> Iterator[tuple[str, str]]:
    """Bones and constraints whose influence has a driver."""
    data = armature.animation_data
    for curve in data.drivers if data is not None else ():
        bone, constraint, setting = data_paths.split_constraint(curve.data_path)
        if setting == "influence":
            yield bone, constraint


def _copied(constraint: bpy.types.Constraint, armature: bpy.types.Object) -> str:
    """The bone or outside control that a constraint copies; "" if it copies none."""
    if constraint.type not in _TURNING or constraint.mute or constraint.mix_mode != "REPLACE":
        return ""
    return _named(armature, constraint.target, constraint.subtarget)
