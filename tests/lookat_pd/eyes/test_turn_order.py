"""Eyes that controls turn by angles: directions of values and back, in both orders."""

import numpy as np
import pytest

from extension import load

errors = load("lookat_pd.errors")
rotation = load("lookat_pd.rotation")
turn_order = load("lookat_pd.eyes.turn_order")

AXES = np.array((0.0, -1.0, 0.0)), np.array((0.0, 0.0, 1.0))
LEFT = np.array((1.0, 0.0, 0.0))
ANGLES = np.radians((40.0, 50.0, 30.0, 35.0))


@pytest.mark.parametrize("order", turn_order.ORDERS)
def test_values_look_where_they_are_said_to(order) -> None:
    random = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 2))
    values = np.maximum(np.stack((random[:, 0], -random[:, 0], random[:, 1], -random[:, 1]), axis=-1), 0.0)
    seen = turn_order.direction(values, order, AXES, ANGLES)
    assert np.linalg.norm(seen, axis=-1) == pytest.approx(1.0)
    assert turn_order.values(seen, order, AXES, ANGLES) == pytest.approx(values, abs=1e-9)


@pytest.mark.parametrize(("order", "first"), [("FICK", 1), ("HELMHOLTZ", 0)])
def test_the_order_is_that_of_two_rotations(order, first) -> None:
    """Fick turns up about the lateral axis first and then sideways about the vertical one, both fixed in the head."""
    turns = [rotation.exp(ANGLES[0] * AXES[1]), rotation.exp(-ANGLES[2] * LEFT)]
    wanted = rotation.rotate(turns[1 - first], rotation.rotate(turns[first], AXES[0]))
    seen = turn_order.direction(np.array((1.0, 0.0, 1.0, 0.0)), order, AXES, ANGLES)
    assert seen == pytest.approx(wanted)


@pytest.mark.parametrize("order", turn_order.ORDERS)
def test_what_is_out_of_reach_is_at_the_end(order) -> None:
    values = turn_order.values(LEFT, order, AXES, ANGLES)
    assert values == pytest.approx((1.0, 0.0, 0.0, 0.0))


def test_an_unknown_order_is_one_sentence() -> None:
    with pytest.raises(errors.InvalidArgument, match="one of FICK, HELMHOLTZ"):
        turn_order.values(LEFT, "LISTING", AXES, ANGLES)
