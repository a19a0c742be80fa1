"""Springs from and into VRM: by a file, by the VRM add-on, and what is said where they do not fit."""

import errno
import json
import os
import struct
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from extension import load

from ..rig.springs.tails import HAIR, TAIL, animal, bends, seen, swing

chains = load("rig.springs.chains")
along_chain = load("rig.springs.along_chain")
verlet = load("lookat_pd.springs.verlet")
vrm = load("rig.detection.vrm")
vrm_data = load("rig.springs.vrm_data")
vrm_known = load("rig.springs.vrm_known")
NAMES = ("hips", *TAIL, *HAIR)


def file(path: Path, extensions: dict, bones: tuple[str, ...] = NAMES) -> Path:
    """A VRM file with nothing but nodes, each 0.15 m behind the one before."""
    nodes = [{"name": name, "translation": [0.0, 0.0, -0.15], "children": []} for name in bones]
    for n in range(len(bones) - 1):
        if bones[n].split(".")[0] == bones[n + 1].split(".")[0]:
            nodes[n]["children"].append(n + 1)
    text = json.dumps({"asset": {"version": "2.0"}, "nodes": nodes, "extensions": extensions}).encode()
    text += b" " * (-len(text) % 4)
    path.write_bytes(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text)
    return path


def tail_of(**joint: object) -> dict:
    """VRM 1.0 with springs on the tail."""
    rows = [{"node": NAMES.index(name), "stiffness": 0.7, "dragForce": 0.3, **joint} for name in TAIL]
    return {"VRMC_springBone": {"specVersion": "1.0", "springs": [{"joints": rows}]}}


@pytest.mark.every_blender
def test_from_a_file_and_back(tmp_path) -> None:
    armature = animal()
    path = file(tmp_path / "hero.vrm", tail_of(gravityPower=0.2, gravityDir=[1.0, 0.0, 0.0]))
    assert "FINISHED" in bpy.ops.lookat_pd.springs_from_vrm(filepath=str(path))
    (chain,) = chains.on(armature)
    assert chain.bones == TAIL[:3] and not chain.settings.collide
    known = verlet.settings_of(0.7, 0.3, 0.15)
    assert chain.settings.gravity == 0.0 and chain.settings.wind[0] == pytest.approx(0.2 * known.unit, rel=1e-4)
    assert np.abs(bends(seen(armature))).max() > 0.02
    chain.settings.bones[1].settle_factor = 2.0
    assert "FINISHED" in bpy.ops.lookat_pd.springs_write_vrm(filepath=str(path))
    for item in list(chains.on(armature)):
        armature.data.bones.active = armature.data.bones[item.bone]
        bpy.ops.lookat_pd.springs_remove()
    bpy.ops.lookat_pd.springs_from_vrm(filepath=str(tmp_path / "hero_springs.vrm"))
    (again,) = chains.on(armature)
    times = [own.settle_time for own in along_chain.of(again)]
    np.testing.assert_allclose(times, 2.0 * np.pi / known.omega * np.array([1.0, 2.0, 1.0]), rtol=1e-3)


def test_a_second_time_replaces_the_first(tmp_path) -> None:
    armature = animal()
    swing(armature, TAIL[:2], HAIR)
    path = file(tmp_path / "hero.vrm", tail_of())
    for _ in range(2):
        bpy.ops.lookat_pd.springs_from_vrm(filepath=str(path))
        assert {chain.bones for chain in chains.on(armature)} == {TAIL[:3], HAIR}


def test_one_way_and_coupled_chains_bend_alike_in_the_file(tmp_path) -> None:
    """A chain that is written bends under a steady pull in VRM as far as here."""
    armature = animal()
    armature.animation_data_clear()
    swing(armature, TAIL, settle_time=0.5, gravity=1.0, tip_factor=1.0, drag=3.0)
    here = seen(armature, frames=[1])[0, -1, :3, 3]
    path = file(tmp_path / "hero.vrm", {"VRMC_vrm": {}})
    bpy.ops.lookat_pd.springs_write_vrm(filepath=str(path))
    bpy.ops.lookat_pd.springs_from_vrm(filepath=str(tmp_path / "hero_springs.vrm"))
    (again,) = chains.on(armature)
    assert again.settings.one_way and again.bones == TAIL
    there = seen(armature, frames=[1])[0, -1, :3, 3]
    assert np.linalg.norm(here - [0.0, 0.55, 1.0]) > 0.02
    assert np.linalg.norm(here - there) < 0.1 * np.linalg.norm(here - [0.0, 0.55, 1.0])


@pytest.mark.parametrize(
    ("extensions", "words"),
    [({}, "has no springs"), ({"VRMC_springBone": {"springs": [{"joints": 1}]}}, "are broken")],
)
def test_files_without_springs_are_one_sentence(tmp_path, extensions, words) -> None:
    armature = animal()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.lookat_pd.springs_from_vrm(filepath=str(file(tmp_path / "hero.vrm", extensions)))
    assert not list(chains.on(armature))


def test_joints_that_are_not_there_are_one_sentence(tmp_path) -> None:
    armature = animal()
    other = tuple(f"other {name}" for name in NAMES)
    with pytest.raises(RuntimeError, match=r"'other tail\.001'; choose the file of the character"):
        bpy.ops.lookat_pd.springs_from_vrm(filepath=str(file(tmp_path / "hero.vrm", tail_of(), other)))
    assert not list(chains.on(armature))


def test_the_other_side_gets_the_factors_of_bones_too() -> None:
    armature = animal()
    one, other = swing(armature, TAIL[:2], HAIR)
    one.settings.bones[1].drag_factor = 3.0
    load("rig.springs.springs_edit").copy(one, other)
    assert other.settings.bones[1].drag_factor == 3.0


class Row(bpy.types.PropertyGroup):
    bone_name: bpy.props.StringProperty()


class Joint(bpy.types.PropertyGroup):
    node: bpy.props.PointerProperty(type=Row)
    stiffness: bpy.props.FloatProperty(default=0.7)
    drag_force: bpy.props.FloatProperty(default=0.3)
    gravity_power: bpy.props.FloatProperty()
    gravity_dir: bpy.props.FloatVectorProperty(default=(0.0, 0.0, -1.0))
    hit_radius: bpy.props.FloatProperty()


class Spring(bpy.types.PropertyGroup):
    joints: bpy.props.CollectionProperty(type=Joint)
    center: bpy.props.PointerProperty(type=Row)


class Springs(bpy.types.PropertyGroup):
    springs: bpy.props.CollectionProperty(type=Spring)


class Extension(bpy.types.PropertyGroup):
    spring_bone1: bpy.props.PointerProperty(type=Springs)


@pytest.fixture
def add_on():
    """The data of the VRM add-on, which is not here."""
    every = (Row, Joint, Spring, Springs, Extension)
    for kind in every:
        bpy.utils.register_class(kind)
    bpy.types.Armature.vrm_addon_extension = bpy.props.PointerProperty(type=Extension)
    yield
    del bpy.types.Armature.vrm_addon_extension
    for kind in reversed(every):
        bpy.utils.unregister_class(kind)


def test_what_the_vrm_add_on_has_is_taken(add_on) -> None:
    armature = animal()
    spring = armature.data.vrm_addon_extension.spring_bone1.springs.add()
    spring.center.bone_name = "hips"
    for bone in TAIL:
        spring.joints.add().node.bone_name = bone
    assert "FINISHED" in bpy.ops.lookat_pd.springs_from_vrm()
    (chain,) = chains.on(armature)
    assert chain.bones == TAIL[:3] and chain.settings.center == "hips"
    known = verlet.settings_of(0.7, 0.3, 0.15)
    assert chain.settings.settle_time == pytest.approx(2.0 * np.pi / known.omega, rel=1e-4)


def test_without_a_file_and_the_add_on_it_asks_for_one() -> None:
    animal()
    with pytest.raises(RuntimeError, match="Choose a VRM file"):
        bpy.ops.lookat_pd.springs_from_vrm()


@pytest.mark.parametrize("version", ["1.0", "0.x"])
def test_colliders_that_were_moved_or_added_are_written(tmp_path, version) -> None:
    armature = animal()
    hips = NAMES.index("hips")
    if version == "1.0":
        said = tail_of()
        said["VRMC_springBone"] |= {
            "colliders": [{"node": hips, "shape": {"sphere": {"offset": [0.1, 0.0, 0.2], "radius": 0.1}}}],
            "colliderGroups": [{"name": "Body", "colliders": [0]}],
        }
        said["VRMC_springBone"]["springs"][0]["colliderGroups"] = [0]
    else:
        tail = {"bones": [NAMES.index(TAIL[0])], "stiffiness": 0.7, "dragForce": 0.3, "colliderGroups": [0]}
        sphere = {"offset": {"x": 0.1, "y": 0.0, "z": -0.2}, "radius": 0.1}
        body = {"node": hips, "colliders": [sphere]}
        said = {"VRM": {"secondaryAnimation": {"boneGroups": [tail], "colliderGroups": [body]}}}
    path, written = file(tmp_path / "hero.vrm", said), tmp_path / "hero_springs.vrm"
    bpy.ops.lookat_pd.springs_from_vrm(filepath=str(path))
    (item,) = (item for item in bpy.data.objects if vrm_known.MADE in item)
    bpy.context.view_layer.update()
    place = armature.matrix_world @ armature.pose.bones["hips"].matrix @ Vector((0.1, 0.0, 0.2))
    np.testing.assert_allclose(item.matrix_world.translation, place, atol=1e-5)
    bpy.ops.lookat_pd.springs_write_vrm(filepath=str(path))
    assert vrm.document(written)["extensions"] == said
    item.location.x += 0.05
    item.empty_display_size = 0.2
    armature.pose.bones["hair.001"].lookat_pd_collider.exists = True
    bpy.ops.lookat_pd.springs_write_vrm(filepath=str(path))
    first, *added = vrm_data.read(vrm.document(written)).colliders
    np.testing.assert_allclose(first.begin, (0.15, 0.0, 0.2), atol=1e-6)
    assert first.radius == pytest.approx(0.2) and first.groups
    # A bone is a capsule, which 0.x does not have.
    assert [collider.shape for collider in added] == ([] if version == "0.x" else ["CAPSULE"])


@pytest.mark.parametrize("hindrance", ["full", "folder", "protected"])
def test_what_cannot_be_written_leaves_the_files_as_they_were(tmp_path, monkeypatch, hindrance) -> None:
    path, written = file(tmp_path / "hero.vrm", tail_of()), tmp_path / "hero_springs.vrm"
    animal()
    bpy.ops.lookat_pd.springs_from_vrm(filepath=str(path))
    before = path.read_bytes()
    if hindrance == "folder":
        written.mkdir()
    else:
        written.write_bytes(b"the one before")
    if hindrance == "protected":
        # To whom all is allowed, no protection shows.
        monkeypatch.setattr(os, "access", lambda *words: False)
    if hindrance == "full":

        def full(file: Path, content: bytes) -> None:
            with file.open("wb") as stream:
                stream.write(content[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", full)
    words = {"full": "disk is full; free", "folder": "is a folder; name", "protected": "is write-protected; lift"}
    with pytest.raises(RuntimeError, match=words[hindrance]):
        bpy.ops.lookat_pd.springs_write_vrm(filepath=str(path))
    assert path.read_bytes() == before
    assert hindrance == "folder" or written.read_bytes() == b"the one before"
    assert {item.name for item in tmp_path.iterdir()} == {"hero.vrm", "hero_springs.vrm"}
