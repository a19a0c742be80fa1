"""Contacts: the effector stays fixed in the world, comes and goes smoothly, and elsewhere nothing changes."""

from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

contacts = load("rig.ik.contacts")
detection = load("lookat_pd.body.contacts")
ik_chain = load("rig.detection.joint_chain")
pose = load("rig.ik.pose")
solving = load("rig.ik.chain_solve")
bake = load("rig.look_at.look_at_bake")
errors = load("lookat_pd.errors")
bake_options = load("rig.animation.bake_options")

LEG = (
    ("leg", "hips", (0.1, 0, 1.0), (0.1, -0.03, 0.55)),
    ("lower_leg", "leg", (0.1, -0.03, 0.55), (0.1, 0, 0.1)),
    ("ankle", "lower_leg", (0.1, 0, 0.1), (0.1, -0.15, 0)),
)
LAST = 80
STANCES = ((11, 29), (51, 69))


def walker(slide: float = 0.04) -> bpy.types.Object:
    """A figure whose foot lifts and lands, and slides and rolls while it is on the ground; its hips sway."""
    armature = scenes.figure(rows=(*scenes.FIGURE, *LEG))
    scenes.animate(armature, range(1, LAST, 10), bones=("spine",), size=0.05)
    hips, leg, shin, ankle = (armature.pose.bones[name] for name in ("hips", "leg", "lower_leg", "ankle"))
    for frame in range(1, LAST + 1, 2):
        down = any(a - 1 <= frame <= b + 1 for a, b in STANCES)
        wobble = slide * np.sin(0.9 * frame)
        hips.location = (0.01 * np.sin(0.3 * frame), -0.04, 0.0)
        hips.keyframe_insert("location", frame=frame)
        for bone, angle in ((leg, -0.1 + wobble), (shin, 0.3 if down else 0.9), (ankle, wobble)):
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (angle, 0.0, wobble)
            bone.keyframe_insert("rotation_euler", frame=frame)
    return armature


def chain(armature: bpy.types.Object) -> Any:
    return ik_chain.resolve(armature, "ankle", length=2, at_tip=False, turn_effector=True)


def run(armature: bpy.types.Object, what: Any, blend: float = 0.2, **options: Any) -> Any:
    steps = contacts.clean_up(
        bpy.context.scene,
        chain(armature),
        contacts.Touch(contacts.Contact(what, blend)),
        solving.IKTuning(),
        bake_options.BakeOptions(1, LAST, **options),
    )
    return scenes.finish(steps)


def feet(armature: bpy.types.Object, frames: Any = range(1, LAST + 1)) -> tuple[np.ndarray, np.ndarray]:
    """Where the evaluated foot is in the world (F, 3), and its axes (F, 3, 3)."""
    world = np.array(armature.matrix_world)
    matrices = world @ scenes.poses(armature, frames, ("ankle",))[:, 0]
    return matrices[:, :3, 3], matrices[:, :3, :3]


@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_the_foot_is_fixed_and_the_rest_is_as_it_was(into) -> None:
    armature = walker()
    before, _ = feet(armature)
    everything = scenes.poses(armature, (1, 2, 40, 79, 80))
    run(armature, STANCES, into=into)
    after, axes = feet(armature)
    for a, b in STANCES:
        inside = slice(a - 1, b)
        assert np.linalg.norm(before[inside] - before[inside].mean(axis=0), axis=-1).max() > 5e-3
        assert np.linalg.norm(after[inside] - after[inside].mean(axis=0), axis=-1).max() < 1e-4
        assert np.abs(axes[inside] - axes[inside][:1]).max() < 1e-3
    away = np.abs(scenes.poses(armature, (1, 2, 40, 79, 80)) - everything).max()
    assert away <= (1e-6 if into == "LAYER" else 0.0)


def test_the_way_in_and_out_is_smooth() -> None:
    """What is added changes no faster than a smooth step does, and begins and ends with nothing."""
    armature = walker()
    before, _ = feet(armature)
    run(armature, STANCES[:1], blend=0.3)
    added = np.linalg.norm(feet(armature)[0] - before, axis=-1)
    assert added[0] == 0.0 and added[-1] == 0.0
    shift = np.linalg.norm((before[10:29].mean(axis=0) - before)[3:36], axis=-1).max()
    steps = np.abs(np.diff(added[:11]))
    assert steps.max() < 0.6 * shift


@pytest.mark.every_blender
def test_contacts_are_found() -> None:
    armature = walker(slide=0.004)
    found = run(armature, detection.Detection(0.35, 0.08)).intervals
    assert len(found) == 2
    assert np.abs(np.array(found) - np.array(STANCES)).max() <= 4


def test_detection_in_numbers() -> None:
    place = np.zeros((60, 3))
    place[20:31, 0], place[31:, 0] = np.linspace(0, 1, 11), 1.0
    place[:, 2] = 0.2
    found = detection.detect(place, 1 / 24, 1.0, detection.Detection())
    assert [found[0][0], found[-1][1]] == [0, 59] and len(found) == 2
    assert detection.detect(place[:2], 1 / 24, 1.0, detection.Detection()) == []
    place[40:, 2] = 2.0
    assert detection.detect(place, 1 / 24, 1.0, detection.Detection())[-1][1] < 41
    assert detection.detect(place, 1 / 24, 1.0, detection.Detection(height=0.0))[-1][1] == 59


def test_an_armature_that_travels() -> None:
    armature = walker()
    for frame, y in ((1, 0.0), (LAST, -0.08)):
        armature.location.y = y
        armature.keyframe_insert("location", frame=frame)
    found = run(armature, STANCES[:1])
    assert found.baked.in_reach[10:29].all()
    places = []
    for frame in range(11, 30):
        seen = armature.evaluated_get(scenes.goto(frame))
        places.append(seen.matrix_world @ seen.pose.bones["ankle"].head)
    assert np.abs(np.array(places) - np.mean(places, axis=0)).max() < 1e-4


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (((30, 11),), "reversed"),
        (((11, 29), (20, 40)), "overlap"),
        (((11, 200),), "outside frames"),
        ((), "no contact"),
    ],
)
def test_contacts_that_are_none(what, said) -> None:
    armature = walker()
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match=said):
        run(armature, what)
    assert not scenes.differences(before, scenes.snapshot())


def test_nothing_found_is_reported() -> None:
    with pytest.raises(errors.RigError, match="No contact of 'ankle'"):
        run(walker(), detection.Detection(1e-6, 0.1))
