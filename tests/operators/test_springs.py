"""The operators of springs: what they add, copy, mirror, bake and remove, and what they say when they cannot."""

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes
from ..rig.springs.tails import HAIR, TAIL, animal, seen

chains = load("rig.springs.chains")
find_chains = load("rig.springs.find_chains")
EARS = (("ear.L", "head", (0.1, 0, 1.8), (0.2, 0, 2.0)), ("ear.R", "head", (-0.1, 0, 1.8), (-0.2, 0, 2.0)))


def bones(armature: bpy.types.Object) -> set[tuple[str, ...]]:
    return {chain.bones for chain in chains.on(armature)}


@pytest.mark.every_blender
def test_add_bake_and_remove() -> None:
    armature = animal()
    plain = seen(armature)
    assert "FINISHED" in bpy.ops.lookat_pd.add_springs()
    assert bones(armature) == {TAIL, HAIR}
    shown = seen(armature)
    assert np.abs(shown - plain).max() > 0.05
    assert "FINISHED" in bpy.ops.lookat_pd.springs_bake()
    assert all(chain.settings.mute for chain in chains.on(armature))
    np.testing.assert_allclose(seen(armature), shown, atol=2e-5)
    with pytest.raises(RuntimeError, match="unmute them to bake them"):
        bpy.ops.lookat_pd.springs_bake()
    for chain in list(chains.on(armature)):
        armature.data.bones.active = armature.data.bones[chain.bone]
        assert "FINISHED" in bpy.ops.lookat_pd.springs_remove()
    assert not bones(armature)
    np.testing.assert_allclose(seen(armature), shown, atol=2e-5)


def test_selected_bones_get_springs_and_one_takes_its_line() -> None:
    armature = animal()
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(armature, *TAIL[1:3], HAIR[0])
    assert "FINISHED" in bpy.ops.lookat_pd.add_springs()
    assert bones(armature) == {TAIL[1:3], HAIR}
    assert {chain.settings.preset for chain in chains.on(armature)} == {"CAT_TAIL", "LONG_HAIR"}
    with pytest.raises(RuntimeError, match="already swings"):
        bpy.ops.lookat_pd.add_springs()


def test_settings_are_copied_and_mirrored() -> None:
    armature = scenes.figure(rows=(*scenes.FIGURE, *EARS))
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(armature, "ear.L")
    armature.data.bones.active = armature.data.bones["ear.L"]
    bpy.ops.lookat_pd.add_springs()
    (ear,) = chains.on(armature)
    ear.settings.settle_time, ear.settings.drag = 0.77, 2.5
    assert "FINISHED" in bpy.ops.lookat_pd.springs_mirror()
    assert bones(armature) == {("ear.L",), ("ear.R",)}
    other = chains.containing(armature, "ear.R")
    assert other.settings.settle_time == pytest.approx(0.77)
    assert other.settings.preset == "EAR"
    ear.settings.drag = 4.0
    scenes.select(armature, "ear.L", "ear.R")
    armature.data.bones.active = armature.data.bones["ear.L"]
    assert "FINISHED" in bpy.ops.lookat_pd.springs_copy()
    assert other.settings.drag == pytest.approx(4.0)


def test_where_nothing_is_called_so_it_says_what_to_do() -> None:
    scenes.figure()
    with pytest.raises(RuntimeError, match="select bones in pose mode"):
        bpy.ops.lookat_pd.add_springs()
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    assert not bpy.ops.lookat_pd.add_springs.poll()


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("hips", "tail.001", "tail.002", "tail_end"), [("CAT_TAIL", ("tail.001", "tail.002"))]),
        (("J_Bip_C_Head", "J_Sec_Hair1_01", "J_Sec_Hair2_01"), [("LONG_HAIR", ("J_Sec_Hair1_01", "J_Sec_Hair2_01"))]),
        (("頭", "スカート_0_0", "スカート_0_1"), [("CLOTH", ("スカート_0_0", "スカート_0_1"))]),
        (("Kopf", "Haar.L", "Haar.L.001"), [("LONG_HAIR", ("Haar.L", "Haar.L.001"))]),
        (("mixamorig:Hips", "mixamorig:Ponytail1"), [("LONG_HAIR", ("mixamorig:Ponytail1",))]),
        (("DEF-tail", "DEF-tail.001"), []),
    ],
)
def test_chains_are_found_by_name_and_shape(names, found) -> None:
    rows = [
        (name, names[n - 1] if n else None, (0.0, 0.3 * n, 0.0), (0.0, 0.3 * n + 0.3, 0.01))
        for n, name in enumerate(names)
    ]
    armature = scenes.figure(rows=rows)
    assert [(chain.preset, chain.bones) for chain in find_chains.find(armature)] == found


def test_a_tail_of_rigify_is_found_whose_bones_are_called_a_spine() -> None:
    rows = [("hips", None, (0, 0, 0), (0, 0, 1)), ("MCH-ROT-tail", "hips", (0, 1, 0), (0, 1, 1))]
    rows += [("spine.001", "MCH-ROT-tail", (0, 1, 0), (0, 2, 0)), ("spine", "spine.001", (0, 2, 0), (0, 3, 0))]
    rows += [("spine_fk", "hips", (0, 0, 1), (0, 0, 2)), ("DEF-spine", "hips", (0, 2, 0), (0, 3, 0))]
    armature = scenes.figure(rows=rows)
    assert not find_chains.find(armature)
    for name, above in (("spine.001", "hips"), ("spine", "spine.001"), ("spine_fk", "hips")):
        constraint = armature.pose.bones[name].constraints.new("COPY_ROTATION")
        constraint.target, constraint.subtarget = armature, above
        constraint.owner_space = constraint.target_space = "LOCAL"
        constraint.mix_mode = "BEFORE"
    (chain,) = find_chains.find(armature)
    assert (chain.preset, chain.bones, chain.is_likely) == ("CAT_TAIL", ("spine.001", "spine"), True)
    # No colliders are made of what it deforms.
    assert {"spine.001", "spine", "DEF-spine"} <= find_chains.called(armature)
    assert "spine_fk" not in find_chains.called(armature)


def test_a_chain_that_forks_goes_on_with_its_longest_branch() -> None:
    rows = [("tail", None, (0, 0, 0), (0, 1, 0)), ("tail.a", "tail", (0, 1, 0), (0, 2, 0))]
    rows += [("tail.b", "tail", (0, 1, 0), (1, 1, 0)), ("tail.b2", "tail.b", (1, 1, 0), (2, 1, 0))]
    armature = scenes.figure(rows=rows)
    found = {chain.bones for chain in find_chains.find(armature)}
    assert found == {("tail", "tail.b", "tail.b2"), ("tail.a",)}


def test_colliders_are_added_and_removed() -> None:
    armature = animal()
    colliders = load("rig.springs.colliders")
    assert "FINISHED" in bpy.ops.lookat_pd.add_spring_collider(shape="CAPSULE")
    (made,) = colliders.on(bpy.context.scene)
    assert made.shape == "CAPSULE" and colliders.rings(made).shape[1:] == (2, 3)
    bpy.context.view_layer.objects.active = armature
    with pytest.raises(RuntimeError, match="No mesh hangs"):
        bpy.ops.lookat_pd.spring_colliders_from_mesh()
    with pytest.raises(RuntimeError, match="Select bones in pose mode"):
        bpy.ops.lookat_pd.spring_bone_colliders()
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(armature, "hips", "head")
    assert "FINISHED" in bpy.ops.lookat_pd.spring_bone_colliders()
    assert {collider.label for collider in colliders.on(bpy.context.scene)} == {made.object.name, "hips", "head"}
    assert "FINISHED" in bpy.ops.lookat_pd.spring_collider_remove(object=armature.name, bone="head")
    assert {collider.label for collider in colliders.on(bpy.context.scene)} == {made.object.name, "hips"}
    assert "FINISHED" in bpy.ops.lookat_pd.spring_collider_remove()
    assert not colliders.on(bpy.context.scene)
    assert made.object.name in bpy.data.objects


def test_a_collider_of_a_library_is_not_removed_for_this_session_only(tmp_path) -> None:
    colliders = load("rig.springs.colliders")
    bpy.ops.lookat_pd.add_spring_collider(shape="SPHERE")
    (made,) = colliders.on(bpy.context.scene)
    name = made.object.name
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {made.object})
    bpy.data.objects.remove(made.object)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, data):
        data.objects = [name]
    bpy.context.scene.collection.objects.link(data.objects[0])
    with pytest.raises(RuntimeError, match="is linked from a library"):
        bpy.ops.lookat_pd.spring_collider_remove(object=name)
    assert colliders.on(bpy.context.scene)


def test_one_chain_is_not_several() -> None:
    added = load("operators.springs").added
    assert added(1) == "Added springs to a chain of bones."
    assert added(2) == "Added springs to 2 chains of bones."


def test_an_override_that_is_not_editable_is_refused_with_the_remedy(tmp_path) -> None:
    armature = animal()
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {armature})
    bpy.data.objects.remove(armature)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, data):
        data.objects = ["Hero"]
    layer = bpy.context.view_layer
    own = bpy.data.objects["Hero"].override_hierarchy_create(bpy.context.scene, layer)
    layer.objects.active = own
    own.select_set(True)
    refusal = r"not editable; make it editable first \(Object > Library Override > Make\)"
    for operator in (bpy.ops.lookat_pd.add_springs, bpy.ops.lookat_pd.springs_from_vrm):
        with pytest.raises(RuntimeError, match=refusal):
            operator()
    with pytest.raises(load("lookat_pd.errors").RigError, match=refusal):
        load("rig.springs.springs_edit").add(own, [TAIL])
    assert not bones(own)
    bpy.ops.object.make_override_library()
    assert "FINISHED" in bpy.ops.lookat_pd.add_springs()
    assert bones(own) == {TAIL, HAIR}


def test_changed_settings_are_no_preset() -> None:
    settings = load("rig.springs.settings")
    chain = load("rig.springs.springs_edit").add(animal(), [TAIL], ["CLOTH"])[0]
    for row in settings.MATERIALS:
        chain.settings.preset = row.id
        assert settings.is_as_preset(chain.settings)
    for name in settings.SET:
        value = getattr(chain.settings, name)
        setattr(chain.settings, name, value + 0.01)
        assert not settings.is_as_preset(chain.settings), name
        setattr(chain.settings, name, value)
    chain.settings.wind.x = 1.0
    assert settings.is_as_preset(chain.settings), "a preset says nothing of the wind"


def test_one_bone_is_not_several() -> None:
    named = load("operators.reporting").bones
    assert named(1) == "1 bone" and named(2) == "2 bones"
