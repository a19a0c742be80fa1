"""Settings of each bone along a chain: what is drawn by hand is what the bones have, live and in the bake."""

import bpy
import numpy as np
import pytest

from extension import load

from .tails import HAIR, TAIL, animal, bends, seen, swing

along_chain = load("rig.springs.along_chain")
chains = load("rig.springs.chains")
settings = load("rig.springs.settings")
springs_edit = load("rig.springs.springs_edit")


def test_what_is_drawn_is_what_the_bones_have() -> None:
    armature = animal()
    (chain,) = swing(armature, TAIL, settle_time=0.4, tip_factor=2.0, drag=2.0)
    for name in settings.OF_BONE:
        before = along_chain.factors(chain, name)
        along_chain.draw(chain, name, lambda at, before=before: np.interp(at, np.linspace(0.0, 1.0, 4), before))
        np.testing.assert_allclose(along_chain.factors(chain, name), before, rtol=1e-6)
    times = [own.settle_time for own in along_chain.of(chain)]
    np.testing.assert_allclose(times, 0.4 * 2.0 ** (np.arange(4) / 3), rtol=1e-6)
    along_chain.draw(chain, "drag_factor", lambda at: 2.0 - at)
    np.testing.assert_allclose([own.drag for own in along_chain.of(chain)], [4.0, 10 / 3, 8 / 3, 2.0], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("settle_factor", {}),
        ("damping_factor", {}),
        ("drag_factor", {"drag": 3.0}),
        ("gravity_factor", {"gravity": 1.0}),
        ("wind_factor", {"wind": (4.0, 0.0, 0.0)}),
        ("inertia_factor", {"center": "hips"}),
        ("limit_factor", {"limit": 0.3}),
    ],
)
def test_each_of_them_moves_what_it_is_of(name, given) -> None:
    """Where nothing is drawn nothing changes, to the bit."""
    armature = animal()
    (chain,) = swing(armature, TAIL, **given)
    before = seen(armature)
    along_chain.draw(chain, "radius_factor", lambda at: 2.0)
    np.testing.assert_array_equal(seen(armature), before)
    along_chain.draw(chain, name, lambda at: 1.0 - 0.9 * at)
    after = seen(armature)
    assert np.abs(bends(after) - bends(before)).max() > 0.005
    assert "FINISHED" in bpy.ops.lookat_pd.springs_bake()
    np.testing.assert_allclose(seen(armature), after, atol=2e-5)


def test_only_bones_that_stretch_become_longer() -> None:
    armature = animal()
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in armature.data.edit_bones:
        bone.use_connect = False
    bpy.ops.object.mode_set(mode="OBJECT")
    (chain,) = swing(armature, TAIL, stretch=1.0)
    along_chain.draw(chain, "stretch_factor", lambda at: float(at < 0.2))
    places = seen(armature)[..., :3, 3]
    lengths = np.linalg.norm(np.diff(places, axis=1), axis=-1)
    assert np.ptp(lengths[:, 0]) > 1e-3
    assert np.ptp(lengths[:, 1:], axis=0).max() < 1e-5


def test_copies_of_longer_chains_follow_the_same_curve() -> None:
    armature = animal()
    tail, hair = swing(armature, TAIL, HAIR)
    along_chain.draw(tail, "drag_factor", lambda at: 1.0 + at)
    springs_edit.copy(tail, hair)
    assert along_chain.factors(hair, "drag_factor") == pytest.approx([1.0, 2.0])
    springs_edit.copy(hair, tail)
    assert along_chain.factors(tail, "drag_factor") == pytest.approx([1.0, 4 / 3, 5 / 3, 2.0])
