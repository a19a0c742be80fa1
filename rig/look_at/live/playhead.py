"""What is seen first of a long solve: the frames around the playhead, solved by themselves.

A controller forgets: some settle times after its first frame the pose no longer depends on how it began. So a solve of
the seconds before the playhead gives the pose there, to a few hundredths of a degree at most, in a fraction of the
time. Where a verification has shown before what the rig adds to that, a few frames show what an edit has made of it,
and it is not verified by itself. It is shown until all frames are solved, and nothing else is made of it: the solution
does not depend on where the playhead was.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from time import perf_counter

import numpy as np

from ....lookat_pd import gaze
from ....lookat_pd.errors import LookAtError
from ....lookat_pd.rotation import Array
from ...layers.kinds import BODY, FRESH, SETTINGS
from ...layers.track import Track
from ...sampling.sampler import Sampler
from ...sampling.scene_time import seconds_per_frame
from .. import gaze_solving
from ..look_at_solve import LookAtSolve
from ..scene_solve import SceneSolve
from ..solve_context import SolveContext
from ..solve_sampling import SolveSampling
from ..verification import Foreseen, Verification

_FORGOTTEN = 1.5
"""Settle times, divided by the damping ratio, after which a hundredth of a degree is left of how a controller began:
the angle that is left shrinks by exp(-2 pi t damping_ratio / settle_time)."""
_LEAST_DAMPING = 0.1
_LEAST, _AFTER = 3.0, 0.5
"""Seconds before the playhead, for glances, blinks and delays; and after it, for what depends on the next frames."""
_APART = 1.0
"""Seconds between frames at which the rig is evaluated with what is expected; the one at the playhead is among them."""
_SOON = 1.0
"""Seconds for which other frames show what they did although they are solved, but not verified: to show more of what is
right around the playhead, and to draw that, would put its verification off."""
_WORTH = 3
"""How many times as many frames there must be."""


class PlayheadSolve:
    """The look-ats of a scene, solved over frames around the playhead. tracks: of those that were out of date."""

    def __init__(self, whole: SceneSolve, frames: tuple[int, int]) -> None:
        apart = max(1, round(_APART / whole.context.dt))
        places = _places(frames, whole.scene.frame_current_final, apart)
        self._parts = {solve: _part(solve, whole.context, frames, places) for solve in whole.solves}
        self._scene_solve = SceneSolve(whole.scene, *frames, list(self._parts.values()), install=whole.install)
        # The copies of rigs that are found here are those of all frames.
        self._scene_solve.context = replace(self._scene_solve.context, in_all=len(whole.context.frames))
        self._scene_solve.trust()

    @property
    def is_expected(self) -> bool:
        """Whether what is expected of each is known, so that it could be shown."""
        return all(part.stale == FRESH or part.is_expected for part in self._parts.values())

    @property
    def tracks(self) -> dict[LookAtSolve, Track]:
        return {
            solve: part.track
            for solve, part in self._parts.items()
            if part.track is not None and part.track is not solve.track
        }

    def steps(self) -> Generator[float, None, None]:
        """Solve. What fails here fails for the whole range too, and is reported there."""
        try:
            with closing(self._scene_solve.steps(list(self._parts.values()), _ignore)) as work:
                for fraction in work:
                    yield fraction
                    if self.is_expected and all(p.stale == FRESH or p.is_corrected for p in self._parts.values()):
                        break
        finally:
            for solve, part in self._parts.items():
                if solve.kept.cut_down is None:
                    solve.kept.cut_down, solve.kept.whole_because = part.kept.cut_down, part.kept.whole_because


def frames_around(whole: SceneSolve, frame: float) -> tuple[int, int] | None:
    """First and last frame to solve before the others, None where all of them take little longer."""
    if not any(_takes_long(solve, whole.context) for solve in whole.solves):
        return None
    first, last = (int(n) for n in whole.context.frames[[0, -1]])
    per_second, place = 1.0 / seconds_per_frame(whole.scene), round(float(np.clip(frame, first, last)))
    before = max(_LEAST, *map(_memory, whole.solves))
    begin = max(first, place - int(np.ceil(before * per_second)))
    end = min(last, place + int(np.ceil(_AFTER * per_second)))
    return (begin, end) if (last - first + 1) >= _WORTH * (end - begin + 1) else None


def spliced(track: Track | None, seen_first: Track) -> Track:
    """A track, such as the last solution, with other frames for those of `seen_first`; which holds if there is none."""
    if track is None or (track.turned, track.moved) != (seen_first.turned, seen_first.moved):
        return seen_first
    if track.shapes.shape[1:] != seen_first.shapes.shape[1:]:
        return seen_first
    begin = seen_first.first - track.first
    there = slice(begin, begin + len(seen_first.offsets))
    if begin < 0 or there.stop > len(track.offsets):
        return seen_first
    offsets, moves, shapes = track.offsets.copy(), track.moves.copy(), track.shapes.copy()
    offsets[there], moves[there], shapes[there] = seen_first.offsets, seen_first.moves, seen_first.shapes
    return Track(track.number, track.turned, track.first, offsets, track.moved, moves, shapes, uneven=seen_first.uneven)


class SeenFirst:
    """The tracks that are shown until everything is solved, each spliced into what is known of the other frames."""

    def __init__(self, tracks: Mapping[LookAtSolve, Track] | None = None) -> None:
        self._tracks = dict(tracks or {})
        self._until, self._is_elsewhere = perf_counter() + _SOON, False
        self._spliced: dict[LookAtSolve, tuple[Track | None, Track]] = {}

    def __bool__(self) -> bool:
        return bool(self._tracks)

    def go_elsewhere(self) -> bool:
        """Another frame comes, which may not be among these; whether that was not known yet."""
        is_new, self._is_elsewhere = bool(self) and not self._is_elsewhere, True
        return is_new

    def track(self, solve: LookAtSolve) -> Track | None:
        """What to show of a look-at; the same object as long as nothing new is known."""
        seen, look_at = self._tracks.get(solve), solve.look_at
        if seen is None or solve.stale == FRESH or (seen.turned, seen.moved) != (look_at.turned, look_at.moved):
            return solve.track
        known = self._spliced.get(solve)
        # What is expected is already seen at the playhead.
        holds = (solve.is_expected and not self._is_elsewhere) or perf_counter() < self._until
        is_soon = solve.rough and known is not None and known[0] is not None and holds
        if known is None or (known[0] is not solve.track and not is_soon):
            known = self._spliced[solve] = solve.track, spliced(solve.track, seen)
        return known[1]


def _places(frames: tuple[int, int], frame: float, apart: int) -> Array:
    """Indices (n,) of frames that are so far apart, of which one is at the playhead."""
    place = round(float(np.clip(frame, *frames))) - frames[0]
    return np.arange(place % apart, frames[1] - frames[0] + 1, apart)


class _Part(LookAtSolve):
    """A look-at over some of the frames, which is verified only where nothing was learned before.

    places: (n,) indices of those at which what is expected is evaluated. shown: the track of all frames until now.
    is_corrected: whether what is expected is by what was evaluated there.
    """

    places: Array
    shown: Track | None = None
    is_corrected = False

    def sample(self, context: SolveContext, sampler: Sampler, share: float) -> Generator[float, None, SolveSampling]:
        sampling = yield from super().sample(context, sampler, share)
        if self.kept.learned is not None and self.kept.coupling is None:
            # What is expected is found with this one, too.
            self.kept.coupling = self.kept.learned.coupling
        return sampling

    def foresee(self, verification: Verification) -> Iterator[float]:
        if self.kept.learned is None or self.stale == SETTINGS:
            yield from super().foresee(verification)
            self.is_corrected = self.kept.learned is not None
            return
        foreseen = Foreseen(verification, self.places)
        self.preview(foreseen.offsets, verification.displacement)
        yield 0.0
        found = yield from foreseen.steps()
        self.is_corrected = True
        self.preview(found, verification.displacement)
        yield 1.0

    def propose(self, found: Array, displacement: Array | None) -> Track:
        # What is shown of the body until all is verified is what it did before.
        if self.kept.learned is None:
            return super().propose(found, displacement)
        # Over all frames: to make other curves has the window draw all it shows.
        return spliced(self.shown, self._made(found, displacement))


def _part(solve: LookAtSolve, context: SolveContext, around: tuple[int, int], places: Array) -> _Part:
    """A look-at to solve over other frames. One that is up to date shows what it does."""
    part, known, frames = _Part(solve.look_at, solve.number), solve.kept, context.frames
    part.places, part.shown = places, solve.track
    part.kept.cut_down, part.kept.whole_because = known.cut_down, known.whole_because
    part.alike = solve.alike
    there = slice(around[0] - int(frames[0]), around[1] + 1 - int(frames[0]))
    if solve.stale == FRESH:
        part.stale, part.track = FRESH, solve.track
        return part
    if known.samples is not None and solve.stale != BODY:
        part.kept, part.stale = known.at(there, gaze.samples_per_frame(solve.look_at.tuning, context.dt)), solve.stale
    if solve.track is not None and known.learned is not None and len(known.learned.turns) == len(frames):
        # Until it is verified, the body goes on as it was.
        part.kept.learned, part.track = known.learned.at(there), solve.track.at(there)
    return part


def _takes_long(solve: LookAtSolve, context: SolveContext) -> bool:
    """Whether a look-at is out of date, and its frames are many or nothing is known yet of what its verification will
    correct."""
    if solve.stale == FRESH or gaze_solving.takes_long(solve.look_at, context):
        return solve.stale != FRESH
    return not solve.predicted and (solve.stale == BODY or solve.kept.learned is None)


def _memory(solve: LookAtSolve) -> float:
    """Seconds after which a look-at has forgotten how it began."""
    look_at, tuning = solve.look_at, solve.look_at.tuning
    controllers = [(tuning.settle_time * float(look_at.chain.settle_factors.max()), tuning.damping_ratio)]
    if look_at.body is not None:
        found = (look_at.body.shift, look_at.body.recoil)
        controllers += [(part.settle_time, part.damping_ratio) for part in found if part is not None]
    slow = np.pi / tuning.max_speed if tuning.max_speed > 0.0 else 0.0
    times = [settle / float(np.clip(damping, _LEAST_DAMPING, 1.0)) for settle, damping in controllers]
    return _FORGOTTEN * max(times) + slow


def _ignore(*_: LookAtSolve | LookAtError) -> None:
    return
