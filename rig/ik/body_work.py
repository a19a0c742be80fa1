"""Several effectors of one body at each frame of a bake or a drag: the samples, the solution and the channels."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions, channels, outside_controls
from ..animation.bake_options import BakeOptions
from ..animation.outside_controls import OutsideControl
from ..controls.changes import Changes
from ..sampling import outside_samples, shear
from ..sampling.sampler import Sampler, Samples
from . import body as bodies
from . import body_balance
from .body import BodyEffector
from .body_controls import is_mixed, moves_goal
from .body_errors import Objectives
from .body_goals import BodyGoals, BodyTuning
from .body_pose import BodyPose
from .chain_bake import BAKED, axes_of, check_near
from .chain_solve import in_channels

Sliced = TypeVar("Sliced", ik.BodyObjective, ik.Balance)
_SLICE = 128
"""Frames that are solved together between two checks of the keyboard."""
_ALL = 1_000_000
NEARLY_NOTHING = 1e-7
"""An angle [rad] or a distance, as a fraction of the body's size, that is none."""


def prepared(
    scene: bpy.types.Scene,
    armature: bpy.types.Object | None,
    effectors: Sequence[BodyEffector],
    tuning: BodyTuning,
    options: BakeOptions,
    *,
    called: str = BAKED,
) -> "BodyWork":
    """The body of these effectors, with the feet that a balance needs. Raises RigError."""
    body = bodies.resolve(armature, effectors, move_hips=tuning.move_hips)
    if tuning.still:
        body = bodies.with_still_trunk(body)
    weighed = None
    if tuning.balance > 0.0:
        weighed = body_balance.weigh(body)
        listed = set(body.joints_of_effectors)
        pins = [BodyEffector(name, priority="HIGH") for name in weighed.controls if name not in listed]
        if pins:
            effectors = [*effectors, *pins]
            body = bodies.resolve(armature, effectors, move_hips=tuning.move_hips)
            weighed = body_balance.weigh(body)
    moved = [name for limb in body.limbs for name in (limb.goal, limb.turner) if name not in body.outside]
    modes = {name: body.armature.pose.bones[name].rotation_mode for name in (*body.joints, *moved)}
    actions.check_curves(body.armature, modes, options.into)
    moved = [limb.goal for limb in body.limbs if limb.goal not in body.outside]
    moved += [body.joints[0]] if body.moves else []
    actions.check_curves(body.armature, dict.fromkeys(moved, channels.LOCATION), options.into)
    return BodyWork(scene, body, tuple(effectors), tuning, options, weighed, called)


@dataclass
class BodyWork(BodyGoals):
    """What a bake and a drag of several effectors do at each of their frames: objectives, solution, channels."""

    @property
    def seen(self) -> tuple[str, ...]:
        """The bones that are sampled."""
        return tuple(dict.fromkeys((*self.body.seen, *(() if self.weighed is None else self.weighed.seen))))

    @property
    def outside(self) -> tuple[OutsideControl, ...]:
        """The controls beside the armature that are sampled."""
        return tuple(self.body.outside.values())

    def moved_outside(self) -> list[OutsideControl]:
        """Those whose limbs are in IK at one of the frames. Raises RigError if one cannot be moved."""
        by_goal: dict[str, OutsideControl] = {}
        for limb, influence in zip(self.body.limbs, self.ik.T, strict=True):
            if limb.goal in self.body.outside and moves_goal(influence).any():
                by_goal[limb.goal] = control = self.body.outside[limb.goal]
                into = outside_controls.destination(control.object, self.options.into)
                control.check(into, turns=limb.turns_end)
        return list(by_goal.values())

    def check_scale(self, samples: Samples) -> None:
        """Raise RigError if the rig is scaled so that its effectors cannot be solved together."""
        # What constraints add is corrected as everything that they do.
        if samples.shear > (shear.LEAST if self.body.plain else shear.OF_CONSTRAINTS):
            raise RigError(
                "A bone of '{armature}' is scaled unevenly, so that several effectors cannot be solved together; "
                "bake one effector at a time.",
                armature=self.body.armature.name,
            )

    def sample(self, sampler: Sampler) -> Generator[float, None, tuple[Samples, Array]]:
        """The body over all frames, and the axes (t, F, 3, 3) of the targets in the world."""
        count, share = len(self.frames), 0.7 if self.body.plain else 0.3
        orientations = np.tile(np.eye(3), (len(self.followed), count, 1, 1))

        def take(k: int, depsgraph: bpy.types.Depsgraph) -> None:
            for n, target in enumerate(self.followed):
                if target.object is not None:
                    orientations[n, k] = axes_of(sampler.stand_in(target.object), target.bone, depsgraph)
            self.ik[k] = self.body.influences(sampler.stand_in(self.body.armature).evaluated_get(depsgraph))

        steps = outside_samples.sample(sampler, self.frames, self.outside, take)
        samples = yield from subrange(steps, 0.0, share)
        check_near(self.followed, samples)
        return samples, orientations

    def pose(self, samples: Samples) -> BodyPose:
        """The pose that is solved: limbs between IK and FK have that of their FK controls, which have fixed lengths."""
        mixed = np.zeros((len(self.frames), len(self.body.joints)), dtype=bool)
        for limb, influence in zip(self.body.limbs, self.ik.T, strict=True):
            mixed[:, [self.body.joints.index(name) for name in limb.turned]] = is_mixed(influence)[:, None]
        return BodyPose(self.body, samples, mixed)

    def solve_all(
        self,
        pose: BodyPose,
        objectives: Objectives,
        balance: ik.Balance | None,
    ) -> Generator[float, None, ik.BodySolution]:
        """Solve all frames; yields the completed fraction."""
        parts = []
        for first in range(0, len(self.frames), _SLICE):
            part = slice(first, first + _SLICE)
            parts.append(self.solve(pose, objectives, balance, part))
            yield min(1.0, (first + _SLICE) / len(self.frames))
        names = [field.name for field in fields(ik.BodySolution)]
        return ik.BodySolution(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def solve(
        self,
        pose: BodyPose,
        objectives: Objectives,
        balance: ik.Balance | None,
        part: slice,
        iterations: int = _ALL,
    ) -> ik.BodySolution:
        """Solve some successive frames. iterations: largest number, below that of the tuning."""
        offsets, lowered = pose.offsets[part], np.zeros((1, 3))
        if self.tuning.still:
            lowered = rotation.rotate(rotation.inverse(pose.base[part, 3:]), (self.root - pose.positions[:, 0])[part])
            offsets = np.concatenate((offsets[:, :1] + lowered[:, None], offsets[:, 1:]), axis=1)
        solution = ik.solve_body(
            self.body.parents,
            offsets,
            pose.local[part],
            [_part(objective, part) for _, objective in objectives],
            balance=None if balance is None else _part(balance, part),
            posture=pose.posture,
            limits=self.body.limits,
            base=pose.base[part],
            move_root=self.body.moves and not self.tuning.still,
            iterations=min(iterations, self.tuning.iterations),
            in_time=True,
        )
        return replace(solution, displacement=solution.displacement + lowered)

    def changes(self, samples: Samples, pose: BodyPose, solved: ik.BodySolution) -> Changes:
        """What a solution adds to the channels of the bones, which forward kinematics predicts."""
        body = self.body
        turns = rotation.multiply(rotation.inverse(pose.local), solved.rotations)
        turns[rotation.angle(turns) < NEARLY_NOTHING] = rotation.IDENTITY
        changes = Changes(
            {
                name: in_channels(turns[:, n], body.limits, pose.local[:, n], body.rests[n], samples.channel(name))
                for n, name in enumerate(body.joints)
                if np.any(turns[:, n] != rotation.IDENTITY)
            }
        )
        if body.moves:
            size = samples.sizes[:, samples.bones.index(body.parent)] if body.parent else np.ones(len(turns))
            # The location of a bone has the axes of its rest pose.
            move = rotation.rotate(rotation.inverse(body.rests[0]), solved.displacement) / size[:, None]
            changes.moves[body.joints[0]] = move
        return changes


def _part(objective: Sliced, part: slice) -> Sliced:
    """An objective over some of its frames."""
    names = (
        ("weight", "centers", "polygon", "up") if isinstance(objective, ik.Balance) else ("weight", *objective.sizes)
    )
    least = {"weight": 1, "centers": 3, "polygon": 3}
    found = {name: np.asarray(getattr(objective, name)) for name in names}
    return replace(objective, **{k: v[part] for k, v in found.items() if v.ndim >= least.get(k, 2)})
