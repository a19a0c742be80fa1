"""What other bakes write within one transaction, and where it goes."""

import bpy
import pytest

from extension import load

from .. import scenes

actions = load("rig.animation.actions")
bake_transaction = load("rig.animation.bake_transaction")

NAME = 'che"st'


def curves_of(action: bpy.types.Action) -> dict[tuple[str, int], tuple[str, list[tuple[float, float]]]]:
    """Group and keys of each F-curve."""
    return {
        (curve.data_path, curve.array_index): (curve.group.name, [tuple(point.co) for point in curve.keyframe_points])
        for curve in actions.curves(action, action.slots[0])
    }


@pytest.mark.parametrize("undone", [False, True])
def test_curves_that_a_bake_adds_keep_their_group_and_can_be_removed(undone: bool) -> None:
    armature = scenes.figure()
    action = scenes.animate(armature)
    armature.data.bones["chest"].name = NAME
    before = curves_of(action)
    with bake_transaction.BakeTransaction(armature) as work:
        armature.pose.bones[NAME].keyframe_insert("location", index=1, frame=5)
        expected = curves_of(work.action)
        assert work.commit_all("CURRENT", "Baked") == action
        if undone:
            work.rollback()
    assert len(expected) == len(before) + 1 and expected != before
    assert curves_of(action) == (before if undone else expected)
