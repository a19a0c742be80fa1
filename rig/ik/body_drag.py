"""Dragging one effector of a body while the others hold: the objectives, solver and controls of the bake, at one frame.

Each solve starts from the initial pose, so that the result does not depend on the path of the mouse.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.progress import drain
from ...lookat_pd.rotation import Array
from ..animation.bake_options import BakeOptions
from ..animation.outside_controls import OutsideControl
from ..controls.changes import AnimatedChannels, Changes
from ..controls.kept_probe import RigState
from ..controls.pose_writer import PoseWriter
from ..controls.realize import Tolerance, realize
from ..detection import limb_controls
from ..layers import layer
from ..sampling.outside_samples import OutsideRecord
from ..sampling.sampler import Samples, ShownPose, seen_from
from ..sampling.targets import Target, world_matrix
from . import body_errors, body_settings, body_work
from .body import BodyEffector
from .body_controls import BodyControls
from .body_errors import Objectives
from .body_goals import BodyTuning
from .body_on_controls import BodyOnControls
from .chain_bake import axes_of, from_armature
from .chain_solve import IKTuning
from .drag_session import DragSession, checked_place

_CORRECTIONS, _CORRECTIONS_OF_HEELS = 1, 5
"""How often the pose of controls is corrected at most at each step of the mouse, and where there are heels."""
_MOST_ITERATIONS = 18
"""Of the solver at each step of the mouse. In reach it needs about ten; near the end of the reach, the rest changes
millimetres and is solved at the end of the drag."""


@dataclass(frozen=True)
class DraggedBody:
    """The effectors of a drag, the dragged one first; the others are held."""

    effectors: tuple[BodyEffector, ...]
    aim: Target | None = None
    """What the dragged one points at."""


def effectors_of(
    armature: bpy.types.Object, bone: str, frame: float, *, at_tip: bool, keeps: bool
) -> DraggedBody | None:
    """The effectors of a drag of `bone`: the list, and pinned bones; None if the list is empty. keeps: whether a bone
    that is not in the list keeps its orientation."""
    listed = body_settings.effectors(armature, np.array([frame]))
    if not listed:
        return None
    control = limb_controls.control_of(armature, bone)
    own = next((item for item in listed if limb_controls.control_of(armature, item.bone) == control), None)
    held = [item for item in listed if item is not own]
    names = {limb_controls.control_of(armature, item.bone) for item in held} | {control}
    feet = body_settings.feet(armature)
    for pinned in armature.pose.bones:
        name = limb_controls.control_of(armature, pinned.name) if pinned.lookat_pd_ik_pin else ""
        if name and name not in names:
            names.add(name)
            held.append(BodyEffector(pinned.name, priority="HIGH" if name in feet else "NORMAL"))
    if own is None:
        own = BodyEffector(bone, orientation="KEEP" if keeps else "FREE")
    aim = own.target if own.orientation == "AIM" else None
    orientation = "KEEP" if own.keeps_orientation or own.orientation == "TARGET" else "FREE"
    point = Target(point=(0.0, 0.0, 0.0))
    dragged = BodyEffector(bone, point, orientation=orientation, priority=own.priority, tip=at_tip, pole=own.pole)
    return DraggedBody((dragged, *held), aim)


class BodyDrag(DragSession):
    """A bone that is dragged while other effectors are held. held_error: the largest distance of
    those with their whole weight from where they should be, in the world. unbalanced: distance of the centre of mass
    from the support polygon in the world, 0 without a balance."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        view_layer: bpy.types.ViewLayer,
        armature: bpy.types.Object,
        dragged: DraggedBody,
        *,
        tuning: IKTuning,
        body_tuning: BodyTuning,
    ) -> None:
        """Raises LookAtError."""
        super().__init__(scene, view_layer, armature, tuning)
        self.held_error, self.unbalanced = 0.0, 0.0
        frame = scene.frame_current
        body_tuning = replace(body_tuning, ease=0.0, iterations=tuning.iterations)
        work = body_work.prepared(scene, armature, dragged.effectors, body_tuning, BakeOptions(frame, frame, "NEW"))
        turned = set(work.body.joints)
        if not turned.isdisjoint(layer.adding(armature)):
            work.body = replace(work.body, plain=False)
        self._work, self.held = work, len(work.effectors) - 1
        self.asked, self._aim = dragged.effectors[0].bone, dragged.aim
        self._writer = PoseWriter(armature, work.body.outside)
        self._target: Array | None = None
        with self._opened():
            self._begin()

    def _begin(self) -> None:
        work, joint = self._work, self._work.body.effectors[0]
        self._shown = ShownPose(self.scene, self.armature, work.seen)
        self._start = self._look()
        self._seen: Samples | None = self._start
        self._changes = Changes()
        work.check_scale(self._start)
        work.moved_outside()
        self._pose = work.pose(self._start)
        self._channels = AnimatedChannels(self._start, size=self._pose.size)
        self._controls: BodyControls | None = None
        if not work.body.plain:
            self._controls = BodyControls(work.body, self._start, work.ik, self._pose.size)
            self._measure(self._controls)
        self._world = self._start.worlds[0]
        place, lying = self._pose.positions[:, joint], self._pose.rotations[:, joint]
        self._offset = np.zeros(3)
        if work.effectors[0].tip:
            self._offset = work.tip(joint, self._start)[0]
        self._lying = lying[0]
        self.place: Any = from_armature(self._start.worlds, place + rotation.rotate(lying, self._offset))[0]
        limb = next((limb for limb in work.body.limbs if limb.turned[-1] == work.body.joints[joint]), None)
        self.bone = work.body.joints[joint]
        if limb is not None and work.ik[0, work.body.limbs.index(limb)] >= 0.5:
            self.bone = limb.goal
        lengths = np.linalg.norm(self._pose.offsets[0, self._inner(joint)], axis=-1)
        self.reachable_distance = float(lengths.sum()) * self._scale or 1.0

    def _inner(self, joint: int) -> list[int]:
        """The joints from an effector up to the first one."""
        found = []
        while self._work.body.parents[joint] >= 0:
            found.append(joint)
            joint = self._work.body.parents[joint]
        return found

    def _measure(self, controls: BodyControls) -> None:
        """How the controls turn each other: each is turned once, and nothing of it stays."""

        def evaluate(_: int) -> Generator[float, None, Samples]:
            yield 1.0
            return self._look()

        def show(changes: Changes, frames: int) -> None:
            controls.write(self._writer, changes, slice(frames))

        # A drag begins at once where one of the same controls has been before.
        rig = self.armature.evaluated_get(self.view_layer.depsgraph)
        drain(controls.measure(show, evaluate, RigState.of(self.scene, self.armature, rig)))
        self._writer.restore()
        self._look()

    def _look(self) -> Samples:
        """What is shown."""
        self.view_layer.update()
        rig = self.armature.evaluated_get(self.view_layer.depsgraph)
        self._work.ik = self._work.body.influences(rig)[None]
        record = OutsideRecord(self._work.outside, 1)
        record.read(0, self.view_layer.depsgraph)
        samples = record.added_to(self._shown.read(rig))
        samples.targets = np.zeros((len(self._work.followed), 1, 3))
        return samples

    @property
    def outside(self) -> dict[str, OutsideControl]:
        """By name the controls that are no bones of the armature."""
        return self._work.body.outside

    @property
    def bones(self) -> tuple[str, ...]:
        """The bones that are posed."""
        return self._writer.bones

    @property
    def axes(self) -> Array:
        """(3, 3), the local axes of the effector in the world."""
        return rotation.to_matrix(rotation.multiply(rotation.from_matrix(self._world[:3, :3]), self._lying))

    # Moving

    def settle(self) -> None:
        """Solve for the last point with all iterations, as a bake does."""
        most = self._work.tuning.iterations
        if self._target is not None and self.iterations == _MOST_ITERATIONS < most:
            self.move(self._target, iterations=most)

    def move(self, target: Any, *, iterations: int = _MOST_ITERATIONS) -> None:
        """Pose the body so that the effector comes to this point of the world. Raises RigError."""
        self._target = target = checked_place(target)
        began = perf_counter()
        objectives, balance = self._objectives(target)
        solved = self._work.solve(self._pose, objectives, balance, slice(0, 1), iterations)
        self.iterations = int(solved.iterations[0])
        self.seconds, self.unbalanced = perf_counter() - began, float(solved.unbalanced[0]) * self._scale
        errors = solved.errors
        if self._controls is None:
            self._channels.write(self._writer, self._work.changes(self._start, self._pose, solved))
            self.view_layer.update()
        else:
            errors = self._realized(self._controls, objectives, solved)
        self._take_errors(objectives, errors[0])

    def _objectives(self, target: Array) -> tuple[Objectives, ik.Balance | None]:
        samples, depsgraph = self._start, self.view_layer.depsgraph
        followed = self._work.followed
        points, axes = np.array([target] * len(followed)), np.tile(np.eye(3), (len(followed), 1, 1, 1))
        for n, item in enumerate(followed):
            if item.object is not None:
                points[n], axes[n, 0] = _place_of(item, depsgraph), axes_of(item.object, item.bone, depsgraph)
            elif n:
                points[n] = item.point or (0.0, 0.0, 0.0)
        samples.targets = seen_from(samples.worlds, points[:, None])
        objectives, balance = self._work.objectives_of(samples, self._pose, axes)
        if self._aim is not None:
            place = self._aim.point if self._aim.object is None else _place_of(self._aim, depsgraph)
            seen = seen_from(samples.worlds, np.array([[place]], dtype=float))[0]
            body = self._work.body
            objectives = [*objectives, (0, ik.BodyAim(body.effectors[0], seen, body.aims[0]))]
        return objectives, balance

    def _realized(self, controls: BodyControls, objectives: Objectives, solved: ik.BodySolution) -> Array:
        """Put the pose on the controls and correct it by what is evaluated; returns the errors (1, objectives)."""
        on_controls = _DraggedBody(self, controls, objectives, solved)
        corrections = _CORRECTIONS_OF_HEELS if self._work.body.has_heels else _CORRECTIONS
        # From what is shown: the mouse has hardly moved since.
        first = on_controls.first(self._changes, self._seen or self._look())
        drain(realize(on_controls, first, Tolerance(body_errors.AS_SOLVED, corrections)))
        return on_controls.errors

    def _take_errors(self, objectives: Objectives, errors: Array) -> None:
        self.error, self.held_error = 0.0, 0.0
        for (k, objective), error in zip(objectives, errors.tolist(), strict=True):
            if isinstance(objective, ik.BodyPosition):
                if k == 0:
                    self.error = error * self._scale
                elif np.all(np.asarray(objective.weight) >= 1.0):
                    self.held_error = max(self.held_error, error * self._scale)

    # The end

    def _put_back(self) -> None:
        self._writer.restore()

    def keep(self) -> bool:
        self.settle()
        return super().keep()

    def _keyed(self) -> Iterator[tuple[bpy.types.Object, list[str], list[str]]]:
        return self._writer.changed()


class _DraggedBody(BodyOnControls):
    """A body posed for one point. Poses are ranked by how much worse than solved they are."""

    def __init__(self, drag: BodyDrag, controls: BodyControls, objectives: Objectives, solved: ik.BodySolution) -> None:
        super().__init__(drag._work, controls, objectives, drag._pose, solved)
        self._drag = drag

    def write(self, values: Changes) -> None:
        self._drag._changes, self._drag._seen = values, None
        self.controls.write(self._drag._writer, values)

    def evaluate(self) -> Generator[float, None, Samples]:
        yield 1.0
        self._drag._seen = self._drag._look()
        return self._drag._seen

    def compare(self, seen: Samples) -> Array:
        return self.excess(seen, self.worse)


def _place_of(target: Target, depsgraph: bpy.types.Depsgraph) -> Array:
    """The place (3,) of an object or its bone in the world."""
    assert target.object is not None
    seen = target.object.evaluated_get(depsgraph)
    return np.array(world_matrix(seen, target.bone).translation)
