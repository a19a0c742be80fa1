"""Parts of a timeline that an edit does not touch are not solved again, and the result is that of a whole solve."""

import dataclasses

import numpy as np
import pytest

from lookat_pd import gaze
from lookat_pd.gaze import Chain, Event, KeptParts, Tuning
from lookat_pd.rotation import Array

RATE, SECONDS, EDITED = 60, 24.0, (12.0, 13.0)


def chain(**changes) -> Chain:
    values = {"shares": np.array([0.6, 0.4]), "settle_factors": np.array([1.0, 1.2])}
    axes = {"forward": np.tile([0.0, -1.0, 0.0], (2, 1)), "up": np.tile([0.0, 0.0, 1.0], (2, 1))}
    return Chain(
        **values,
        **axes,
        yaw_limits=np.radians([75.0, 40.0]),
        pitch_up_limits=np.radians([60.0, 30.0]),
        pitch_down_limits=np.radians([60.0, 30.0]),
        compensates_lag=np.array([True, False]),
        near=0.1,
        **changes,
    )


def times() -> Array:
    return np.arange(round(SECONDS * RATE) + 1) / RATE


def targets(*, edited: bool) -> Array:
    t = times()
    bump = np.where((t > EDITED[0]) & (t < EDITED[1]), 0.3 * np.sin(np.pi * (t - EDITED[0])) ** 2, 0.0)
    moved = 0.2 * np.sin(t) + edited * bump
    return np.stack([np.stack((moved + side, -2.0 + 0.0 * t, 1.6 + 0.0 * t), axis=-1) for side in (-0.5, 0.6)])


def samples(*, edited: bool) -> gaze.GazeSamples:
    t = times()
    turns = np.zeros((len(t), 2, 4))
    turns[..., 0], turns[..., 3] = np.cos(0.1 * np.sin(2.0 * t))[:, None], np.sin(0.1 * np.sin(2.0 * t))[:, None]
    places = np.tile([[0.0, 0.0, 1.5], [0.0, 0.0, 1.4]], (len(t), 1, 1))
    made = gaze.prepare(Tuning(), turns, places, targets(edited=edited), 1 / RATE)
    return made.standing((0.0, 0.0, 1.0)).tilted(0.1 * np.sin(t))


def events() -> list[Event]:
    """Another target every second, and nobody now and then."""
    return [Event(float(n), None if n % 7 == 3 else n % 2) for n in range(int(SECONDS))]


def solved(made: gaze.GazeSamples, kept: KeptParts | None, shift: Array | None = None, **changes) -> gaze.Solution:
    timeline = gaze.run_timeline(chain(**changes), Tuning(), made, events(), kept)
    if shift is not None:
        return gaze.solve_shifted(timeline, made, shift)
    return timeline.solution(*gaze.of_frames(made, 1.0))


def assert_same(one: gaze.Solution, other: gaze.Solution) -> None:
    for field in dataclasses.fields(one):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name), equal_nan=field.name == "error")


@pytest.mark.thorough
@pytest.mark.parametrize("changes", [{}, {"stabilize": 0.95}, {"stabilize": 0.95, "level": 0.5, "head_speed": 6.0}])
@pytest.mark.parametrize("shifted", [False, True])
def test_an_edit_solves_what_it_touches_and_gives_the_whole_solve(changes, shifted) -> None:
    kept, shift = KeptParts(), None
    if shifted:
        shift = 0.02 * np.sin(times())[:, None] * np.ones(3)
    solved(samples(edited=False), kept, shift, **changes)
    whole = kept.solved
    again = solved(samples(edited=False), kept, shift, **changes)
    assert kept.solved == whole
    edited = solved(samples(edited=True), kept, shift, **changes)
    fresh = solved(samples(edited=True), None, shift, **changes)
    assert_same(edited, fresh)
    assert not np.array_equal(edited.offsets, again.offsets)
    # A controller forgets to the last bit in some seconds; before the edit nothing is solved.
    assert kept.solved - whole < 0.5 * whole


def test_other_settings_find_nothing_of_these() -> None:
    kept, made = KeptParts(), samples(edited=False)
    solved(made, kept)
    assert_same(solved(made, kept, stabilize=0.5), solved(made, None, stabilize=0.5))


def test_no_more_is_kept_than_memory_allows(monkeypatch) -> None:
    monkeypatch.setattr("lookat_pd.gaze.kept_parts._MOST", 20_000)
    kept, made = KeptParts(), samples(edited=False)
    for _ in range(2):
        assert_same(solved(made, kept), solved(made, None))
        assert kept._size <= 20_000
