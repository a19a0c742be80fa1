"""Lock Feet: what is on the ground stays there through the blend of a join."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from ..feet import walking
from .motions import use

join = load("rig.transitions.join")
splice = load("rig.transitions.splice")
contacts = load("lookat_pd.body.contacts")
errors = load("lookat_pd.errors")
CUT = 31


@pytest.fixture(scope="module")
def cases():
    """The joins of a slow walk and a fast one, at a good cut and half a cycle off: with free feet and with locked ones.
    Each as the places of the toes, the samples, and the number of stances and the drift."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = walking.person()
    slow = walking.walk(armature, "Slow", speed=0.6)
    fast = walking.walk(armature, "Fast", speed=0.8)
    found = {}
    for name, enter in (("good", 31), ("bad", 19)):
        for locked in (False, True):
            result = join.join(
                armature,
                join.ClipRef(slow, CUT),
                join.ClipRef(fast, enter),
                splice.Blend(0.3),
                lock_feet=locked,
                assign=False,
            )
            places, samples = walking.toes(armature, result.action, range(1, result.last + 1))
            # No Blender data: the next test empties the file.
            feet = result.feet and (result.feet.stances, result.feet.drift)
            found[name, locked] = places, samples, feet
    return found


@pytest.mark.parametrize("name", ["good", "bad"])
def test_planted_feet_stay(cases, name) -> None:
    places, _, (stances, drift) = cases[name, True]
    assert stances > 0 and drift < 1e-3
    assert cases[name, False][2] is None
    for foot in range(2):
        for a, b in contacts.detect(places[:, foot], 1.0 / walking.FPS, 0.9, contacts.Detection(speed=0.05)):
            assert walking.drift(places[:, foot], [(a, b)]) < 0.01


@pytest.mark.parametrize("name", ["good", "bad"])
def test_the_source_is_as_animated_and_so_is_the_end(cases, name) -> None:
    (free, one, _), (locked, other, _) = cases[name, False], cases[name, True]
    np.testing.assert_allclose(locked[: CUT - 1], free[: CUT - 1], atol=1e-5)
    np.testing.assert_allclose(locked[-1], free[-1], atol=1e-4)
    assert one.bones == other.bones


@pytest.mark.parametrize("name", ["good", "bad"])
def test_hips_and_knees_move_as_softly_as_before(cases, name) -> None:
    (_, free, _), (_, locked, _) = cases[name, False], cases[name, True]
    hips = free.bones.index("hips")
    calm, now = (np.linalg.norm(np.diff(s.positions[:, hips], 2, axis=0), axis=-1).max() for s in (free, locked))
    assert now < 1.2 * calm
    for side in "LR":
        rows = [free.bones.index(f"{bone}.{side}") for bone in ("thigh", "shin")]
        knees = [
            walking_angle(samples.rotations[:, rows[0]], samples.rotations[:, rows[1]]) for samples in (free, locked)
        ]
        assert np.abs(np.diff(knees[1])).max() < 2.0 * np.abs(np.diff(knees[0])).max()


def walking_angle(thigh, shin):
    return 2.0 * np.arccos(np.clip(np.abs(np.sum(thigh * shin, axis=-1)), 0.0, 1.0))


def test_a_rig_without_feet_is_refused_and_nothing_is_made() -> None:
    armature = scenes.figure(rows=scenes.FIGURE[:6])
    scenes.animate(armature, bones=("spine", "head"))
    action = armature.animation_data.action
    use(armature, action)
    before = sorted(bpy.data.actions.keys())
    first, last = (int(frame) for frame in action.frame_range)
    with pytest.raises(errors.RigError, match="No leg with two bones and a foot"):
        join.join(armature, join.ClipRef(action, last), join.ClipRef(action, first), lock_feet=True)
    assert sorted(bpy.data.actions.keys()) == before and armature.animation_data.action == action
