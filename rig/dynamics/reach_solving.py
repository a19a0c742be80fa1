"""From the samples of a rig to the motion of a reach, and of what follows its arrival."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import dynamics, ik, rotation
from ...lookat_pd.curves import early_slope, smooth_step
from ...lookat_pd.errors import InvalidArgument, OutOfReach
from ...lookat_pd.rotation import Array
from ..detection import bone_limits as limits
from ..sampling.sampler import Samples
from ..sampling.scene_time import seconds_per_frame
from . import actuation, body_obstacles, joint_ranges
from .articulation import Articulation
from .body_obstacles import BodyPart
from .reach_hands import ReachingHand
from .reach_request import ReachRequest

BEFORE, AROUND = np.array([2.0, 1.0]), np.array([-1.0, 1.0])
"""Frames before the first one of a reach, and around the last one, that show how fast the bones and the goal are."""
_BEFORE_GOAL = 1e-4
"""Distance [m] from a goal for which the torso leans."""
_STILL = 1e-6
"""Distance [m] between two places of a hand in the frame of its arm that counts as none."""
_CHECKED = 9
"""In how many frames of a hold this is checked at most."""
TOUCHED = 0.01
"""Depth [m] within an obstacle, which includes the thickness of the arm, or within another arm, that is reported."""
_PEAKS = 0.4, 0.5
"""Fractions of its time between which the hand of a person is fastest."""


class Collisions(NamedTuple):
    """What a reach comes too close to."""

    clearance: float | None
    """The smallest distance [m] of the arms from an obstacle, negative within one; None without obstacles."""
    crossed: tuple[int, ...]
    """The frames in which two arms are within each other."""


@dataclass(frozen=True)
class ReachSolving:
    """What a reach of k hands is solved from."""

    scene: bpy.types.Scene
    hands: Sequence[ReachingHand]
    request: ReachRequest
    samples: Samples
    """Samples at the K frames that are keyed, of which the reach takes the first `count`."""
    beside: Samples
    """Samples at the frames BEFORE its first and AROUND its last one."""
    axes: Array | None
    """(k, K, 3, 3) axes of the goals in the world, if they matter."""
    count: int
    body: Articulation
    parts: Sequence[BodyPart]
    thickness: float
    """Radius [m] of arms that keep apart, 0 if they need not."""
    enough: Callable[[], bool]
    """Called between two passes; once it returns True, the best pass so far is used."""
    may_lean: bool = False
    """Whether the torso may help arms that become straight."""
    leans: bool = False
    """Whether it does."""

    @property
    def _dt(self) -> float:
        return seconds_per_frame(self.scene)

    @property
    def _duration(self) -> float:
        return self._dt * (self.count - 1)

    @cached_property
    def _pose(self) -> Array:
        """The pose (n, 4) at the start."""
        return self.body.poses(self.samples)[0]

    @property
    def _held(self) -> int:
        """The number of frames for which the pose is held after the arrival."""
        left = len(self.samples.frames) - self.count
        return left if self.request.after == "HOLD" else min(round(self.request.hold / self._dt), left)

    @property
    def _returns(self) -> bool:
        return self.request.after == "RETURN" and len(self.samples.frames) > self.count

    @property
    def _end(self) -> int:
        """The sampled frame up to which the hands should be at their goals, from the last of the reach on."""
        return self.count + (self._held if self.request.follow_goal else 0)

    @cached_property
    def checked(self) -> NDArray[np.int_]:
        """Those sampled frames (c,) in which this is checked."""
        among = min(self._end - self.count + 1, _CHECKED)
        return np.round(np.linspace(self.count - 1, self._end - 1, among)).astype(int)

    @cached_property
    def _given(self) -> dict[str, Any]:
        """What all reaches of this body have."""
        request, body = self.request, self.body
        return {
            "passes": request.passes,
            "gravity": body.gravity(self.scene, self.samples) if request.use_gravity else (0.0, 0.0, 0.0),
            "damping": request.joint_damping,
            "limits": self._limits,
            "strength": actuation.shares(self.scene, body),
            "peaks": _PEAKS if request.timing == "PEOPLE" and request.method == "OPTIMAL" else None,
        }

    @property
    def _limits(self) -> ik.Limits | None:
        """The limits of the joints. With a torso that leans, the arms need not become straight."""
        if not self.request.use_limits:
            return None
        given = limits.read(self.body.armature, self.body.bones, self.body.fixed)
        if not self.leans:
            return given
        return joint_ranges.as_people(self.body, self._pose, given, self.request.soft_reach)

    @cached_property
    def _asked(self) -> list[Array]:
        """The places (K, 3) of the goal of each hand."""
        return [hand.goals(self.body, self.samples) for hand in self.hands]

    @cached_property
    def _goals(self) -> list[Array]:
        """The places (K, 3) to which the hands come: their arms become straight softly. Raises OutOfReach where this
        leaves a hand before its goal and the torso may help."""
        goals = [self._softened(n, places) for n, places in enumerate(self._asked)]
        if self.may_lean and max(map(float, self._left(goals))) > _BEFORE_GOAL:
            raise OutOfReach("The arm becomes straight before it reaches its goal; move the goal closer.")
        return goals

    @property
    def softened(self) -> Array:
        """How far (k,) hands stay from their goals on arrival so that their arms do not become straight, in units of
        the scene."""
        return self._left(self._goals) / self.body.unit

    def _left(self, goals: Sequence[Array]) -> Array:
        """How far (k,) [m] goals are from those that are asked for on arrival."""
        k = self.count - 1
        return np.array([np.linalg.norm(own[k] - asked[k]) for own, asked in zip(goals, self._asked, strict=True)])

    def _softened(self, n: int, places: Array) -> Array:
        """The places (K, 3) to which a hand softly comes for goals (K, 3)."""
        body, softness = self.body.body, self.request.soft_reach
        joint, point = self.hands[n].effector(self.body, self.samples, self.count - 1)
        chain, offsets = body.chain(joint), np.asarray(body.offsets)
        links = np.linalg.norm(offsets[chain[1:]], axis=1)
        turned, places_now = (part[joint] for part in body.forward(self._pose))
        hand, end = np.zeros_like(places), places_now + rotation.rotate(turned, point)
        if self._orientations is None:
            links = np.append(links, np.linalg.norm(point))
        else:
            # The hand is turned as its goal: the arm has to reach the wrist.
            hand, end = rotation.rotate(self._orientations[n], np.broadcast_to(point, places.shape)), places_now
        base, length = offsets[chain[0]], float(links.sum())
        if softness <= 0.0 or np.count_nonzero(links) < 2:
            return places
        soft = ik.soft_goal(places - hand, base, length, softness=softness, initial=end) + hand
        # What is out of reach is refused, unless the goal moves there while the hand is held on it.
        away = np.linalg.norm(places - hand - base, axis=-1, keepdims=True) > length
        away[self.count :] = False
        return np.where(away, places, soft)

    @cached_property
    def _orientations(self) -> list[Array] | None:
        """The orientations (K, 4) of the goal of each hand, if the hands take them."""
        if self.axes is None or not self.request.turns:
            return None
        orientations = []
        for n, (hand, own) in enumerate(zip(self.hands, self.axes, strict=True)):
            if self.request.is_faced:
                normal = np.asarray(self.request.normals[n])
                own = own @ hand.faced(self.samples, self.count - 1, own[self.count - 1], normal)
            orientations.append(hand.orientations(self.body, self.samples, own))
        return orientations

    def _obstacles(self, first: int) -> dynamics.Obstacles | None:
        """Those during a reach from the sampled frame `first` on."""
        frames, balls = slice(first, first + self.count), len(self.hands) + len(self.request.waypoints)
        return body_obstacles.sampled(self.body, self.samples, self.parts, self.request.obstacles, frames, balls)

    def collisions(self, motion: dynamics.Reach, back: dynamics.Reach | None, returns: int) -> Collisions:
        """What the arms touch during a reach, and during one back that begins at the sampled frame `returns`."""
        both = [(0, motion), *([] if back is None else [(returns, back)])]
        clearances = [found.clearance for _, found in both if found.clearance is not None]
        crossed: set[int] = set()
        for first, found in both:
            if found.apart is not None:
                sampled = self.samples.frames[first : first + len(found.apart)]
                crossed |= set(sampled[found.apart[: len(sampled)] < -TOUCHED].astype(int).tolist())
        return Collisions(min(clearances, default=None), tuple(sorted(crossed)))

    def missed(self, seen: Samples) -> Array:
        """Where the hands are relative to their goals (k, c, 3) [m], in the frames from which the arms hang, in samples
        of the frames in which that is checked."""
        found = []
        for hand, own, asked in zip(self.hands, self._goals, self._asked, strict=True):
            turned = hand.base_pose(self.body, self.samples)[0][self.checked]
            away = self.body.unit * rotation.rotate(rotation.inverse(turned), hand.missed(seen))
            found.append(away - (own - asked)[self.checked])
        return np.stack(found)

    def there(self, offsets: Array) -> Generator[float, None, tuple[dynamics.Reach, Array]]:
        """The reach, and the poses (m, n, 4) that are held after it. offsets: (k, c, 3) [m] of the goals in the frames
        in which the hands are checked."""
        request, optimal = self.request, self.request.method == "OPTIMAL"
        goals = [places.copy() for places in self._goals]
        there = np.arange(self.count - 1, self._end)
        for places, offset in zip(goals, offsets, strict=True):
            places[there] += np.stack([np.interp(there, self.checked, part) for part in offset.T], axis=1)
        wanted = [
            replace(self._wanted(n, places[self.count - 1]), via=self._passed(n)) for n, places in enumerate(goals)
        ]
        before = None
        if request.keep_velocity and optimal:
            before = _velocities(self.body.poses(self.beside)[: len(BEFORE)], self._pose, self._dt)
        try:
            motion = yield from self._reached(wanted, self._pose, self._obstacles(0), before)
        except InvalidArgument:
            if not self._comes_from_faces:
                raise
            # The begin of that line may be out of reach where the goal is not.
            wanted = [replace(hand, approach=None) for hand in wanted]
            motion = yield from self._reached(wanted, self._pose, self._obstacles(0), before)
        held = np.repeat(motion.rotations[-1:], self._held, axis=0)
        if request.follow_goal:
            held = self._following(motion.rotations[-1], np.stack(goals, axis=1))
        return motion, held

    def _following(self, pose: Array, goals: Array) -> Array:
        """The poses (m, n, 4) that hold hands on their goals (K, k, 3) from a pose (n, 4) on arrival on."""
        turned, held = self._orientations, [pose[None]]
        for frames, effectors in self._held_alike():
            held.append(
                dynamics.track_paths(
                    self.body.body,
                    held[-1][-1],
                    goals[frames],
                    effectors=effectors,
                    limits=self._given["limits"],
                    orientations=None if turned is None else np.stack([own[frames] for own in turned], axis=1),
                )
            )
        return np.concatenate(held)[1:]

    def _held_alike(self) -> Iterator[tuple[slice, list[tuple[int, Array]]]]:
        """The frames of the hold, together as long as no hand is turned by its animation, with the effectors there."""
        first, end = self.count, self.count + self._held
        while first < end:
            effectors, last = self._effectors(first), first + 1
            while last < end and _are_alike(effectors, self._effectors(last)):
                last += 1
            yield slice(first, last), effectors
            first = last

    def _effectors(self, k: int) -> list[tuple[int, Array]]:
        """The joints of the hands and points in their frames [m], as the hands are at a sampled frame."""
        return [hand.effector(self.body, self.samples, k) for hand in self.hands]

    def _passed(self, n: int) -> list[tuple[float, Array]]:
        """The times [s] and places (3,) of the waypoints of a hand."""
        passed, targets = [], self.samples.targets
        at_goals = targets[: len(self.hands), self.count - 1]
        for slot, waypoint in enumerate(self.request.waypoints, len(self.hands)):
            k = round(waypoint.share * (self.count - 1))
            beside = at_goals[n] - at_goals.mean(axis=0) if waypoint.hand is None else np.zeros(3)
            if waypoint.hand in (None, n):
                passed.append((k * self._dt, self.hands[n].in_base(self.body, self.samples, targets[slot] + beside)[k]))
        return passed

    def _wanted(self, n: int, place: Array) -> dynamics.Hand:
        """A hand of the solver with a goal (3,)."""
        request, hand, k = self.request, self.hands[n], self.count - 1
        chased = along = None
        if self._chases:
            chased = hand.goal_velocity(self.body, self.beside, self._dt * float(np.ptp(AROUND)))
        if self._comes_from_faces:
            assert self.axes is not None
            line = -request.approach_distance * self.axes[n, k] @ np.asarray(request.normals[n])
            along = hand.approach(self.body, self.samples, k, line)
        elif request.approach != "FREE":
            line = _approach(request, None if self.axes is None else self.axes[n], k)
            along = hand.approach(self.body, self.samples, k, line)
        orientation = None if self._orientations is None else self._orientations[n][k]
        name = hand.chain.effector
        return dynamics.Hand(hand.effector(self.body, self.samples, k), place, chased, orientation, along, name)

    @property
    def _chases(self) -> bool:
        return self.request.follow_goal and self.request.method == "OPTIMAL"

    @property
    def _comes_from_faces(self) -> bool:
        """Whether the hands come to their faces along the normals of these, though nobody asked for it."""
        return self.request.is_faced and self.request.approach == "FREE" and self.request.method == "OPTIMAL"

    def afterwards(
        self, motion: dynamics.Reach, held: Array
    ) -> Generator[float, None, tuple[Array, dynamics.Reach | None]]:
        """The local rotations (K, n, 4) in all frames: a reach, the poses that are held, and what follows; and the
        reach back, if there is one."""
        moved, return_reach = [motion.rotations, held], None
        if self._returns:
            wanted = [self._wanted(n, place) for n, place in enumerate(motion.path[0])]
            begin = np.concatenate(moved)[-3:]
            before = None
            if any(hand.goal_velocity is not None for hand in wanted):
                before = _velocities(begin[:-1], begin[-1], self._dt)
            back = [dynamics.Hand(hand.effector, hand.goal) for hand in wanted]
            return_reach = yield from self._reached(
                back, begin[-1], self._obstacles(self.count + len(held) - 1), before
            )
            moved.append(_ending(return_reach.rotations, self._pose)[1:])
        made = np.concatenate(moved)[: len(self.samples.frames)]
        return _joined(made, self.body.poses(self.samples), self._dt, self.request.blend), return_reach

    def _reached(
        self,
        wanted: Sequence[dynamics.Hand],
        pose: Array,
        obstacles: dynamics.Obstacles | None,
        velocities: Array | None,
    ) -> Generator[float, None, dynamics.Reach]:
        """The reach of one hand or of several, with paths (F, k, 3)."""
        dt, duration = self._dt, self._duration
        given = {**self._given, "obstacles": obstacles, "velocities": velocities}
        if len(wanted) > 1:
            work = dynamics.reaching_together(
                self.body.body, pose, wanted, duration, dt, thickness=self.thickness, **given
            )
            return (yield from _until(work, self.enough))
        [hand] = wanted
        work = dynamics.reaching(
            self.body.body,
            pose,
            hand.goal,
            duration,
            dt,
            effector=hand.effector,
            method=self.request.method.lower(),
            via=hand.via,
            goal_velocity=hand.goal_velocity,
            orientation=hand.orientation,
            approach=hand.approach,
            **given,
        )
        reached = yield from _until(work, self.enough)
        return replace(reached, path=reached.path[:, None], minimum_jerk=reached.minimum_jerk[:, None])


def _are_alike(effectors: Sequence[tuple[int, Array]], others: Sequence[tuple[int, Array]]) -> bool:
    """Whether these points of the same joints differ by nothing that counts."""
    pairs = zip(effectors, others, strict=True)
    return all(float(np.abs(point - other).max()) < _STILL for (_, point), (_, other) in pairs)


def _approach(request: ReachRequest, axes: Array | None, k: int) -> Array:
    """The vector (3,) in the world along which an effector comes to a goal with these axes (K, 3, 3) at frame `k`."""
    side = np.array((0.0, 0.0, 1.0))
    if axes is not None and request.approach != "ABOVE":
        side = axes[k, :, "XYZ".index(request.approach[-1])] * (-1.0 if request.approach.startswith("NEG") else 1.0)
    return -request.approach_distance * side


def _velocities(before: Array, pose: Array, dt: float) -> Array:
    """The velocities (n, 3) [rad/s] in a pose (n, 4) from those (2, n, 4) in the two frames before it, of second order:
    what follows the pose is replaced, and does not count."""
    earlier, later = rotation.log(rotation.multiply(rotation.inverse(pose), before))
    return (-4.0 * later + earlier) / (2.0 * dt)


def _ending(motion: Array, pose: Array) -> Array:
    """A motion (F, n, 4) that ends in a pose (n, 4): the difference is distributed smoothly over it."""
    part = smooth_step(np.linspace(0.0, 1.0, len(motion)))[0][:, None, None]
    left = rotation.log(rotation.multiply(rotation.inverse(motion[-1]), pose))
    return rotation.multiply(motion, rotation.exp(part * left))


def _joined(made: Array, animated: Array, dt: float, blend: float) -> Array:
    """The rotations (K, n, 4) of a motion `made` (M, n, 4) and what follows it in those `animated` (K, n, 4).

    The difference goes with minimum jerk from its velocity: a hand at rest leaves as it came. Inertialization would
    begin with an acceleration, a jerk of the hand.
    """
    if len(made) == len(animated):
        return made
    count = len(made)
    before, last = rotation.multiply(rotation.inverse(animated[count - 2 : count]), made[-2:])
    turns = rotation.log(last)
    speed = rotation.log_rate(-turns, rotation.log(rotation.multiply(rotation.inverse(before), last)) / dt)
    times = dt * np.arange(1.0, len(animated) - count + 1.0)
    x = np.minimum(times / max(blend, 1e-9), 1.0)[:, None, None]
    left, onward = 1.0 - smooth_step(x)[0], early_slope(x)
    gone = rotation.multiply(animated[count:], rotation.exp(left * turns + blend * onward * speed))
    return np.concatenate((made, gone))


def _until(
    steps: Generator[float, bool | None, dynamics.Reach], enough: Callable[[], bool]
) -> Generator[float, None, dynamics.Reach]:
    """All steps, or until they are enough."""
    stop = None
    while True:
        try:
            yield steps.send(stop)
        except StopIteration as end:
            return end.value
        stop = True if enough() else None
