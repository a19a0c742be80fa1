"""Settings drawn along a chain: what scripts give, and what a dialog shows, follows and takes back."""

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes
from ..rig.springs.tails import HAIR, TAIL, animal, seen, swing

along_chain = load("rig.springs.along_chain")
drawn_curve = load("rig.springs.drawn_curve")
settings = load("rig.springs.settings")
springs_curve = load("operators.springs_curve")
CURVE = [(0.0, 1.0), (1 / 3, 2.0), (1.0, 0.5)]


def points(rows: list[tuple[float, float]]) -> list[dict]:
    return [{"name": "", "location": row} for row in rows]


@pytest.mark.every_blender
def test_scripts_give_points() -> None:
    armature = animal()
    (chain,) = swing(armature, TAIL, drag=2.0)
    before = seen(armature)
    assert "FINISHED" in bpy.ops.lookat_pd.springs_curve(setting="drag_factor", points=points(CURVE))
    np.testing.assert_allclose(along_chain.factors(chain, "drag_factor"), [1.0, 2.0, 1.25, 0.5], atol=1e-6)
    assert np.abs(seen(armature) - before).max() > 1e-3
    with pytest.raises(RuntimeError, match="no curve; draw it"):
        bpy.ops.lookat_pd.springs_curve(setting="drag_factor")


def test_all_selected_chains_get_it_at_the_same_parts() -> None:
    armature = animal()
    tail, hair = swing(armature, TAIL, HAIR)
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(armature, TAIL[0], HAIR[0])
    bpy.ops.lookat_pd.springs_curve(setting="settle_factor", points=points([(0.0, 1.0), (1.0, 4.0)]))
    np.testing.assert_allclose(along_chain.factors(tail, "settle_factor"), [1.0, 2.0, 3.0, 4.0], atol=1e-6)
    np.testing.assert_allclose(along_chain.factors(hair, "settle_factor"), [1.0, 4.0], atol=1e-6)


@pytest.mark.parametrize(
    ("factors", "corners"),
    [
        ([1.0, 1.0, 1.0, 1.0], [(0.0, 1.0), (1.0, 1.0)]),
        ([1.0, 2.0, 3.0], [(0.0, 1.0), (1.0, 3.0)]),
        ([1.0, 1.0, 3.0, 1.0, 1.0], [(0.0, 1.0), (0.25, 1.0), (0.5, 3.0), (0.75, 1.0), (1.0, 1.0)]),
        ([0.5], [(0.0, 0.5), (1.0, 0.5)]),
    ],
)
@pytest.mark.every_blender
def test_the_curve_shows_what_the_bones_have(factors, corners) -> None:
    drawn_curve.begin(factors)
    own = drawn_curve.node().mapping
    found = [tuple(point.location) for point in own.curves[0].points]
    np.testing.assert_allclose(found, corners, atol=1e-6)
    assert own.clip_max_y >= max(factors)
    places = np.linspace(0.0, 1.0, max(len(factors), 2))
    shown = np.interp(places, *np.transpose(drawn_curve.drawn()))
    np.testing.assert_allclose(shown, [*factors, factors[0]][: len(places)], atol=5e-3)
    drawn_curve.discard()
    assert drawn_curve.node() is None and not drawn_curve.drawn()


def test_springs_answer_while_it_is_drawn_and_are_as_before_when_it_is_cancelled() -> None:
    armature = animal()
    (chain,) = swing(armature, TAIL, tip_factor=2.0)
    plain = along_chain.factors(chain, "settle_factor")
    drawn_curve.begin(plain)
    work = springs_curve._Drawing.of("settle_factor", [chain])
    assert not work.follow() and chain.settings.tip_factor == 2.0
    mapping = drawn_curve.node().mapping
    mapping.curves[0].points[-1].location = 1.0, 0.25
    mapping.update()
    assert work.follow() and not work.follow()
    assert along_chain.factors(chain, "settle_factor")[-1] == pytest.approx(0.25, abs=1e-3)
    assert along_chain.factors(chain, "settle_factor")[0] == pytest.approx(1.0, abs=1e-3)
    work.restore()
    assert along_chain.factors(chain, "settle_factor") == plain and chain.settings.tip_factor == 2.0
    drawn_curve.discard()
