"""Keeping feet on their places: sample, displace the feet, lower the hips where a leg is too short, write keys.

Legs whose bones turn are solved as two bones; of legs that the rig's own inverse kinematics bends, the control of the
foot is moved. The result is sampled again and corrected, so constraints may act. A generator, so that an operator can
show progress and stop at any step: it yields the completed fraction. Either all is written or nothing has changed.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.body import foot_lock, legs
from ...lookat_pd.body.foot_lock import FootStance
from ...lookat_pd.curves import cubic_step, runs
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, bake_options
from ..animation.bake_options import BakeOptions
from ..animation.channels import LOCATION
from ..controls.changes import Changes
from ..sampling.sampler import Samples
from ..sampling.scene_time import seconds_per_frame
from . import limb_goals
from .contact_report import ContactReport
from .foot_bones import Footing

_LOWERED = (0.4, 0.3, 0.2, 0.14, 0.1, 0.07)
"""Times [s] in which the hips are lowered from the first frame that may change: the longest in which legs reach."""
_ENOUGH = 0.003
"""Of the length of a leg by which it may be too short meanwhile."""
_CALM = 0.5
"""Acceleration [lengths of a leg/s²] of the hips that is calm, as that of a shift of weight."""
_STRAIGHTENED = 0.2
"""Time [s] in which a knee that is bent backwards at the first frame that may change is bent forwards."""
_MISSED = 0.02
"""Of the length of a leg: with a larger error the feet do not go where their bones are turned."""


@dataclass(frozen=True)
class FootPlan:
    """Where a foot goes over F frames."""

    displacement: Array
    """(F, 3) displacement in the world."""
    stances: Sequence[FootStance]
    """When it is planted."""


Plan = Callable[[Samples], Sequence[FootPlan]]
"""A function from the animation to the plan of each foot."""


def lock(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    footing: Footing,
    plan: Plan,
    options: BakeOptions,
    *,
    called: str = " feet",
    begin: int = 0,
) -> Generator[float, None, ContactReport]:
    """Displace the feet of what the armature plays as planned; yields the completed fraction. Raises RigError.

    called: suffix of the name of a new action. begin: index of the first frame at which the body may move.
    """
    bake_options.check_range(options.first, options.last)
    actions.check(armature, options.into)
    bones = armature.pose.bones
    actions.check_curves(armature, {name: bones[name].rotation_mode for name in footing.turned}, options.into)
    actions.check_curves(armature, dict.fromkeys(footing.moved, LOCATION), options.into)
    planned: list[Sequence[FootPlan]] = []

    def goal_of(samples: Samples) -> LegGoal:
        planned.append(plan(samples))
        return LegGoal(samples, footing, planned[0], seconds_per_frame(scene), begin)

    done = yield from limb_goals.put(scene, armature, footing.sampled, goal_of, options, called=called)
    return report(done.action, done.goal, planned[0], done.first, done.best)


class LegGoal:
    """Where the legs are to be, and what moves them there.

    turns: offsets (F, 4) by bone; moves: displacements (F, 3) in armature space by bone.
    """

    def __init__(self, first: Samples, footing: Footing, plans: Sequence[FootPlan], dt: float, begin: int) -> None:
        self.footing = footing
        back = np.linalg.inv(first.worlds[:, :3, :3])
        moved = np.stack([np.einsum("fij,fj->fi", back, plan.displacement) for plan in plans], axis=1)
        now = footing.legs(first)
        self.size = np.maximum(np.sum(now.lengths, axis=0).max(axis=0), 1e-9)
        hands = np.array([foot.hand for foot in footing.feet])
        up = rotation.normalize(back[:, :, 2])
        body, self.lowered = np.zeros((len(moved), 3)), np.zeros(len(moved))
        if footing.hips:
            supports = np.stack([foot_lock.support(plan.stances, len(moved), dt) for plan in plans], axis=1)
            feet = now.part(~hands)
            if begin:
                middle, least = feet.hip.mean(axis=1), _CALM * float(self.size.max())
                body = foot_lock.calm_body_displacement(middle, moved, supports, dt, begin=begin, least=least)
            else:
                body = foot_lock.body_displacement(moved, supports, dt)
            self.lowered = self._lowered(feet.shifted(moved[:, ~hands]), feet.shifted(body), up, dt, begin)
            body = body - self.lowered[:, None] * up
            # A hand in the air goes with the body.
            moved[:, hands] += (1.0 - supports[:, hands, None]) * body[:, None]
        self.wanted = now.shifted(moved)
        self.changing = np.any(moved != 0.0, axis=(1, 2)) | np.any(body != 0.0, axis=1)
        self.forwards, backwards = legs.bent_forwards(self.wanted, ~hands)
        self.turned = self._turned(backwards, begin, max(round(_STRAIGHTENED / dt), 1))
        self.changing |= np.any(self.turned > 0.0, axis=1)
        self.moves = {foot.control: moved[:, n] for n, foot in enumerate(footing.feet) if foot.control}
        self.turns: dict[str, Array] = {}
        if footing.hips:
            self.moves[footing.hips] = body
        self._turn(now.shifted(body))

    def _lowered(self, wanted: legs.Leg, moved: legs.Leg, up: Array, dt: float, begin: int) -> Array:
        """How far (F,) the hips are lowered for legs that are too short, as slowly as that allows."""
        low = legs.lowering(wanted, moved, up, dt)
        if not begin or not np.any(low):
            return low
        needed = legs.lowering(wanted, moved, up, dt, smooth=0.0) - _ENOUGH * self.size.max()
        slowly = [low * foot_lock.onset(len(low), begin, length, dt) for length in _LOWERED]
        return next((lower for lower in slowly if np.all(lower >= needed)), slowly[-1])

    def _turned(self, backwards: Array, begin: int, length: int) -> Array:
        """How much (F, l) a knee that is bent backwards is bent forwards: all of it for as long as it is, if the leg
        changes meanwhile; from the first frame that may change it takes `length` frames."""
        result = np.zeros(backwards.shape)
        for n in range(backwards.shape[1]):
            for a, b in runs(backwards[:, n]):
                if not self.changing[a : b + 1].any():
                    continue
                frames = np.arange(a, b + 1)
                result[a : b + 1, n] = cubic_step((frames - begin + 1) / length) if a < begin else 1.0
        return result

    def _turn(self, now: legs.Leg) -> None:
        offsets, self.out_of_reach = legs.replant(self.forwards, now)
        if np.any(self.turned < 1.0):
            plain, _ = legs.replant(self.wanted, now)
            some = self.turned < 1.0
            share = np.broadcast_to(self.turned[some][:, None], offsets[some].shape[:-1])
            offsets[some] = rotation.slerp(plain[some], offsets[some], share)
        offsets[~self.changing] = rotation.IDENTITY
        for n, foot in enumerate(self.footing.feet):
            if foot.control:
                continue
            for k, bone in enumerate(foot.bones):
                turn = offsets[:, n, k]
                self.turns[bone] = rotation.multiply(self.turns[bone], turn) if bone in self.turns else turn

    def missed(self, now: Samples) -> float:
        """The largest distance of an ankle from its goal, in lengths of its leg."""
        away = np.linalg.norm(self.footing.legs(now).ankle - self.wanted.ankle, axis=-1)
        away[(self.turned > 0.0) & (self.turned < 1.0)] = 0.0
        away = np.maximum(away - self.out_of_reach, 0.0)
        return float((away[self.changing] / self.size).max())

    def correct(self, now: Samples) -> None:
        """Turn and move by what is missing."""
        there = self.footing.legs(now)
        for n, foot in enumerate(self.footing.feet):
            if foot.control:
                missing = self.wanted.ankle[:, n] - there.ankle[:, n]
                self.moves[foot.control] = self.moves[foot.control] + np.where(self.changing[:, None], missing, 0.0)
        self._turn(there)

    def check(self, error: float) -> None:
        """Raise RigError if so much is missed at the end that constraints must hold the feet."""
        if error > _MISSED:
            raise RigError(
                "The foot '{foot}' does not follow its leg, because constraints hold it; mute the constraints, "
                "or disable Lock Feet.",
                foot=self.footing.feet[0].bones[2],
            )

    def pose(self) -> Changes:
        """The turns, and the displacements in armature space."""
        return Changes(dict(self.turns), dict(self.moves))


def report(
    action: bpy.types.Action, goal: LegGoal, plans: Sequence[FootPlan], before: Samples, after: Samples
) -> ContactReport:
    """What was done. before, after: the rig as it was and as it is."""
    footing, first = goal.footing, int(before.frames[0])
    return ContactReport(
        action=action,
        frames=before.frames,
        contacts={
            foot.control or foot.bones[2]: tuple((first + stance.first, first + stance.last) for stance in plan.stances)
            for foot, plan in zip(footing.feet, plans, strict=True)
        },
        slips=slips(footing, after, plans),
        slipped=slips(footing, before, plans),
        lengths=np.array([foot.length(before) for foot in footing.feet]),
        lowered=goal.lowered * np.abs(np.linalg.det(before.worlds[:, :3, :3])) ** (1.0 / 3.0),
    )


def slips(footing: Footing, samples: Samples, plans: Sequence[FootPlan]) -> Array:
    """How far the places of the point that touches (k, F) are from each other, from the frame on at which it does."""
    result = np.zeros((len(plans), len(samples.frames)))
    for row, foot, plan in zip(result, footing.feet, plans, strict=True):
        places = foot.touch(samples)
        for stance in plan.stances:
            changes = np.flatnonzero(np.diff(stance.touching)) + 1
            for same in np.split(np.arange(stance.first, stance.last + 1), changes):
                there = places[same, stance.touching[same[0] - stance.first]]
                around = np.maximum.accumulate(there, axis=0) - np.minimum.accumulate(there, axis=0)
                row[same] = np.linalg.norm(around, axis=-1)
    return result
