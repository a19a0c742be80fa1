"""Rigs whose controls follow each other by constraints, in the ways of several makers: the control that is keyed aims,
and neck, chest and hips take their shares."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from extension import load
from grids import diagonal

from .. import scenes

detect = load("rig.detection.detect")
hanging = load("rig.detection.hanging")
rest = load("rig.detection.rest")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
errors = load("lookat_pd.errors")
skeleton = load("lookat_pd.skeleton")

PARTS = ("hips", "spine", "chest", "neck", "head")
ENDS = ((0, 0, 1.0), (0, 0.01, 1.15), (0, 0, 1.3), (0, 0.03, 1.5), (0, -0.01, 1.6), (0, 0, 1.8))
Hang = Callable[[bpy.types.Object, bpy.types.PoseBone, str], None]


@dataclass(frozen=True)
class Maker:
    """How a maker of rigs names things, with a part for {}."""

    control: str
    holder: str
    deform: str
    left: str = "{}.L"
    right: str = "{}.R"


MAKERS = {
    "cloud": Maker("FK-{}", "P-FK-{}", "DEF-{}"),
    "auto": Maker("c_{}.x", "{}_scale_fix.x", "{}.x", "{}.l", "{}.r"),
    "words": Maker("CTRL_{}", "{}_offset", "JNT_{}", "L_{}", "R_{}"),
    "suffixes": Maker("{}_ctrl", "{}_parent", "{}"),
}


def _armature(figure: bpy.types.Object, bone: bpy.types.PoseBone, followed: str, *, weights: Sequence[float]) -> None:
    constraint = bone.constraints.new("ARMATURE")
    for name, weight in zip((followed, "root"), weights, strict=True):
        target = constraint.targets.new()
        target.target, target.subtarget, target.weight = figure, name, weight


def _with(figure: bpy.types.Object, bone: bpy.types.PoseBone, followed: str, kind: str) -> bpy.types.Constraint:
    constraint = bone.constraints.new(kind)
    constraint.target, constraint.subtarget = figure, followed
    return constraint


def by_armature(figure: bpy.types.Object, bone: bpy.types.PoseBone, followed: str) -> None:
    _armature(figure, bone, followed, weights=(1.0, 0.0))


def by_child_of(figure: bpy.types.Object, bone: bpy.types.PoseBone, followed: str) -> None:
    constraint = _with(figure, bone, followed, "CHILD_OF")
    constraint.inverse_matrix = figure.data.bones[followed].matrix_local.inverted()


def by_place_alone(figure: bpy.types.Object, bone: bpy.types.PoseBone, followed: str) -> None:
    """Its turn is that of the root, as with a hinge."""
    _armature(figure, bone, followed, weights=(0.0, 1.0))
    _with(figure, bone, followed, "COPY_LOCATION").head_tail = 1.0


HANGS = (by_armature, by_child_of, by_place_alone)
# What the deforming bones do: are children of the controls, or copy them, below each other or below the root.
DEFORMS = ("children", "copies", "flat copies")


def character(maker: Maker, hang: Hang, deforms: str, hung: Sequence[str] = PARTS[1:], *, shapes: bool = False):
    """A rig of controls of which the parts `hung` have a holder below the root, which follows the control below."""
    controls = {part: maker.control.format(part) for part in PARTS}
    rows = list(_rows(maker, deforms, hung))
    figure = scenes.figure(rows=rows)
    flesh = {maker.deform.format(part) for part in PARTS}
    limbs = {name for name, *_ in rows if any(part in name for part in ("arm", "hand", "thigh", "shin", "foot"))}
    for bone in figure.data.bones:
        bone.use_deform = bone.name in flesh | limbs
    for below, part in pairwise(PARTS):
        if part in hung:
            hang(figure, figure.pose.bones[maker.holder.format(part)], controls[below])
    for part in PARTS:
        if deforms != "children":
            _with(figure, figure.pose.bones[maker.deform.format(part)], controls[part], "COPY_TRANSFORMS")
        if shapes:
            figure.pose.bones[controls[part]].custom_shape = bpy.data.objects.new("WGT", None)
    bpy.context.view_layer.update()
    return figure, [controls[part] for part in reversed(PARTS)]


def _rows(maker: Maker, deforms: str, hung: Sequence[str]) -> Iterator[tuple]:
    yield "root", None, (0, 0, 0), (0, 0.3, 0)
    below = flesh = "root"
    for part, (head, tail) in zip(PARTS, pairwise(ENDS), strict=True):
        control, deform = maker.control.format(part), maker.deform.format(part)
        if part in hung:
            holder = maker.holder.format(part)
            yield holder, "root", head, np.add(head, (0, 0, 0.05))
            below = holder
        yield control, below, head, tail
        yield deform, {"children": control, "copies": flesh, "flat copies": "root"}[deforms], head, tail
        below, flesh = control, deform
    for side, sign in ((maker.left, 1), (maker.right, -1)):
        chest, hips = (maker.control.format(part) for part in ("chest", "hips"))
        arm, thigh, shin = (side.format(part) for part in ("upper_arm", "thigh", "shin"))
        yield arm, chest, (sign * 0.15, 0.01, 1.45), (sign * 0.45, 0.03, 1.45)
        yield side.format("hand"), arm, (sign * 0.45, 0.03, 1.45), (sign * 0.6, 0, 1.45)
        yield thigh, hips, (sign * 0.1, 0, 0.98), (sign * 0.1, -0.03, 0.5)
        yield shin, thigh, (sign * 0.1, -0.03, 0.5), (sign * 0.1, 0.02, 0.09)
        yield side.format("foot"), shin, (sign * 0.1, 0.02, 0.09), (sign * 0.1, -0.12, 0.02)


CASES = [(maker, hang, deforms) for maker in MAKERS for hang in HANGS for deforms in DEFORMS]


@pytest.mark.thorough
@pytest.mark.parametrize("hung", [PARTS[4:], PARTS[3:], PARTS[1:]], ids=" ".join)
def test_controls_are_chosen_and_lead_down_to_the_hips(hung: Sequence[str], subtests) -> None:
    for n, (maker, hang, deforms) in enumerate(CASES):
        with subtests.test(maker=maker, hang=hang.__name__, deforms=deforms):
            figure, expected = character(MAKERS[maker], hang, deforms, hung, shapes=n % 2 == 0)
            body, hints = rest.skeleton(figure), rest.hints(figure)
            head = detect.find_head(body, hints)
            assert [link.bone for link in detect.find_chain(body, head, hints)] == expected
            forward, up = detect.find_axes(body, hints)
            np.testing.assert_allclose([forward, up], [(0, -1, 0), (0, 0, 1)], atol=1e-3)
            bpy.data.objects.remove(figure)


@pytest.mark.thorough
@diagonal(hang=HANGS, maker=[*MAKERS])
def test_the_face_is_on_a_target_far_aside_live_and_baked(maker: str, hang: Hang) -> None:
    deforms = DEFORMS[list(MAKERS).index(maker) % len(DEFORMS)]
    figure, chain = character(MAKERS[maker], hang, deforms)
    face = MAKERS[maker].deform.format("head")
    there = Matrix.Rotation(np.radians(80.0), 3, "Z") @ Vector((0.0, -2.0, 0.0)) + Vector((0.0, 0.0, 1.6))
    target = scenes.ball(there)
    head = look_at.find_head(figure)
    assert head == chain[0]
    scenes.aim(figure, target, head)
    bpy.context.view_layer.update()
    assert scenes.error(figure, scenes.place_of(target), bone=face, looks=head) < 1.0
    live = scenes.poses(figure, scenes.STILL, [face])
    scenes.run_bake(figure)
    assert scenes.error(figure, scenes.place_of(target), bone=face, looks=head) < 1.0
    np.testing.assert_allclose(scenes.poses(figure, scenes.STILL, [face]), live, atol=1e-3)
    turned = scenes.poses(figure, scenes.STILL, [MAKERS[maker].control.format(part) for part in ("neck", "chest")])
    still = np.array([figure.data.bones[MAKERS[maker].control.format(p)].matrix_local for p in ("neck", "chest")])
    assert np.all(np.abs(turned - still).max(axis=(0, 2, 3)) > 0.05), "neck and chest take their shares"


def test_a_bone_far_away_carries_nothing() -> None:
    """A head that also follows a prop, or a spine that copies a part of the head's turn, hangs on what it is at."""
    names = ["root", "chest", "neck", "head", "prop"]
    heads = np.array([(0, 0, 0), (0, 0, 1.3), (0, 0, 1.5), (0, 0, 1.6), (0, -2, 1)], dtype=float)
    body = skeleton.Skeleton(
        names, [-1, 0, 1, 2, 0], np.tile((1.0, 0, 0, 0), (5, 1)), heads, heads + np.array((0, 0, 0.1))
    )
    for carriers in ({"head": ["prop"]}, {"chest": ["head"]}, {"neck": ["prop", "root"]}):
        assert hanging.hung(body, carriers) is body


def test_bones_that_carry_each_other_end() -> None:
    names = ["a", "b", "c"]
    heads = np.array([(0, 0, 0), (0, 0, 1), (0, 0, 2)], dtype=float)
    body = skeleton.Skeleton(names, [-1, -1, -1], np.tile((1.0, 0, 0, 0), (3, 1)), heads, heads + np.array((0, 0, 1)))
    found = hanging.hung(body, {"a": ["c", "b"], "b": ["a", "c"], "c": ["a", "b"]})
    assert sorted(found.names) == names
    assert all(len(found.ancestors(bone)) < 3 for bone in range(3))


@pytest.mark.parametrize("kind", ["COPY_TRANSFORMS", "COPY_ROTATION"])
def test_a_rig_that_copies_another_one_leads_there(kind: str) -> None:
    leader, follower = scenes.figure("Control Rig"), scenes.figure("Game Skeleton")
    for bone in follower.pose.bones:
        constraint = bone.constraints.new(kind)
        constraint.target, constraint.subtarget = leader, bone.name
    head = look_at.find_head(follower)
    with pytest.raises(errors.RigError, match=r"'Game Skeleton' follows 'Control Rig'; add the look-at there.*'head'"):
        look_at_edit.add(bpy.context.scene, follower, head, scenes.ball())
    assert not follower.pose.bones["head"].lookat_pd.exists
    scenes.aim(leader, scenes.ball())
    follower.pose.bones["head"].lookat_pd.target = scenes.ball()
    with pytest.raises(errors.RigError, match="add the look-at there"):
        look_at.resolve(follower, "head")


def test_a_head_that_copies_an_object_says_so() -> None:
    figure, capture = scenes.figure(), scenes.ball()
    figure.pose.bones["head"].constraints.new("COPY_ROTATION").target = capture
    with pytest.raises(errors.RigError, match="mute that constraint"):
        look_at_edit.add(bpy.context.scene, figure, "head", None)


def test_what_is_switched_over_time_is_no_error() -> None:
    figure, capture = scenes.figure(), scenes.ball()
    constraint = figure.pose.bones["head"].constraints.new("COPY_ROTATION")
    constraint.target = capture
    figure.keyframe_insert('pose.bones["head"].constraints["Copy Rotation"].influence', frame=1)
    look_at_edit.add(bpy.context.scene, figure, "head", None)
    assert figure.pose.bones["head"].lookat_pd.exists
