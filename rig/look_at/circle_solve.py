"""Look-ats that depend on each other in a circle, as those of two people who talk: solved without stepping the scene.

Nobody's animation changes from round to round. Where the eyes of somebody else are follows from where they are as
animated, and from how the head was solved, which takes them along. So each rig is sampled once, as animated, and a
round takes numpy alone. At the end all rigs are evaluated at the same time, each with what was found of it, until all
of them aim as solved: their targets are where they are seen then.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import bpy
import numpy as np

from ...lookat_pd import curves, gaze, rotation
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..controls.realize import Correction, Realization, Tolerance, realize
from ..layers.kinds import BODY, FRESH, ROUNDS, TARGETS
from ..sampling.sampler import CutDown, Samples
from . import look_at_layer as offsets
from .body.body_solve import BodySolve
from .evaluations import Evaluations
from .gaze_solving import GazeSolver
from .look_at_solve import LookAtSolve
from .solve_context import SolveContext
from .solve_sampling import SolveSampling
from .verification import CORRECTIONS, GOOD, Turned, Verification

_SAMPLED, _SOLVED = 0.5, 0.6
"""Fractions of the work after which the rigs are sampled, and the rounds done."""
Rigs = Mapping[bpy.types.Object, "_Member"]


def can_solve(group: Sequence[LookAtSolve], context: SolveContext) -> bool:
    """Whether these are on rigs of their own, all of them verified on the evaluated rig, and nothing repeats.

    Nobody's rig may depend on another one of them, only the targets.
    """
    armatures = {solve.look_at.armature for solve in group}
    return len(armatures) == len(group) and context.cycle is None and not any(solve.predicted for solve in group)


def steps(contexts: Mapping[LookAtSolve, SolveContext]) -> Generator[float, None, None]:
    """Bring look-ats up to date of which `can_solve` is true. Raises LookAtError.

    contexts: of each, with what it depends on outside the circle.
    """
    members = [_Member(solve, context) for solve, context in contexts.items()]
    for n, member in enumerate(members):
        share = _SAMPLED / len(members)
        yield from subrange(member.sample(), n * share, (n + 1) * share)
    for member in members:
        if member.last_seen is not None:
            # The others have moved little since the last solution: that is good enough to be shown meanwhile.
            yield from member.look(member.last_seen, member.solve.kept.between, _SAMPLED)
            member.begin_verification()
            yield _SAMPLED
    yield from subrange(_rounds(members), _SAMPLED, _SOLVED)
    for member in members:
        member.begin_verification()
        yield _SOLVED
    yield from subrange(_Together(members).verified(), _SOLVED, 0.999)
    for member in members:
        member.solve.stale = FRESH


def _rounds(members: Sequence["_Member"]) -> Generator[float, None, None]:
    rigs = {member.solve.look_at.armature: member for member in members}
    for turn in range(ROUNDS):
        # All of them look where the others were in the round before.
        seen = [member.seen(rigs if turn else {}) for member in members]
        for n, member in enumerate(members):
            done = (turn + n / len(members)) / ROUNDS
            if turn == ROUNDS - 1:
                yield from member.see(seen[n], done)
            yield from member.look(*seen[n], done)
            yield done


class _Member:
    """One of a circle."""

    solver: GazeSolver
    body: BodySolve | None
    solution: gaze.Solution
    displacement: Array | None
    verification: Verification

    def __init__(self, solve: LookAtSolve, context: SolveContext) -> None:
        self.solve, self.context = solve, context
        self.look_at = solve.look_at
        self.last_seen: Array | None = None
        """Targets (n, F, 3) of the last solution, None if nothing is known of one."""

    @property
    def samples(self) -> Samples:
        assert self.solve.kept.samples is not None
        return self.solve.kept.samples

    def sample(self) -> Generator[float, None, None]:
        """Bring the samples up to date: of the rig as animated, and of targets that nobody of the circle has moved."""
        solve, kept = self.solve, self.solve.kept
        if kept.samples is None or kept.alone is None:
            solve.stale = BODY
        else:
            if solve.stale < TARGETS and kept.learned is not None and kept.coupling is not None:
                self.last_seen = kept.samples.targets
            kept.samples, kept.between = replace(kept.samples, targets=kept.alone[0]), kept.alone[1]
        if solve.stale >= TARGETS:
            kept.evaluations = None
        # Before the rig is copied, so that the copy has them.
        self.context.install(self.look_at, solve.number)
        with closing(solve.sampler(self.context)) as sampler:
            self.sampling = yield from solve.sample(self.context, sampler, 1.0)
        solve.kept.alone = self.samples.targets, solve.kept.between

    # Rounds

    def seen(self, rigs: Rigs) -> tuple[Array, curves.Between | None]:
        """Targets (n, F, 3), and samples between frames, with these rigs as they were solved."""
        assert self.solve.kept.alone is not None
        before, between = self.solve.kept.alone
        targets = before.copy()
        for n, target in enumerate(self.look_at.watched):
            other = rigs.get(target.object) if target.object is not None and target.bone else None
            if other is not None:
                targets[n] = other.carried(self.samples.worlds, before[n])
        if between is None:
            return targets, None
        times, frames = between.indices / self._per_frame, np.arange(targets.shape[1])
        moved = targets - before
        further = np.array([[np.interp(times, frames, axis) for axis in one.T] for one in moved]).swapaxes(1, 2)
        return targets, replace(between, targets=between.targets + further)

    @property
    def _per_frame(self) -> int:
        return gaze.samples_per_frame(self.look_at.tuning, self.context.dt)

    def carried(self, worlds: Array, points: Array) -> Array:
        """Where the head takes points (F, 3) that are fixed to it. They are in the space of `worlds` (F, 4, 4)."""
        samples, solution = self.samples, self.solution
        into = np.linalg.inv(samples.worlds) @ worlds
        before, place = samples.rotations[:, 0], samples.positions[:, 0]
        turn = rotation.multiply(solution.wanted[:, 0], rotation.inverse(before))
        own = _transformed(into, points)
        moved = solution.position + rotation.rotate(turn, own - place)
        still = np.all(turn == rotation.IDENTITY, axis=-1) & np.all(solution.position == place, axis=-1)
        return np.where(still[:, None], points, _transformed(np.linalg.inv(into), moved))

    def see(self, seen: tuple[Array, curves.Between | None], done: float) -> Generator[float, None, None]:
        """Find out which targets are hidden, where these are."""
        if self.look_at.occluders:
            self.solve.kept.samples = replace(self.samples, targets=seen[0])
            with closing(self.solve.sampler(self.context)) as sampler:
                sampling = SolveSampling(self.look_at, self.context, sampler, self.solve.kept)
                yield from sampling.sample_sight(done, 0.0)

    def look(self, targets: Array, between: curves.Between | None, done: float) -> Generator[float, None, None]:
        """Solve with targets (n, F, 3) and samples between frames."""
        kept = self.solve.kept
        kept.samples, kept.between = replace(self.samples, targets=targets), between
        self.solver, self.body, self.displacement = GazeSolver(self.look_at, self.context, kept), None, None
        self.solution = yield from self.solver.steps(done)
        if self.look_at.body is not None:
            self.body = BodySolve(self.look_at.body, self.look_at.chain, kept.samples, self.context.dt)
            self.displacement = self.body.hips_displacement(self.solution.offsets, self.solver.stance)
            self.solution = self.solver.solve_displaced(self.solution, self.displacement)

    # Verification

    def begin_verification(self) -> None:
        """Show what is expected, which is to be verified."""
        solve = self.solve
        solve.begin(self.solver, self.solution)
        with closing(self.sampling.sampler):
            self.verification = Verification(
                solve.number, self.solver, self.sampling, self.body, self.solution, self.displacement, solve.propose
            )
        solve.preview(self.verification.expected(), self.displacement)

    def finish(self, seen: Samples) -> None:
        verification = self.verification
        self.solve.solution, self.solve.aim = verification.solution, verification.aim
        self.solve.measured, self.solve.error = True, verification.error
        self.solve.finish(self.solver, self.body, verification.offsets, verification.displacement, seen)


class _Together(Realization[tuple[Turned, ...], list[Samples]]):
    """The verification of all at the same time."""

    def __init__(self, members: Sequence[_Member]) -> None:
        self._members = members
        self._all = [member.verification for member in members]
        self._evaluated: list[Turned] = []
        known = [member.solve.kept.evaluations for member in members]
        is_known = known[0] is not None and all(one is known[0] for one in known)
        self._evaluations = known[0] if is_known and known[0] is not None else Evaluations()
        for member in members:
            member.solve.kept.evaluations = self._evaluations

    def verified(self) -> Generator[float, None, None]:
        """Evaluate and correct until all aim as solved, and let the bodies respond."""
        host, *guests = [member.solve.sampler(member.context, _cut_down(self._members)) for member in self._members]
        with closing(host):
            self._host, self._guests = host, guests
            first = tuple(Turned(one.offsets, one.displacement) for one in self._all)
            realized = yield from realize(self, first, Tolerance(GOOD, CORRECTIONS))
            seen = realized.seen
            if not realized.reached.all():
                if any(one.is_uncertain(turned) for one, turned in zip(self._all, self._evaluated, strict=True)):
                    seen = yield from self.evaluate()
                else:
                    seen = [one.as_corrected(samples) for one, samples in zip(self._all, seen, strict=True)]
        for member, samples in zip(self._members, seen, strict=True):
            member.finish(samples)

    def write(self, values: tuple[Turned, ...]) -> None:
        for one, turned in zip(self._all, values, strict=True):
            one.write(turned)

    def evaluate(self) -> Generator[float, None, list[Samples]]:
        self._evaluated = [Turned(one.offsets, one.displacement) for one in self._all]
        tracks = [one.propose(one.offsets, one.displacement) for one in self._all]
        yield 0.0

        def before() -> None:
            for member, track in zip(self._members, tracks, strict=True):
                member.context.play(self._host)
                offsets.show(self._host.stand_in(member.look_at.armature), track)

        def step(frames: list[float]) -> Generator[float, None, list[Samples]]:
            for member in self._members:
                member.solve.kept.passes += 1
            return (yield from self._host.sample_with(self._guests, frames, before))

        shown = [(member.look_at.armature, track) for member, track in zip(self._members, tracks, strict=True)]
        return (yield from self._evaluations.seen(shown, self._members[0].context.frames, step))

    def compare(self, seen: list[Samples]) -> Array:
        return np.max([one.compare(samples) for one, samples in zip(self._all, seen, strict=True)], axis=0)

    def correct(
        self, values: tuple[Turned, ...], seen: list[Samples]
    ) -> Generator[float, None, Correction[tuple[Turned, ...]]]:
        corrected = []
        for one, turned, samples in zip(self._all, values, seen, strict=True):
            corrected.append((yield from one.correct(turned, samples)))
        return Correction(tuple(one.values for one in corrected), all(one.trusted for one in corrected))


def _cut_down(members: Sequence[_Member]) -> CutDown:
    """The rigs that are evaluated as cut-down copies for all members, with the bones that any of them needs."""
    plan: CutDown = {}
    whole = set()
    for member in members:
        known = member.solve.kept.cut_down or {}
        used = {member.look_at.armature, *(one.object for one in member.look_at.watched if one.object and one.bone)}
        whole |= used - known.keys()
        for armature, bones in known.items():
            plan.setdefault(armature, set()).update(bones)
    return {armature: bones for armature, bones in plan.items() if armature not in whole}


def _transformed(matrices: Array, points: Array) -> Array:
    """Points (F, 3) by matrices (F, 4, 4)."""
    return (matrices[:, :3, :3] @ points[..., None])[..., 0] + matrices[:, :3, 3]
