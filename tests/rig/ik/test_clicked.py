"""A click on the skin of a generated Rigify human, and its hidden controls."""

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from ..sampling.test_shown_surface import viewport

clicked = load("rig.ik.clicked")
limb_controls = load("rig.detection.limb_controls")


@pytest.fixture
def human() -> bpy.types.Object:
    armature = kept.human()
    scenes.goto(1)
    return armature


def under(armature: bpy.types.Object, bone: str, part: float = 0.5, way=(0.0, 1.0, 0.0)) -> str:
    """What a ray hits that goes through a point of a bone."""
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    point = np.array(armature.matrix_world @ (seen.head + part * (seen.tail - seen.head)))
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return clicked.bone_of_skin(bpy.context.scene, depsgraph, armature, viewport(), point - 3.0 * np.array(way), way)


def test_the_skin_leads_to_the_control(human) -> None:
    for bone, control in (("DEF-hand.L", "hand_fk.L"), ("DEF-shin.R", "shin_fk.R"), ("DEF-spine.006", "head")):
        assert limb_controls.control_of(human, under(human, bone)) == control
    assert under(human, "DEF-hand.L", way=(0.0, -1.0, 0.0)).startswith("DEF-")


def test_what_is_no_skin_of_the_rig_is_nothing(human) -> None:
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=(0.0, -1.5, 1.0))
    bpy.context.view_layer.update()
    assert under(human, "DEF-hand.L") == ""
    bpy.context.object.display_type = "WIRE"
    assert limb_controls.control_of(human, under(human, "DEF-hand.L")) == "hand_fk.L"
    depsgraph, up = bpy.context.evaluated_depsgraph_get(), (0.0, 0.0, 1.0)
    assert clicked.bone_of_skin(bpy.context.scene, depsgraph, human, viewport(), (0.0, 0.0, 9.0), up) == ""


@pytest.mark.every_blender
def test_hidden_controls_are_shown_and_hidden_again(human) -> None:
    control, data = "hand_ik.L", human.data
    assert not clicked.is_hidden(human, control)
    for item in data.bones[control].collections:
        item.is_visible = False
    before = [item.is_visible for item in data.collections_all]
    assert clicked.is_hidden(human, control)
    undo = clicked.show(human, control)
    assert not clicked.is_hidden(human, control)
    undo()
    assert clicked.is_hidden(human, control) and [item.is_visible for item in data.collections_all] == before
