"""The engine's models are used again for the same body, and nothing of an earlier use remains."""

from typing import Any

import numpy as np
import pytest

from lookat_pd import dynamics
from lookat_pd.dynamics import Body
from lookat_pd.dynamics.engine import Engine

from . import trees

pytestmark = pytest.mark.skipif(not dynamics.engine.available(), reason="needs the physics engine")


def used(body: Body) -> tuple[Any, np.ndarray]:
    """The model of a body that falls for a moment with friction and rotors, and its pose."""
    engine = Engine(body, np.array([0.0, 0.0, -9.81]))
    assert not np.any(engine.w)
    assert not np.any(engine.model.dof_armature)
    engine.run(0.01, np.zeros(3 * len(body)), np.full(3 * len(body), 0.1))
    engine.factor(np.full(3 * len(body), 5.0))
    return engine.model, engine.q.copy()


def test_a_model_is_used_again_in_its_first_state() -> None:
    model, pose = used(trees.body(4, 1))
    again, same = used(trees.body(4, 1))
    assert again is model
    np.testing.assert_array_equal(same, pose)


def test_bodies_that_are_used_at_once_have_models_of_their_own() -> None:
    engines = [Engine(trees.body(3, 2), np.zeros(3)) for _ in range(3)]
    assert len({id(engine.model) for engine in engines}) == 3
    heavier = Engine(trees.body(3, 3), np.zeros(3))
    assert all(heavier.model is not engine.model for engine in engines)
    model = engines[0].model
    engines.clear()
    assert Engine(trees.body(3, 3), np.zeros(3)).model is not model
