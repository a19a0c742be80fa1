"""The motion with all the torque that it takes: what is missed at a key is made up for on the way to it."""

from collections.abc import Generator

import numpy as np

from .. import rotation
from ..curves import late_slope, smooth_step
from ..rotation import Array
from .body import Body
from .course import IntervalMotion
from .keyed_motion import KeyedMotion
from .reference import Burden
from .root_path import RootPath
from .simulation import Disturbances, Simulation, State


class Unlimited(Simulation):
    """The motion of a body under friction, stops, another body's inertia and with passive joints; it hits its keys.

    The course is the undisturbed motion of the law.
    """

    def __init__(
        self,
        body: Body,
        motion: KeyedMotion,
        gravity: Array,
        given: Disturbances,
        root: RootPath | None,
        *,
        keeps_speed: bool,
    ) -> None:
        """keeps_speed: whether the joints pass their keys at the speed of the motion."""
        super().__init__(body, motion, gravity, given, root)
        self._keeps_speed = keeps_speed
        self._burden = None
        if given.reference is not None or np.any(self.damping[self.driven]):
            self._burden = Burden(self.engine, given.reference, self.driven, moving_root=root is not None)

    def _interval(
        self, interval: int, course: IntervalMotion, state: State | None
    ) -> Generator[float, None, tuple[tuple[IntervalMotion, Array, Array], State | None]]:
        track = self._tracked(interval, course)
        steps = self._through(track, self._begun(course) if state is None else state)
        states = yield from self._told(steps, course)
        made, left = self._course(course, states), np.zeros(len(self.order))
        q, w = states[0][-1], states[1][-1]
        if interval < len(self.motion.times) - 1:
            made, left = self._corrected(course, made)
            q, w = q.copy(), w.copy()
            q[-4 * len(self.order) :] = made.poses[-1, self.order].ravel()
            w[self.extra :] = made.spins[-1, self.order].ravel()
        return (made, self._torques(made, course.poses[course.ends]), left), State(q, w)

    def _corrected(self, course: IntervalMotion, made: IntervalMotion) -> tuple[IntervalMotion, Array]:
        """The motion led to its key by a quintic, and the angles (n,) that were missing."""
        apart = rotation.multiply(rotation.inverse(course.poses[-1]), made.poses[-1])
        actuated = ~self.given.passive[:, None]
        error = rotation.log(apart) * actuated
        own = made.spins[-1] - rotation.rotate(rotation.inverse(apart), course.spins[-1])
        rate = rotation.log_rate(-error, own) * actuated * self._keeps_speed
        long = made.times[-1] - made.times[0]
        share = (made.times[:, None, None] - made.times[0]) / long
        bends = (
            -(part * error + long * late * rate) / long**order
            for order, (part, late) in enumerate(zip(smooth_step(share), late_slope(share), strict=True))
        )
        return made.turned(*bends), np.linalg.norm(error, axis=-1)

    def _prepare(self, s: float) -> None:
        super()._prepare(s)
        if self._burden is not None:
            self._burden.prepare(self.firm)

    def _rise(self, at: int, q: Array, gap: Array, rise: Array, s: float) -> Array:
        track, engine = self.track, self.engine
        distance = engine.between(q, track.coordinates[at])
        asked = self.frequency * (self.frequency * distance - 2.0 * gap)
        w, law = gap + track.velocities[at], track.accelerations[at]
        engine.put(q, w)
        if self._burden is None:
            change = rise + (asked - rise * self.driven) / (1.0 + self.firm)
        else:
            engine.place_still()
            change = rise + self._burden.change(q, asked, rise, law, self.damping * w, s * self.damping)
        if self.any_passive:
            engine.place()
            # Driven joints are not moved by what hangs on them.
            change = change + self._hanging(at, w, law + change, distance)
        return change
