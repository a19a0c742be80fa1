"""What several effectors are to reach at each frame: targets, contacts, bends, and hips that are lowered for them."""

from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.body import legs
from ...lookat_pd.body.contacts import Interval
from ...lookat_pd.errors import RigError
from ...lookat_pd.ik.body_objectives import LOW
from ...lookat_pd.rotation import Array
from ..animation.bake_options import BakeOptions
from ..detection import limbs
from ..feet import contact_plan
from ..feet.contact_plan import Surface
from ..sampling.sampler import Samples, seen_from
from ..sampling.scene_time import seconds_per_frame
from ..sampling.targets import Target, rides_at
from ..settings import default, plain
from . import body as bodies
from . import body_balance, effector_goal, soft_goals
from .body import PRIORITIES, BodyEffector, JointTree
from .body_balance import Weighed
from .body_errors import Objectives
from .body_pose import BodyPose
from .chain_bake import from_armature, in_world
from .settings import BodySolving, ChainSolving

_SOFT = 1.5
"""Largest angular acceleration of a knee whose foot is held, as a factor of the animated one."""


@dataclass(frozen=True)
class BodyTuning(plain(BodySolving)):
    """How a body is solved, with the settings of `BodySolving` under their names."""

    iterations: int = default(ChainSolving, "iterations")
    """Most steps of the solver."""
    still: bool = False
    """Only the limbs of the effectors turn, and the hips are lowered, smoothly and if they may move, where a leg does
    not reach."""


@dataclass
class BodyGoals:
    """The objectives of several effectors over the F frames of a bake or a drag.

    ik: (F, g), influence of IK on each limb, as sampled. intervals: contacts of each effector. touching: (k, F), where
    it has one, with its transitions. rides: (k, F), whether
    what an effector touches moves with the trunk. lowering: (F, 3), how far the first joint is lowered; root: (F, 3),
    where it then is; both in armature space.
    """

    scene: bpy.types.Scene
    body: JointTree
    effectors: tuple[BodyEffector, ...]
    tuning: BodyTuning
    options: BakeOptions
    weighed: Weighed | None
    called: str

    def __post_init__(self) -> None:
        self.frames = np.arange(self.options.first, self.options.last + 1)
        both = [target for effector in self.effectors for target in (effector.target, effector.pole)]
        self.followed = [target for target in both if target is not None]
        count, effectors = len(self.frames), len(self.effectors)
        self.ik = np.zeros((count, len(self.body.limbs)))
        self.intervals: list[tuple[Interval, ...]] = [()] * effectors
        self.rides, self.touching = np.zeros((2, effectors, count), dtype=bool)
        self.slipped = np.zeros((effectors, count))
        self.lowering, self.root = np.zeros((2, count, 3))
        self._bones: dict[int, int] = {}

    def objectives_of(
        self, samples: Samples, pose: BodyPose, orientations: Array
    ) -> tuple[list[tuple[int, ik.BodyObjective]], ik.Balance | None]:
        """The objectives with the index of their effector, over all frames and in armature space."""
        objectives: list[tuple[int, ik.BodyObjective]] = []
        moved: dict[str, Array] = {}
        targets = iter(zip(samples.targets, orientations, strict=True))
        worlds = rotation.from_matrix(samples.worlds[:, :3, :3])
        for k, (effector, joint) in enumerate(zip(self.effectors, self.body.effectors, strict=True)):
            place, lying = pose.positions[:, joint], pose.rotations[:, joint]
            priority, weight = PRIORITIES[effector.priority], self.weight_of(effector)
            common = {"weight": weight, "priority": priority}
            target, turn = (place, lying) if effector.target is None else next(targets)
            if effector.contact is not None:
                target, lying = self._held(k, samples, pose, None if effector.target is None else (target, turn))
            elif effector.target is not None:
                turn = rotation.multiply(rotation.inverse(worlds), rotation.from_matrix(turn))
                if effector.use_offset:
                    away = rotation.rotate(worlds[0], place[0] - target[0])
                    target = target + rotation.rotate(rotation.inverse(worlds), away)
            point = self.tip(joint, samples) if effector.tip else np.zeros(3)
            ease, aimed = self.share_of(effector)[:, None], target
            if np.any(ease < 1.0):
                seen = rotation.rotate(lying, self.body.aims[k])
                ahead = place + np.linalg.norm(target - place, axis=-1, keepdims=True) * seen
                here, turn = place + rotation.rotate(lying, point), rotation.slerp(lying, turn, ease[:, 0])
                target, aimed = here + ease * (target - here), ahead + ease * (target - ahead)
            if effector.use_position or effector.contact is not None:
                limb = {} if self.tuning.still else self._limb(joint)
                objectives.append((k, ik.BodyPosition(joint, target, point, **limb, **common)))
                moved[self.body.shown[joint]] = np.broadcast_to(np.asarray(weight)[..., None], (len(place), 1)) * (
                    target - place
                )
            if effector.keeps_orientation:
                objectives.append((k, ik.BodyOrientation(joint, lying, **common)))
            elif effector.orientation == "AIM":
                objectives.append((k, ik.BodyAim(joint, aimed, self.body.aims[k], **common)))
            elif effector.orientation == "TARGET":
                objectives.append((k, ik.BodyOrientation(joint, turn, **common)))
            if effector.pole is not None:
                objectives.append((k, self._bend(effector, joint, next(targets)[0], weight, pose)))
        balance = None
        if self.weighed is not None:
            balance = body_balance.objective(self.body, self.weighed, samples, moved, min(self.tuning.balance, 1.0))
        return objectives, balance

    def _limb(self, joint: int) -> dict[str, Any]:
        """How the limb that ends with a joint becomes straight."""
        return {"bones": self._bones_of(joint), "softness": self.tuning.soft_reach}

    def _bones_of(self, joint: int) -> int:
        """The number of bones of the limb that ends with a joint: found once, not at each step of a drag."""
        if joint not in self._bones:
            self._bones[joint] = len(bodies.limb_of(self.body, joint)) - 1
        return self._bones[joint]

    def _bend(self, effector: BodyEffector, joint: int, pole: Array, weight: Array, pose: BodyPose) -> ik.BodyPole:
        """The objective of a pole (F, 3) in armature space. Raises RigError where the limb has none or its own."""
        bones = self._bones_of(joint)
        if bones < 2:
            raise RigError(
                "Effector '{bone}' does not end a limb that bends; leave its pole target empty.", bone=effector.bone
            )
        limb = next((n for n, limb in enumerate(self.body.limbs) if limb.turned[-1] == self.body.joints[joint]), None)
        if limb is not None and np.any(self.ik[:, limb] > 0.0):
            raise RigError(
                "The limb of '{bone}' is in IK at frame {frame}, where the rig's own pole bends it; switch it to FK, "
                "or leave its pole target empty.",
                bone=effector.bone,
                frame=int(self.frames[np.argmax(self.ik[:, limb] > 0.0)]),
            )
        bend = pose.positions[:, self.body.parents[joint]]
        pole = bend + self.share_of(effector)[:, None] * (pole - bend)
        return ik.BodyPole(joint, pole, bones, weight=weight, priority=LOW)

    def tip(self, joint: int, samples: Samples) -> Array:
        """The tip (F, 3) of a joint in its own frame."""
        name = self.body.shown[joint]
        length = self.body.armature.data.bones[name].length * samples.sizes[:, samples.bones.index(name)]
        return length[:, None] * np.array([0.0, 1.0, 0.0])

    def _held(
        self, k: int, samples: Samples, pose: BodyPose, surface: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """Place (F, 3) and orientation (F, 4) at which an effector is held during its contacts, in armature space.

        surface: places (F, 3) in armature space and axes (F, 3, 3) in the world of what it touches.
        """
        effector, joint, worlds = self.effectors[k], self.body.effectors[k], samples.worlds
        assert effector.contact is not None
        spin = rotation.from_matrix(worlds[:, :3, :3])
        touched = None
        if surface is not None:
            assert effector.target is not None
            rides = bodies.rides_on_limb(self.body, joint, effector.target, self.frames)
            places = from_armature(worlds, surface[0])
            touched = Surface(places, rotation.from_matrix(surface[1]), rides)
            contact_plan.check_surface(
                effector.contact, touched, self.options.first, effector.bone, effector.target.label
            )
        place, lying = pose.positions[:, joint], pose.rotations[:, joint]
        size = self.length_of(pose, joint) * float(np.median(in_world(np.ones(len(worlds)), samples)))
        held = contact_plan.held(
            effector.contact,
            from_armature(worlds, place),
            rotation.multiply(spin, lying),
            size or 1.0,
            seconds_per_frame(self.scene),
            self.options.first,
            touched,
            base=from_armature(worlds, pose.positions[:, bodies.limb_of(self.body, joint)[0]]),
        )
        self.intervals[k], self.slipped[k] = held.intervals, held.slipped
        self.touching[k] = held.weight > 0.0
        if effector.target is not None and effector.target.object is not None:
            self.rides[k] = self._carried(k, effector.target, held.weight > 0.0)
        touches = (held.weight > 0.0)[:, None]
        return (
            np.where(touches, seen_from(worlds, held.place[None])[0], place),
            np.where(touches, rotation.multiply(rotation.inverse(spin), held.orientation), lying),
        )

    def _carried(self, k: int, target: Target, touches: Array) -> Array:
        """The frames (F,) at which what an effector touches moves with the trunk. Raises RigError if it moves with
        another effector."""
        for other, joint in zip(self.effectors, self.body.effectors, strict=True):
            same = other is self.effectors[k]
            if not same and np.any(bodies.rides_on_limb(self.body, joint, target, self.frames) & touches):
                raise RigError(
                    "'{target}' moves with '{effector}'; clean up the contacts of that first and those of '{bone}' "
                    "after that.",
                    target=target.label,
                    effector=other.bone,
                    bone=self.effectors[k].bone,
                )
        item, top = target.object, self.body.joints[:1]
        assert item is not None
        return rides_at(item, target.bone, self.body.armature, top, self.frames)

    def lower(self, samples: Samples, pose: BodyPose, objectives: Objectives) -> list[tuple[int, ik.BodyObjective]]:
        """Lower the first joint, so that all feet reach their places, and with it what the objectives touch."""
        self.lowering = self._lowering(samples, pose, objectives)
        self.root = pose.positions[:, 0] - self.lowering
        return [(k, self._lowered(objective, self.rides[k])) for k, objective in objectives]

    def _lowered(self, objective: ik.BodyObjective, rides: Array) -> ik.BodyObjective:
        """An objective whose target is lowered with the trunk at some frames (F,)."""
        if not (isinstance(objective, ik.BodyPosition) and rides.any() and self.lowering.any()):
            return objective
        return replace(objective, target=np.asarray(objective.target) - rides[:, None] * self.lowering)

    def softened(self, pose: BodyPose, objectives: Objectives) -> tuple[Objectives, Array]:
        """The objectives with places of contacts that limbs reach softly where these go out of their reach, and how far
        (F, objectives) they were moved."""
        goals, moved = [], np.zeros((len(self.frames), len(objectives)))
        for n, (k, objective) in enumerate(objectives):
            if isinstance(objective, ik.BodyPosition) and self.touching[k].any():
                limb = bodies.limb_of(self.body, objective.joint)
                base = pose.positions[:, limb[0]] - self.lowering
                lengths = np.linalg.norm(pose.offsets[:, limb[1:]], axis=-1).sum(axis=-1)
                target = np.asarray(objective.target)
                amounts = base, lengths, target, self.touching[k], self.tuning.soft_reach
                softness = soft_goals.as_far_as_needed(*amounts)
                initial = pose.positions[:, objective.joint] - self.lowering
                goal = ik.soft_goal(target, base, lengths, softness=softness, initial=initial)
                moved[:, n] = np.linalg.norm(goal - target, axis=-1)
                objective = replace(objective, target=goal)
            goals.append((k, objective))
        return goals, moved

    def length_of(self, pose: BodyPose, joint: int) -> float:
        """Length of the limb that ends with a joint, in armature space."""
        inner = bodies.limb_of(self.body, joint)[1:]
        return float(np.linalg.norm(pose.offsets[:, inner], axis=-1).sum(axis=-1).mean())

    def _lowering(self, samples: Samples, pose: BodyPose, objectives: Objectives) -> Array:
        """How far the first joint is lowered (F, 3)."""
        none = np.zeros((len(self.frames), 3))
        if not (self.tuning.still and self.body.moves):
            return none
        rows, shifts = [], []
        feet = {line[2]: line[:3] for line in limbs.limb_lines(self.body.armature)[1] if len(line) > 2}
        for _, objective in objectives:
            leg = feet.get(self.body.joints[objective.joint])
            if leg is not None and isinstance(objective, ik.BodyPosition) and set(leg) <= set(self.body.joints):
                rows.append([self.body.joints.index(name) for name in leg])
                shifts.append(np.asarray(objective.target) - pose.positions[:, objective.joint])
        if not rows:
            return none
        shift = np.stack(shifts, axis=1)
        joints = [[row[n] for row in rows] for n in range(3)]
        places, turns = ([part[:, row] for row in joints] for part in (pose.positions, pose.rotations))
        wanted = legs.Leg(*(place + shift for place in places), *turns)
        up = rotation.normalize(np.linalg.inv(samples.worlds[:, :3, :3])[:, :, 2])
        moved = legs.Leg(*places, *turns)
        low = legs.lowering(wanted, moved, up, seconds_per_frame(self.scene), acceleration=_SOFT)
        return low[:, None] * up

    def weight_of(self, effector: BodyEffector) -> Array:
        """The weight (F,) of an effector."""
        return np.broadcast_to(np.clip(effector.weight, 0.0, 1.0), (len(self.frames),))

    def share_of(self, effector: BodyEffector) -> Array:
        """How far (F,) what an effector is to reach is from the animation, 0, to its target, 1: by its weight, which
        alone would bring it near its target at a third already, and 0 at the ends of a range that is eased."""
        if effector.is_pin or effector.contact is not None:
            return np.ones(len(self.frames))
        ease = effector_goal.ease_in_and_out(len(self.frames), self.tuning.ease / seconds_per_frame(self.scene))
        return ease * self.weight_of(effector)

    def softened_of(self, objectives: Objectives, softened: Array) -> Array:
        """Distances (k, F) of effectors from their targets that are due to a soft reach.

        softened: (F, objectives)."""
        result = np.zeros((len(self.effectors), len(self.frames)))
        for (k, objective), distance in zip(objectives, softened.T, strict=True):
            if isinstance(objective, ik.BodyPosition):
                result[k] = distance
        return result

    def errors_of(self, objectives: Objectives, errors: Array) -> tuple[Array, Array]:
        """Distances and angles (k, F) of the effectors; 0 where they have no such objective."""
        away, turned = np.zeros((2, len(self.effectors), len(self.frames)))
        for (k, objective), error in zip(objectives, errors.T, strict=True):
            if isinstance(objective, ik.BodyPole):
                continue
            (away if isinstance(objective, ik.BodyPosition) else turned)[k] = error
        return away, turned
