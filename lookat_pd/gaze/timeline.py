"""One solve of a look-at in progress: pieces of the timeline.

See `gaze` for the method and its source.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from .. import rotation
from ..pd.followers import Follower, Tuning
from ..pd.second_order import largest_response
from ..rotation import Array
from .chain import Chain, Solution
from .head_speed import NOTHING, Lateness, after_jump, fastest, jumped, passed
from .kept_parts import KeptParts, SolvedPart, digest
from .leveling import Leveling
from .stabilizing import beside, goal_of_body, is_still
from .stage_goals import StageGoals
from .target_angles import ForwardKinematics, TargetAngles, near_branch, nearest_turn
from .timeline_parts import INSTANT, BelowHead, SolvedPiece, SolvedStage, frames_of, split
from .turn_distribution import TurnLimits

_SETTLED = np.radians(0.08), np.radians(0.5)
_MOST_OVERSHOOT = 2.0
_ONE_SIDED = np.array([-11.0, 18.0, -9.0, 2.0]) / 6.0
"""Of four values, their derivative at the first per step."""


def _rates(values: Array, dt: float) -> Array:
    """The derivatives of values (n, ...) every dt seconds. Those of both ends go on into other pieces: cubics there."""
    if len(values) < 2:
        return np.zeros_like(values)
    if len(values) < 4:
        return np.gradient(values, dt, axis=0, edge_order=2 if len(values) > 2 else 1)
    # As numpy's gradient and tensordot, which take several times as long on so few numbers.
    rates = np.empty_like(values)
    np.divide(values[2:] - values[:-2], 2.0 * dt, out=rates[1:-1])
    rates[0], rates[-1] = _one_sided(values[:4]) / dt, -_one_sided(values[:-5:-1]) / dt
    return rates


def _one_sided(values: Array) -> Array:
    """Of four values (4, ...), what they change per step at the first."""
    return np.dot(_ONE_SIDED[None], values.reshape(4, -1)).reshape(values.shape[1:])


def _at(motion: Array, place: float) -> Array:
    """The state between samples of a motion (n, ...), at a place that may be a fraction."""
    first = min(max(int(place), 0), max(len(motion) - 2, 0))
    if len(motion) == 1:
        return motion[0]
    return motion[first] + (place - first) * (motion[first + 1] - motion[first])


def _going_on(values: Array) -> Array:
    """What the last of values (n, ...) would be if they went on as before, n > 1."""
    return 2.0 * values[-2] - values[-3] if len(values) > 2 else values[-2]


class Timeline:
    """One solve in progress. Bones are listed root first here, so that those below a bone are solved before it.

    state: (b, width, 2) of the controllers at the end of the last piece. rolled: (1, width, 2) what levels the head of
    that of the aiming bone. canceling: (b, width, 2) what cancels the motion of the body of that. late: how far the
    goal is ahead of what is followed at the end of the last piece.
    """

    def __init__(self, chain: Chain, tuning: Tuning, *, tilts: bool = False, kept: KeptParts | None = None) -> None:
        """tilts: whether `begin` gets a tilt of the head. kept: of earlier solves, None to solve all parts."""
        self.chain, self.tuning, self.kept = chain, tuning, kept
        self._setup = b"" if kept is None else digest((chain, tuning, tilts))
        self.forward, self.up, self.right = chain.forward[::-1], chain.up[::-1], chain.right[::-1]
        factors, compensates_lag = chain.settle_factors[::-1], chain.compensates_lag[::-1]
        self.compensates_lag, torso = compensates_lag, int(np.sum(~compensates_lag))
        self.stages = ([slice(0, torso)] if torso else []) + [slice(b, b + 1) for b in range(torso, len(chain))]
        self.settle_times = tuning.settle_time * factors
        self.limits = TurnLimits(
            chain.yaw_limits[::-1],
            chain.pitch_up_limits[::-1],
            chain.pitch_down_limits[::-1],
            1.0 / min(largest_response(tuning.damping_ratio, tuning.feed_forward), _MOST_OVERSHOOT),
            self.up,
            self.right,
            tilts or chain.levels or chain.stabilize > 0.0,
        )
        self.stage_goals = [StageGoals(chain, self.limits, stage) for stage in self.stages]
        self.state = np.zeros((len(chain), tuning.width, 2))
        self.rolled = np.zeros((1, tuning.width, 2))
        self.canceling = np.zeros_like(self.state)
        self.late = NOTHING

    def begin(
        self,
        rotations: Array,
        positions: Array,
        targets: Array,
        dt: float,
        shift: Array,
        upright: Array | None = None,
        tilt: Array | None = None,
        own: Array | None = None,
        sizes: Array | None = None,
    ) -> None:
        """Start on these samples, at intervals of dt seconds, from the current state; arguments as for `solve`.

        own: (m, n - 1, 3) what the targets move of their own, as `own_motion` has it; None for nothing. sizes: (n,) of
        the head, None for 1.
        """
        self.tilt, self.own = tilt, own
        self.rotations, self.positions, self.targets = rotations[:, ::-1], positions[:, ::-1], targets
        self.dt, self.shift = dt, shift
        frames, bones = rotations.shape[:2]
        self.sizes = np.ones(frames) if sizes is None else sizes
        self.leveling = None
        if upright is not None and self.chain.levels:
            axes = self.up[-1], self.right[-1]
            self.leveling = Leveling.of(upright, rotations[:, 0], axes, self.chain.level, self.chain.most_roll)
        self.all = Follower(self.tuning, self.settle_times, dt)
        self.followers = [self.all.part(stage) for stage in self.stages]
        # In the order of memory in which followers and goals come.
        self.states = np.zeros((2, bones, self.tuning.width, frames)).transpose(3, 1, 2, 0)
        self.goals = np.zeros((bones, self.tuning.width, frames)).transpose(2, 0, 1)
        self.reachable = np.zeros(frames, dtype=bool)
        self.looked_at = np.full(frames, -1)
        self.held_back = np.zeros(frames, dtype=bool)
        self._done: list[SolvedPiece] = []

    def again(self, shift: Array) -> None:
        """Solve the same pieces again with another shift (n, 3) of the aiming bone, from rest."""
        done, self._done = self._done, []
        self.shift, self.state, self.rolled = shift, np.zeros_like(self.state), np.zeros_like(self.rolled)
        for part in done:
            if part.target is None:
                self._off(part.start, part.end, part.late)
            else:
                self._on(part.target, part.start, part.end, part.yaw, part.teleported, settled=part.settled, known=part)

    # Pieces of the timeline

    def piece(
        self,
        start: float,
        end: float,
        target: int | None,
        *,
        settled: bool,
        yaw: float | None = None,
        continues: bool = False,
    ) -> float | None:
        """Solve from start to end [s] with one target, or off; `settled`: start with settled controllers.

        yaw: of the target at the start, with its multiple of 2 pi, if known. continues: the last piece had the same
        target, and the body may have another speed now. Returns the yaw at the end.
        """
        if target is None:
            self._off(start, end)
            return None
        window = frames_of(start, end, self.dt)
        angles = self._target_angles(self.targets[target, window], self._animated(window))
        if yaw is not None:
            angles = replace(angles, yaw=near_branch(angles.yaw, yaw))
        for part in split(angles, start, end, self.dt):
            frames = frames_of(part.start, part.end, self.dt)
            first = frames.start - window.start
            seen = angles[first : frames.stop - window.start]
            self._on(target, *part, settled=settled, continues=continues, angles=seen)
            settled = continues = False
            yaw = float(near_branch(angles.yaw[first:], part.yaw)[-1])
        return yaw

    def _keep(self, window: slice, start: float, bones: slice, states: Array, goals: Array | float) -> None:
        """Store the result of a piece at its frames; the frame before `start` belongs to an earlier piece."""
        first = window.start + int(window.start * self.dt < start - INSTANT)
        skip = first - window.start
        self.states[first : window.stop, bones] = states[skip:]
        self.goals[first : window.stop, bones] = goals[skip:] if isinstance(goals, np.ndarray) else goals

    def _off(self, start: float, end: float, late: Lateness | None = None) -> None:
        """late: how the head goes back to the animation, where that is known."""
        part = SolvedPiece(None, start, end)
        key = self._key(frames_of(start, end, self.dt), (start, end, late is None), late, ())
        if not self._take(key, part):
            self._solve_off(part, late)
            self._keep_part(key)

    def _solve_off(self, part: SolvedPiece, late: Lateness | None) -> None:
        if late is None:
            late = self._after_jump(np.zeros(2)) if self.chain.head_speed else NOTHING
        part.late = late
        self._done.append(part)
        start, end = part.start, part.end
        self.rolled, self.late = np.zeros_like(self.rolled), NOTHING
        window = frames_of(start, end, self.dt)
        origin = window.start * self.dt
        count = window.stop - window.start
        duration = late.duration
        held = min(int(np.ceil((start - origin + duration) / self.dt - INSTANT)), count - 1) if duration else 0
        if held:
            left = np.clip(1.0 - (self.dt * np.arange(held + 1) - (start - origin)) / duration, 0.0, 1.0)
            until = min(held * self.dt, end - origin)
            goals = left[:, None, None] * self.state[..., 0]
            before, self.state = self.all.run(goals, start - origin, until, self.state)
            after, self.state = self.all.release(count - held, 0.0, end - origin - held * self.dt, self.state)
            states = np.concatenate((before[:-1], after))
        else:
            states, self.state = self.all.release(count, start - origin, end - origin, self.state)
        self._keep(window, start, slice(None), states, 0.0)
        self.looked_at[window.start + int(origin < start - INSTANT) : window.stop] = -1

    # One part: goals and controllers, from the root up

    def _on(
        self,
        target: int,
        start: float,
        end: float,
        yaw: float,
        teleported: bool,
        *,
        settled: bool,
        continues: bool = False,
        angles: TargetAngles | None = None,
        known: "SolvedPiece | None" = None,
    ) -> None:
        """angles: of the target from the animated pose, where that is known.

        known: earlier result of this part; if it is still valid, only the aiming bone is solved again.
        """
        part, window = SolvedPiece(target, start, end, yaw, teleported, settled), frames_of(start, end, self.dt)
        times = start, end, yaw, teleported, settled, continues, known is None
        late = None if known is None else known.late
        key = self._key(window, times, late, self._samples_of(target, window, angles))
        if not self._take(key, part):
            self._solve_on(part, target, continues=continues, angles=angles, known=known)
            self._keep_part(key)

    def _solve_on(
        self, part: SolvedPiece, target: int, *, continues: bool, angles: TargetAngles | None, known: SolvedPiece | None
    ) -> None:
        start, end, settled = part.start, part.end, part.settled
        window = frames_of(start, end, self.dt)
        origin = window.start * self.dt
        before = window.start * self.dt < start - INSTANT
        last_stage = self.stages[-1]
        below = self._below(part, target, continues=continues, angles=angles, known=known)
        for stage, states, goals, last in below.stages:
            self._keep(window, start, stage, states, goals)
            self.state[stage] = last
        piece = start - origin, end - origin
        for follower, goals_of in zip(self.followers, self.stage_goals, strict=True):
            stage, is_last = goals_of.stage, goals_of.stage is last_stage
            if stage.start < below.kinematics.done:
                continue
            kinematics = below.kinematics
            if is_last:
                kinematics = kinematics.copy()
                kinematics.move_head(self.shift[window])
            if angles is None or kinematics.done or is_last:
                angles = self._target_angles(below.places[0], kinematics)
            remaining, pitch = goals_of.turn(angles, below.left_out[0], below.remaining)
            stabilize = self.chain.stabilize if goals_of.compensates else 0.0
            leveling = None if self.leveling is None else self.leveling[window]
            lag = (1.0 - stabilize) * follower.lag[0]
            goals = self._aimed(part, goals_of, (remaining, pitch), lag, below, kinematics, leveling, angles)
            canceling, base = None, 0.0
            if stabilize:
                moving = self._moving(goals_of, below, kinematics, leveling, teleported=part.teleported)
                canceling, base = self._canceling(stabilize, moving, stage, piece[0], continues=continues)
                goals = goals - canceling[..., 0]
            levels = is_last and leveling is not None
            state = self.state[stage] - base - (self.rolled if levels else 0.0)
            if settled:
                state = np.stack((goals[0], np.zeros_like(goals[0])), axis=-1)
            states, last = follower.run(goals, *piece, state, canceling)
            self.canceling[stage] = 0.0 if canceling is None else _at(canceling, piece[1] / self.dt)
            if canceling is not None:
                states, last, goals = states + canceling, last + self.canceling[stage], goals + canceling[..., 0]
            if levels:
                assert leveling is not None
                roll = self._roll_of(states, kinematics.head_rotation, leveling, angles, teleported=part.teleported)
                added, self.rolled = self._setting_in(follower, roll, piece, settled=settled)
                states, last, goals = states + added, last + self.rolled, goals + roll
            if before:
                states[0] = self.states[window.start, stage]
            self._keep(window, start, stage, states, goals)
            self.state[stage] = last
            if not is_last:
                self._turn(below, (stage, states, goals, last.copy()))
        first = window.start + int(before)
        assert angles is not None
        if below.is_late:
            # What is left to later must be in reach, too.
            remaining, pitch = goals_of.turn(angles, below.to_eyes, below.remaining)
        reach = angles.reached(goals_of.distribution, remaining, pitch, self.chain.soft_edge)
        self.reachable[first : window.stop] = reach[first - window.start :]
        self.looked_at[first : window.stop] = target

    def _turn(self, below: BelowHead, solved: SolvedStage) -> None:
        """Add a solved stage to what is below the aiming bone."""
        stage, states, *_ = solved
        held, vectors = self.turned(stage, states)
        axes = np.stack((self.up[stage], self.right[stage])).reshape(2, -1)
        turning = self.tuning.radians * _about(axes, states[..., -3:, 1])
        below.turn(held, _about(axes, vectors)[0], turning, solved)

    def _aimed(
        self,
        part: SolvedPiece,
        goals_of: StageGoals,
        turn: tuple[Array, Array],
        lag: float | Array,
        below: BelowHead,
        kinematics: ForwardKinematics,
        leveling: Leveling | None,
        angles: TargetAngles,
    ) -> Array:
        """What the controllers of a stage follow, (n, stage, width), so that the chain aims at the target.

        turn: (n,) yaw and pitch that are left to this stage and those above it. lag: [s], by which it follows bones
        below.
        """
        # The current rotation of the bones below is known: without it the head would also lag behind their motion,
        # and the aim would overshoot the target.
        ahead = lag * below.turning
        if part.settled:
            # It aims at the target at once, even if bones below turn already.
            ahead[:, 0] = 0.0
        vectors = goals_of.vectors(turn[0] - ahead[0], turn[1] - ahead[1], kinematics.head_rotation, leveling)
        if below.tilts is not None and goals_of.compensates:
            vectors = goals_of.tilted(vectors, below.tilts[0], angles)
        goals = self.tuning.encode(vectors)
        if part.teleported:
            goals[-1] = _going_on(goals)
        return goals

    def _below(
        self, part: SolvedPiece, target: int, *, continues: bool, angles: TargetAngles | None, known: SolvedPiece | None
    ) -> BelowHead:
        """What is below the aiming bone in a part: of the earlier result if that still holds."""
        lower, done = slice(0, self.stages[-1].start), part
        if known is not None and known.below is not None and np.array_equal(known.below.state, self.state[lower]):
            done = known
        elif known is not None:
            done.late = known.late
        self._done.append(done)
        if done.below is None:
            window = frames_of(part.start, part.end, self.dt)
            begin, end = (time - window.start * self.dt for time in (part.start, part.end))
            done.below = self._start(window, target, part.yaw, angles)
            if self.chain.head_speed:
                if known is None and not part.settled:
                    done.late = self.late if continues else self._after_jump(_at(done.below.goals, begin / self.dt))
                self._hold_back(done, begin, end)
        return done.below

    def _canceling(
        self, stabilize: float, moving: Array, stage: slice, begin: float, *, continues: bool
    ) -> tuple[Array, Array]:
        """What cancels the motion `moving` (n, stage, width) of the body, and its state at the begin [s] of a piece."""
        canceling = stabilize * np.stack((moving, _rates(moving, self.dt)), axis=-1)
        base = _at(canceling, begin / self.dt)
        if continues:
            canceling[..., 0] += self.canceling[stage, :, 0] - base[..., 0]
            base = self.canceling[stage]
        return canceling, base

    # Parts that were solved before

    def _samples_of(self, target: int, window: slice, angles: TargetAngles | None) -> Iterator[object]:
        """All samples that the result of a part depends on."""
        yield from (self.rotations[window], self.positions[window], self.targets[target, window])
        yield from (self.shift[window], self.sizes[window], None if self.tilt is None else self.tilt[window])
        yield None if self.own is None else self.own[target, window.start : window.stop - 1]
        yield None if self.leveling is None else self.leveling[window]
        yield None if angles is None else angles.yaw

    def _key(self, window: slice, times: tuple, late: Lateness | None, samples: Iterable[object]) -> bytes:
        """Of all that the result of a part depends on; nothing where none is kept. late: at its start, if known."""
        if self.kept is None:
            return b""
        states = self.state, self.rolled, self.canceling, self.states[window.start]
        return digest((self._setup, self.dt, *times, self.late if late is None else late, *states, *samples))

    def _rows(self, part: SolvedPiece) -> tuple[Array, ...]:
        """What is found at the samples of a part, to be read or written."""
        window = frames_of(part.start, part.end, self.dt)
        chosen = slice(window.start + int(window.start * self.dt < part.start - INSTANT), window.stop)
        rows = self.states[chosen], self.goals[chosen]
        return rows if part.target is None else (*rows, self.reachable[chosen], self.held_back[chosen])

    def _take(self, key: bytes, part: SolvedPiece) -> bool:
        """Take a part that was solved before as it was found; whether there is one."""
        found = None if self.kept is None else self.kept.find(key)
        if found is None:
            return False
        part.late, self.late = found.late
        self.state, self.rolled, self.canceling = (end.copy() for end in found.ends)
        for row, values in zip(self._rows(part), found.rows, strict=True):
            row[...] = values
        window = frames_of(part.start, part.end, self.dt)
        self.looked_at[window.stop - len(found.rows[0]) : window.stop] = -1 if part.target is None else part.target
        self._done.append(part)
        return True

    def _keep_part(self, key: bytes) -> None:
        """Keep the part that was solved just now."""
        if self.kept is not None:
            part = self._done[-1]
            ends = self.state.copy(), self.rolled.copy(), self.canceling.copy()
            rows = tuple(row.copy() for row in self._rows(part))
            self.kept.keep(key, SolvedPart(rows, ends, (part.late, self.late)))

    def _start(self, window: slice, target: int, yaw: float, angles: TargetAngles | None) -> BelowHead:
        """A part before any bone is solved; arguments as for `_on`."""
        kinematics, tilt, own = self._animated(window), None, 0.0
        if self.own is not None:
            own = self.own[target, window.start : window.stop - 1]
        if self.tilt is not None:
            tilt = beside(self.tilt[window], np.diff(self.tilt[window]))
        seen = beside(self.targets[target, window], own)
        total = self._target_angles(seen[0], kinematics) if angles is None else angles
        remaining = near_branch(total.yaw, yaw)
        for_eyes = []
        for points in seen:
            there = total if points is seen[0] else self._target_angles(points, kinematics)
            for_eyes.append(self.chain.left_to_eyes(nearest_turn(there.yaw, remaining), there.pitch))
        return BelowHead(
            self.state[: self.stages[-1].start].copy(),
            [],
            kinematics,
            remaining,
            np.zeros((2, len(remaining))),
            seen,
            tilt,
            for_eyes,
            False,
            total.pitch,
            for_eyes[0],
        )

    def _after_jump(self, goal: Array) -> Lateness:
        """How far the goal (2,), yaw and pitch, is ahead of what is followed where it jumps."""
        axes = np.stack((self.up, self.right)).reshape(2, -1)
        now = _about(axes, self.turned(slice(None), self.state[None])[1])[:, 0]
        speed = self.tuning.radians * _about(axes, self.state[None, :, -3:, 1])[:, 0]
        across, up, down = (part.largest_turn for part in self.stage_goals[0].distribution)
        reached = np.clip(goal, (-across, -down), (across, up))
        rate = after_jump(self.tuning, self.settle_times[-1], self.chain.head_speed, (now, speed), reached)
        if not np.any(rate):
            return NOTHING
        return Lateness(goal - now, rotation.length(rate) * rotation.normalize(goal - now), np.zeros(2))

    def _hold_back(self, done: SolvedPiece, start: float, end: float) -> None:
        """Leave to later what the goal is ahead of what is followed in a part, from `start` [s] after its first sample
        to `end`."""
        below, late = done.below, done.late
        assert below is not None
        missing = jumped(late, np.maximum(self.dt * np.arange(len(below.remaining)) - start, 0.0))
        passing = np.zeros_like(missing)
        most = self.dt * fastest(self.tuning, self.chain.head_speed)
        if np.any(late.passing) or np.any(np.linalg.norm(np.diff(below.goals, axis=0), axis=-1) > most):
            passing = passed(self._steps_of_target(below, done), late, most)
            missing = missing + passing
        left = jumped(late, np.array([end - start]))[0]
        self.late = Lateness(left, late.rate, _at(passing, end / self.dt))
        window = frames_of(done.start, done.end, self.dt)
        first = int(window.start * self.dt < done.start - INSTANT)
        self.held_back[window.start + first : window.stop] = np.any(missing, axis=-1)[first:]
        if np.any(missing):
            below.is_late = True
            versions = beside(missing, np.diff(missing, axis=0))
            below.left_out = [
                (eyes[0] + m[:, 0], eyes[1] + m[:, 1]) for eyes, m in zip(below.left_out, versions, strict=True)
            ]

    def _steps_of_target(self, below: BelowHead, done: SolvedPiece) -> Array:
        """By which yaw and pitch (n - 1, 2) the target moves from each sample to the next, seen from a body at rest."""
        window, places = frames_of(done.start, done.end, self.dt), below.places[0]
        head = self._animated(window)
        rotations, positions = head.head_rotation[:-1], head.head_position[:-1]
        axes, near, height = self._aim_axes, self.chain.near, self.chain.eye_height * self.sizes[window][:-1]
        now, then = (TargetAngles.of(rotations, p - positions, axes, near, height) for p in (places[:-1], places[1:]))
        return np.stack((nearest_turn(then.yaw, now.yaw) - now.yaw, then.pitch - now.pitch), axis=-1)

    def _moving(
        self,
        goals_of: StageGoals,
        below: BelowHead,
        kinematics: ForwardKinematics,
        leveling: Leveling | None,
        *,
        teleported: bool,
    ) -> Array:
        """How the goals (n, stage, width) of a stage move with the body alone."""
        still = is_still(below.places) and (below.tilts is None or is_still(below.tilts)) and not below.is_late
        versions = [1] if still else [1, 2]
        # All in one row, since calls on so few numbers take longer than the arithmetic.
        places = np.concatenate([below.places[n] for n in versions])
        left_out = np.concatenate([below.left_out[n] for n in versions], axis=-1)
        known = kinematics.head_rotation, kinematics.head_position, kinematics.eye_height, below.remaining
        head, origin, height, remaining = (np.concatenate([values] * len(versions)) for values in known)
        leveling = leveling and leveling.repeated(len(versions))
        angles = TargetAngles.of(head, places - origin, self._aim_axes, self.chain.near, height)
        turn = goals_of.smoothed(*goals_of.turn(angles, (left_out[0], left_out[1]), remaining))
        vectors = goals_of.vectors(*turn, head, leveling)
        if below.tilts is not None:
            vectors = goals_of.tilted(vectors, np.concatenate([below.tilts[n] for n in versions]), angles)
        goals = self.tuning.encode(vectors)
        count = len(below.remaining)
        moving = goal_of_body(goals[:count], goals[-count:], self.tuning.radians, self.dt)
        if teleported:
            moving[-1] = _going_on(moving)
        return moving

    def turned(self, stage: slice, states: Array) -> tuple[Array, Array]:
        """Local offsets (n, stage, 4) of states, within the limits, and the same as rotation vectors."""
        free = self.tuning.decode(states[..., 0])
        held = self.limits[stage].apply(free)
        if held is free and self.tuning.method == "geodesic":
            return held, states[..., 0]
        return held, rotation.log(held)

    def _roll_of(
        self, states: Array, head: Array, leveling: Leveling, angles: TargetAngles, *, teleported: bool
    ) -> Array:
        """What levels the head as the controllers turn it, in their coordinates (n, 1, width).

        It is added to the states rather than to the goals, so that the head does not lag behind a body that sways.
        states: (n, 1, width, 2) of the aiming bone. head: (n, 4) its orientation without them. angles: of the
        target.
        """
        turn = self.tuning.decode(states[..., 0])[:, 0]
        forward, up = angles.ahead(self.forward[-1], self.up[-1])
        roll = leveling.roll(rotation.multiply(head, turn), up, self.right[-1])
        if not roll.any():
            return np.zeros_like(states[..., 0])
        leveled = rotation.multiply(turn, rotation.exp(roll[:, None] * forward))
        before, after = (self.tuning.encode(rotation.log(q)) for q in (turn, leveled))
        added = (after - before)[:, None]
        if teleported:
            added[-1] = _going_on(added)
        return added

    def _setting_in(
        self, follower: Follower, roll: Array, piece: tuple[float, float], *, settled: bool
    ) -> tuple[Array, Array]:
        """What is added to the states of the aiming bone (n, 1, width, 2), and to the last of them.

        roll: (n, 1, width) what levels the head. It sets in as the controllers, which are linear, decay from where they
        are without it, unless they are `settled`.
        """
        motion = np.stack((roll, _rates(roll, follower.dt)), axis=-1)
        if not (roll.any() or self.rolled.any()):
            return motion, np.zeros_like(self.rolled)
        begin, end = (_at(motion, time / follower.dt) for time in piece)
        if settled:
            return motion, end
        lacking, left = follower.run(np.zeros_like(roll), *piece, begin - self.rolled)
        return motion - lacking, end - left

    def offsets(self, states: Array, bones: slice) -> Array:
        """Local rotations (n, bones, 4) of controller states, within the limits even if they overshoot."""
        return self.limits[bones].apply(self.tuning.decode(states[..., 0]))

    def _animated(self, window: slice) -> ForwardKinematics:
        return ForwardKinematics(
            self.rotations[window], self.positions[window], self.chain.eye_height * self.sizes[window]
        )

    def _target_angles(self, points: Array, kinematics: ForwardKinematics) -> TargetAngles:
        """The target at points (n, 3), as the bones done so far turn the head."""
        direction, near = points - kinematics.head_position, self.chain.near
        return TargetAngles.of(kinematics.head_rotation, direction, self._aim_axes, near, kinematics.eye_height)

    @property
    def _aim_axes(self) -> tuple[Array, Array, Array]:
        return self.forward[-1], self.up[-1], self.right[-1]

    # Results

    def solution(self, influence: Array, frames: slice) -> Solution:
        """The result at the samples `frames`."""
        states, goals, looked_at = self.states[frames], self.goals[frames], self.looked_at[frames]
        offsets = self.offsets(states, slice(None))
        if np.any(influence != 1.0):
            offsets = rotation.exp(influence[:, None, None] * rotation.log(offsets))
        kinematics = ForwardKinematics(self.rotations[frames], self.positions[frames])
        kinematics.turn(slice(0, offsets.shape[1]), offsets)
        position = kinematics.origin + self.shift[frames]
        wanted = rotation.multiply(kinematics.deltas, kinematics.rotations)
        error = np.full(len(offsets), np.nan)
        on = looked_at >= 0
        place = self.targets[:, frames][np.maximum(looked_at, 0), np.arange(len(on))]
        angle = self.chain.aim_error(wanted[:, -1], position, place, self.sizes[frames])
        error[on] = angle[on]
        # The errors of the bones add up along the chain, and so does the motion for which the head compensates.
        away = self.tuning.radians * rotation.length(states[..., 0] - goals).sum(axis=-1)
        speed = self.tuning.radians * rotation.length(states[..., 1]).sum(axis=-1)
        settled = (away + self.all.lag[-1] * speed < _SETTLED[0]) & (speed < _SETTLED[1]) & ~self.held_back[frames]
        return Solution(
            offsets[:, ::-1], wanted[:, ::-1], position, error, settled, self.reachable[frames] & on, looked_at
        )


def _about(axes: Array, vectors: Array) -> Array:
    """(k, n): the sum over b bones of what vectors (n, b, 3) have along axes (k, 3 b)."""
    return axes @ vectors.transpose(1, 2, 0).reshape(-1, len(vectors))
