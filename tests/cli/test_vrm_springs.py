"""Springs of VRM files: baked as the file has them, and written back."""

import os
from pathlib import Path

import bpy
import numpy as np
import pytest

from extension import load

from ..rig.springs.tails import HAIR, LAST, TAIL, animal
from . import vrm_files

chains = load("rig.springs.chains")
verlet = load("lookat_pd.springs.verlet")
along_chain = load("rig.springs.along_chain")
vrm_known = load("rig.springs.vrm_known")
vrm_data = load("rig.springs.vrm_data")
RANGE = ("--range", 1, LAST)


@pytest.fixture
def character(tools, tmp_path) -> Path:
    animal()
    return tools.export(tmp_path / "in.glb").rename(tmp_path / "in.vrm")


def springs_of(path: Path) -> dict:
    return vrm_files.document(path)["extensions"]["VRMC_springBone"]


def groups_of(path: Path) -> list:
    return vrm_files.document(path)["extensions"]["VRM"]["secondaryAnimation"]["boneGroups"]


@pytest.mark.every_blender
def test_a_bake_takes_the_springs_of_the_file(call, tools, tmp_path, character) -> None:
    vrm_files.with_new_springs(character, TAIL)
    output = tmp_path / "out.blend"
    outcome = call("springs", character, *RANGE, "--output", output)
    assert outcome.code == 0, outcome.errors
    # The last joint only says where the chain ends.
    (found,) = outcome.row["springs"]
    assert found["bones"] == list(TAIL[:3]) and max(found["peak_swing_deg"]) > 1.0
    tools.reopen(output)
    armature = next(item for item in bpy.data.objects if item.type == "ARMATURE")
    (chain,) = chains.on(armature)
    s = chain.settings
    assert s.one_way and s.center == "hips" and s.inertia == 0.0 and s.collider_groups == "Body" and s.collide
    for n, own in enumerate(along_chain.of(chain)):
        wanted = verlet.settings_of(1.2 - 0.2 * n, 0.4 + 0.05 * n, 0.15)
        assert own.settle_time == pytest.approx(2.0 * np.pi / wanted.omega, rel=1e-3)
        assert own.drag == pytest.approx(wanted.air, rel=1e-3)
        assert own.gravity == pytest.approx(0.1 * wanted.unit / 9.81, rel=1e-3)
        assert own.radius == pytest.approx(0.02, rel=1e-3)
    sphere, capsule = sorted((item for item in bpy.data.objects if vrm_known.MADE in item), key=lambda i: i.name)
    bpy.context.view_layer.update()
    hips = armature.matrix_world @ armature.pose.bones["hips"].matrix
    np.testing.assert_allclose(sphere.matrix_world.translation, (hips @ bpy_vector((0.0, 0.05, 0.0))), atol=1e-5)
    np.testing.assert_allclose(capsule.matrix_world.translation, (hips @ bpy_vector((0.1, 0.1, 0.0))), atol=1e-5)
    assert sphere.empty_display_size == pytest.approx(0.08) and capsule.lookat_pd_collider.length == pytest.approx(0.2)


def bpy_vector(values):
    from mathutils import Vector

    return Vector(values)


def test_the_springs_of_the_file_are_written_back_as_they_were(call, tmp_path, character) -> None:
    vrm_files.with_new_springs(character, TAIL)
    outcome = call("springs", character, "--output", tmp_path / "out.vrm")
    assert outcome.code == 0, outcome.errors
    assert [found["written"] for found in outcome.row["springs"]] == ["kept"]
    assert springs_of(tmp_path / "out.vrm") == springs_of(character)
    before, after = vrm_files.document(character), vrm_files.document(tmp_path / "out.vrm")
    after["asset"].pop("extras", None)
    assert {**before, "asset": None} == {**after, "asset": None}
    body = character.read_bytes()[-1000:]
    assert (tmp_path / "out.vrm").read_bytes()[-1000:] == body


def test_changed_settings_come_back_from_the_file(call, tools, tmp_path, character) -> None:
    vrm_files.with_new_springs(character, TAIL)
    outcome = call("springs", character, "--settle-time", 0.3, "--format", "vrm", "--output", tmp_path)
    assert outcome.code != 0 and "input itself" in outcome.row["error"]
    folder = tmp_path / "out"
    folder.mkdir()
    outcome = call("springs", character, "--settle-time", 0.3, "--format", "vrm", "--output", folder)
    assert outcome.code == 0, outcome.errors
    assert [found["written"] for found in outcome.row["springs"]] == ["changed"]
    (spring,) = springs_of(folder / "in.vrm")["springs"]
    assert spring["extras"] == {"kept": 1} and len(spring["joints"]) == len(TAIL)
    again = call("springs", folder / "in.vrm", *RANGE, "--output", tmp_path / "out.blend")
    assert again.code == 0, again.errors
    assert again.row["springs"][0]["settle_time"] == pytest.approx(0.3, rel=1e-3)


def test_new_chains_are_added_to_the_file(call, tmp_path, character) -> None:
    vrm_files.with_new_springs(character, TAIL)
    words = ("--bones", "hair*", "--preset", "long-hair")
    outcome = call("springs", character, *words, "--output", tmp_path / "out.vrm")
    assert outcome.code == 0, outcome.errors
    assert [found["written"] for found in outcome.row["springs"]] == ["added"]
    made = vrm_files.document(tmp_path / "out.vrm")
    _, spring = made["extensions"]["VRMC_springBone"]["springs"]
    names = [made["nodes"][joint["node"]]["name"] for joint in spring["joints"]]
    assert names == [*HAIR, f"{HAIR[-1]}_end"]
    assert all(joint["stiffness"] > 0.0 and 0.0 <= joint["dragForce"] <= 1.0 for joint in spring["joints"][:-1])
    end = np.array(made["nodes"][spring["joints"][-1]["node"]]["translation"])
    # The file does not say where the last bone ends.
    np.testing.assert_allclose(np.linalg.norm(end), 0.15, atol=0.01)


def test_a_file_without_springs_gets_them(call, tmp_path, character) -> None:
    vrm_files.changed(character, lambda made: made.update(extensions={"VRMC_vrm": {}}))
    outcome = call("springs", character, "--output", tmp_path / "out.vrm")
    assert outcome.code == 0, outcome.errors
    assert {found["written"] for found in outcome.row["springs"]} == {"added"}
    made = vrm_files.document(tmp_path / "out.vrm")
    assert len(made["extensions"]["VRMC_springBone"]["springs"]) == 2
    assert "VRMC_springBone" in made["extensionsUsed"]


def test_springs_of_the_old_version_are_read_and_written(call, tools, tmp_path, character) -> None:
    vrm_files.with_old_springs(character, (TAIL[0], HAIR[0]))
    kept = call("springs", character, "--output", tmp_path / "kept.vrm")
    assert kept.code == 0, kept.errors
    assert groups_of(tmp_path / "kept.vrm") == groups_of(character)
    assert sorted(found["bones"] for found in kept.row["springs"]) == [list(HAIR), list(TAIL)]
    words = ("--bones", "tail*", "--drag", 5)
    outcome = call("springs", character, *words, "--output", tmp_path / "out.vrm")
    assert outcome.code == 0, outcome.errors
    first, second = groups_of(tmp_path / "out.vrm")
    names = [row.get("name") for row in vrm_files.document(character)["nodes"]]
    assert [names[n] for n in first["bones"]] == [HAIR[0]] and first["stiffiness"] == 0.8
    assert [names[n] for n in second["bones"]] == [TAIL[0]] and second["dragForce"] < 0.35
    assert second["colliderGroups"] == [0] and second["comment"] == "soft"


def test_joints_that_are_not_there_are_told_and_left_out(call, tmp_path, character) -> None:
    vrm_files.with_new_springs(character, TAIL)

    def break_one(made: dict) -> None:
        made["extensions"]["VRMC_springBone"]["springs"][0]["joints"][1]["node"] = 9999

    vrm_files.changed(character, break_one)
    outcome = call("springs", character, *RANGE, "--output", tmp_path / "out.blend")
    assert outcome.code == 0, outcome.errors
    assert [text for text in outcome.row["warnings"] if "Joint '9999' of the springs" in str(text)]
    assert outcome.row["springs"][0]["bones"] == [TAIL[0], TAIL[2]]


def test_springs_of_another_character_are_one_sentence(call, tools, tmp_path, character) -> None:
    vrm_files.with_new_springs(character, TAIL)
    animal()
    for bone in bpy.data.objects["Hero"].data.bones:
        bone.name = f"other {bone.name}"
    shot = tools.save(tmp_path / "shot.blend")
    outcome = call("springs", shot, "--from-vrm", character, *RANGE, "--output", tmp_path / "out.blend")
    assert outcome.code != 0 and "choose the file of the character" in outcome.row["error"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda own: own["springs"][0]["joints"][0].update(stiffness=float("1e999")), "cannot read"),
        (lambda own: own.update(springs=3), "are broken"),
        (lambda own: own["springs"][0].update(joints=[{"node": {}}, 5]), "are broken"),
        (lambda own: own["springs"][0]["joints"][0].update(gravityDir="down"), "are broken"),
    ],
)
def test_springs_that_are_broken_are_one_sentence(call, tmp_path, character, change, words) -> None:
    vrm_files.with_new_springs(character, TAIL)
    vrm_files.changed(character, lambda made: change(made["extensions"]["VRMC_springBone"]))
    outcome = call("springs", character, *RANGE, "--output", tmp_path / "out.blend")
    assert outcome.code == 1 and len(outcome.errors) == 1 and words in outcome.row["error"]


def test_a_vrm_is_made_of_a_vrm(call, tools, tmp_path) -> None:
    animal()
    shot = tools.save(tmp_path / "shot.blend")
    outcome = call("springs", shot, "--output", tmp_path / "out.vrm")
    assert outcome.code != 0 and "--from-vrm" in outcome.row["error"]


def test_other_verbs_write_no_vrm(call, tmp_path, character) -> None:
    outcome = call("bake", character, "--point=0,-1,1", "--output", tmp_path / "out.vrm")
    assert outcome.code == 2 and not (tmp_path / "out.vrm").exists()


@pytest.mark.slow
@pytest.mark.skipif("LOOKAT_PD_RIGS" not in os.environ, reason="needs third-party rigs")
@pytest.mark.parametrize("version", ["1.0", "0.x"])
def test_a_character_that_people_have(call, tools, tmp_path, version) -> None:
    """Its own file has no springs: its head gets some."""
    source = Path(os.environ["LOOKAT_PD_RIGS"]) / "vrm" / "cryptovoxels.vrm"
    path = tmp_path / "in.vrm"
    path.write_bytes(source.read_bytes())

    def change(made: dict) -> None:
        made["nodes"][vrm_files.node(made, "Hips")].setdefault("name", "Hips")
        next(row for row in made["nodes"] if row.get("name") == "Hips")["name"] = "hips"

    vrm_files.changed(path, change)
    vrm_files.changed(path, lambda made: made["extensions"].pop("VRM"))
    bones = ("Neck", "Head", "Head_End", "Head_End_end")
    if version == "1.0":
        vrm_files.with_new_springs(path, bones)
    else:
        vrm_files.with_old_springs(path, ("Neck",))
    tools.reopen(path)
    outcome = call("springs", path, "--output", tmp_path / "out.vrm")
    assert outcome.code == 0, outcome.errors
    assert all(found["written"] == "kept" for found in outcome.row["springs"])
    assert vrm_files.document(tmp_path / "out.vrm")["extensions"] == vrm_files.document(path)["extensions"]
    changed = call("springs", path, "--settle-time", 0.35, "--output", tmp_path / "changed.vrm")
    assert changed.code == 0, changed.errors
    baked = call("springs", tmp_path / "changed.vrm", "--range", 1, 40, "--output", tmp_path / "out.blend")
    assert baked.code == 0, baked.errors
    assert baked.row["springs"][0]["settle_time"] == pytest.approx(0.35, rel=5e-3)
