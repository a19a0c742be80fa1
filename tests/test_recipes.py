"""The recipes of the documents, each on a stand-in with the bones of that family: added, baked, and it looks there."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import bpy
import pytest

from extension import load

from .rig import scenes
from .rig.detection import skeletons
from .rig.look_at.body import faces

ROOT = Path(__file__).resolve().parents[1]
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


@pytest.mark.thorough
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


COPIED = {
    "auto_rig_pro": (CONVENTIONS["auto_rig_pro"], "c_{}"),
    "cloudrig": (
        skeletons.Convention(
            "DEF-Hips|DEF-Spine|DEF-Chest|DEF-Neck|DEF-Head",
            "DEF-Clavicle.{}|DEF-UpperArm.{}|DEF-Forearm.{}|DEF-Wrist.{}",
            "DEF-Thigh.{}|DEF-Knee.{}|DEF-Foot.{}|DEF-Toes.{}",
            ("L", "R"),
        ),
        "FK-{}",
    ),
}
"""Deforming bones, and the names of the controls that they copy."""


@pytest.mark.parametrize("family", COPIED)
def test_deforming_bones_that_copy_controls(family) -> None:
    """What is keyed are the controls, whose head follows the neck by a constraint; deforming bones get no keys."""
    names, pattern = COPIED[family]
    rows = skeletons.human_rows(names)
    control = {bone: pattern.format(bone.removeprefix("DEF-")) for bone in names.trunk.split("|")}
    places = {name: (head, tail) for name, _, head, tail in rows}
    head, neck = names.chain[0], names.chain[1]
    parents = dict(pairwise(reversed(names.trunk.split("|"))))
    above = {bone: control.get(parents.get(bone)) if bone != head else None for bone in control}
    armature = scenes.figure(rows=[*rows, *((control[bone], above[bone], *places[bone]) for bone in control)])
    for bone in control:
        copies = armature.pose.bones[bone].constraints.new("COPY_TRANSFORMS")
        copies.target, copies.subtarget = armature, control[bone]
    follows = armature.pose.bones[control[head]].constraints.new("ARMATURE")
    target = follows.targets.new()
    target.target, target.subtarget = armature, control[neck]
    keyed = [control[bone] for bone in names.chain]
    scenes.animate(armature, bones=keyed)
    ball = ready()
    assert added(armature, keyed[0]) == keyed
    paths = " ".join(path for _, path, _ in scenes.curves(baked(armature)))
    assert all(f'"{bone}"' in paths for bone in keyed)
    assert not [bone for bone in names.chain if f'"{bone}"' in paths]
    assert scenes.error(armature, scenes.place_of(ball), bone=keyed[0]) < 1.0
    page = said("auto-rig-pro")
    assert all(f"`{bone}`" in page for bone in keyed[:2])


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
