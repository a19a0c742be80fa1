"""Springs that stretch: joints of bones that are not connected move apart."""

import bpy
import numpy as np

from extension import load

from .tails import TAIL, animal, live, seen, swing

layer_bake = load("rig.layers.layer_bake")


def status(armature: bpy.types.Object):
    return live.status(bpy.context.scene, armature, "", "SPRINGS")


def apart(found: np.ndarray) -> np.ndarray:
    """(F, b - 1) distances from joint to joint."""
    return np.linalg.norm(np.diff(found[..., :3, 3], axis=1), axis=-1)


def test_joints_move_apart_and_a_bake_shows_the_same() -> None:
    armature = animal()
    plain = apart(seen(armature))
    (chain,) = swing(armature)
    whole = seen(armature)
    np.testing.assert_allclose(apart(whole), plain, atol=1e-5)
    chain.settings.stretch = 0.3
    found = seen(armature)
    assert status(armature).state == "SOLVED", status(armature).error
    longer = apart(found) / plain - 1.0
    assert 0.02 < longer.max() < 0.9
    assert np.abs(longer[:5]).max() < 1e-3
    # Each joint moves along the bone on which it hangs.
    along = np.diff(found[..., :3, 3], axis=1)
    assert np.sum(along * found[:, :-1, :3, 1], axis=-1).min() > 0.99 * apart(found).min()
    assert "FINISHED" in bpy.ops.lookat_pd.springs_bake()
    np.testing.assert_allclose(seen(armature), found, atol=2e-4)


def test_connected_bones_do_not_stretch() -> None:
    armature = animal()
    (chain,) = swing(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones[TAIL[2]].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    chain.settings.stretch = 0.5
    seen(armature)
    assert "is connected to its parent" in str(status(armature).error)
    chain.settings.stretch = 0.0
    seen(armature)
    assert status(armature).state == "SOLVED"
