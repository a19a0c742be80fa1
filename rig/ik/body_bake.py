"""Baking several effectors of one body: sample the animation, solve all frames, write keys."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.body.contacts import Interval
from ...lookat_pd.message import Message
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions, bake_options, outside_controls
from ..animation.bake_options import BakeOptions
from ..animation.bake_together import BakeTogether
from ..controls.changes import AnimatedChannels
from ..feet import contact_plan
from ..sampling import suspend
from ..sampling.sampler import Sampler, Samples
from .body import BodyEffector, JointTree
from .body_goals import BodyTuning
from .body_on_controls import BakedBody
from .body_pose import BodyPose
from .body_work import BodyWork, prepared
from .chain_bake import BAKED, in_world
from .reached import Reached

__all__ = ["BodyBakeResult", "BodyTuning", "bake"]

_REACHED = 1e-3
"""Largest error of an effector in reach, as a fraction of the body's size."""
_TURNED = np.radians(0.5)
"""Largest angle of an effector that has its orientation."""


def redirection(bone: str, control: str) -> Message:
    """What is reported of an effector of `BodyBakeResult.redirected`."""
    return Message("Effector '{bone}' was moved by its control '{control}'.", bone=bone, control=control)


@dataclass(frozen=True)
class BodyBakeResult(Reached):
    """The result of a bake."""

    body: JointTree
    effectors: tuple[BodyEffector, ...]
    action: bpy.types.Action
    frames: Array
    errors: Array
    """(k, F) distances of the effectors from their targets in the world."""
    softened: Array
    """(k, F), the part of these distances that is due to a soft reach."""
    turned: Array
    """(k, F) remaining angles [rad]."""
    in_reach: Array
    """(k, F) whether an effector with its whole weight has reached its target."""
    weights: Array
    """(k, F)"""
    unbalanced: Array
    """(F,) distance of the centre of mass from the support polygon in the world."""
    bones: tuple[str, ...]
    """Those with keys."""
    contacts: tuple[tuple[Interval, ...], ...]
    """Of each effector."""
    slipped: Array
    """(k, F) how far the animation is from the places of contacts in the world."""
    lowered: Array
    """(F,) how much lower the hips are in the world, by contacts."""
    lengths: Array
    """(k,) of the limbs of the effectors in the world."""

    @property
    def redirected(self) -> dict[str, str]:
        """The effectors that are neither turned nor moved themselves, and the control that is, on generated rigs."""
        controls_of = {}
        for effector, joint in zip(self.effectors, self.body.joints_of_effectors, strict=True):
            limb = next((limb for limb in self.body.limbs if joint == limb.turned[-1]), None)
            controls = [joint]
            if limb is not None:
                is_fk = not self.bones or any(name in self.bones for name in limb.turned)
                controls = [limb.goal] * (limb.goal in self.bones) + [joint] * is_fk
            if controls and effector.bone not in controls:
                controls_of[effector.bone] = controls[0]
        return controls_of

    @property
    def missing(self) -> dict[str, int]:
        """The effectors that do not reach their targets with their whole weight, and at how many frames."""
        away = (~self.in_reach & (self.weights >= 1.0)).sum(axis=-1).tolist()
        return {effector.bone: count for effector, count in zip(self.effectors, away, strict=True) if count}

    @property
    def distances(self) -> Array:
        return self.errors


def bake(
    scene: bpy.types.Scene,
    armature: bpy.types.Object | None,
    effectors: Sequence[BodyEffector],
    tuning: BodyTuning,
    options: BakeOptions,
    *,
    called: str = BAKED,
) -> Generator[float, None, BodyBakeResult]:
    """Make all effectors follow their targets over the range; yields the completed fraction. Raises RigError.

    With a balance, feet that are no effectors stay where they are animated. called: suffix of the name of the action.
    """
    bake_options.check_range(options.first, options.last)
    work = prepared(scene, armature, effectors, tuning, options, called=called)
    actions.check(work.body.armature, options.into)
    with suspend.suspend_live():
        return (yield from _steps(work))


def _steps(work: BodyWork) -> Generator[float, None, BodyBakeResult]:
    """The bake; yields the completed fraction."""
    with Sampler(work.scene, work.body.armature, work.seen, work.followed, located=True) as sampler:
        samples, orientations = yield from work.sample(sampler)
        work.check_scale(samples)
        return (yield from _solved(work, sampler, samples, orientations))


def _solved(
    work: BodyWork, sampler: Sampler, samples: Samples, orientations: Array
) -> Generator[float, None, BodyBakeResult]:
    body, armature, outside = work.body, work.body.armature, work.moved_outside()
    objectives, balance = work.objectives_of(samples, BodyPose(body, samples), orientations)
    touching = [effector.bone for effector in work.effectors if effector.contact is not None]
    if touching and not any(work.intervals):
        raise contact_plan.no_contact(touching, work.options.first, work.options.last)
    pose = work.pose(samples)
    objectives, moved = work.softened(pose, work.lower(samples, pose, objectives))
    solving = work.solve_all(pose, objectives, balance)
    solved = yield from subrange(solving, *((0.7, 0.95) if body.plain else (0.3, 0.4)))
    softened, on_controls = work.softened_of(objectives, solved.softened), None
    if not body.plain:
        on_controls = BakedBody(work, sampler, samples, pose, objectives, balance, solved)
        yield from subrange(on_controls.measure(), 0.4, 0.5)
    others = {item.object: outside_controls.destination(item.object, work.options.into) for item in outside}
    with BakeTogether(armature, others, outside) as pens:
        if on_controls is None:
            written = AnimatedChannels(samples, size=pose.size).write(pens, work.changes(samples, pose, solved))
            errors = solved.errors
        else:
            written = yield from subrange(on_controls.steps(pens), 0.5, 1.0)
            errors, solved = on_controls.reported, on_controls.solved
        if not pens.main.has_keys:
            # An action that is the same as before, as after any other bake.
            mode, raw = samples.channel(body.joints[0])
            pens.write(body.joints[0], mode, work.frames, raw, raw)
        name = work.options.name or actions.baked_name(armature, work.options.into, work.called)
        action = pens.commit(work.options.into, name, work.called, work.options.writer)
    away, turned = work.errors_of(objectives, errors + moved)
    weights = np.array([np.minimum(work.weight_of(item), work.share_of(item)) for item in work.effectors])
    scale = in_world(np.ones(len(work.frames)), samples)
    return BodyBakeResult(
        body,
        work.effectors,
        action,
        work.frames,
        away * scale,
        softened * scale,
        turned,
        (away - softened <= _REACHED * pose.size) & (turned <= _TURNED) & (weights >= 1.0),
        weights,
        solved.unbalanced * scale,
        tuple(written),
        tuple(work.intervals),
        work.slipped,
        np.linalg.norm(work.lowering, axis=-1) * scale,
        np.array([work.length_of(pose, joint) * float(np.median(scale)) for joint in body.effectors]),
    )
