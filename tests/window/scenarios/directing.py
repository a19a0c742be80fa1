"""The panel Targets: lines added and moved, looks keyed from here on, markers, a conversation by its name."""

import bpy
import numpy as np
from character import armature, facing, look_at_ball, origin, select, settings
from windowed.hands import TIMELINE, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

import extension

DIRECTING = ("panels.directing",)


def _directing():
    return extension.load("rig.look_at.directing.looks")


def _seen(frame: int) -> str:
    """What is looked at, as Blender plays it."""
    bpy.context.window_manager.windows[0].scene.frame_set(frame)
    number = _directing().active(settings())
    return "" if number is None else extension.load("rig.sampling.targets").listed(settings())[number].label


def _bird() -> bpy.types.Object:
    bird = bpy.data.objects.new("Bird", None)
    bird.location = (-1.5, -1.2, 2.2)
    bpy.context.window_manager.windows[0].scene.collection.objects.link(bird)
    return bird


def _miss(frame: int, item: bpy.types.Object) -> float:
    """Angle [deg] between where the head looks at a frame and where an object stands."""
    bpy.context.window_manager.windows[0].scene.frame_set(frame)
    way = np.array(item.location) - origin()
    return float(np.degrees(np.arccos(np.clip(facing() @ way / np.linalg.norm(way), -1.0, 1.0))))


@script(needs=DIRECTING)
def looks_keyed_in_the_panel(hands: Hands) -> Waiting:
    """Add what is selected, look at it from here, look away later; the head does so, and undo takes each step back."""
    yield from look_at_ball(hands)
    bird = _bird()
    select(bird, armature())
    scene = bpy.context.window_manager.windows[0].scene
    settings().settle_time = 0.15
    with opened("sidebar_targets"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Ready")
        yield from hands.click((yield from hands.find("lookat_pd.target_add", across=0.835)))
        yield 0.3
        assert [line.label for line in settings().targets] == ["Bird"], len(settings().targets)
        scene.frame_set(20)
        yield 0.2
        button = yield from hands.find("lookat_pd.look_here()")
        yield from hands.click(button)
        scene.frame_set(45)
        yield 0.2
        yield from hands.click((yield from hands.find("lookat_pd.look_away")))
        yield 0.5
        hands.look("targets")
        assert [_seen(frame) for frame in (1, 19, 20, 44, 45)] == ["Ball", "Ball", "Bird", "Bird", ""]
        yield from hands.until(lambda: _miss(44, bpy.data.objects["Bird"]) < 0.5)
        assert _miss(44, bpy.data.objects["Bird"]) < 0.5
        yield from hands.undo()
        assert [_seen(frame) for frame in (44, 45)] == ["Bird", "Bird"]
        yield from hands.undo()
        assert _seen(44) == "Ball"
        yield from hands.undo()
        assert not len(settings().targets)


def _looks() -> list[bool]:
    """Whether the character looks at its target at some frames, as Blender plays it."""
    return [bool(_seen(frame)) for frame in (1, 19, 20, 29, 30, 59, 60, 80)]


def _window_of(area: bpy.types.Area) -> bpy.types.Region:
    return next(region for region in area.regions if region.type == "WINDOW")


@script(needs=DIRECTING)
def keys_in_animation_editors(hands: Hands) -> Waiting:
    """The keys carry the name of the look-at; they are copied, pasted and deleted there as any others, and undone."""
    yield from look_at_ball(hands)
    scene = bpy.context.window_manager.windows[0].scene
    hands.area("DOPESHEET_EDITOR").ui_type = "DOPESHEET"
    yield 0.3
    bpy.ops.ed.undo_push(message="Ready")
    for frame, name in ((20, "look_away"), (30, "look_here")):
        scene.frame_set(frame)
        with hands.override():
            getattr(bpy.ops.lookat_pd, name)(**({"number": 0} if name == "look_here" else {}))
    bpy.ops.ed.undo_push(message="Keyed")
    before = [True, True, False, False, True, True, True, True]
    assert _looks() == before, _looks()
    area = hands.area("VIEW_3D")
    for editor in ("DOPESHEET", "FCURVES"):
        area.ui_type = editor
        yield 0.3
        with bpy.context.temp_override(window=hands.window, area=area, region=_window_of(area)):
            for _ in range(3):
                bpy.ops.anim.channels_expand(all=True)
        yield 0.3
        hands.look(f"shot-keys-{editor.lower()}")
    area.ui_type = "VIEW_3D"
    yield 0.3
    scene.frame_set(60)
    yield from hands.move(hands.inside(TIMELINE, 0.5, 0.4))
    yield from hands.key("A")
    yield from hands.key("C", ctrl=True)
    yield from hands.key("V", ctrl=True)
    yield 0.3
    pasted = _looks()
    assert pasted != before, pasted
    yield from hands.undo()
    assert _looks() == before, _looks()
    yield from hands.move(hands.inside(TIMELINE, 0.5, 0.4))
    yield from hands.key("A")
    with hands.override(TIMELINE):
        bpy.ops.action.delete()
    yield 0.5
    # With the last key, all that let the settings follow is gone.
    data = armature().animation_data
    assert not [driver for driver in (data.drivers if data else ()) if "lookat_pd" in driver.data_path]
    yield from hands.undo()
    assert (yield from hands.until(lambda: _looks() == before)), _looks()


@script(needs=DIRECTING)
def keys_moved_to_the_shot(hands: Hands) -> Waiting:
    """Keys in the clip offer a button that moves them; the look stays, and one undo puts them back."""
    yield from look_at_ball(hands)
    hero, path = armature(), 'pose.bones["head"].lookat_pd.use'
    for frame, value in ((1, True), (20, False), (60, True)):
        settings().use = value
        hero.keyframe_insert(path, frame=frame)
    bpy.ops.ed.undo_push(message="Ready")
    before = _looks()
    button = yield from hands.find("lookat_pd.move_keys")
    hands.look("move-keys")
    yield from hands.click(button)
    yield 0.3
    assert len(armature().data.lookat_pd_shot) and _looks() == before, _looks()
    yield from hands.undo()
    assert not len(armature().data.lookat_pd_shot) and _looks() == before, _looks()


@script(needs=DIRECTING)
def directed_by_markers(hands: Hands) -> Waiting:
    """One click sets the list and the keys that the markers tell."""
    yield from look_at_ball(hands)
    _bird()
    scene = bpy.context.window_manager.windows[0].scene
    for name, frame in (("Bird", 15), ("away", 30), ("Ball", 45)):
        scene.timeline_markers.new(name, frame=frame)
    with opened("sidebar_targets"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Ready")
        yield from hands.click((yield from hands.find("lookat_pd.targets_from_markers")))
        yield 0.3
        hands.look("markers")
        assert [_seen(frame) for frame in (1, 15, 30, 45)] == ["Ball", "Bird", "", "Ball"]
        yield from hands.undo()
        assert [_seen(frame) for frame in (15, 30)] == ["Ball", "Ball"]


@script(needs=DIRECTING)
def conversation_found_by_name(hands: Hands) -> Waiting:
    """F3, a few letters, Enter: two characters look at each other; one undo takes all of it back."""
    from rig import scenes

    other = scenes.figure("Other")
    other.location, other.rotation_euler.z = (0.4, -1.6, 0.0), 3.14
    scene = bpy.context.window_manager.windows[0].scene
    for name, frame in (("Hero", 1), ("Other", 30)):
        scene.timeline_markers.new(name, frame=frame)
    select(other, armature())
    bpy.ops.ed.undo_push(message="Ready")
    yield from hands.sidebar()
    yield from hands.search("Make Conversation")
    yield 0.5
    assert settings().exists and bpy.data.objects["Other"].pose.bones["head"].lookat_pd.exists
    assert _seen(58) == "Other:head"
    yield from hands.until(lambda: _miss(58, bpy.data.objects["Other"]) < 25.0)
    hands.look("conversation")
    yield from hands.undo()
    assert not settings().exists
    assert not bpy.data.objects["Other"].pose.bones["head"].lookat_pd.exists


@script(needs=DIRECTING)
def conversation_follows_its_markers(hands: Hands) -> Waiting:
    """The panel shows characters and turns; a moved marker changes the keys by itself, and an undo brings them back."""
    from rig import scenes

    other = scenes.figure("Other")
    other.location, other.rotation_euler.z = (0.4, -1.6, 0.0), 3.14
    scene = bpy.context.window_manager.windows[0].scene
    for name, frame in (("Hero", 1), ("Other", 30)):
        scene.timeline_markers.new(name, frame=frame)
    select(other, armature())
    with opened("sidebar_conversation"):
        yield from hands.sidebar()
        yield 0.3
        bpy.ops.ed.undo_push(message="Ready")
        yield from hands.click((yield from hands.find("lookat_pd.converse")))
        yield from hands.idle()
        talk = scene.lookat_pd_conversation
        assert len(talk.people) == 2 and talk.use_markers and not talk.error
        hands.look("conversation_panel")
        made = talk.made_of
        scene.timeline_markers["Other"].frame = 15
        yield from hands.until(lambda: talk.made_of != made)
        assert "15" in talk.made_of and not talk.error
        yield from hands.undo()
        assert not len(bpy.context.window_manager.windows[0].scene.lookat_pd_conversation.people)
