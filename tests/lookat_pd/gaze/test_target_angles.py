"""The laws of angles that run on."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd.gaze.target_angles import unwrap


@given(st.lists(st.one_of(st.floats(-9.0, 9.0), st.sampled_from([-np.pi, 0.0, np.pi])), min_size=1))
def test_unwrapped_angles_are_numpys(angles):
    assert_allclose(unwrap(np.array(angles)), np.unwrap(angles), atol=1e-12)
