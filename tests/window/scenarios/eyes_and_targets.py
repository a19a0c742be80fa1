"""Panels that are open only now and then: targets that mix, advanced settings, the table of eye shape keys."""

import bpy
from character import HEAD, select
from windowed.hands import SIDEBAR, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script


def _person() -> bpy.types.Object:
    """A person whose eyes shape keys turn, with two targets that mix, alone in the scene with them."""
    from extension import load
    from rig import scenes
    from rig.look_at.body import faces

    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    armature, _, settings = faces.person(faces.ARKIT)
    looks, targets = load("rig.look_at.directing.looks"), load("rig.sampling.targets")
    looks.add(armature, HEAD, targets.Target(scenes.ball((-1.2, -2.0, 1.4), "Bird")))
    settings.use_mix = True
    select(armature)
    return armature


def _look(hands: Hands, panel: str, button: str) -> Waiting:
    """Open a panel, find a button of it, and take a picture."""
    with opened(panel):
        yield from hands.sidebar()
        yield 0.5
        assert (yield from hands.visible(button)), f"no {button} in {panel}"
        hands.look(panel)
        region = hands.region(SIDEBAR)
        yield from hands.wheel((region.x + region.width // 2, region.y + region.height // 2), 16)


@script()
def mixed_targets(hands: Hands) -> Waiting:
    """Weights stand in the panel while the targets mix, and what lets go of them in another one."""
    _person()
    yield from _look(hands, "sidebar_targets", "target_weight")
    yield from _look(hands, "sidebar_more_release", "let_go_distance")


@script()
def advanced(hands: Hands) -> Waiting:
    """The gains of the controller can be edited, where *Advanced* is on."""
    _person()
    with opened("sidebar_more", "sidebar_more_advanced"):
        yield from hands.sidebar()
        assert not (yield from hands.visible("lookat_pd.copy_settings")), "shown without Advanced"
    bpy.context.window_manager.lookat_pd_use_advanced = True
    try:
        yield from _look(hands, "sidebar_more_advanced", "k_p")
    finally:
        bpy.context.window_manager.lookat_pd_use_advanced = False


@script()
def eye_shape_table(hands: Hands) -> Waiting:
    """With Automatic, a filled table is shown, too."""
    armature = _person()
    bpy.ops.lookat_pd.eye_shapes_detect()
    eyes = armature.pose.bones[HEAD].lookat_pd.eyes
    assert eyes.turned_by == "AUTO" and len(eyes.shapes) == 8
    yield from _look(hands, "sidebar_eyes", "lookat_pd.eye_shapes_detect")


@script()
def eye_control_table(hands: Hands) -> Waiting:
    """Control bones of a face board are detected with a click; the fields below it show where they go."""
    from rig.look_at.body import boards

    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    armature, settings = boards.board(())
    select(armature)
    bpy.ops.lookat_pd.eye_shapes_detect()
    assert len(settings.eyes.shapes) == 8
    yield from _look(hands, "sidebar_eyes", "control_order")
