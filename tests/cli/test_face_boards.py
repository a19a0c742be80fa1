"""Bakes of characters whose eyes a face board turns: its controls are found, measured and keyed."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ..rig.look_at.body import boards

POINT = "--point=0.5,-1.5,1.9"


@pytest.fixture
def character(tools, tmp_path):
    armature, _ = boards.board(())
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    armature.animation_data.action = None
    return tools.save(tmp_path / "board.blend")


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["blend", "glb"])
def test_the_eyes_look_there(call, tools, tmp_path, character, ending) -> None:
    output = tmp_path / f"out.{ending}"
    result = call("bake", character, POINT, "--body=eyes", "--range", "1", "60", "--output", output)
    assert result.code == 0, result.errors
    idle = [text for text in result.row["warnings"] if "is not used" in text]
    assert len(idle) == 2 and all("_blink' closes no eye" in text for text in idle), "nothing reads them"
    assert set(result.row["body"]["eyes"]) == {"CTRL_L_eye", "CTRL_R_eye"}
    tools.reopen(output)
    (rig,) = [item for item in bpy.data.objects if item.type == "ARMATURE"]
    bpy.context.scene.frame_set(60)
    for name in ("eye.L", "eye.R"):
        eye = rig.matrix_world @ rig.pose.bones[name].matrix
        assert np.degrees(eye.col[1].to_3d().angle(Vector((0.5, -1.5, 1.9)) - eye.translation)) < 2.0
