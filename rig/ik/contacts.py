"""Contacts: feet and hands are held in the world, or relative to what they touch, for some frames.

They keep position and orientation during a contact, with a smooth transition in and out; without a contact nothing
turns. One effector is a chain, each frame of which starts from its own pose. Feet and several effectors are solved as a
body whose trunk stays as animated: the hips are only lowered, smoothly, where a leg does not reach.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from ..animation import bake_options
from ..animation.bake_options import BakeOptions
from ..detection import limb_controls
from ..detection.joint_chain import JointChain
from ..feet import contact_plan
from ..feet.contact_plan import Contact, Held, Surface
from ..feet.contact_report import ContactReport
from ..sampling import targets
from ..sampling.sampler import Samples, seen_from
from ..sampling.scene_time import seconds_per_frame
from ..sampling.targets import Target
from ..settings import default
from . import body as bodies
from . import body_bake, body_settings, chain_bake, soft_goals
from .body import BodyEffector
from .body_bake import BodyBakeResult, BodyTuning
from .chain_solve import IKTuning, Objectives
from .pose import Seen
from .settings import ChainSolving

_CALLED = " contacts"


@dataclass(frozen=True)
class Touch:
    """The contacts of a bone with the world, or with a target: a prop, or another character."""

    contact: Contact
    target: Target | None = None


@dataclass(frozen=True)
class ContactsResult(ContactReport):
    """The report of a clean-up by inverse kinematics."""

    baked: chain_bake.IKBakeResult | BodyBakeResult


# One chain


def clean_up(
    scene: bpy.types.Scene,
    chain: JointChain,
    touch: Touch,
    tuning: IKTuning,
    options: BakeOptions,
    *,
    verify: bool = False,
) -> Generator[float, None, ContactsResult]:
    """Hold the effector of a chain during contacts, given or detected; yields the completed fraction. Raises RigError.

    Otherwise as `chain_bake.bake_goal`.
    """
    contact, target = touch.contact.checked(options.first, options.last), touch.target
    if target is not None and target.object is not None:
        targets.check_exists(chain.armature, target.object, target.bone)
    planting = _Planting(chain, contact, target, seconds_per_frame(scene), options, tuning.soft_reach)
    followed = () if target is None else (target,)
    baked = yield from chain_bake.bake_request(
        scene, chain, followed, planting, tuning, options, target, called=_CALLED, verify=verify
    )
    assert planting.held is not None
    return ContactsResult(
        action=baked.action,
        frames=baked.frames,
        contacts={chain.effector: planting.held.intervals},
        slips=baked.error[None],
        slipped=planting.held.slipped[None],
        lengths=np.array([planting.size or 1.0]),
        lowered=np.zeros(len(baked.frames)),
        baked=baked,
    )


class _Planting:
    """The objectives of the effector due to contacts, for each frame."""

    def __init__(
        self,
        chain: JointChain,
        contact: Contact,
        target: Target | None,
        dt: float,
        options: BakeOptions,
        softness: float,
    ) -> None:
        self.chain, self.contact, self.target, self.dt, self.options = chain, contact, target, dt, options
        self.softness = softness
        self.size = 0.0
        self.held: Held | None = None

    def __call__(self, seen: Seen, samples: Samples, orientations: Array) -> tuple[Objectives, Array]:
        if self.held is None:
            # From the animation, not from the result of a first pass.
            self.held, self._animated = self._plan(seen, samples, orientations), seen
        goal, touches = seen_from(samples.worlds, self.held.place[None])[0], self.held.weight > 0.0
        back = rotation.inverse(rotation.from_matrix(samples.worlds[:, :3, :3]))
        objectives = Objectives(goal, rotation.multiply(back, self.held.orientation))
        softness = soft_goals.as_far_as_needed(
            seen.positions[:, 0], seen.reachable_distance, goal, touches, self.softness
        )
        return soft_goals.softened(self.chain, seen, objectives, self._animated, softness), touches

    def _plan(self, seen: Seen, samples: Samples, orientations: Array) -> Held:
        worlds, first = samples.worlds, self.options.first
        lying = rotation.multiply(rotation.from_matrix(worlds[:, :3, :3]), seen.effector_rotation)
        self.size = float(np.median(chain_bake.in_world(seen.reachable_distance, samples)))
        surface = self._surface(samples, orientations)
        end, base = (chain_bake.from_armature(worlds, place) for place in (seen.end, seen.positions[:, 0]))
        held = contact_plan.held(self.contact, end, lying, self.size, self.dt, first, surface, base)
        if not held.intervals:
            raise contact_plan.no_contact([self.chain.effector], first, self.options.last)
        return held

    def _surface(self, samples: Samples, orientations: Array) -> Surface | None:
        """What the effector touches. Raises RigError if it moves with the effector during a contact."""
        if self.target is None:
            return None
        places = chain_bake.from_armature(samples.worlds, samples.targets[0])
        item, turned = self.target.object, (*self.chain.joints, self.chain.effector)
        rides = np.zeros(len(places), dtype=bool)
        if item is not None:
            rides = targets.rides_at(item, self.target.bone, self.chain.armature, turned, samples.frames)
        surface = Surface(places, rotation.from_matrix(orientations), rides)
        contact_plan.check_surface(self.contact, surface, self.options.first, self.chain.effector, self.target.label)
        return surface


# A body


def clean_up_body(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    touches: Mapping[str, Touch],
    options: BakeOptions,
    *,
    lower_hips: bool = True,
    soft_reach: float = default(ChainSolving, "soft_reach"),
) -> Generator[float, None, ContactsResult]:
    """Hold the bones of a body during their contacts in one action; yields the completed fraction. Raises LookAtError.

    lower_hips: lower the hips where a leg does not reach; other feet then stay where they are animated.
    """
    bake_options.check_range(options.first, options.last)
    effectors = _effectors(armature, touches, options, lower_hips=lower_hips)
    tuning = BodyTuning(move_hips=lower_hips, soft_reach=soft_reach, still=True)
    baked = yield from body_bake.bake(scene, armature, effectors, tuning, options, called=_CALLED)
    count = len(touches)
    return ContactsResult(
        action=baked.action,
        frames=baked.frames,
        contacts=dict(zip(touches, baked.contacts, strict=False)),
        slips=baked.errors[:count],
        slipped=baked.slipped[:count],
        lengths=baked.lengths[:count],
        lowered=baked.lowered,
        baked=baked,
    )


def is_body(armature: bpy.types.Object, bones: Sequence[str], *, lower_hips: bool = True) -> bool:
    """Whether the contacts of these bones are cleaned up as a body: several bones, a foot, or those of a rig with
    controls. Raises LookAtError if only a body can do it and there is none."""
    if len(bones) > 1 or limb_controls.has_controls(armature):
        bodies.with_still_trunk(bodies.resolve(armature, [BodyEffector(bone) for bone in bones]))
        return True
    if not lower_hips or not set(bones) <= body_settings.feet(armature):
        return False
    with suppress(LookAtError):
        bodies.resolve(armature, _with_feet(armature, [BodyEffector(bone) for bone in bones]))
        return True
    return False


def _effectors(
    armature: bpy.types.Object, touches: Mapping[str, Touch], options: BakeOptions, *, lower_hips: bool
) -> list[BodyEffector]:
    feet = body_settings.feet(armature)
    effectors = []
    for bone, touch in touches.items():
        priority = "HIGH" if limb_controls.control_of(armature, bone) in feet else "NORMAL"
        contact = touch.contact.checked(options.first, options.last)
        effectors.append(BodyEffector(bone, touch.target, priority=priority, contact=contact))
    return _with_feet(armature, effectors) if lower_hips else effectors


def _with_feet(armature: bpy.types.Object, effectors: list[BodyEffector]) -> list[BodyEffector]:
    """The effectors and, if one of them is a foot, all other feet, which stay where they are animated."""
    feet = body_settings.feet(armature)
    listed = {limb_controls.control_of(armature, effector.bone) for effector in effectors}
    if not listed & feet:
        return effectors
    return [*effectors, *(BodyEffector(foot, priority="HIGH") for foot in sorted(feet - listed))]
