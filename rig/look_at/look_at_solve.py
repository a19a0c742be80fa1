"""One look-at being solved: sample, solve, verify where controls act through constraints, and let the body respond.

Everything that takes time is a generator of the fraction done, so that it can be done in slices.
"""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np

from ...lookat_pd import gaze, rotation
from ...lookat_pd.message import Message
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..layers.kinds import BODY, FRESH, TARGETS, Instance, LayerSolve
from ..layers.track import Track
from ..sampling.sampler import Alike, CutDown, Sampler, Samples, note_end
from .aim_errors import AimErrors
from .body import response
from .body.body_solve import BodySolve
from .gaze_solving import GazeSolver
from .resolve import LookAt
from .solve_context import SolveContext
from .solve_sampling import KeptSamples, SolveSampling
from .verification import VERIFICATIONS, Verification, measure_coupling

_SAMPLING = 0.8
"""Share of a pass over the frames in which the rig is sampled; the rest is solving."""
_WHOLE_FRAMES, _RAYS = 0.7, 0.2
"""Share of that for whole frames. There may be many times as many moments between them, or none."""

_SEEN_OFF = 1e-3
"""What a planted foot may be off, as a part of the length of its leg: a millimetre of a person."""


class LookAtSolve(LayerSolve):
    """One look-at over a range of frames: its samples, kept while they are valid, and its solution.

    track: the offsets found, None as long as there are none; `rough` while they are still to be verified. error: the
    largest angle [rad] between aim axis and target over frames that are settled with the target in reach, nan where
    there is none; `measured` on the evaluated rig, else predicted. aim: errors over all frames that look, of the eyes
    where there are some; None where it never looks. behind: whether it lets go of its target at all frames. below:
    tracks of the look-ats it depends on. circle:
    those that it depends on in a circle. alike: as `Sampler` has it.
    """

    def __init__(self, look_at: LookAt, number: int) -> None:
        super().__init__(Instance(look_at.armature, look_at.bone, number, look_at))
        self.kept = KeptSamples()
        self.alike: Alike = set()
        self.solution: gaze.Solution | None = None
        self.response: response.BodyResponse | None = None
        self.track: Track | None = None
        self.measured = self._expected = self.behind = False
        self.error = np.nan
        self.aim: AimErrors | None = None
        self.below: tuple[list[Track], list[Track]] = [], []
        self.circle: frozenset[LookAtSolve] = frozenset()

    @property
    def look_at(self) -> LookAt:
        """The settings as they were resolved last."""
        return self.instance.resolved

    @look_at.setter
    def look_at(self, look_at: LookAt) -> None:
        self.instance = replace(self.instance, resolved=look_at)

    @property
    def number(self) -> int:
        """Of the look-at on its rig."""
        return self.instance.number

    @property
    def copied(self) -> CutDown | None:
        return self.kept.cut_down

    @property
    def is_slow(self) -> bool:
        """Whether the evaluated rig verifies it, or the scene is played for its target: that takes longer than a step
        of the mouse."""
        return not self.predicted or bool(self.kept.scene_notes)

    @property
    def samples(self) -> Samples | None:
        """All frames as animated, None until they are complete."""
        return self.kept.samples

    @property
    def passes(self) -> int:
        """How often the frames were sampled."""
        return self.kept.passes

    @property
    def predicted(self) -> bool:
        """Whether forward kinematics says where everything will be, so that one pass over the frames is enough."""
        return self.look_at.plain and (self.look_at.body is None or self.look_at.body.plain)

    @property
    def is_expected(self) -> bool:
        """Whether its track is what is expected of a solution by what was learned before, and still to be verified."""
        return self.rough and self._expected

    @property
    def notes(self) -> tuple[str, ...]:
        """What the animator should know: what is in doubt or stays still, and why sampling takes longer than usual."""
        look_at = self.look_at
        known = (*look_at.notes, *(look_at.body.notes if look_at.body is not None else ()), *self._lifted_feet())
        known = (*known, *self._let_go(), *self.kept.scene_notes)
        if self.kept.whole_because is None:
            return known
        return (
            *known,
            Message("The whole rig is evaluated, which is slower. {reason}", reason=self.kept.whole_because),
        )

    @property
    def figures(self) -> Message | None:
        """How well it aims, None where that is not known: as far as is expected, until it is verified."""
        return None if self.aim is None else self.aim.message

    def _let_go(self) -> list[Message]:
        """Of a target that is behind the character all the time, so that nothing is seen of the look-at."""
        if not self.behind:
            return []
        return [
            Message(
                "The target of '{bone}' is behind the character at all frames and is let go; raise Let Go Angle to "
                "look at it over the shoulder.",
                bone=self.look_at.bone,
            )
        ]

    def _lifted_feet(self) -> list[Message]:
        """Of the planted foot that is farthest off where it should be, by more than what can be seen."""
        body, missed = self.look_at.body, None if self.response is None else self.response.missed
        if body is None or missed is None or self.samples is None or missed.max() < _SEEN_OFF:
            return []
        frame, leg = np.unravel_index(np.argmax(missed), missed.shape)
        link = body.anchors[body.sampled.index(body.legs[leg].upper)]
        return [
            Message(
                "At frame {frame} the leg of '{foot}' is too short for the turn of the body, and the foot misses "
                "its place by {percent:.1f}% of the leg's length; if it should stand there, reduce the share of "
                "'{bone}' in the chain.",
                frame=int(self.samples.frames[frame]),
                foot=body.legs[leg].foot,
                percent=100.0 * float(missed[frame, leg]),
                bone=self.look_at.bones[max(link, 0)],
            )
        ]

    def restructured(self, *, moves_owner: bool = True) -> None:
        """Bones, constraints or drivers may be others: find out anew which bones matter."""
        self.kept.cut_down = self.kept.whole_because = None
        self.alike = set() if moves_owner else self._alike_of_owner

    def succeed(self, before: LayerSolve) -> None:
        assert isinstance(before, LookAtSolve)
        # What other rigs do is no longer looked at where these are no targets any more.
        self.alike = before._alike_of_owner

    @property
    def _alike_of_owner(self) -> Alike:
        return {(armature, bones) for armature, bones in self.alike if armature == self.owner}

    def steps(self, context: SolveContext, *, rough: bool = False) -> Iterator[float]:
        """Bring the solution up to date; `rough`: but do not verify it yet. Raises LookAtError."""
        predicted = self.predicted
        passes = 1 if predicted else 1 + VERIFICATIONS + (self.look_at.body is not None)
        share = (1.0 if predicted else _SAMPLING) / passes
        if not predicted:
            # Before the rig is copied, so that the copy has them.
            context.install(self.look_at, self.number)
        with closing(self.sampler(context)) as sampler:
            sampling = yield from self.sample(context, sampler, share)
            look_at, kept, body = self.look_at, self.kept, None
            assert kept.samples is not None
            if look_at.body is not None:
                body = BodySolve(look_at.body, look_at.chain, kept.samples, context.dt)
            solver = GazeSolver(look_at, context, kept)
            solution, displacement = (yield from solver.steps(share)), None
            self.begin(solver, solution)
            if body is not None:
                displacement = body.hips_displacement(solution.offsets, solver.stance)
                self.solution = solution = solver.solve_displaced(solution, displacement)
                yield share
            if predicted and not kept.samples.sheared:
                self.error = solver.settled_error(solution, solution.error)
                self.aim = solver.aim_errors(solution, solution.error)
                self.finish(solver, body, solution.offsets, displacement, None)
            else:
                if predicted:
                    # Only the samples have shown that it must be verified: what stands in for the rig is made anew.
                    context.install(self.look_at, self.number)
                    sampler.park()
                for _ in measure_coupling(self.number, solver, sampling):
                    yield share
                verification = Verification(self.number, solver, sampling, body, solution, displacement, self.propose)
                if rough:
                    self.propose(verification.offsets, displacement)
                else:
                    for _ in self.foresee(verification):
                        yield share
                    seen = yield from subrange(verification.steps(), 1.0 / passes, 0.999)
                    yield 0.999
                    self.solution, self.measured, self.error = verification.solution, True, verification.error
                    self.aim = verification.aim
                    self.finish(solver, body, verification.offsets, verification.displacement, seen)
            note_end()
            yield 0.999
        self.stale = FRESH

    def sampler(self, context: SolveContext, cut_down: CutDown | None = None) -> Sampler:
        """A sampler of its rig and targets. cut_down: by default what it has found out itself."""
        aim, known = self.look_at.chain.forward[0], self.kept.cut_down if cut_down is None else cut_down
        return context.sampler(self.look_at, aim, cut_down=known, alike=self.alike)

    def begin(self, solver: GazeSolver, solution: gaze.Solution) -> None:
        """Take a solution that nothing is known of yet but what the samples say."""
        self.solution, self.response = solution, None
        self.behind = solver.is_behind(solution)
        self.measured = self.rough = self._expected = False

    def sample(self, context: SolveContext, sampler: Sampler, share: float) -> Generator[float, None, SolveSampling]:
        """Bring the samples up to date."""
        done, known = 0.0, SolveSampling(self.look_at, context, sampler, self.kept)
        if self.samples is not None and self.stale != BODY and known.are_settings_outdated:
            is_enough = yield from known.sample_settings(done)
            self.stale = self.stale if is_enough else BODY
        if self.samples is None or self.stale == BODY:
            # Which bones matter depends on the structure of the rigs, not on their keys: see `restructured`.
            # What was learned is good enough to be shown until it is verified.
            before = self.kept
            self.kept = KeptSamples(
                cut_down=before.cut_down, whole_because=before.whole_because, learned=before.learned
            )
            done = _WHOLE_FRAMES * share
            yield from SolveSampling(self.look_at, context, sampler, self.kept).sample_frames(done)
        elif self.stale == TARGETS:
            done = _WHOLE_FRAMES * share
            yield from SolveSampling(self.look_at, context, sampler, self.kept).sample_targets(done)
        # Settings may have changed while the frames were sampled.
        if self.stale >= TARGETS:
            if self.look_at.occluders:
                sampler.park()
            rays = _RAYS * share if self.look_at.occluders else 0.0
            yield from SolveSampling(self.look_at, context, sampler, self.kept).sample_sight(done, rays)
            done += rays
        sampling = SolveSampling(self.look_at, context, sampler, self.kept)
        yield from sampling.sample_between(done, 0.999 * share - done, keep=self.stale < TARGETS)
        self.kept.cut_down = sampler.cut_down
        self.kept.whole_because = sampler.whole_because or self.kept.whole_because
        return sampling

    def foresee(self, verification: Verification) -> Iterator[float]:
        """Show what is expected of a solution that is yet to be verified; yields the completed fraction."""
        self.preview(verification.expected(), verification.displacement)
        yield 1.0

    def propose(self, found: Array, displacement: Array | None) -> Track:
        """A track that is yet to be verified, to be shown unless what is expected of the solution is."""
        track = self._made(found, displacement)
        if not self._expected:
            self.rough = True
            self.keep(track)
        return track

    def preview(self, offsets: Array, displacement: Array | None) -> None:
        """Show what is expected of the solution while it is verified. The body goes on as it was, as far as it did.

        Where nothing was learned yet, better is shown as soon as it is found.
        """
        track, before = self._made(offsets, displacement), self.track
        if before is not None and before.offsets.shape == track.offsets.shape and before.first == track.first:
            bones = offsets.shape[1]
            track.offsets[:, bones:], track.moves, track.shapes = (
                before.offsets[:, bones:],
                before.moves,
                before.shapes,
            )
        self.rough, self._expected = True, self.kept.learned is not None
        self.keep(track)

    def finish(
        self,
        solver: GazeSolver,
        body: BodySolve | None,
        offsets: Array,
        displacement: Array | None,
        seen: Samples | None,
    ) -> None:
        """Let the body respond to the final offsets (F, b, 4). seen: the rig evaluated with them, None if predicted."""
        assert self.solution is not None
        if body is not None and displacement is not None:
            self.response = body.respond(self.solution.wanted[:, 0], offsets, displacement, seen, solver)
            if self.response.gaze is not None:
                self.error = solver.settled_error(self.solution, self.response.gaze.error)
                self.aim = solver.aim_errors(self.solution, self.response.gaze.error, self.response.gaze.looked_at)
        self.keep(self._made(offsets, displacement))
        self.rough = False

    def _made(self, offsets: Array, displacement: Array | None) -> Track:
        """The track of offsets (F, b, 4) of the chain and the response of the body.

        displacement: (F, 3) of the hips, which is all of the body as long as it has not responded.
        """
        look_at, samples = self.look_at, self.samples
        assert samples is not None
        rest, moves, shapes = rotation.identity(len(offsets), len(look_at.turned) - len(look_at.bones)), None, None
        if self.response is not None:
            rest, moves, shapes = self.response.offsets, self.response.moves, self.response.shapes
        elif look_at.body is not None and displacement is not None:
            moves = response.hips_only(look_at.body, samples, displacement)
        every = np.concatenate((offsets, rest), axis=1) if rest.shape[1] else offsets
        first = int(samples.frames[0])
        return Track(self.number, look_at.turned, first, every, look_at.moved, moves, shapes, uneven=samples.sheared)
