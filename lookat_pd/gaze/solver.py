"""The PD look-at: from an animated pose and targets, for all frames, to local offsets of the chain's bones.

Source: the look-at of FINAL FANTASY XVI (Kawachi et al., Square Enix, CEDEC 2024). The controller never sees the
animated angles, only the offset from them, so the animation plays unchanged underneath. Torso bones take their shares
of the turn, each with its own settle time; neck and head make up what the lagging torso has not yet turned.

Everything is in one space (the armature's) and bones are listed head first. Offsets are local and multiply on
the right: new = animated * offset.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, curves, rotation
from ..errors import InvalidArgument
from ..pd.followers import Tuning
from ..pd.second_order import substeps
from ..rotation import Array
from . import own_motion
from .chain import Chain, Event, Solution
from .kept_parts import KeptParts
from .timeline import Timeline
from .timeline_parts import BEHIND_MARGIN, INSTANT

_SIZE = 1e-5
"""Sizes nearer to 1 are 1: poses are sampled in single precision."""
_NUMBERS = 250
"""For each bone and target at each sample a solve holds at most so many numbers at a time."""


@dataclass(frozen=True)
class GazeSamples:
    """What is looked from and at over F frames of dt seconds, with `count` samples a frame, as `prepare` makes it."""

    rotations: Array
    positions: Array
    targets: Array
    shift: Array
    frames: int
    count: int
    dt: float
    upright: Array | None = None
    tilt: Array | None = None
    worlds: Array | None = None
    """(n, 4, 4) from the space of these samples to the world, None where that is the world."""
    sizes: Array | None = None
    """(n,) of the head: its eyes are as much farther from its origin. None for 1."""
    carrier: tuple[Array, Array] | None = None
    """Orientations (n, 4) and positions (n, 3) of the bone that says how the character travels, None for the lowest."""

    @cached_property
    def own_motion(self) -> Array | None:
        """What the targets move of their own, as `own_motion.own_motion` has it. No setting changes that."""
        carrier = self.carrier or (self.rotations[:, -1], self.positions[:, -1])
        return own_motion.own_motion(self.targets, carrier, self.dt / self.count, self.worlds)

    def standing(self, upright: ArrayLike) -> "GazeSamples":
        """The same with the world's up (F, 3) or (3,), for chains that level the head. Raises InvalidArgument."""
        up = rotation.normalize(checks.like("up axis", upright, self.frames, 3))
        jumps = curves.sudden(rotation.angle_between(up[:-1], up[1:]))
        return replace(self, upright=rotation.normalize(curves.curve(up, jumps, self.count)))

    def sized(self, sizes: ArrayLike) -> "GazeSamples":
        """The same with a head of these sizes (F,). Raises InvalidArgument."""
        scale = checks.like("size of the head", sizes, self.frames)
        if np.allclose(scale, 1.0, rtol=0.0, atol=_SIZE):
            return self
        still = np.zeros(self.frames - 1, dtype=bool)
        return replace(self, sizes=curves.curve(scale[:, None], still, self.count)[:, 0])

    def tilted(self, tilt: ArrayLike) -> "GazeSamples":
        """The same with a tilt (F,) or a number [rad] of the head to its left, which holds from each frame to the next;
        neck and head take their shares of it. Raises InvalidArgument."""
        angles = checks.like("tilt of the head", tilt, self.frames)
        return replace(self, tilt=np.repeat(angles, self.count)[: len(self.rotations)]) if np.any(angles) else self


def check_frames(count: int) -> None:
    """Raise InvalidArgument where there are none."""
    if not count:
        raise InvalidArgument("A look-at needs at least one frame.")


def prepare(
    tuning: Tuning,
    rotations: ArrayLike,
    positions: ArrayLike,
    targets: ArrayLike,
    dt: float,
    shift: ArrayLike = 0.0,
    between: curves.Between | None = None,
    worlds: ArrayLike | None = None,
) -> GazeSamples:
    """What `solve_samples` needs; it may be solved again with other settings, but for the tuning's integrator.

    Arguments as for `solve`. worlds: (F, 4, 4) from the space of the pose to the world, where that moves: a chain that
    stabilizes then knows which targets move. Raises InvalidArgument.
    """
    rotations, positions = checks.animated("pose", rotations), checks.animated("pose", positions)
    targets = checks.animated("target", targets)
    frames, bones = (*rotations.shape, 0, 0)[:2]
    shapes = (frames, bones, 4), (frames, bones, 3), (frames, 3)
    if (rotations.shape, positions.shape, targets.shape[1:]) != shapes:
        raise InvalidArgument(
            "The shapes of rotations {shape}, positions {positions_shape} and targets {targets_shape} do not match.",
            shape=rotations.shape,
            positions_shape=positions.shape,
            targets_shape=targets.shape,
        )
    dt = checks.time_step(dt)
    check_frames(frames)
    checks.check_lengths("pose", rotations)
    shift = checks.like("shift", shift, frames, 3)
    fine = samples_per_frame(tuning, dt)
    checks.check_memory(_NUMBERS * frames * fine * (bones + len(targets)))
    spaces = None if worlds is None else checks.like("space", worlds, frames, 4, 4)
    moving = spaces if spaces is not None and own_motion.moves(spaces) else None
    frame_targets, heads = targets, positions[:, 0]
    if fine > 1:
        rotations, positions, targets, shift = curves.refined(rotations, positions, targets, shift, fine)
        if between is not None:
            rotations[between.indices], positions[between.indices] = between.rotations, between.positions
            targets[:, between.indices] = between.targets
        if moving is not None:
            targets, moving = own_motion.refined(frame_targets, heads, moving, fine, between)
    return GazeSamples(rotations, positions, targets, shift, frames, fine, dt, worlds=moving)


def solve(
    chain: Chain,
    tuning: Tuning,
    rotations: ArrayLike,
    positions: ArrayLike,
    targets: ArrayLike,
    dt: float,
    events: Sequence[Event] = (Event(-1.0, 0),),
    influence: ArrayLike = 1.0,
    shift: ArrayLike = 0.0,
    between: curves.Between | None = None,
    upright: ArrayLike | None = None,
) -> Solution:
    """Offsets of the chain for every frame.

    rotations: (F, b, 4) and positions: (F, b, 3) of the animated bones, head first. targets: (n, F, 3) positions
    of n targets. dt: seconds a frame; frame k is at k dt. events: what is looked at from when, in any order; one
    before the first frame has had all the time it needs, so that the first frame is settled; before the first
    event the look-at is off. influence: (F,) or a number in [0, 1], scales the offsets. shift: (F, 3) what is known to
    move the aiming bone beyond these offsets. between: the samples at some of the `samples_per_frame` moments between
    frames, where it is known. upright: (F, 3) or (3,) the up to which a chain with a `level` rolls the head. Raises
    InvalidArgument.
    """
    samples = prepare(tuning, rotations, positions, targets, dt, shift, between)
    if upright is not None:
        samples = samples.standing(upright)
    return solve_samples(chain, tuning, samples, events, influence)


def solve_samples(
    chain: Chain,
    tuning: Tuning,
    samples: GazeSamples,
    events: Sequence[Event] = (Event(-1.0, 0),),
    influence: ArrayLike = 1.0,
    kept: KeptParts | None = None,
) -> Solution:
    """Offsets of the chain for every frame of prepared samples; otherwise as `solve`. kept: as for `run_timeline`."""
    return run_timeline(chain, tuning, samples, events, kept).solution(*of_frames(samples, influence))


def solve_shifted(timeline: Timeline, samples: GazeSamples, shift: ArrayLike, influence: ArrayLike = 1.0) -> Solution:
    """The solution of a timeline with the aiming bone displaced by a smooth `shift` (F, 3).

    Only the aiming bone is solved again. Raises InvalidArgument.
    """
    shift = checks.like("shift", shift, samples.frames, 3)
    still = np.zeros(samples.frames - 1, dtype=bool)
    timeline.again(curves.curve(shift, still, samples.count))
    return timeline.solution(*of_frames(samples, influence))


def of_frames(samples: GazeSamples, influence: ArrayLike) -> tuple[Array, slice]:
    """The arguments of `Timeline.solution` for all whole frames."""
    return checks.like("influence", influence, samples.frames), slice(None, None, samples.count)


def run_timeline(
    chain: Chain,
    tuning: Tuning,
    samples: GazeSamples,
    events: Sequence[Event] = (Event(-1.0, 0),),
    kept: KeptParts | None = None,
) -> Timeline:
    """Solve prepared samples; the result returns the solution of any frames. Arguments as for `solve`.

    kept: what was found in earlier solves, and gets what is found in this one.
    """
    if samples.rotations.shape[1] != len(chain):
        raise InvalidArgument(
            "The chain has {bones} bones, but the samples have {samples}; sample the same chain.",
            bones=len(chain),
            samples=samples.rotations.shape[1],
        )
    timeline = Timeline(chain, tuning, tilts=samples.tilt is not None, kept=kept)
    timeline.begin(
        samples.rotations,
        samples.positions,
        samples.targets,
        samples.dt / samples.count,
        samples.shift,
        samples.upright,
        samples.tilt,
        samples.own_motion if chain.stabilize else None,
        samples.sizes,
    )
    for event, end in pieces(events, samples.dt * (samples.frames - 1), len(samples.targets)):
        timeline.piece(max(event.time, 0.0), end, event.target, settled=event.time < -INSTANT)
    return timeline


def samples_per_frame(tuning: Tuning, dt: float) -> int:
    """Into how many steps `solve` divides a frame of dt seconds.

    One for the integrators of engines: they are there to show what an engine does in its own steps.
    """
    return substeps(dt, curves.FINEST_STEP) if tuning.is_exact else 1


def pieces(events: Sequence[Event], last: float, count: int) -> list[tuple[Event, float]]:
    """Events in time order with their ends; of those before the first frame only the last one counts."""
    for event in events:
        time = checks.numbers("time of an event", event.time)
        if time.ndim or np.isnan(time):
            raise InvalidArgument("The time of an event is not a number.")
        if event.target is not None and not (isinstance(event.target, int | np.integer) and 0 <= event.target < count):
            raise InvalidArgument(
                "An event names target {target}, but there are only {count} targets.", target=event.target, count=count
            )
    ordered = sorted(events, key=lambda event: event.time)
    early = [event for event in ordered if event.time < -INSTANT]
    inside = [event for event in ordered if -INSTANT <= event.time <= last + INSTANT]
    if not inside or inside[0].time > INSTANT:
        inside = (early[-1:] or [Event(-1.0, None)]) + inside
    ends = [event.time for event in inside[1:]] + [last]
    return list(zip(inside, ends, strict=True))


__all__ = ["BEHIND_MARGIN", "Chain", "Event", "Solution", "Tuning", "solve"]
