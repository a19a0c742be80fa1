"""What else goes on while a look-at is live: undo, edit mode, rendering, other files."""

import bpy
import numpy as np
from character import HEAD, armature, look_at_ball, miss, pose, select, settings
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _is_solved() -> bool:
    return load("rig.layers.live").status(_scene(), armature(), HEAD).state == "SOLVED"


@script(needs=LIVE)
def undone_many_times(hands: Hands) -> Waiting:
    """Six changes, all the way back and forward again: the pose is each time that of its settings."""
    yield from look_at_ball(hands)
    slider = yield from hands.find("settle_time")
    poses = [(settings().settle_time, pose())]
    for _ in range(6):
        yield from hands.drag((slider.x, slider.y), (slider.x + 12, slider.y), steps=3)
        poses.append((settings().settle_time, pose()))
    for time, seen in reversed(poses[:-1]):
        yield from hands.undo()
        assert abs(settings().settle_time - time) < 1e-6, (settings().settle_time, time)
        assert (yield from hands.until(lambda seen=seen: np.array_equal(pose(), seen))), f"undo to {time:.3f} s"
    for time, seen in poses[1:]:
        yield from hands.redo()
        assert abs(settings().settle_time - time) < 1e-6, (settings().settle_time, time)
        assert (yield from hands.until(lambda seen=seen: np.array_equal(pose(), seen))), f"redo to {time:.3f} s"


@script(needs=LIVE)
def undone_while_playing(hands: Hands) -> Waiting:
    """Ctrl+Z during playback, and playing on."""
    yield from look_at_ball(hands)
    slider = yield from hands.find("settle_time")
    yield from hands.drag((slider.x, slider.y), (slider.x + 30, slider.y), steps=4)
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("SPACE")
    yield 0.4
    yield from hands.undo()
    yield 0.4
    if hands.window.screen.is_animation_playing:
        yield from hands.key("SPACE")
    assert abs(settings().settle_time - 0.6) < 1e-6
    frame, here = _scene().frame_current, pose()
    _scene().frame_set(60 if frame < 30 else 1)
    _scene().frame_set(frame)
    assert np.array_equal(pose(), here), f"frame {frame} differs by {abs(pose() - here).max():.3g}"


@script(needs=LIVE)
def through_edit_mode(hands: Hands) -> Waiting:
    """Tab into edit mode and back; there the bones are seen at rest, here they look again."""
    yield from look_at_ball(hands)
    looked = pose()
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("TAB")
    yield 0.3
    assert armature().mode == "EDIT"
    _scene().frame_set(5)
    yield 0.2
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("TAB")
    yield 0.3
    assert armature().mode == "OBJECT"
    _scene().frame_set(1)
    assert (yield from hands.until(lambda: np.array_equal(pose(), looked))), abs(pose() - looked).max()


@script(needs=LIVE)
def head_bone_deleted(hands: Hands) -> Waiting:
    """The bone that looks is deleted in edit mode; undo brings it back, looking."""
    yield from look_at_ball(hands)
    looked = pose()
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("TAB")
    yield 0.3
    for bone in armature().data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == "head"
    with hands.override():
        bpy.ops.armature.delete("EXEC_DEFAULT", True)
    yield from hands.key("TAB")
    yield 0.3
    assert "head" not in armature().pose.bones
    for frame in (10, 30, 1):
        _scene().frame_set(frame)
        yield 0.1
    for _ in range(4):
        if "head" in armature().pose.bones and armature().mode == "OBJECT":
            break
        yield from hands.undo()
    assert settings().exists
    assert (yield from hands.until(lambda: np.array_equal(pose(), looked))), abs(pose() - looked).max()


@script(needs=LIVE)
def rendered(hands: Hands) -> Waiting:
    """Ctrl+F12: the frames that are rendered, in a thread of their own, have the poses that were seen."""
    yield from look_at_ball(hands)
    scene = _scene()
    seen = {}
    for frame in range(24, 34):
        scene.frame_set(frame)
        seen[frame] = pose()
    scene.frame_start, scene.frame_end = 24, 33
    yield 0.3
    scene.frame_set(1)
    bpy.context.preferences.view.render_display_type = "NONE"
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = 32
    scene.render.filepath = str(hands.folder / "render" / "frame-")
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    found = {}

    def note(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
        if scene.frame_current in seen and bpy.app.is_job_running("RENDER"):
            bones = armature().evaluated_get(depsgraph).pose.bones
            found[scene.frame_current] = np.array([bone.matrix for bone in bones])

    bpy.app.handlers.frame_change_post.append(note)
    try:
        yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
        yield from hands.key("F12", ctrl=True)
        yield 0.3
        done = yield from hands.until(lambda: not bpy.app.is_job_running("RENDER"), 60.0)
    finally:
        bpy.app.handlers.frame_change_post.remove(note)
    assert done, "the render does not end"
    assert sorted(found) == list(seen), sorted(found)
    for frame, one in found.items():
        # The frames beyond the range are other ones: what is solved ahead begins at its first frame.
        assert abs(one - seen[frame]).max() < 0.2, f"frame {frame} differs by {abs(one - seen[frame]).max():.3g}"
    for frame in found:
        scene.frame_set(frame)
        assert np.array_equal(pose(), found[frame]), f"rendered frame {frame} is not the one that is seen"


@script(needs=LIVE)
def opened_while_solving(hands: Hands) -> Waiting:
    """Another file, and an undo, while a long shot is being solved."""
    yield from look_at_ball(hands)
    _scene().frame_end = 40000
    yield 0.4
    yield from hands.undo()
    yield 0.3
    yield from hands.redo()
    _scene().frame_end = 40000
    yield 0.4
    with hands.override():
        bpy.ops.wm.read_homefile(use_factory_startup=True, load_ui=False)
    yield 0.5
    assert "Hero" not in bpy.data.objects


@script(needs=LIVE)
def undone_while_solving(hands: Hands) -> Waiting:
    """Ctrl+Z while a long shot is being solved: the pose that was seen before comes back, and stays."""
    yield from look_at_ball(hands)
    _scene().frame_end = 20000
    _scene().frame_set(25)
    assert (yield from hands.until(_is_solved, 60.0)), "the long shot is not solved"
    before, time = pose(), settings().settle_time
    with hands.override():
        bpy.ops.ed.undo_push(message="Ready")
        settings().settle_time = time + 0.3
        bpy.ops.ed.undo_push(message="Settle Time")
    yield 0.1
    assert not _is_solved(), "the shot is too short to be undone while it is solved"
    yield from hands.undo()
    assert abs(settings().settle_time - time) < 1e-6
    assert (yield from hands.until(_is_solved, 60.0)), "the shot is not solved after the undo"
    assert (yield from hands.until(lambda: np.array_equal(pose(), before))), abs(pose() - before).max()
    for frame in (3000, 25):
        _scene().frame_set(frame)
    assert np.array_equal(pose(), before), f"differs by {abs(pose() - before).max():.3g}"


@script(needs=LIVE)
def key_of_target_moved(hands: Hands) -> Waiting:
    """The ball's last key is moved in the timeline's data: the head knows at once."""
    yield from look_at_ball(hands)
    _scene().frame_set(60)
    before = pose()
    ball = bpy.data.objects["Ball"]
    ball.location = (0.5, -1.6, 2.4)
    with hands.override():
        ball.keyframe_insert("location", frame=45)
    yield 0.3
    _scene().frame_set(59)
    _scene().frame_set(60)
    assert (yield from hands.until(lambda: miss() < 1.0)), f"the head misses the ball by {miss():.2f} degrees"
    assert not np.array_equal(pose(), before)


@script(needs=LIVE)
def second_window(hands: Hands) -> Waiting:
    """The same scene in a second window, played, and the window closed."""
    yield from look_at_ball(hands)
    _scene().frame_set(30)
    here = pose()
    with hands.override():
        bpy.ops.wm.window_new()
    yield 0.5
    try:
        assert len(bpy.context.window_manager.windows) == 2
        for frame in (10, 45, 30):
            _scene().frame_set(frame)
            yield 0.1
        assert np.array_equal(pose(), here), f"differs by {abs(pose() - here).max():.3g}"
    finally:
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[-1]):
            bpy.ops.wm.window_close()
    yield 0.3
    select(armature())
    assert np.array_equal(pose(), here)
