"""The controller of `gaze.solve`, one step at a time: for a character that follows in real time.

Bones are listed head first, everything is in one space, offsets are local and multiply on the right, as in `gaze`.
"""

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, curves, rotation
from ..errors import InvalidArgument
from ..pd.followers import Follower, Tuning
from ..pd.second_order import substeps
from ..rotation import Array
from . import own_motion
from .chain import Chain
from .target_angles import ForwardKinematics
from .timeline import Timeline

_FEWEST = 2
"""Least number of samples per step: a single one would look like a jump of the target."""
_FIXED_POINT = 6


class RealtimeLookAt:
    """A look-at that keeps its state from step to step.

    During a step, the pose and the target move uniformly from their state at the previous step. With an exact
    integrator, the result does not depend on the division into steps.
    """

    def __init__(self, chain: Chain, tuning: Tuning) -> None:
        self._run = Timeline(chain, tuning)
        self._before: tuple[Array, Array, Array | None, Array] | None = None
        self._world: Array | None = None
        self._carried = own_motion.StepByStep()
        self._yaw: float | None = None
        self._free = self._run.state
        self._since = 0.0
        self._continues = False

    @property
    def chain(self) -> Chain:
        return self._run.chain

    @property
    def tuning(self) -> Tuning:
        return self._run.tuning

    @property
    def offsets(self) -> Array:
        """(b, 4) local rotations to multiply on the right of the animated ones; exactly the identity when released."""
        return self._run.offsets(self._run.state[None], slice(None))[0, ::-1]

    def start(self, offsets: ArrayLike) -> None:
        """Come to rest at these offsets (b, 4), within the limits."""
        wanted = checks.quaternions("offsets", checks.exactly("offsets", offsets, len(self.chain), 4))[::-1]
        inside, nothing = wanted, np.zeros((len(wanted), self.tuning.width))
        # Beyond the range of the goals the limits compress a state: invert them.
        for _ in range(_FIXED_POINT):
            state = np.stack((self.tuning.encode(rotation.log(inside)), nothing), axis=-1)
            shown = self._run.offsets(state[None], slice(None))[0]
            inside = rotation.multiply(inside, rotation.multiply(rotation.inverse(shown), wanted))
        self._run.state = state
        self._free, self._since, self._continues = state, 0.0, False

    def retune(self, chain: Chain, tuning: Tuning) -> None:
        """Continue with other settings from the current pose. Raises InvalidArgument for a chain of another length."""
        if len(chain) != len(self.chain):
            raise InvalidArgument(
                "The chain has {bones} bones instead of {bones_before}; start again.",
                bones=len(chain),
                bones_before=len(self.chain),
            )
        state, late, same = self._run.state, self._run.late, tuning.method == self.tuning.method
        offsets = self.offsets
        self._run, self._continues = Timeline(chain, tuning), False
        self._run.late = late
        if same:
            self._run.state = state
            self._free, self._since = state, 0.0
        else:
            self.start(offsets)

    def step(
        self,
        rotations: ArrayLike,
        positions: ArrayLike,
        target: ArrayLike | None,
        dt: float,
        shift: ArrayLike = 0.0,
        upright: ArrayLike | None = None,
        size: float = 1.0,
        world: ArrayLike | None = None,
    ) -> Array:
        """Offsets (b, 4) after another dt seconds.

        rotations: (b, 4) and positions: (b, 3) of the animated bones at the end of the step. target: (3,), None to
        release. shift: (3,) additional displacement of the aiming bone. upright: (3,) the up to which a chain with a
        `level` rolls the head. size: of the head. world: (4, 4) from the space of the
        pose to the world, where that moves: what stands still there is then no target that moves. Raises
        InvalidArgument.
        """
        now = self._checked(rotations, positions, target, shift)
        step = checks.numbers("time step", dt)
        if step.ndim or not (np.isfinite(step) and step >= 0.0):
            raise InvalidArgument("The time step must be 0 s or more, not {dt}.", dt=checks.shown(dt))
        # In a shorter time nothing moves, and velocities over it would be no numbers.
        dt = float(step) if step >= checks.SHORTEST_STEP else 0.0
        before, self._before = self._before or now, now
        if now[2] is None:
            self._world, self._carried = None, own_motion.StepByStep()
            self._release(dt)
            return self.offsets
        if before[2] is None:
            # A new target has not moved before.
            before = (*before[:2], now[2], before[3])
        if dt > 0.0:
            count = max(substeps(dt, curves.FINEST_STEP), _FEWEST)
            up = None if upright is None else rotation.normalize(checks.like("up axis", upright, count + 1, 3))
            rotations, positions, targets = _between(before, now, count)
            own = self._own_motion(before, now, world, dt, count)
            shift, sizes = _line(before[3], now[3], count), np.full(count + 1, size)
            self._run.begin(rotations, positions, targets, dt / count, shift, up, own=own, sizes=sizes)
            self._yaw = self._run.piece(0.0, dt, 0, settled=False, yaw=self._yaw, continues=self._continues)
            self._continues = True
        self._free, self._since = self._run.state, 0.0
        return self.offsets

    def _own_motion(self, begin: tuple, end: tuple, world: ArrayLike | None, dt: float, count: int) -> Array:
        """What the target moves of its own in each of `count` parts of a step (1, count, 3): neither where the space is
        carried, nor with it, nor with the character."""
        now = None if world is None else checks.exactly("space", world, 4, 4)
        before, self._world = self._world, now
        move, target = end[2] - begin[2], 0.5 * (begin[2] + end[2])
        if before is not None and now is not None and own_motion.moves(np.stack((before, now))):
            move = own_motion.between_spaces(begin[2], end[2], before, now)
        if self.chain.stabilize:
            here, there = ((rotations[-1], positions[-1]) for rotations, positions, *_ in (begin, end))
            move = self._carried.of(move, target, here, there, dt)
        return np.tile(move / count, (1, count, 1))

    def _checked(
        self, rotations: ArrayLike, positions: ArrayLike, target: ArrayLike | None, shift: ArrayLike
    ) -> tuple[Array, Array, Array | None, Array]:
        bones = len(self.chain)
        rotations, positions = checks.animated("pose", rotations), checks.animated("pose", positions)
        place = None if target is None else checks.animated("target", target)
        to = (3,) if place is None else place.shape
        if rotations.shape != (bones, 4) or positions.shape != (bones, 3) or to != (3,):
            raise InvalidArgument(
                "The shapes of {bones} chain bones, rotations {shape}, positions {positions_shape} and "
                "targets {targets} do not match.",
                bones=bones,
                shape=rotations.shape,
                positions_shape=positions.shape,
                targets=to,
            )
        checks.check_lengths("pose", rotations)
        return rotations, positions, place, checks.like("shift", shift, 3)

    def _release(self, dt: float) -> None:
        """Move without a target. Once the motion is slow, the fade continues from one starting time, step by step."""
        self._yaw, self._continues = None, False
        if not np.any(self._free) or dt <= 0.0:
            return
        since = self._since + dt
        follower = Follower(self.tuning, self._run.settle_times, since)
        free = follower.run(np.zeros((2, *self._free.shape[:-1])), 0.0, since, self._free)[1]
        faded = follower.release(2, 0.0, since, self._free)[1]
        if np.array_equal(free, faded):
            self._free, self._since = free, 0.0
        else:
            self._since = since
        self._run.state, self._run.rolled = faded, np.zeros_like(self._run.rolled)
        if not np.any(faded):
            self._free, self._since = faded, 0.0


def _between(before: tuple, now: tuple, count: int) -> tuple[Array, Array, Array]:
    """Pose and target at count + 1 times of a step: (n, b, 4), (n, b, 3), (1, n, 3)."""
    # Over such a short time, linear interpolation of quaternions is uniform.
    aligned = np.where(np.sum(before[0] * now[0], axis=-1, keepdims=True) < 0.0, -now[0], now[0])
    rotations = rotation.normalize(_line(before[0], aligned, count))
    return rotations, _line(before[1], now[1], count), _line(before[2], now[2], count)[None]


def _line(before: Array, now: Array, count: int) -> Array:
    part = np.arange(count + 1).reshape(-1, *(1,) * before.ndim) / count
    return before + part * (now - before)


def forward_kinematics(rotations: Array, positions: Array, offsets: Array) -> tuple[Array, Array]:
    """Orientations (b, 4) of the chain, head first, and position (3,) of the head with offsets (b, 4)."""
    chain = ForwardKinematics(rotations[None, ::-1], positions[None, ::-1])
    chain.turn(slice(0, len(offsets)), offsets[None, ::-1])
    return rotation.multiply(chain.deltas[0, ::-1], rotations), chain.origin[0]


def offsets_between(animated: Array, turned: Array) -> Array:
    """The offsets (b, 4) between the `animated` orientations (b, 4) of a chain and its evaluated ones."""
    delta = rotation.multiply(turned, rotation.inverse(animated))
    # The parent of each bone follows it.
    below = np.concatenate((delta[1:], rotation.identity(1)))
    offsets = rotation.multiply(rotation.inverse(rotation.multiply(below, animated)), turned)
    return np.where(offsets[:, :1] < 0.0, -offsets, offsets)


def unturned(turned: Array, positions: Array, offsets: Array) -> tuple[Array, Array]:
    """The animated orientations (b, 4) and positions (b, 3) of a chain from its evaluated ones and the known offsets
    (b, 4)."""
    animated, places = np.empty_like(turned), positions.copy()
    delta = rotation.identity()
    for n in range(len(turned) - 1, -1, -1):
        back = rotation.inverse(delta)
        if n < len(turned) - 1:
            places[n] = places[n + 1] + rotation.rotate(back, positions[n] - positions[n + 1])
        own = rotation.multiply(turned[n], rotation.inverse(offsets[n]))
        animated[n] = rotation.multiply(back, own)
        delta = rotation.multiply(turned[n], rotation.inverse(animated[n]))
    return animated, places
