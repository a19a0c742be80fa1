"""Chains of bones: their order, which bone hangs on which, and what would be torn off."""

import itertools

import bpy
import numpy as np
import pytest

from extension import load

from ..scenes import figure

bone_chains = load("rig.layers.bone_chains")
ROWS = (
    ("root", None, (0, 0, 0), (0, 0.3, 0)),
    ("base", "root", (0, 0, 1), (0, 0.2, 1)),
    ("middle", "base", (0, 0.2, 1), (0, 0.4, 1)),
    ("tip", "middle", (0, 0.4, 1), (0, 0.6, 1)),
    ("side", "middle", (0.2, 0.5, 1), (0.2, 0.6, 1)),
    ("hand", "root", (1, 0, 1), (1, 0, 1.2)),
)


@pytest.fixture
def rig() -> bpy.types.Object:
    item = figure("Rig", ROWS)
    for bone in item.data.bones:
        bone.use_deform = False
    return item


def test_each_bone_comes_after_those_it_hangs_on_in_any_order(rig):
    bones = ("base", "middle", "tip", "side")
    orders = {tuple(bone_chains.root_to_tip(rig, order)) for order in itertools.permutations(bones)}
    assert len(orders) == 1
    (order,) = orders
    for bone in order:
        above = bone_chains.parent_among(rig, bone, bones)
        assert not above or order.index(above) < order.index(bone)
    assert bone_chains.root_to_tip(rig, ("tip", "base", "tip")) == ["base", "tip"]
    assert bone_chains.parent_among(rig, "tip", ("base", "side")) == "base"
    assert bone_chains.parent_among(rig, "base", ("tip",)) == ""


def test_what_is_jointed_to_its_parent(rig):
    def joints() -> set[str]:
        return {bone.name for bone in rig.pose.bones if bone_chains.is_joint(bone)}

    assert joints() == {"base", "middle", "tip"}, "at a tail, or the base of a chain"
    rig.pose.bones["side"].lock_location = (True, True, True)
    assert "side" in joints()
    rig.data.bones["hand"].use_deform = True
    assert "hand" not in joints()
    rig.data.bones["root"].use_deform = True
    assert "hand" in joints(), "both deform the same body"


def test_what_hangs_on_a_bone_is_carried_along():
    rng = np.random.default_rng(3)
    base, result, below = rng.normal(size=(3, 5, 4, 4))
    np.testing.assert_allclose(bone_chains.carrying(base, result) @ base @ below, result @ below, atol=1e-8)
