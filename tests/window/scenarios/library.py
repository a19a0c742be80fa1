"""The library of actions and clips that travel, from the panel: listed, joined along a path, undone, cancelled."""

import bpy
import numpy as np
from character import armature, select
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

CLIPS = ("Idle", "Walk", "Run")


def _scene():
    return bpy.context.window_manager.windows[0].scene


def _animate() -> None:
    """A few clips whose hips sway, one of which travels."""
    hero = armature()
    for n, name in enumerate(CLIPS):
        action = bpy.data.actions.new(name)
        action.use_fake_user = True
        data = hero.animation_data_create()
        data.action = action
        for frame in range(1, 42, 4):
            t = 2.0 * np.pi * (frame - 1) / 20
            hips, chest = hero.pose.bones["hips"], hero.pose.bones["chest"]
            hips.location = (0.02 * np.sin(t), 0.0, 0.05 * n * (frame - 1))
            chest.rotation_mode = "XYZ"
            chest.rotation_euler = (0.1 * n + 0.2 * np.sin(t), 0.1 * np.cos(t), 0.0)
            hips.keyframe_insert("location", frame=frame)
            chest.keyframe_insert("rotation_euler", frame=frame)


def _curve() -> None:
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, ((0, 0), (0, -3), (3, -4)), strict=True):
        point.co = (*place, 0.0, 1.0)
    _scene().collection.objects.link(bpy.data.objects.new("Path", data))


@script(needs=("panels.transitions_library",))
def a_library_from_the_panel(hands: Hands) -> Waiting:
    """The list names both actions; a click on a pair sets the cut; the path is joined and undone in one step."""
    _animate()
    select(armature())
    settings, transition = _scene().lookat_pd_library, _scene().lookat_pd_transition
    with opened("transitions_library"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Begin")
        yield from hands.click((yield from hands.find("lookat_pd.compare_library")))
        yield from hands.idle()
        assert {pair.source for pair in settings.pairs} >= set(CLIPS)
        settings.pair_index = 1
        assert transition.source == settings.pairs[1].source
        yield 0.3
        hands.look("library-list")
        transition.source, transition.destination = "Idle", "Run"
        yield 0.3
        yield from hands.click((yield from hands.find("lookat_pd.join_path")))
        yield from hands.idle()
        assert armature().animation_data.action.name.startswith("Idle > ")
        hands.look("library-joined")
        yield from hands.undo()
        assert armature().animation_data.action.name == CLIPS[-1]


@script(needs=("panels.transitions_travel",))
def travel_from_the_panel(hands: Hands) -> Waiting:
    """A clip is brought in place, and follows a curve; one undo takes each back."""
    _animate()
    _curve()
    select(armature())
    settings = _scene().lookat_pd_travel
    with opened("transitions_travel"):
        yield from hands.sidebar()
        yield 0.5
        hands.look("travel-measured")
        settings.use_feet_speed, settings.lock_path_feet = False, False
        settings.path = bpy.data.objects["Path"]
        yield 0.3
        bpy.ops.ed.undo_push(message="Begin")
        yield from hands.click((yield from hands.find("lookat_pd.in_place")))
        yield from hands.idle()
        assert armature().animation_data.action.name == "Run in place"
        yield from hands.undo()
        assert armature().animation_data.action.name == "Run"
        yield from hands.click((yield from hands.find("lookat_pd.follow_path")))
        yield from hands.idle()
        assert armature().animation_data.action.name == "Run along Path"
        hands.look("travel-path")
        yield from hands.undo()
        assert armature().animation_data.action.name == "Run"
