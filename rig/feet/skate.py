"""*Clean Foot Skate*: feet that slide while they are planted are kept on their places, over a whole clip."""

from collections.abc import Generator, Sequence

import bpy

from ...lookat_pd.body import foot_lock
from ...lookat_pd.body.contacts import Detection
from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ..animation.bake_options import BakeOptions
from ..sampling.sampler import Samples
from ..sampling.scene_time import seconds_per_frame
from . import foot_bones, foot_contacts, foot_locking
from .foot_locking import FootLockResult, FootPlan


class NotPlanted(RigError):
    """There is no contact to keep."""


def clean(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    options: BakeOptions,
    detection: Detection | None = None,
    release: float = foot_lock.RELEASE,
) -> Generator[float, None, FootLockResult]:
    """Keep the feet on their places during detected contacts; yields the completed fraction. Raises RigError.

    release: seconds of the transitions into and out of a contact.
    """
    footing, dt = foot_bones.find(armature), seconds_per_frame(scene)
    detection = detection or Detection()

    def plan(samples: Samples) -> Sequence[FootPlan]:
        plans = []
        contacts = foot_contacts.find_contacts(footing, samples, dt, detection)
        for foot, found in zip(footing.feet, contacts, strict=True):
            planted = foot_lock.stances(found, len(samples.frames))
            places = foot.touch(samples)
            plans.append(FootPlan(foot_lock.displacements(places, planted, dt, release=release), planted))
        if not any(item.stances for item in plans):
            raise NotPlanted(
                Message(
                    "No foot of '{armature}' is planted from frame {first} to {last}; increase Speed or Height, or "
                    "choose other frames.",
                    armature=armature.name,
                    first=options.first,
                    last=options.last,
                )
            )
        return plans

    return (yield from foot_locking.lock(scene, armature, footing, plan, options))
