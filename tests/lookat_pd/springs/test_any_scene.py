"""Springs of any settings, on chains that move in any way and then stand, among solids."""

import numpy as np
import pytest

from lookat_pd import rotation

from .any_scene import scene


@pytest.mark.parametrize("numbers", [range(8), pytest.param(range(8, 1000), marks=pytest.mark.slow)])
def test_all_stays_bounded_and_comes_to_rest_outside_of_solids(numbers) -> None:
    left = []
    for number in numbers:
        case = scene(number)
        found = case.solved()
        assert np.isfinite(found.offsets).all() and np.isfinite(found.tips).all(), number
        far = np.linalg.norm(found.tips - case.motion[0][:, :1], axis=-1)
        assert far.max() < 2.01 * np.linalg.norm(case.motion[2], axis=-1).sum(), number
        if case.is_damped:
            moved = rotation.distance(found.offsets[case.settled + 1 :], found.offsets[case.settled : -1])
            left.append(float(np.degrees(moved).max()))
            assert not case.is_free or found.depth[case.settled :].max() < 0.02 * case.radius, number
    # A few rock on two solids, or between one and the end of a cone.
    assert np.count_nonzero(np.array(left) > 0.5) <= 0.05 * len(left)
