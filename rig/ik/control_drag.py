"""Dragging a bone of a rig with controls: what is clicked leads to what moves it.

A limb in FK is dragged by its FK controls. In IK its IK control is moved, and the rig's own inverse kinematics poses
the limb.
"""

from collections.abc import Generator
from contextlib import suppress
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import ik
from ...lookat_pd.errors import LookAtError, RigError
from ...lookat_pd.progress import drain
from ...lookat_pd.rotation import Array
from ..controls.realize import Correction, Realization, Tolerance, realize
from ..detection import limb_controls, limbs, other_ik
from ..detection.limb_controls import LimbControls
from . import body_drag, drag
from .body_drag import BodyDrag
from .chain_solve import IKTuning
from .drag_session import DragSession, checked_place
from .grip import Grip

_CORRECTIONS = 2
_SWITCHED = 0.5
"""Influence of inverse kinematics from which on its target is dragged."""
_GOOD_ENOUGH = 1e-5
"""Largest error of a control, as a fraction of the length of its limb."""
_BEYOND, _LONGER = 1.2, 1.1
"""Where a control is put to see whether the rig stretches its limb, and how much longer the bones then are at least."""


def moved_by(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str) -> tuple[str, LimbControls | None]:
    """The bone to drag instead of a clicked one, or itself; and its limb, if that is in IK. Raises RigError."""
    _check_moves(view_layer, armature, bone)
    for limb in limb_controls.find(armature):
        control = limb_controls.control_of(armature, bone)
        if control not in limb.turned:
            continue
        if not _is_in_ik(view_layer, armature, limb):
            return control, None
        if limb.direct and limb.goal not in armature.pose.bones:
            # The bone leads to the outside control.
            return bone, None
        if control == limb.turned[-1]:
            return limb.goal, limb
        raise RigError(
            "Bone '{bone}' is posed by the IK control '{goal}'; drag that control, or set IK-FK of the limb to 1.",
            bone=bone,
            goal=limb.goal,
        )
    if limb_controls.is_mechanism(armature, bone):
        return limb_controls.control_of(armature, bone) or bone, None
    return bone, None


def offered_state(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str) -> str:
    """The state, "FK" or "IK", that the limb of a bone is not in now and can be switched to; "" if it has none."""
    control = limb_controls.control_of(armature, bone)
    for limb in limb_controls.find(armature):
        if control in limb.turned or bone in limb_controls.poles_of(armature, limb):
            return "FK" if _is_in_ik(view_layer, armature, limb) else "IK"
    return ""


def _is_in_ik(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, limb: LimbControls) -> bool:
    """Whether the IK control of a limb moves it now."""
    return limb.is_in_ik(armature.evaluated_get(view_layer.depsgraph))


def _check_moves(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str) -> None:
    """Raise RigError if a drag of a bone would move something else than that bone, or nothing that is seen."""
    if limb_controls.holds_properties(armature, bone):
        end = _nearest_end(view_layer, armature, bone)
        if not end:
            raise RigError(
                "Bone '{bone}' only holds properties and moves nothing; drag a bone that deforms the mesh.", bone=bone
            )
        raise RigError(
            "Bone '{bone}' only holds properties and moves nothing; drag '{goal}' to move the limb.",
            bone=bone,
            goal=end,
        )
    above = {item.name for item in armature.pose.bones[bone].parent_recursive}
    for limb in limb_controls.find(armature):
        goal = _end_of(view_layer, armature, limb)
        if bone in limb_controls.poles_of(armature, limb):
            raise RigError(
                "Bone '{bone}' is a pole and has no chain; move it with G, or drag '{goal}' to move the limb.",
                bone=bone,
                goal=goal,
            )
        if goal == limb.goal and limb.turned[-1] in above:
            raise RigError(
                "Bone '{bone}' moves nothing while the limb is in IK; drag '{goal}', or set IK-FK of the limb to 1.",
                bone=bone,
                goal=goal,
            )


def _end_of(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, limb: LimbControls) -> str:
    """The control of the end of a limb that is in use, a bone of the armature."""
    own = limb.goal in armature.pose.bones
    return limb.goal if own and _is_in_ik(view_layer, armature, limb) else limb.turned[-1]


def _nearest_end(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str) -> str:
    """What drags the end of the arm or leg that starts nearest to a bone in the rest pose; "" if there is none."""
    lines: list[list[str]] = []
    with suppress(LookAtError):
        arms, legs = limbs.limb_lines(armature)
        lines = [line for line in (*arms, *legs) if len(line) > 2]
    if not lines:
        return ""
    bones = armature.data.bones
    place = bones[bone].head_local
    line = min(lines, key=lambda line: (bones[line[0]].head_local - place).length)
    switched = next((limb for limb in limb_controls.find(armature) if limb.turned[0] == line[0]), None)
    return _end_of(view_layer, armature, switched) if switched is not None else line[2]


def begin(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str, **settings: Any
) -> DragSession:
    """The drag of what moves `bone`. settings: as for `ChainDrag`, but with a function `extent` that gives the
    arguments for the chain of a bone, and `body`, the settings of a body whose other effectors are held, or None.
    Raises LookAtError."""
    extent, body = settings.pop("extent"), settings.pop("body", None)
    name, limb = moved_by(view_layer, armature, bone)
    frame, at_tip = scene.frame_current_final, settings["at_tip"]
    dragged = body_drag.effectors_of(armature, bone, frame, at_tip=at_tip, keeps=settings["keeps"])
    session: DragSession
    if dragged is not None and body is not None:
        session = BodyDrag(scene, view_layer, armature, dragged, tuning=settings["tuning"], body_tuning=body)
    elif (grip := _grip(view_layer, armature, name, limb)) is not None:
        session = ControlDrag(scene, view_layer, armature, grip, tuning=settings["tuning"])
    else:
        bones = _free(armature, name, extent(name), at_tip=at_tip)
        session = drag.ChainDrag(scene, view_layer, armature, name, **bones, **settings)
    session.asked = bone
    return session


def _grip(
    view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str, limb: LimbControls | None
) -> Grip | None:
    """What moves a bone that inverse kinematics poses, `limb` or another one; None if none does. Raises RigError."""
    if limb is not None:
        return Grip.of_limb(armature, limb)
    other = other_ik.of(armature, [bone])
    if other is None or other.influence(armature.evaluated_get(view_layer.depsgraph)) < _SWITCHED:
        return None
    grip = Grip.of_other(armature, other)
    if bone != grip.end:
        raise RigError(
            "Bone '{bone}' is posed by inverse kinematics; drag '{end}', which moves '{target}'.",
            bone=bone,
            end=grip.end,
            target=grip.label,
        )
    return grip


def _free(armature: bpy.types.Object, bone: str, extent: dict[str, Any], *, at_tip: bool) -> dict[str, Any]:
    """The arguments for the chain of a bone, without bones that copy a control of theirs and so do not turn. Raises
    RigError if too few are left."""
    if limb_controls.is_generated(armature):
        return extent
    line = [bone, *(above.name for above in armature.pose.bones[bone].parent_recursive)][0 if at_tip else 1 :]
    controls = limb_controls.controls_of(armature, line)
    count = next((n for n, name in enumerate(line) if controls[name] != name), len(line))
    base = extent.get("base", "")
    wanted = line.index(base) + 1 if base in line else extent.get("length") or len(line)
    if wanted <= count:
        return extent
    if count < 2:
        raise RigError(
            "Bone '{bone}' cannot be dragged, because '{other}' above it copies '{control}'; drag a bone further down, "
            "or turn '{bone}' with R.",
            bone=bone,
            other=line[count],
            control=controls[line[count]],
        )
    return {"length": count}


class ControlDrag(DragSession):
    """The target of inverse kinematics that is dragged; no bone is turned."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        view_layer: bpy.types.ViewLayer,
        armature: bpy.types.Object,
        grip: Grip,
        *,
        tuning: IKTuning,
    ) -> None:
        """Raises LookAtError."""
        super().__init__(scene, view_layer, armature, tuning)
        self.grip, self.bone, self.asked = grip, grip.label, grip.label
        self.bones = (grip.bone,) if grip.bone else ()
        grip.check()
        self._before = tuple(grip.item.location)
        with self._opened():
            view_layer.update()
            self.place: Any = self._seen(grip.end)
            heads = [self._seen(name, at_tip=False) for name in grip.line]
            heads += [self.place] if grip.at_tip else []
            self.reachable_distance = float(np.linalg.norm(np.diff(heads, axis=0), axis=-1).sum())
            self._base, self._moved_before = heads[0], self._seen(grip.moved)
            self._length_before = self._bone_length()
            self._stretches: bool | None = None

    def _seen(self, bone: str, *, at_tip: bool | None = None) -> Array:
        """The head (3,) of an evaluated bone in the world, or its tip."""
        seen = self.armature.evaluated_get(self.view_layer.depsgraph)
        at_tip = self.grip.at_tip if at_tip is None else at_tip
        return np.array(seen.matrix_world @ (seen.pose.bones[bone].tail if at_tip else seen.pose.bones[bone].head))

    @property
    def axes(self) -> Array:
        """(3, 3), the local axes of the control in the world."""
        matrix = self.grip.orientation(self.view_layer.depsgraph)
        return matrix / np.linalg.norm(matrix, axis=0)

    def move(self, target: Any) -> None:
        """Move the control so that the end of the limb comes to this point of the world. Raises RigError."""
        target, began = checked_place(target), perf_counter()
        self.iterations = self._put(self._softened(target))
        self.error = float(np.linalg.norm(target - self._seen(self.grip.end)))
        self.seconds = perf_counter() - began

    def _put(self, place: Array) -> int:
        """Put the control so that what follows it is at this point of the world; returns the evaluations."""
        dragged, tolerance = (
            _DraggedControl(self, place),
            Tolerance(_GOOD_ENOUGH * self.reachable_distance, _CORRECTIONS),
        )
        if np.linalg.norm(place - self._seen(self.grip.moved)) <= tolerance.error:
            return 0
        # From the initial place: where a constraint stops what follows, that says nothing about the control.
        first = dragged.nearer(np.array(self._before), place - self._moved_before)
        evaluations = drain(realize(dragged, first, tolerance)).evaluations
        self.view_layer.update()
        return evaluations

    def _bone_length(self) -> float:
        """The length of the bones of the limb together."""
        bones = self.grip.line if self.grip.at_tip else self.grip.line[:-1]
        away = [self._seen(name, at_tip=True) - self._seen(name, at_tip=False) for name in bones]
        return float(np.linalg.norm(away, axis=-1).sum())

    def _softened(self, target: Array) -> Array:
        """The point of the world to which the limb goes softly instead of this one."""
        soft = ik.soft_goal(
            target, self._base, self.reachable_distance, softness=self.tuning.soft_reach, initial=self.place
        )
        if len(self.grip.line) + self.grip.at_tip < 3 or np.array_equal(soft, target):
            return target
        if self._stretches is None:
            # A limb that the rig makes longer has no end of its reach.
            away = target - self._base
            self._put(self._base + _BEYOND * self.reachable_distance * away / np.linalg.norm(away))
            self._stretches = self._bone_length() > _LONGER * self._length_before
        return target if self._stretches else soft

    def _put_back(self) -> None:
        self.grip.item.location = self._before

    def _keyed(self) -> list[tuple[bpy.types.Object, list[str], list[str]]]:
        return [(self.grip.owner, [], [self.grip.bone])]


class _DraggedControl(Realization[Array, Array]):
    """A location of the control for one point of the world; seen: what is missing (3,) to that."""

    def __init__(self, session: ControlDrag, target: Array) -> None:
        self._session, self._target = session, target

    def nearer(self, location: Array, away: Array) -> Array:
        """The location from which the end does not lie away (3,) from the point."""
        grip = self._session.grip
        move = np.linalg.solve(grip.frame(self._session.view_layer.depsgraph), away)
        return np.where(grip.item.lock_location, location, location + move)

    def write(self, values: Array) -> None:
        self._session.grip.item.location = values

    def evaluate(self) -> Generator[float, None, Array]:
        self._session.view_layer.update()
        yield 1.0
        return self._target - self._session._seen(self._session.grip.moved)

    def compare(self, seen: Array) -> Array:
        return np.linalg.norm(seen, keepdims=True)

    def correct(self, values: Array, seen: Array) -> Generator[float, None, Correction[Array]]:
        yield 1.0
        return Correction(self.nearer(values, seen))


def moved_item(session: DragSession) -> tuple[bpy.types.Object, str]:
    """The object and its bone that a drag moves, "" for the object itself."""
    if isinstance(session, ControlDrag):
        return session.grip.owner, session.grip.bone
    if isinstance(session, BodyDrag) and session.bone in session.outside:
        control = session.outside[session.bone]
        return control.object, control.bone
    return session.armature, session.bone
