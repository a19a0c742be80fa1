"""*Clean Foot Skate*: contacts of all feet, which roll from heel to ball, over a whole clip."""

from collections.abc import Generator, Sequence

import bpy

from ...lookat_pd.body import foot_lock
from ...lookat_pd.body.contacts import Detection
from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ..animation.bake_options import BakeOptions
from ..sampling.sampler import Samples
from ..sampling.scene_time import seconds_per_frame
from . import foot_bones, foot_locking
from .contact_plan import Contact
from .contact_report import ContactReport
from .foot_locking import FootPlan

CONTACT = Contact(Detection(), foot_lock.RELEASE)
"""Detected contacts with the world."""


class NotPlanted(RigError):
    """There is no contact to keep."""


def clean(
    scene: bpy.types.Scene, armature: bpy.types.Object, options: BakeOptions, contact: Contact = CONTACT
) -> Generator[float, None, ContactReport]:
    """Keep the feet on their places during contacts; yields the completed fraction. Raises RigError."""
    contact = contact.checked(options.first, options.last)
    footing, dt = foot_bones.find(armature), seconds_per_frame(scene)

    def plan(samples: Samples) -> Sequence[FootPlan]:
        plans = []
        contacts = footing.contacts(samples, dt, contact.frames)
        for foot, touching in zip(footing.feet, contacts, strict=True):
            planted = foot_lock.stances(touching, len(samples.frames))
            places = foot.touch(samples)
            plans.append(FootPlan(foot_lock.displacements(places, planted, dt, release=contact.blend), planted))
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
