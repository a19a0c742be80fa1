"""Contacts: a foot or hand is fixed in world space for some frames, with a smooth transition in and out.

The bones above rotate, each frame from its own pose; the effector keeps position and orientation. Without a contact
nothing rotates.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.body.contacts import Detection, Interval, detect
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation.bake_options import BakeOptions
from ..detection.joint_chain import JointChain
from ..sampling.sampler import Samples, seen_from
from ..sampling.scene_time import seconds_per_frame
from . import bake
from .chain_solve import IKTuning, Objectives
from .pose import Seen

_CALLED = " contacts"


@dataclass(frozen=True)
class ContactsResult:
    """The result of a clean-up. intervals: the contacts."""

    baked: bake.IKBakeResult
    intervals: tuple[Interval, ...]


def clean_up(
    scene: bpy.types.Scene,
    chain: JointChain,
    contacts: Sequence[Interval] | Detection,
    blend: float,
    tuning: IKTuning,
    options: BakeOptions,
    *,
    verify: bool = False,
) -> Generator[float, None, ContactsResult]:
    """Keep the effector fixed during contacts, given or detected; yields the completed fraction. Raises RigError.

    blend: seconds of the transitions in and out. Otherwise as `bake.bake_goal`.
    """
    if not isinstance(contacts, Detection):
        contacts = _checked(contacts, options)
    planting = _Planting(chain, contacts, blend, seconds_per_frame(scene), options)
    baked = yield from bake.bake_request(scene, chain, (), planting, tuning, options, called=_CALLED, verify=verify)
    return ContactsResult(baked, tuple(planting.intervals))


def _checked(intervals: Sequence[Interval], options: BakeOptions) -> list[Interval]:
    found: list[Interval] = []
    for first, last in sorted(intervals):
        if last < first:
            raise RigError(
                "The contact from frame {first} to {last} is reversed; enter the smaller frame first.",
                first=first,
                last=last,
            )
        if first < options.first or last > options.last:
            raise RigError(
                "The contact from frame {first} to {last} is outside frames {range_first} to "
                "{range_last}; extend the frame range.",
                first=first,
                last=last,
                range_first=options.first,
                range_last=options.last,
            )
        if found and first <= found[-1][1]:
            raise RigError("Two contacts overlap at frame {first}; end one before the other starts.", first=first)
        found.append((first, last))
    if not found:
        raise RigError("There is no contact to clean up; mark a contact, or use detection.")
    return found


class _Planting:
    """The objectives of the effector due to contacts, for each frame."""

    def __init__(
        self, chain: JointChain, contacts: Sequence[Interval] | Detection, blend: float, dt: float, options: BakeOptions
    ) -> None:
        self.chain, self.contacts, self.blend, self.dt, self.options = chain, contacts, blend, dt, options
        self.intervals: list[Interval] = []
        self._known: tuple[Array, Array, Array] | None = None

    def __call__(self, seen: Seen, samples: Samples, orientations: Array) -> tuple[Objectives, Array]:
        if self._known is None:
            # From the animation, not from the result of a first pass.
            self._known = self._plan(seen, samples)
        place, lying, weight = self._known
        target = seen_from(samples.worlds, place[None])[0]
        orientation = rotation.multiply(rotation.inverse(rotation.from_matrix(samples.worlds[:, :3, :3])), lying)
        return Objectives(target, orientation), weight > 0.0

    def _plan(self, seen: Seen, samples: Samples) -> tuple[Array, Array, Array]:
        """The goal of the effector in the world (F, 3), its orientation (F, 4), and the weight of the contact (F,)."""
        worlds = samples.worlds
        place = (worlds[:, :3, :3] @ seen.end[..., None])[..., 0] + worlds[:, :3, 3]
        lying = rotation.align_hemisphere(
            rotation.multiply(rotation.from_matrix(worlds[:, :3, :3]), seen.effector_rotation)
        )
        first = self.options.first
        if isinstance(self.contacts, Detection):
            size = float(np.median(seen.reach * np.abs(np.linalg.det(worlds[:, :3, :3])) ** (1.0 / 3.0)))
            found = detect(place, self.dt, size, self.contacts)
            self.intervals = [(first + a, first + b) for a, b in found]
            if not found:
                raise RigError(
                    "No contact of '{effector}' was found from frame {first} to {last}; increase Speed or "
                    "Height, or mark the contact.",
                    effector=self.chain.effector,
                    first=first,
                    last=self.options.last,
                )
        else:
            self.intervals = list(self.contacts)
        total = np.zeros(len(place))
        held, held_lying = place.copy(), lying.copy()
        for (a, b), weight in zip(self.intervals, self._weights(len(place)), strict=True):
            inside = slice(a - first, b - first + 1)
            spot, kept = place[inside].mean(axis=0), rotation.normalize(lying[inside].mean(axis=0))
            at = weight > 0.0
            held[at] += weight[at, None] * (spot - place[at])
            held_lying[at] = rotation.slerp(lying[at], np.broadcast_to(kept, lying[at].shape), weight[at])
            total += weight
        return held, held_lying, total

    def _weights(self, count: int) -> list[Array]:
        """The weight of each contact at each frame (F,): 1 inside, 0 inside others."""
        first, fade = self.options.first, max(self.blend / self.dt, 0.0)
        frames = first + np.arange(count)
        found = []
        for n, (a, b) in enumerate(self.intervals):
            before = self.intervals[n - 1][1] if n else -np.inf
            after = self.intervals[n + 1][0] if n + 1 < len(self.intervals) else np.inf
            # Two contacts share the frames between them equally.
            fade_in, fade_out = min(fade, 0.5 * (a - before) - 0.5), min(fade, 0.5 * (after - b) - 0.5)
            t = np.where(frames < a, 1.0 - (a - frames) / (fade_in + 1.0), 1.0 - (frames - b) / (fade_out + 1.0))
            t = np.where((frames >= a) & (frames <= b), 1.0, np.clip(t, 0.0, 1.0))
            found.append(t**3 * (t * (6.0 * t - 15.0) + 10.0))
        return found
