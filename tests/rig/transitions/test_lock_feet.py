"""Lock Feet: what is on the ground stays there through the blend of a join."""

from itertools import product

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from ..feet import walking
from .motions import use

drain = load("lookat_pd.progress").drain
join = load("rig.transitions.join")
visual_join = load("rig.transitions.visual.visual_join")
visual_offsets = load("rig.transitions.visual.visual_offsets")
splice = load("rig.transitions.splice")
contacts = load("lookat_pd.body.contacts")
errors = load("lookat_pd.errors")
foot_bones = load("rig.feet.foot_bones")
lock_feet = load("rig.transitions.lock_feet")
sampler = load("rig.sampling.sampler")
suspend = load("rig.sampling.suspend")
CUT = 31


@pytest.fixture(scope="module")
def cases():
    """The joins of a slow walk and a fast one, at a good cut and half a cycle off: of keys and of the visual pose,
    with free feet and with locked ones. Each as the places of the toes, the samples, and the number of stances and the
    drift."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = walking.person()
    slow = walking.walk(armature, "Slow", speed=0.6)
    fast = walking.walk(armature, "Fast", speed=0.8)
    found = {}
    for name, enter in (("good", 31), ("bad", 19)):
        refs = join.ClipRef(slow, CUT), join.ClipRef(fast, enter)
        for how, locked in product(("keys", "seen"), (False, True)):
            blend = splice.Blend(0.3)
            if how == "seen":
                result = drain(
                    visual_join.joined(
                        bpy.context.scene,
                        armature,
                        lambda cut, refs=refs: join.joining(armature, *refs, cut),
                        blend,
                        lock_feet=locked,
                    )
                )
            else:
                result = join.join(armature, *refs, blend, lock_feet=locked, assign=False)
            places, samples = walking.toes(armature, result.action, range(1, result.last + 1))
            visual_offsets.remove(armature)
            # No Blender data: the next test empties the file.
            feet = result.feet and (result.feet.stances, result.feet.drift)
            found[name, how, locked] = places, samples, feet
    return found


@pytest.mark.every_blender
def test_a_clip_that_is_seen_elsewhere_is_sampled_while_the_rig_plays_on(monkeypatch) -> None:
    """Its scene rests between slices, in which live updates go on."""
    armature = walking.person()
    slow, fast = (walking.walk(armature, name, speed=speed) for name, speed in (("Slow", 0.6), ("Fast", 0.8)))
    scene, footing = bpy.context.scene, foot_bones.find(armature, hands=True)
    clip = lock_feet.PlayedClip(fast, fast.slots[0], 1, 40, 1.0, 1, 0.0)
    at_once = drain(lock_feet.sample(scene, armature, footing, clip))
    use(armature, slow)
    for name, value in (("_in_window", True), ("_MOST", 1.0), ("_LEAST", 0)):
        monkeypatch.setattr(sampler, name, value)
    work = lock_feet.sample(scene, armature, footing, clip, visual_offsets.without(armature))
    found, rested = None, 0
    while found is None:
        try:
            next(work)
        except StopIteration as end:
            found = end.value
        sampler.rest_all()
        rested += sampler.is_resting()
        assert not sampler.is_resting() or not suspend.is_live_suspended()
        assert not sampler.is_resting() or armature.animation_data.action == slow
        sampler.go_on()
    assert rested > 30 and found.contacts == at_once.contacts
    for one, other in zip(found.places, at_once.places, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("how", ["keys", "seen"])
@pytest.mark.parametrize("name", ["good", "bad"])
def test_planted_feet_stay(cases, name, how) -> None:
    places, _, (stances, drift) = cases[name, how, True]
    assert stances > 0 and drift < 1e-3
    assert cases[name, how, False][2] is None
    for foot in range(2):
        for a, b in contacts.detect(places[:, foot], 1.0 / walking.FPS, 0.9, contacts.Detection(speed=0.05)):
            assert walking.drift(places[:, foot], [(a, b)]) < 0.01


@pytest.mark.parametrize("how", ["keys", "seen"])
@pytest.mark.parametrize("name", ["good", "bad"])
def test_the_source_is_as_animated_and_so_is_the_end(cases, name, how) -> None:
    (free, one, _), (locked, other, _) = cases[name, how, False], cases[name, how, True]
    np.testing.assert_allclose(locked[: CUT - 1], free[: CUT - 1], atol=1e-5)
    np.testing.assert_allclose(locked[-1], free[-1], atol=1e-4)
    assert one.bones == other.bones


@pytest.mark.parametrize("how", ["keys", "seen"])
@pytest.mark.parametrize("name", ["good", "bad"])
def test_hips_and_knees_move_as_softly_as_before(cases, name, how) -> None:
    (_, free, _), (_, locked, _) = cases[name, how, False], cases[name, how, True]
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


def test_by_default_a_rig_without_feet_is_joined_without() -> None:
    armature = scenes.figure(rows=scenes.FIGURE[:6])
    scenes.animate(armature, bones=("spine", "head"))
    action = armature.animation_data.action
    use(armature, action)
    first, last = (int(frame) for frame in action.frame_range)
    made = join.join(armature, join.ClipRef(action, last), join.ClipRef(action, first))
    assert made.feet is None and made.unlocked is None


def test_by_default_feet_that_cannot_be_locked_are_left_and_the_reason_is_said(monkeypatch) -> None:
    """Nothing is left of the first try."""
    lock_feet = load("rig.transitions.lock_feet")
    monkeypatch.setattr(lock_feet, "has_legs", lambda armature: True)
    armature = scenes.figure(rows=scenes.FIGURE[:6])
    scenes.animate(armature, bones=("spine", "head"))
    action = armature.animation_data.action
    use(armature, action)
    before = set(bpy.data.actions.keys())
    first, last = (int(frame) for frame in action.frame_range)
    made = join.join(armature, join.ClipRef(action, last), join.ClipRef(action, first))
    assert "No leg with two bones and a foot" in str(made.unlocked)
    assert set(bpy.data.actions.keys()) == before | {made.action.name}
