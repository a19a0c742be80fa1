"""Pops of the visual pose, from the panel: found with their cause, smoothed, listed, removed, undone."""

import bpy
from character import armature, select
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

POP = 20
_ROW = 25
"""From a button to the one below it [pixels]."""


def _settings():
    return bpy.context.window_manager.windows[0].scene.lookat_pd_transition


def _take_hold() -> None:
    """A Child Of that takes hold of an arm at once."""
    prop = bpy.data.objects.new("Prop", None)
    bpy.context.window_manager.windows[0].scene.collection.objects.link(prop)
    prop.location, prop.rotation_euler = (0.2, 0.1, 0.1), (0.3, 0.4, 0.5)
    constraint = armature().pose.bones["upper_arm.L"].constraints.new("CHILD_OF")
    constraint.target, constraint.set_inverse_pending = prop, False
    constraint.inverse_matrix.identity()
    for frame, value in ((1, 0.0), (POP - 1, 0.0), (POP, 1.0)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)


def _write_as_new_action(hands: Hands) -> Waiting:
    """*Write as Keys*, below *Remove All*, and the first row of its menu, from which no command can be copied."""
    above = yield from hands.find("lookat_pd.remove_visual_transitions", across=0.3)
    yield from hands.click((above.x, above.y - _ROW))
    yield 0.3
    hands.look("as-seen-menu")
    yield from hands.key("DOWN_ARROW")
    yield from hands.key("RET")
    yield from hands.idle()


@script(needs=("panels.transitions_visual",))
def pops_visual_from_the_panel(hands: Hands) -> Waiting:
    """The list names bone and cause; the buttons smooth, key and remove; one undo takes each back."""
    select(armature())
    _take_hold()
    scene = bpy.context.window_manager.windows[0].scene
    stack = armature().pose.bones["upper_arm.L"].constraints
    with opened("transitions_visual"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Begin")
        yield from hands.click((yield from hands.find("lookat_pd.find_visual_pops")))
        yield from hands.idle()
        assert [(item.frame, item.bone) for item in _settings().visual_pops] == [(POP, "upper_arm.L")]
        _settings().visual_pop_index = 0
        assert scene.frame_current == POP
        yield 0.3
        hands.look("as-seen-found")
        yield from hands.click((yield from hands.find("lookat_pd.smooth_pop")))
        yield from hands.idle()
        assert [constraint.name for constraint in stack] == ["Child Of", f"Visual Pose {POP}"]
        hands.look("as-seen-smoothed")
        yield from hands.undo()
        stack = armature().pose.bones["upper_arm.L"].constraints
        assert [constraint.name for constraint in stack] == ["Child Of"]
        yield from hands.redo()
        bpy.data.objects["Prop"].location.x += 0.1
        yield 2.0
        stack = armature().pose.bones["upper_arm.L"].constraints
        assert [constraint.name for constraint in stack] == ["Child Of", f"Visual Pose {POP}"]
        yield from _write_as_new_action(hands)
        stack = armature().pose.bones["upper_arm.L"].constraints
        assert [constraint.name for constraint in stack] == ["Child Of"]
        assert armature().animation_data.action.name.endswith(" visual")
        hands.look("as-seen-keyed")
        yield from hands.undo()
        stack = armature().pose.bones["upper_arm.L"].constraints
        assert [constraint.name for constraint in stack] == ["Child Of", f"Visual Pose {POP}"]
        yield from hands.click((yield from hands.find("lookat_pd.remove_visual_transitions", across=0.8)))
        yield 0.5
        stack = armature().pose.bones["upper_arm.L"].constraints
        assert [constraint.name for constraint in stack] == ["Child Of"]
