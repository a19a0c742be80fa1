"""The recipes of the documents, each on a stand-in with the bones of that family: added, baked, and it looks there."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import bpy
import pytest

from extension import load

from .rig import scenes
from .rig.detection import skeletons
from .rig.look_at.body import faces

ROOT = Path(load().__file__).parent
look_at = load("rig.look_at.resolve")
pytestmark = pytest.mark.usefixtures("empty_file")
LAST = 60
CONVENTIONS = skeletons.CONVENTIONS
FACE = (
    ("FACIAL_L_Eye", "head", (0.03, -0.1, 1.7), (0.03, -0.12, 1.7)),
    ("FACIAL_R_Eye", "head", (-0.03, -0.1, 1.7), (-0.03, -0.12, 1.7)),
)
FAMILIES = {
    "mixamo": CONVENTIONS["mixamo"],
    "vrm": CONVENTIONS["vrm"],
    "rigify": CONVENTIONS["rigify_metarig"],
    "metahuman": replace(CONVENTIONS["unreal"], extra=(*CONVENTIONS["unreal"].extra, *FACE)),
}


def said(recipe: str) -> str:
    return (ROOT / f"docs/recipes/{recipe}.md").read_text("utf-8")


def ready() -> bpy.types.Object:
    """Something to look at, and the range of the scene."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    return scenes.ball()


def active(armature: bpy.types.Object) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature


def added(armature: bpy.types.Object, head: str) -> list[str]:
    """What the recipes' *Add Look-at PD* and *Whole Body* find."""
    active(armature)
    assert bpy.ops.lookat_pd.add(target="Ball") == {"FINISHED"}
    assert look_at.bones_with_look_at(armature) == [head]
    bpy.ops.lookat_pd.whole_body(use=True)
    return [item.bone for item in armature.pose.bones[head].lookat_pd.chain]


def baked(armature: bpy.types.Object) -> bpy.types.Action:
    before = armature.animation_data.action
    kept = scenes.fingerprint(before)
    active(armature)
    assert bpy.ops.lookat_pd.bake() == {"FINISHED"}
    assert scenes.fingerprint(before) == kept
    return armature.animation_data.action


@pytest.mark.parametrize("family", FAMILIES)
def test_plain_skeletons(family) -> None:
    names = FAMILIES[family]
    armature = scenes.figure(rows=skeletons.human_rows(names))
    scenes.animate(armature, bones=names.chain)
    target = ready()
    head = names.chain[0]
    assert added(armature, head) == names.chain
    moved = " ".join(path for _, path, _ in scenes.curves(baked(armature)))
    if family == "metahuman":
        assert all(f'"{bone}"' in moved for bone, *_ in FACE)
    else:
        # With eyes, the gaze arrives and not the head.
        assert scenes.error(armature, scenes.place_of(target), bone=head) < 1.0


def controls(rows: Sequence[tuple], trunk: Sequence[str]) -> list[tuple]:
    """Controls that lie on the bones of the trunk, in a line of their own: `c_head.x` on `head.x`."""
    known = {f"{name}": (head, tail) for name, _, head, tail in rows}
    parents = [None, *(f"c_{name}" for name in trunk)]
    return [(f"c_{name}", parent, *known[name]) for name, parent in zip(trunk, parents, strict=False)]


def test_deforming_bones_that_copy_controls() -> None:
    """As in Auto-Rig Pro: what is keyed are the controls that the page names."""
    names = CONVENTIONS["auto_rig_pro"]
    trunk = names.trunk.split("|")
    rows = skeletons.human_rows(names)
    armature = scenes.figure(rows=[*rows, *controls(rows, trunk)])
    for name in trunk:
        copies = armature.pose.bones[name].constraints.new("COPY_TRANSFORMS")
        copies.target, copies.subtarget = armature, f"c_{name}"
    keyed = [f"c_{name}" for name in reversed(trunk)]
    scenes.animate(armature, bones=keyed)
    target = ready()
    assert added(armature, "c_head.x") == keyed
    page = said("auto-rig-pro")
    assert all(f"`{name}`" in page for name in ("c_head.x", "c_neck.x"))
    action = baked(armature)
    assert {bone for _, path, _ in scenes.curves(action) for bone in names.chain if f'"{bone}"' in path} == set()
    assert scenes.error(armature, scenes.place_of(target), bone="c_head.x") < 1.0


def test_shape_keys_of_arkit_turn_the_eyes_and_blink() -> None:
    armature, item, settings = faces.person(faces.ARKIT, 30.0)
    assert settings.eyes.use
    assert {"eyeLookInLeft", "eyeBlinkLeft"} <= {f"{word}" for word in said("metahuman").replace("`", " ").split()}
    bpy.context.scene.frame_end = 40
    place = bpy.data.objects["Ball"].matrix_world.translation
    assert faces.errors(item, (30,), lambda: place).max() < 1.0
    assert armature


def test_what_the_recipes_name_is_found() -> None:
    for recipe, family in (("mixamo", "mixamo"), ("vrm", "vrm"), ("unreal", "metahuman"), ("metahuman", "metahuman")):
        assert f"{FAMILIES[family].chain[0]}" in said(recipe), recipe
