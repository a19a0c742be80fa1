"""Faces, elbows, controls of feet and meshes say where a character faces, with limbs and without."""

from itertools import combinations

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from . import skeletons
from .skeletons import line

axes = load("rig.detection.axes")
detect = load("rig.detection.detect")
lines = load("rig.detection.limb_chains")
rest = load("rig.detection.rest")
rotation = load("lookat_pd.rotation")
stance = load("rig.detection.stance")

FORWARD, UP = (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)
FACE = {
    "eye": ((0.03, -0.1, 1.5), (0.03, -0.13, 1.5)),
    "brow": ((0.03, -0.11, 1.56), (0.06, -0.11, 1.56)),
    "ear": ((0.08, 0.0, 1.5), (0.1, 0.02, 1.52)),
    "jaw": ((0.0, 0.0, 1.42), (0.0, -0.1, 1.4)),
    "nose": ((0.0, -0.12, 1.46), (0.0, -0.15, 1.45)),
    "teeth": ((0.0, -0.09, 1.42), (0.0, -0.11, 1.42)),
}
TURNS = {
    "facing -Y": (1.0, 0.0, 0.0, 0.0),
    "facing X": rotation.about([0.0, 0.0, 1.0], np.radians(90.0)),
    "facing Y": rotation.about([0.0, 0.0, 1.0], np.radians(180.0)),
}


def bust(*parts: str, sides: tuple[str, str] = ("L", "R"), trunk: tuple[str, str, str] = ("spine", "neck", "head")):
    """Spine, neck, head and parts of a face."""
    rows = line([*trunk], [(0, 0, 0.9), (0, 0, 1.3), (0, -0.02, 1.4), (0, 0, 1.65)])
    for part in parts:
        for side, sign in zip(sides, (1.0, -1.0), strict=True) if FACE[part][0][0] else (("", 1.0),):
            head, tail = (tuple(np.multiply((sign, 1.0, 1.0), point).tolist()) for point in FACE[part])
            rows.append((f"{part}.{side}" if side else part, trunk[-1], head, tail))
    return skeletons.build(rows)


@pytest.mark.parametrize("turn", TURNS)
def test_any_two_parts_of_a_face_show_where_a_bust_faces(turn: str) -> None:
    """It stands, and is not taken for a snake whose head is on top."""
    for parts in combinations(FACE, 2):
        body = skeletons.moved(bust(*parts), TURNS[turn])
        found = detect.read_axes(body)
        paired = any(FACE[part][0][0] for part in parts)
        np.testing.assert_allclose(found.up, UP, atol=1e-6, err_msg=str(parts))
        right = found.forward @ rotation.rotate(TURNS[turn], np.array(FORWARD)) > 0.99
        assert right or (not paired and found.confidence < axes.CERTAIN), parts


def test_the_bone_with_the_face_is_the_head() -> None:
    """Where no bone has a name of the trunk."""
    for parts in combinations(FACE, 2):
        assert detect.find_head(bust(*parts, trunk=("b0", "b1", "b2"))) == "b2", parts


def test_a_bust_whose_sides_are_named_the_wrong_way_round() -> None:
    found = detect.read_axes(bust("eye", "ear", "jaw", sides=("R", "L")))
    assert found.forward @ FORWARD > 0.99


def test_the_second_candidate_may_be_across() -> None:
    """Whether what lies in its armature stands is not known: the candidates are no opposites."""
    body = skeletons.moved(bust(), rotation.about([1.0, 0.0, 0.0], np.radians(90.0)))
    found = detect.read_axes(body)
    (one, _), (other, _) = found.candidates
    assert found.confidence < axes.CERTAIN or abs(one @ other) < 0.1


def human_with(elbow: float = 0.0, knee: float = -0.015, *, collar: bool = True):
    """A human in T-pose. elbow, knee: [m] behind the line between the ends of the limb."""
    plain = skeletons.human(skeletons.CONVENTIONS["rigify_metarig"])
    heads = plain.heads.copy()
    for n, name in enumerate(plain.names):
        if name.startswith("forearm"):
            heads[n, 1] = 0.01 + elbow
        if name.startswith("shin"):
            heads[n, 1] = knee
    rows = [
        (name, None if parent < 0 else plain.names[parent], head, tail)
        for name, parent, head, tail in zip(plain.names, plain.parents, heads, plain.tails, strict=True)
        if not name.startswith("toe") and (collar or not name.startswith("shoulder"))
    ]
    chest = skeletons.CONVENTIONS["rigify_metarig"].chest
    known = {row[0] for row in rows}
    return skeletons.build([(name, p if p in known or p is None else chest, h, t) for name, p, h, t in rows])


@pytest.mark.parametrize("collar", [True, False])
@pytest.mark.parametrize("behind", [0.0, 0.02, 0.04, 0.06, 0.1])
def test_elbows_behind_are_for_forward(behind: float, collar: bool) -> None:
    """The joint that votes is the elbow, whether or not a collar bone is before the arm."""
    found = detect.read_axes(human_with(behind, collar=collar))
    assert found.forward @ FORWARD > 0.99
    assert not found.against and found.confidence >= axes.CERTAIN


def test_elbows_in_front_are_against_it() -> None:
    found = detect.read_axes(human_with(-0.1))
    assert [str(source) for source in found.against] == ["elbows"]


FOOT_CONTROLS = (
    "足ＩＫ.{}|つま先ＩＫ.{}",
    "Foot.{}|Toe.{}",
    "ik_foot_{}|ik_toe_{}",
    "FootCtrl_{}|ToeCtrl_{}",
)


@pytest.mark.parametrize("names", FOOT_CONTROLS)
def test_controls_of_feet_are_no_legs(names: str) -> None:
    """They hang on the root, lie level and point backwards."""
    convention = skeletons.CONVENTIONS["mmd" if not names.isascii() else "vrm"]
    plain = skeletons.human(convention)
    rows = [
        (name, None if parent < 0 else plain.names[parent], head, tail)
        for name, parent, head, tail in zip(plain.names, plain.parents, plain.heads, plain.tails, strict=True)
    ]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        points = [(sign * 0.09, 0.02, 0.09), (sign * 0.09, 0.15, 0.09), (sign * 0.09, 0.3, 0.05)]
        rows += line([name.format(side) for name in names.split("|")], points, rows[0][0])
    body = skeletons.build(rows)
    found = detect.read_axes(body)
    assert found.forward @ FORWARD > 0.99 and found.up @ UP > 0.99
    assert found.confidence >= axes.CERTAIN
    assert lines.find(body).legs == lines.find(plain).legs


def head_mesh(armature: bpy.types.Object, where: tuple[float, float, float], name: str, material: str) -> None:
    """A mesh with a part in the middle of the head, and one with another material elsewhere."""
    points = [(x, y, z) for x in (-0.01, 0.01) for y in (-0.01, 0.01) for z in (-0.01, 0.01)]
    corners = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6)]
    middle = (0.0, 0.0, 1.5)
    data = bpy.data.meshes.new(name)
    data.from_pydata(
        [np.add(point, place).tolist() for place in (middle, where) for point in points],
        [],
        [[n + 8 * part for n in corner] for part in (0, 1) for corner in corners],
    )
    for called in ("Skin", material):
        data.materials.append(bpy.data.materials.new(called))
    for n, polygon in enumerate(data.polygons):
        polygon.material_index = n // len(corners)
    item = bpy.data.objects.new(name, data)
    item.parent = armature
    bpy.context.scene.collection.objects.link(item)


@pytest.mark.parametrize("direction", [FORWARD, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
def test_a_material_called_eyes_shows_where_a_rig_without_a_face_faces(direction: tuple[float, ...]) -> None:
    """The bones of a column say nothing of it."""
    body = bust()
    rows = [
        (name, None if parent < 0 else body.names[parent], head, tail)
        for name, parent, head, tail in zip(body.names, body.parents, body.heads, body.tails, strict=True)
    ]
    armature = scenes.figure("Bust", rows)
    there = np.add((0.0, -0.02, 1.5), np.multiply(0.1, direction))
    head_mesh(armature, tuple(there.tolist()), "Body", "M_Eyes")
    np.testing.assert_allclose(rest.mesh_face(armature), there, atol=1e-6)
    found = stance.of(armature).axes
    candidates = [forward @ np.array(direction) for forward, _ in found.candidates]
    assert max(candidates) > 0.99 and found.up @ UP > 0.99
