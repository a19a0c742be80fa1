"""The operators that join, smooth and loop, called as a script would and as an animator's undo sees them."""

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes
from ..rig.feet import walking
from ..rig.transitions.motions import character, heads, use, walk

actions = load("rig.animation.actions")
chains = load("rig.transitions.marker_clips")
visual_join = load("rig.transitions.visual.visual_join")
visual_offsets = load("rig.transitions.visual.visual_offsets")
clips = load("rig.transitions.clips")
join = load("rig.transitions.join")
splice = load("rig.transitions.splice")
blending = load("operators.blending")
inertialize = load("operators.inertialize")
job = load("operators.job")


@pytest.fixture
def hero():
    armature = character()
    walk(armature, "Walk", seed=2)
    walk(armature, "Run", seed=1, heading=0.5, speed=(0.0, -0.1, 0.0))
    use(armature, bpy.data.actions["Run"])
    scenes.goto(1)
    return armature


class Clicked(blending.Blended, job.ModalJob):
    """Without a window Blender begins no operator as a click does."""

    use_auto_blend = True

    def start(self, context) -> None:
        self.job = iter(())

    def finish(self, context, result) -> None:
        """There is nothing to do."""


def test_a_click_begins_what_has_a_blend_time_of_its_own() -> None:
    assert Clicked().invoke(bpy.context, None) == {"FINISHED"}


@pytest.mark.every_blender
def test_joins_the_current_action_and_another(hero) -> None:
    bpy.context.scene.frame_set(21)
    assert bpy.ops.lookat_pd.inertialize(destination="Walk") == {"FINISHED"}
    action = hero.animation_data.action
    assert action.name == "Run > Walk" and tuple(action.curve_frame_range) == (1, 21 + 40)
    assert hero.animation_data.action_slot is not None and bpy.data.actions["Run"].use_fake_user


@pytest.mark.every_blender
def test_the_source_is_filled_with_the_current_action(hero) -> None:
    """Its field shows the current action; only choosing one, or an operator of the panel, stores a name."""
    settings = bpy.context.scene.lookat_pd_transition
    assert settings.shown_source == "Run" and settings.source == ""
    use(hero, bpy.data.actions["Walk"])
    assert settings.shown_source == "Walk" and settings.source == ""
    settings.shown_source = "Run"
    assert settings.source == settings.shown_source == "Run"
    settings.shown_source = ""
    assert settings.source == "" and settings.shown_source == "Walk"
    bpy.context.view_layer.objects.active = None
    assert settings.shown_source == ""


def test_what_is_joined_from_the_panel_stays_in_its_field(hero) -> None:
    settings = bpy.context.scene.lookat_pd_transition
    settings.destination = "Walk"
    bpy.ops.ed.undo_push(message="before")
    options = {"destination": "Walk", "source_frame": 21, "use_dialog": False}
    assert bpy.ops.lookat_pd.inertialize("EXEC_DEFAULT", True, **options) == {"FINISHED"}
    settings = bpy.context.scene.lookat_pd_transition
    assert settings.source == settings.shown_source == "Run"
    bpy.ops.ed.undo()
    settings = bpy.context.scene.lookat_pd_transition
    assert settings.source == "" and settings.shown_source == "Run"


def test_every_property(hero) -> None:
    outcome = bpy.ops.lookat_pd.inertialize(
        source="Walk",
        destination="Run",
        source_frame=11,
        destination_frame=5,
        use_auto_blend=False,
        blend=0.5,
        root="NONE",
        method="DEAD",
        assign=False,
    )
    assert outcome == {"FINISHED"} and hero.animation_data.action.name == "Run"
    made = bpy.data.actions["Walk > Run"]
    frames = range(11 + 12, 40)
    np.testing.assert_allclose(
        heads(hero, made, frames), heads(hero, bpy.data.actions["Run"], [f - 6 for f in frames]), atol=2e-5
    )


def test_one_undo_step(hero) -> None:
    bpy.context.preferences.edit.use_global_undo = True
    before = sorted(bpy.data.actions.keys())
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.lookat_pd.inertialize("EXEC_DEFAULT", True, destination="Walk", source_frame=21)
    assert len(bpy.data.actions) == 3
    bpy.ops.ed.undo()
    assert sorted(bpy.data.actions.keys()) == before
    assert bpy.data.objects["Hero"].animation_data.action.name == "Run"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"destination": ""}, "destination of the transition is empty"),
        ({"destination": "Swim"}, "no action 'Swim'"),
        ({"destination": "Walk", "source": "Swim"}, "no action 'Swim'"),
        ({"destination": "Walk", "source_frame": 1}, "cannot be cut"),
        ({"destination": "Walk", "source_frame": 9, "destination_frame": 70}, "outside"),
        ({"destination": "Walk", "source_frame": 9, "use_auto_blend": False, "blend": 9.0}, "longer than"),
    ],
)
def test_bad_input_is_reported_and_changes_nothing(hero, options, words) -> None:
    before = scenes.snapshot()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.lookat_pd.inertialize(**options)
    assert not scenes.differences(before, scenes.snapshot())


def test_reason_why_not() -> None:
    assert inertialize.why_not(bpy.context) == "Select the character's armature"
    armature = scenes.figure()
    assert "no actions" in inertialize.why_not(bpy.context)
    walk_action = scenes.animate(armature)
    assert inertialize.why_not(bpy.context) is None
    assert walk_action.name in bpy.data.actions


def cut_hard(hero):
    refs = (join.ClipRef(bpy.data.actions[name], 21) for name in ("Run", "Walk"))
    return join.join(hero, *refs, splice.Blend(0.0, "CUT"), root="NONE").action


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["CURRENT", "NEW"])
@pytest.mark.parametrize("where", ["FRAME", "ALL"])
def test_smooth_pop(hero, into, where) -> None:
    action = cut_hard(hero)
    before = scenes.curves(action)
    bpy.context.scene.frame_end = 60
    bpy.context.scene.frame_set(21)
    assert bpy.ops.lookat_pd.smooth_pop(where=where, into=into) == {"FINISHED"}
    changed = bool(scenes.differences(before, scenes.curves(action)))
    assert changed == (into == "CURRENT") and (hero.animation_data.action == action) == (into == "CURRENT")
    now = hero.animation_data.action
    assert len(bpy.data.actions) == (3 if into == "CURRENT" else 4)
    ways = np.linalg.norm(np.diff(heads(hero, now, (20, 21)), axis=0), axis=-1)
    assert ways.max() < 0.3
    with pytest.raises(RuntimeError, match="No pop"):
        bpy.ops.lookat_pd.smooth_pop(where="ALL")


def test_smooth_pop_of_selected_bones(hero) -> None:
    action = cut_hard(hero)
    scenes.select(hero, "neck")
    before = scenes.curves(action)
    bpy.ops.lookat_pd.smooth_pop(frame=21, only_selected=True, use_auto_blend=False, blend=0.2)
    differing = scenes.differences(before, scenes.curves(action))
    assert differing and all('"neck"' in line for line in differing)


@pytest.mark.every_blender
def test_loop_action(hero) -> None:
    assert bpy.ops.lookat_pd.loop_action(action="Walk", in_place=True, use_range=True, frame_start=5, frame_end=30) == {
        "FINISHED"
    }
    made = hero.animation_data.action
    assert made.name == "Walk loop"
    first, last = heads(hero, made, (5, 30))
    np.testing.assert_allclose(first, last, atol=2e-5)
    with pytest.raises(RuntimeError, match="empty or reversed"):
        bpy.ops.lookat_pd.loop_action(use_range=True, frame_start=5, frame_end=5)


@pytest.mark.every_blender
def test_loop_visual(hero) -> None:
    """What plays ends as it begins, and no key is changed."""
    keys, action = scenes.curves(bpy.data.actions["Run"]), hero.animation_data.action
    options = {"pose_source": "VISUAL", "use_range": True, "frame_start": 5, "frame_end": 30, "in_place": True}
    assert bpy.ops.lookat_pd.loop_action(**options) == {"FINISHED"}
    assert hero.animation_data.action == action and not scenes.differences(keys, scenes.curves(action))
    first, last = heads(hero, action, (5, 30))
    np.testing.assert_allclose(first, last, atol=1e-3)
    with pytest.raises(RuntimeError, match="half of the loop"):
        bpy.ops.lookat_pd.loop_action(**options, use_auto_blend=False, blend=5.0)


@pytest.fixture
def walker():
    armature = walking.person()
    walking.walk(armature, "Slow", speed=0.6, slide=0.02)
    fast = walking.walk(armature, "Fast", speed=0.8, slide=0.02)
    use(armature, fast)
    return armature


@pytest.mark.every_blender
@pytest.mark.parametrize("pose_source", ["KEYS", "VISUAL"])
def test_locked_feet(walker, pose_source) -> None:
    assert bpy.ops.lookat_pd.inertialize(
        source="Slow",
        source_frame=31,
        destination="Fast",
        destination_frame=31,
        lock_feet=True,
        pose_source=pose_source,
    ) == {"FINISHED"}
    made = walker.animation_data.action
    assert made.name == "Slow > Fast"
    places, _ = walking.toes(walker, made, range(1, 60))
    planted = places[31:38, 0], places[31:38, 1]
    assert min(np.ptp(foot, axis=0).max() for foot in planted) < 1e-3


@pytest.mark.every_blender
def test_clean_foot_skate(walker) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, walking.LAST
    with pytest.raises(RuntimeError, match="No foot of 'Person' is planted"):
        bpy.ops.lookat_pd.clean_foot_skate(speed=0.001)
    assert bpy.ops.lookat_pd.clean_foot_skate() == {"FINISHED"}
    assert walker.animation_data.action.name == "Fast feet"
    assert bpy.ops.lookat_pd.clean_foot_skate(into="CURRENT", use_scene_range=False, frame_end=30) == {"FINISHED"}


def test_foot_skate_needs_an_action(walker) -> None:
    walker.animation_data.action = None
    assert not bpy.ops.lookat_pd.clean_foot_skate.poll()


@pytest.mark.parametrize("name", ["inertialize", "chain_actions"])
def test_a_visual_join_that_is_stopped_leaves_nothing(hero, name) -> None:
    """Esc closes the job: the armature plays what it played, and no transition is left."""
    scene = bpy.context.scene
    for frame, marker in ((1, "Run"), (21, "Walk")):
        scene.timeline_markers.new(marker, frame=frame)
    before = scenes.snapshot()
    blend = splice.Blend(0.3)
    refs = [join.ClipRef(bpy.data.actions[action], 21) for action in ("Run", "Walk")]

    def make(how):
        if name == "inertialize":
            return join.joining(hero, *refs, how)
        return join.chaining(hero, chains.from_markers(hero, scene, how))

    job = visual_join.joined(scene, hero, make, blend)
    for fraction in job:
        assert 0.0 <= fraction < 1.0
        if hero.animation_data.action.name == "Run > Walk":
            break
    else:
        pytest.fail("it is never on the armature")
    job.close()
    assert not scenes.differences(before, scenes.snapshot())
    # The operator works through the same job.
    options = {} if name == "chain_actions" else {"source_frame": 21, "destination": "Walk"}
    assert getattr(bpy.ops.lookat_pd, name)(pose_source="VISUAL", **options) == {"FINISHED"}
    assert len(visual_offsets.of(hero)) == 1
