"""Verifying a solved look-at whose controls act through constraints: evaluate the rig with the offsets, correct them.

Where forward kinematics of the chain does not predict the pose, the evaluated rig alone shows where the head aims.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import gaze, rotation
from ...lookat_pd.gaze import control_coupling
from ...lookat_pd.progress import drain
from ...lookat_pd.rotation import Array
from ..controls import coupling
from ..controls.realize import Correction, Realization, Tolerance, realize
from ..layers.track import Track
from ..sampling.sampler import Samples
from . import look_at_layer as offsets
from .aim_errors import AimErrors
from .body.body_solve import BodySolve
from .gaze_solving import Expected, GazeSolver
from .solve_sampling import Learned, SolveSampling

VERIFICATIONS = 2
GOOD = np.radians(0.02)
_LAST_SOLVES = 3
_SMALL = np.radians(0.3)
_MORE = 3
"""Further verifications where the last correction was not small: behind bones scaled unevenly, or half tracking."""
CORRECTIONS = VERIFICATIONS + _MORE
_LEVEL = 1e-4
"""Displacement [m] of the hips from which on what hangs on them is evaluated once more."""
_FORESEEING = 2
"""How often what is expected is corrected before it is verified."""
_AS_SEEN = np.radians(0.03)
"""Angle below which nobody sees what is expected move when it is verified."""
_NEAR = 1e-6
"""Distance [m] below which nothing can be aimed at."""
_ON_HEAD = 1e-3
"""Difference [rad, and part of their distance] between how a bone stands to the head with and without the look-at."""

Propose = Callable[[Array, Array | None], Track]
"""Makes chain offsets (F, b, 4) and a displacement (F, 3) of the hips the track of the look-at, not verified yet."""


@dataclass(frozen=True)
class Turned:
    """What is put on the rig: chain offsets (F, b, 4), and a displacement (F, 3) of the hips, None without a body."""

    offsets: Array
    displacement: Array | None


def measure_coupling(number: int, solver: GazeSolver, sampling: SolveSampling) -> Generator[float, None, None]:
    """Find the coupling (b, b) of the chain at the first frame, unless it is known; yields the completed fraction.

    number: of the look-at. Raises RigError where a control does not respond.
    """
    if solver.kept.coupling is not None:
        return
    look_at, context, animated = solver.look_at, solver.context, solver.chain[0]
    sampler, bones, first = sampling.sampler, len(look_at.bones), context.sampled(context.frames[:1]).tolist()
    begin = int(context.frames[0])
    assert solver.kept.samples is not None
    uneven = solver.kept.samples.sheared

    def evaluated(turns: Array) -> Array:
        def before() -> None:
            context.play(sampler)
            pose = Track.pose(number, look_at.turned, turns, look_at.moved, uneven=uneven)
            # At the frames of the solution: to make other curves, and those again, has the window draw all it shows.
            track = pose.held(begin, len(context.frames))
            offsets.show(sampler.stand_in(look_at.armature), track)

        found = next(sampler.sample(first, (), before)).rotations[0, :bones]
        # Between two slices nobody shall see it.
        offsets.hide(sampler.stand_in(look_at.armature), number)
        return found

    solver.kept.coupling = yield from coupling.measure_pose(look_at.bones, animated[0], look_at.chain.up, evaluated)


class Verification(Realization[Turned, Samples]):
    """The verification of one look-at, from the solution that its samples give.

    Afterwards `solution`, `offsets` (F, b, 4) and `displacement` (F, 3) are those verified, and `error` is the largest
    angle [rad] between aim axis and target as measured, nan for none; `aim` has the errors over all frames that look.
    displacement: of the hips, None without a body.
    """

    def __init__(
        self,
        number: int,
        solver: GazeSolver,
        sampling: SolveSampling,
        body: BodySolve | None,
        solution: gaze.Solution,
        displacement: Array | None,
        propose: Propose,
    ) -> None:
        """Raises RigError where a control does not respond. number: of the look-at, which gets its constraints."""
        self.number = number
        self.solver, self.sampling, self.body, self.propose = solver, sampling, body, propose
        self.solution, self.displacement, self.error = solution, displacement, np.nan
        self.aim: AimErrors | None = None
        self._animated = solver.chain[0]
        drain(measure_coupling(number, solver, sampling))
        assert solver.kept.coupling is not None
        self._coupling = solver.kept.coupling
        self.offsets = self._realized(rotation.identity(*self._animated.shape[:2]))
        response = control_coupling.own_response(self._coupling, 0)
        self._aim_correction = control_coupling.AimCorrection(solver.look_at.chain.forward[0], response)
        self._shift = np.zeros_like(solution.position) if displacement is None else displacement
        self._turn, self._missing = 0, np.inf
        self._evaluated = Turned(self.offsets, self.displacement)

    def expected(self) -> Array:
        """Offsets (F, b, 4) that should be right by what the last verification has learned, without evaluating them."""
        return self.offsets_for(self.solver.expected(self.solution, self.displacement, self._animated))

    def offsets_for(self, expected: Expected) -> Array:
        """The offsets (F, b, 4) for what is expected."""
        learned = self.solver.kept.learned
        coupling = self._coupling if learned is None else learned.coupling
        wanted, correction = expected.wanted, expected.correction
        return control_coupling.realize(wanted, self._animated, coupling, correction, self.active)

    def steps(self) -> Generator[float, None, Samples]:
        """Evaluate and correct until the aim is as solved; the rig as last evaluated. Yields the completed fraction.

        With a body it has the final offsets: what the last correction of the aim does to it follows from the rest.
        """
        first = Turned(self.offsets, self.displacement)
        realized = yield from realize(self, first, Tolerance(GOOD, CORRECTIONS))
        self.offsets, self.displacement = realized.values.offsets, realized.values.displacement
        if self.body is None or realized.reached.all():
            return realized.seen
        if self.is_uncertain(self._evaluated):
            return (yield from self.evaluate())
        return self.as_corrected(realized.seen)

    def is_uncertain(self, evaluated: Turned) -> bool:
        """Whether the rig may be elsewhere than `as_corrected` says, where it was last evaluated with these: the aiming
        bone was turned by more than a little, or the hips were moved by more than what does not matter."""
        now, then = self.displacement, evaluated.displacement
        moved = now is not None and then is not None and bool(np.abs(now - then).max() > _LEVEL)
        return moved or self._missing >= _SMALL

    def write(self, values: Turned) -> None:
        self.offsets, self.displacement = values.offsets, values.displacement

    def evaluate(self) -> Generator[float, None, Samples]:
        self._evaluated = Turned(self.offsets, self.displacement)
        track = self.propose(self.offsets, self.displacement)
        yield 0.0
        return (yield from self.sampling.sample_turned(track, 0.0, 1.0))

    def compare(self, seen: Samples) -> Array:
        """The largest angle [rad] that something is off, (1,): each frame depends on those before."""
        self._turn += 1
        self.solver.kept.learned = self._learned(seen, self._shift)
        error = self._angle_off(seen)
        self._moved_hips = self._corrected_displacement(seen)
        return np.array([error if self._moved_hips is self.displacement else np.inf])

    def correct(self, values: Turned, seen: Samples) -> Generator[float, None, Correction[Turned]]:
        yield 0.0
        self.displacement = self._moved_hips
        if self._turn < VERIFICATIONS:
            # What each control was seen to receive beyond the model is taken into account.
            self._shift = yield from self._solve_again(seen, self._shift)
            assert self.solver.kept.learned is not None
            return Correction(Turned(self._realized(self.solver.kept.learned.correction), self.displacement))
        # The last correction is the aiming bone's alone: what was measured below it, and of the target, holds then.
        for n in range(_LAST_SOLVES):
            self._shift = yield from self._solve_again(seen, self._shift)
            yield (n + 1) / _LAST_SOLVES
        turned, self._missing = self._correct_aim(seen)
        is_last = self._missing < _SMALL or self._turn == CORRECTIONS
        return Correction(Turned(turned, self.displacement), trusted=is_last)

    def as_corrected(self, seen: Samples) -> Samples:
        """The rig as last evaluated, with the aiming bone turned to where the last correction has it aim; and what is
        fixed to it."""
        chain = self._animated.shape[1]
        head, place = seen.rotations[:, :1], seen.positions[:, :1]
        ahead = self._ahead(seen)
        aims = (rotation.rotate(turns, ahead) for turns in (head[:, 0], self.solution.wanted[:, 0]))
        turn = rotation.shortest_arc(*aims)[:, None]
        turned = self._on_head(seen) & self.active[:, None]
        turned[:, 1:chain] = False
        rotations = np.where(turned[..., None], rotation.multiply(turn, seen.rotations), seen.rotations)
        moved = place + rotation.rotate(turn, seen.positions - place)
        return replace(seen, rotations=rotations, positions=np.where(turned[..., None], moved, seen.positions))

    def _on_head(self, seen: Samples) -> Array:
        """(F, b) whether sampled bones stand to the aiming bone as in the animation, at all frames."""
        before = self.solver.samples
        turn = rotation.multiply(seen.rotations[:, :1], rotation.inverse(before.rotations[:, :1]))
        off = rotation.distance(rotation.multiply(turn, before.rotations), seen.rotations)
        arms = rotation.rotate(turn, before.positions - before.positions[:, :1])
        away = np.linalg.norm(seen.positions[:, :1] + arms - seen.positions, axis=-1)
        fixed = (off < _ON_HEAD) & (away < _ON_HEAD * np.maximum(np.linalg.norm(arms, axis=-1), _ON_HEAD))
        return np.broadcast_to(fixed.all(axis=0), fixed.shape).copy()

    @property
    def active(self) -> Array:
        """(F,) frames at which anything turns."""
        return np.any(self.solution.offsets != rotation.IDENTITY, axis=(1, 2))

    def _realized(self, correction: Array) -> Array:
        """The offsets that turn the controls as solved. correction: (F, b, 4) as `control_coupling` has it."""
        return control_coupling.realize(self.solution.wanted, self._animated, self._coupling, correction, self.active)

    def _learned(self, seen: Samples, shift: Array) -> Learned:
        """What the rig shows beyond the model. shift: (F, 3) with which the solution was found."""
        chain = seen.rotations[:, : self._animated.shape[1]]
        correction = control_coupling.correct(chain, self._animated, self.offsets, self._coupling)
        turns = rotation.distance(self._animated, self.solution.wanted)
        hips = 0.0 if self.displacement is None else self.displacement
        remaining = rotation.multiply(chain, rotation.inverse(self.solution.wanted))
        return Learned(correction, turns, self._moved(seen, shift) - hips, remaining, self._coupling)

    def _moved(self, seen: Samples, shift: Array) -> Array:
        """What moves the aiming bone beyond its offsets (F, 3), where anything turns."""
        return np.where(self.active[:, None], shift + seen.positions[:, 0] - self.solution.position, 0.0)

    def _ahead(self, seen: Samples) -> Array:
        """The direction (F, 3) in the frame of the head of what is in line with the aim and as far away as the target:
        a head that is rolled otherwise than it should be has its eyes elsewhere, too."""
        solution, chain = self.solution, self.solver.look_at.chain
        if not chain.eye_height:
            return chain.forward[0]
        away = self.looked_at(seen.targets) - solution.position
        return chain.ahead(rotation.length(away), seen.sizes[:, 0])

    def looked_at(self, targets: Array) -> Array:
        """The places (F, 3) that are looked at, of targets (n, F, 3)."""
        looked_at = self.solution.looked_at
        return self.solver.mixed(targets)[0][np.maximum(looked_at, 0), np.arange(len(looked_at))]

    def _correct_aim(self, seen: Samples) -> tuple[Array, float]:
        """Offsets (F, b, 4) with the aiming bone alone turned further, and the largest angle [rad] that was missing."""
        self._aim_correction.axis = self._ahead(seen)
        step, missing = self._aim_correction.step(seen.rotations[:, 0], self.solution.wanted[:, 0])
        corrected = self.offsets.copy()
        corrected[:, 0] = rotation.multiply(corrected[:, 0], step)
        return np.where(self.active[:, None, None], corrected, rotation.IDENTITY), missing

    def _corrected_displacement(self, seen: Samples) -> Array | None:
        if self.body is None or self.displacement is None:
            return self.displacement
        return self.body.corrected_displacement(seen, self.displacement, self.active)

    def _solve_again(self, seen: Samples, shift: Array) -> Generator[float, None, Array]:
        """Solve with the targets and the head as they were seen; what moves the head beyond the model (F, 3)."""
        shift = self._moved(seen, shift)
        self.solution = yield from self.solver.steps(0.0, seen.targets, shift, seen.sizes[:, 0])
        return shift

    def _angle_off(self, seen: Samples) -> float:
        """Note the aim error that the evaluated rig shows, and return by how much the aim differs from the solution."""
        aim_error = self._aim_error(seen)
        self.error = self.solver.settled_error(self.solution, aim_error)
        self.aim = self.solver.aim_errors(self.solution, aim_error)
        away = rotation.distance(seen.rotations[:, 0], self.solution.wanted[:, 0])
        moved = np.abs(aim_error - self.solution.error)
        return float(max(away.max(), np.nanmax(np.append(moved, 0.0))))

    def _aim_error(self, seen: Samples) -> Array:
        """Angle (F,) [rad] between the aim axis and the target as seen, nan where there is none."""
        looked_at, places = self.solution.looked_at, self.looked_at(seen.targets)
        head = seen.rotations[:, 0], seen.positions[:, 0]
        error = self.solver.look_at.chain.aim_error(*head, places, seen.sizes[:, 0])
        # Where the head glances aside or nods, the solution has no error either.
        looks = (looked_at >= 0) & np.isfinite(self.solution.error)
        return np.where(looks, error, np.nan)


class Foreseen(Realization[Array, Samples]):
    """What is expected of a solution, corrected by what the evaluated rig shows at a few frames: where the pose was
    edited, the rig adds something else to the model than it did when that was learned.

    In between, what is further found is taken to change steadily. It ends as `kept.learned` of the solver.
    """

    def __init__(self, verification: Verification, places: Array) -> None:
        """places: (n,) indices of the frames, in order. Only where something was learned before."""
        self._verification, self._places, self._turn = verification, places, 0
        self._solver, self._solution = verification.solver, verification.solution
        self._animated = self._solver.chain[0]
        self._expected = self._expect()
        self.offsets = verification.offsets_for(self._expected)
        """(F, b, 4) what is expected by what is known until now."""

    def steps(self) -> Generator[float, None, Array]:
        """The offsets (F, b, 4); yields the completed fraction."""
        realized = yield from realize(self, self.offsets, Tolerance(_AS_SEEN, _FORESEEING))
        return realized.values

    def write(self, values: Array) -> None:
        self.offsets = values

    def evaluate(self) -> Generator[float, None, Samples]:
        verification = self._verification
        track = verification.propose(self.offsets, verification.displacement)
        yield 0.0
        return (yield from verification.sampling.sample_turned(track, 0.0, 1.0, self._places))

    def compare(self, seen: Samples) -> Array:
        """The largest angle [rad] that a control is off, or the target elsewhere as seen from the head, (1,)."""
        self._turn += 1
        chain = seen.rotations[:, : self._animated.shape[1]]
        turned = rotation.distance(chain, self._expected.wanted[self._places])
        targets = self._verification.looked_at(self._solver.samples.targets)[self._places]
        away = np.maximum(rotation.length(targets - seen.positions[:, 0]), _NEAR)
        return np.array([max(turned.max(), (rotation.length(self._moved(seen)) / away).max())])

    def correct(self, values: Array, seen: Samples) -> Generator[float, None, Correction[Array]]:
        yield 0.0
        self._solver.kept.learned = self._learned(seen)
        self._expected = self._expect()
        return Correction(self._verification.offsets_for(self._expected), trusted=self._turn == _FORESEEING)

    def _expect(self) -> Expected:
        return self._solver.expected(self._solution, self._verification.displacement, self._animated)

    def _moved(self, seen: Samples) -> Array:
        """What moves the aiming bone (n, 3) beyond what is expected."""
        moved = seen.positions[:, 0] - self._expected.place[self._places]
        return np.where(self._verification.active[self._places, None], moved, 0.0)

    def _learned(self, seen: Samples) -> Learned:
        """What was learned before, with what these offsets have shown."""
        places, wanted, expected = self._places, self._solution.wanted, self._expected
        learned, turns = self._solver.kept.learned, rotation.distance(self._animated, wanted)
        assert learned is not None
        chain = seen.rotations[:, : wanted.shape[1]]
        now = control_coupling.correct(chain, self._animated[places], self.offsets[places], learned.coupling)
        further = rotation.log(rotation.multiply(now, rotation.inverse(expected.correction[places])))
        # The aiming bone is corrected to the end.
        remaining = rotation.multiply(learned.reached(wanted, turns), rotation.inverse(wanted))
        remaining[:, 0] = rotation.IDENTITY
        return Learned(
            rotation.multiply(rotation.exp(_steady(further, places, len(wanted))), expected.correction),
            turns,
            expected.shift + _steady(self._moved(seen), places, len(wanted)),
            remaining,
            learned.coupling,
        )


def _steady(values: Array, places: Array, count: int) -> Array:
    """Values (count, ...) of all frames, straight between those (n, ...) of some. places: (n,) indices of these."""
    rows = values.reshape(len(places), -1)
    columns = [np.interp(np.arange(count), places, column) for column in rows.T]
    return np.stack(columns, axis=-1).reshape(count, *values.shape[1:])
