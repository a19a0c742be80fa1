"""What a cut may use of a clip, and what it costs to throw away."""

import numpy as np
import pytest

from lookat_pd.transitions import clip_extent


def moving(frames: int, seed: int = 0) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).normal(size=(frames, 3, 3)), axis=0)


@pytest.mark.parametrize("frames", [2, 3, 4, 7, 30, 31])
def test_half_of_a_clip_is_kept(frames: int) -> None:
    found = clip_extent.extent(moving(frames), ends_meet=True, ground_speed=0.1)
    assert not found.is_cycle and len(found.rows) == frames
    rows = np.arange(frames)
    assert all(found.kept_until(row) >= 0.5 - 0.5 / frames for row in rows[found.leave()])
    assert all(found.kept_from(row) >= 0.5 - 1.5 / frames for row in rows[found.enter()])
    assert found.kept_until(frames - 1) == 1.0 and {found.times(row) for row in rows} == {1}


@pytest.mark.parametrize("frames", [5, 24, 31])
def test_half_a_cycle_or_more_is_kept_and_every_frame_may_be_cut(frames: int) -> None:
    for found in (
        clip_extent.extent(moving(frames), ends_meet=True, ground_speed=1.0),
        clip_extent.extent(moving(frames), is_marked=True),
    ):
        assert found.is_cycle and len(found.rows) == 2 * (frames - 1)
        rows = np.arange(len(found.rows))
        assert set(found.rows[found.leave()]) == set(found.rows[found.enter()]) == set(range(frames - 1))
        assert all(found.kept_until(row) >= 0.4 for row in rows[found.leave()])
        assert all(found.kept_from(row) >= 0.4 for row in rows[found.enter()])
        assert not found.thrown_after().any() and not found.thrown_before().any()


def test_what_is_thrown_away_costs_as_it_moves() -> None:
    """A clip that stands before it jumps: entered at the last frame before the jump, hardly anything is lost."""
    clip = np.zeros((41, 2, 3))
    clip[21:, :, 2] = np.sin(np.linspace(0.0, np.pi, 20))[:, None]
    found = clip_extent.extent(clip)
    before, after = found.thrown_before(), found.thrown_after()
    assert before[18] == 0.0 and before[30] == pytest.approx(0.5 * clip_extent.DISCARDED, rel=0.1)
    np.testing.assert_allclose(before[:-1] + after[1:], clip_extent.DISCARDED)
    assert np.all(np.diff(before) >= 0.0) and np.all(np.diff(after) <= 0.0)


def test_a_clip_that_stands_costs_nothing() -> None:
    found = clip_extent.extent(np.ones((9, 2, 3)))
    assert not found.thrown_before()[:-1].any()
