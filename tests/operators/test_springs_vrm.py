"""Springs from and into VRM: by a file, by the VRM add-on, and what is said where they do not fit."""

import errno
import json
import os
import struct
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

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
    return written(path, nodes, extensions)


def written(path: Path, nodes: list[dict], extensions: dict) -> Path:
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
    assert not load("rig.springs.settings").is_as_preset(chain.settings), "the panel names no preset"
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


def registered() -> tuple[list[type], type]:
    """The property groups of the VRM add-on, and the one on armatures."""
    text, number, one, many = (
        getattr(bpy.props, f"{kind}Property") for kind in ("String", "Float", "Pointer", "Collection")
    )
    made: list[type] = []

    def kind(**properties: object) -> type:
        made.append(type(f"Stored{len(made)}", (bpy.types.PropertyGroup,), {"__annotations__": properties}))
        bpy.utils.register_class(made[-1])
        return made[-1]

    row, held = kind(bone_name=text()), one(type=bpy.types.Object)
    named, known = kind(collider_group_uuid=text()), kind(collider_uuid=text())
    down = bpy.props.FloatVectorProperty(default=(0.0, 0.0, -1.0))
    values = {"gravity_power": number(), "gravity_dir": down, "hit_radius": number(), "drag_force": number(default=0.3)}
    joint = kind(node=one(type=row), stiffness=number(default=0.7), **values)
    spring = kind(joints=many(type=joint), center=one(type=row), collider_groups=many(type=named))
    inside = kind(inside=bpy.props.BoolProperty())
    shapes = kind(sphere=one(type=inside), capsule=one(type=inside))
    extended = kind(enabled=bpy.props.BoolProperty(), shape_type=text(), shape=one(type=shapes))
    further = kind(vrmc_spring_bone_extended_collider=one(type=extended))
    collider = kind(node=one(type=row), shape_type=text(), bpy_object=held, uuid=text(), extensions=one(type=further))
    members = kind(vrm_name=text(), uuid=text(), colliders=many(type=known))
    new = kind(springs=many(type=spring), colliders=many(type=collider), collider_groups=many(type=members))
    bones = kind(
        stiffiness=number(default=0.7),
        center=one(type=row),
        bones=many(type=row),
        collider_groups=many(type=named),
        **values,
    )
    sphere = kind(bpy_object=held)
    spheres = kind(node=one(type=row), uuid=text(), colliders=many(type=sphere))
    old = kind(secondary_animation=one(type=kind(bone_groups=many(type=bones), collider_groups=many(type=spheres))))
    return made, kind(spec_version=text(), spring_bone1=one(type=new), vrm0=one(type=old))


@pytest.fixture
def add_on():
    """The data of the VRM add-on, which is not here."""
    made, extension = registered()
    bpy.types.Armature.vrm_addon_extension = bpy.props.PointerProperty(type=extension)
    yield
    del bpy.types.Armature.vrm_addon_extension
    for kind in reversed(made):
        bpy.utils.unregister_class(kind)


def on_bone(armature: bpy.types.Object, bone: str, place: tuple[float, float, float]) -> bpy.types.Object:
    """An empty on a bone, at a place in the world."""
    item = bpy.data.objects.new(f"{bone} of the add-on", None)
    bpy.context.scene.collection.objects.link(item)
    item.parent, item.parent_type, item.parent_bone = armature, "BONE", bone
    item.empty_display_size = 0.06
    bpy.context.view_layer.update()
    item.matrix_world = Matrix.Translation(place)
    return item


def taken() -> list[tuple[str, str, list[float]]]:
    """The colliders that were made: shape, groups, place in the world, direction, radius and length."""
    bpy.context.view_layer.update()
    found = []
    for item in [item for item in bpy.data.objects if vrm_known.MADE in item]:
        own, world = item.lookat_pd_collider, item.matrix_world
        found.append(
            (own.shape, own.groups, [*world.translation, *world.col[2].xyz, item.empty_display_size, own.length])
        )
    return found


def test_what_the_vrm_add_on_has_is_taken(add_on) -> None:
    armature = animal()
    own = armature.data.vrm_addon_extension.spring_bone1
    spring = own.springs.add()
    spring.center.bone_name = "hips"
    for bone in TAIL:
        spring.joints.add().node.bone_name = bone
    ball, rod, floor, shell = (on_bone(armature, "hips", (0.1 * n, 0.2, 1.1)) for n in range(4))
    end = bpy.data.objects.new("End", None)
    end.parent = rod
    end.location.z = 0.3
    body = own.collider_groups.add()
    body.vrm_name, body.uuid = "Body", "g1"
    spring.collider_groups.add().collider_group_uuid = "g1"
    for n, item in enumerate((ball, rod, floor, shell)):
        collider = own.colliders.add()
        collider.node.bone_name, collider.bpy_object, collider.uuid = "hips", item, f"c{n}"
        collider.shape_type = "Capsule" if item == rod else "Sphere"
        extended = collider.extensions.vrmc_spring_bone_extended_collider
        extended.enabled, extended.shape_type = n > 1, "extendedPlane" if item == floor else "extendedSphere"
        extended.shape.sphere.inside = item == shell
        if n < 2:
            body.colliders.add().collider_uuid = f"c{n}"
    own.colliders.add().uuid = "lost"
    assert "FINISHED" in bpy.ops.lookat_pd.springs_from_vrm()
    (chain,) = chains.on(armature)
    assert chain.bones == TAIL[:3] and chain.settings.center == "hips"
    assert chain.settings.collide and chain.settings.collider_groups == "Body"
    known = verlet.settings_of(0.7, 0.3, 0.15)
    assert chain.settings.settle_time == pytest.approx(2.0 * np.pi / known.omega, rel=1e-4)
    first, second, third = taken()
    assert first[:2] == ("SPHERE", "Body") and second[:2] == ("CAPSULE", "Body") and third[:2] == ("PLANE", "")
    assert first[2][:3] == pytest.approx((0.0, 0.2, 1.1), abs=1e-5) and first[2][6] == pytest.approx(0.06)
    assert second[2] == pytest.approx((0.1, 0.2, 1.25, 0.0, 0.0, 1.0, 0.06, 0.3), abs=1e-5)
    assert third[2][:6] == pytest.approx((0.2, 0.2, 1.1, 0.0, 1.0, 0.0), abs=1e-5)


def test_what_the_vrm_add_on_has_of_an_old_file_is_taken(add_on) -> None:
    """All bones that hang on the first one, not the shorter copy that the add-on makes of them for VRM 1.0."""
    armature = animal()
    extension = armature.data.vrm_addon_extension
    extension.spec_version = "0.0"
    for bone in TAIL[:2]:
        (extension.spring_bone1.springs or [extension.spring_bone1.springs.add()])[0].joints.add().node.bone_name = bone
    own = extension.vrm0.secondary_animation
    bones, body = own.bone_groups.add(), own.collider_groups.add()
    bones.bones.add().bone_name = TAIL[0]
    bones.collider_groups.add().collider_group_uuid = body.uuid = "g1"
    body.node.bone_name = "hips"
    body.colliders.add().bpy_object = on_bone(armature, "hips", (0.1, 0.2, 1.1))
    assert "FINISHED" in bpy.ops.lookat_pd.springs_from_vrm()
    (chain,) = chains.on(armature)
    assert chain.bones == TAIL and chain.settings.collider_groups == "hips"
    ((*named, numbers),) = taken()
    assert named == ["SPHERE", "hips"]
    assert numbers[:3] == pytest.approx((0.1, 0.2, 1.1), abs=1e-5) and numbers[6] == pytest.approx(0.06)


@pytest.mark.parametrize("turned", [False, True])
def test_colliders_are_where_the_file_has_them_on_bones_that_an_importer_has_turned(tmp_path, turned) -> None:
    """The VRM add-on lets bones point to their children, and turns characters of VRM 0.x to the front."""
    armature = animal()
    heads = {bone.name: np.array(bone.head_local) for bone in armature.data.bones}
    names = list(heads)
    sign = np.array((-1.0, 1.0, -1.0) if turned else (1.0, 1.0, 1.0))

    def in_file(place: np.ndarray) -> list[float]:
        x, y, z = place
        return (sign * (x, z, -y)).tolist()

    rows = [{"name": name, "translation": in_file(heads[name])} for name in names]
    joints = [{"node": names.index(name)} for name in TAIL]
    place = np.array((0.04, 0.06, 0.02))
    shape = {"sphere": {"offset": in_file(place), "radius": 0.05}}
    springs = {
        "specVersion": "1.0",
        "springs": [{"joints": joints, "colliderGroups": [0]}],
        "colliders": [{"node": names.index(TAIL[1]), "shape": shape}],
        "colliderGroups": [{"name": "Body", "colliders": [0]}],
    }
    path = written(tmp_path / "hero.vrm", rows, {"VRMC_springBone": springs})
    bpy.ops.lookat_pd.springs_from_vrm(filepath=str(path))
    bpy.context.scene.frame_set(1)
    armature.animation_data_clear()
    armature.data.pose_position = "REST"
    ((_, _, numbers),) = taken()
    np.testing.assert_allclose(numbers[:3], np.array(armature.matrix_world @ Vector(heads[TAIL[1]] + place)), atol=1e-5)
    (item,) = (item for item in bpy.data.objects if vrm_known.MADE in item)
    bpy.ops.lookat_pd.springs_write_vrm(filepath=str(path))
    again = vrm.document(tmp_path / "hero_springs.vrm")["extensions"]["VRMC_springBone"]["colliders"]
    assert again == springs["colliders"]
    item.matrix_world = Matrix.Translation((0.0, 0.0, 0.1)) @ item.matrix_world
    bpy.ops.lookat_pd.springs_write_vrm(filepath=str(path))
    (moved,) = vrm.document(tmp_path / "hero_springs.vrm")["extensions"]["VRMC_springBone"]["colliders"]
    np.testing.assert_allclose(
        moved["shape"]["sphere"]["offset"], in_file(place + np.array((0.0, 0.0, 0.1))), atol=1e-5
    )


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
