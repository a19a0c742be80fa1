"""What a look-at needs is taken away: the panel says so, and nothing breaks."""

import bpy
from character import armature, look_at_ball, pose, select, settings
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


@script()
def target_deleted(hands: Hands) -> Waiting:
    """X in the viewport deletes the ball; the panel still draws, time goes on, and undo brings the ball back."""
    yield from look_at_ball(hands)
    looked = pose()
    select(bpy.data.objects["Ball"])
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("DEL")
    yield 0.3
    assert "Ball" not in bpy.context.window_manager.windows[0].view_layer.objects
    select(armature())
    yield 0.3
    for frame in (10, 30, 2):
        _scene().frame_set(frame)
        yield 0.1
    hands.look("target_deleted-panel")
    yield from hands.undo()
    assert settings().target == bpy.data.objects["Ball"], settings().target
    _scene().frame_set(1)
    assert abs(pose() - looked).max() < 1e-6, abs(pose() - looked).max()


@script()
def armature_deleted(hands: Hands) -> Waiting:
    """The whole character goes while it looks, time goes on, and undo brings it back."""
    yield from look_at_ball(hands)
    select(armature())
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("DEL")
    yield 0.3
    assert "Hero" not in bpy.context.window_manager.windows[0].view_layer.objects
    for frame in (10, 30, 2):
        _scene().frame_set(frame)
        yield 0.1
    yield from hands.undo()
    assert settings().exists


@script()
def bone_renamed(hands: Hands) -> Waiting:
    """A bone of the chain gets another name, and then its old one again."""
    yield from look_at_ball(hands)
    for name, other in (("neck", "Hals"), ("Hals", "neck")):
        armature().data.bones[name].name = other
        yield 0.2
        _scene().frame_set(20)
        yield 0.2
    assert [link.bone for link in settings().chain][1] == "neck"


@script()
def extension_switched_off_and_on(hands: Hands) -> Waiting:
    """Switched off in the preferences and on again, with a look-at in the file."""
    yield from look_at_ball(hands)
    name = next(name for name in bpy.context.preferences.addons.keys() if name.endswith(".lookat_pd"))
    with hands.override():
        bpy.ops.preferences.addon_disable(module=name)
    yield 0.3
    _scene().frame_set(20)
    yield 0.2
    assert not hasattr(armature().pose.bones["head"], "lookat_pd")
    with hands.override():
        bpy.ops.preferences.addon_enable(module=name)
    yield 0.3
    assert settings().exists
    assert settings().target.name == "Ball"
    yield from hands.sidebar()
    yield from hands.find("settle_time")
