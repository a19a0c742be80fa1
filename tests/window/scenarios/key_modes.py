"""Bakes with each choice of keys, of a character of the file and of a linked one, after undo, redo and Swap."""

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
from character import HEAD, armature, look_at_ball, pose, select
from dynamics import _begin
from windowed.hands import Hands, Waiting
from windowed.scripts import script

from extension import load

MODES = ("EVERY_FRAME", "KEEP", "FITTED")
NEEDS = ("rig.animation.key_settings", "rig.layers.live")
FRAMES = (1, 10, 25, 33, 60)


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _keys() -> list[tuple[str, int, bytes]]:
    """All keys of what the character plays."""
    data, found = armature().animation_data, []
    for curve in load("rig.animation.actions").curves(data.action, data.action_slot):
        points = curve.keyframe_points
        numbers = np.empty((3, 2 * len(points)), dtype=np.float32)
        for row, name in zip(numbers, ("co", "handle_left", "handle_right"), strict=True):
            points.foreach_get(name, row)
        found.append((curve.data_path, curve.array_index, numbers.tobytes()))
    return found


def _poses() -> np.ndarray:
    found = []
    for frame in FRAMES:
        _scene().frame_set(frame)
        found.append(pose())
    return np.array(found)


def _each(hands: Hands, bake: Callable[[str], object], largest: float) -> Waiting:
    """Bake with each choice; undo leaves nothing of it, redo brings it back. largest: difference from what was live."""
    count: dict[str, int] = {}
    for mode in MODES:
        bpy.ops.ed.undo_push(message="Ready")
        action, keys, live = armature().animation_data.action.name, _keys(), _poses()
        with hands.override():
            bake(mode)
        yield 0.5
        made, new, shown = armature().animation_data.action.name, _keys(), _poses()
        count[mode] = sum(len(numbers) for *_, numbers in new)
        assert made != action
        if largest:
            assert np.abs(shown - live).max() < largest, f"{mode}: {np.abs(shown - live).max()}"
        yield from hands.undo()
        assert armature().animation_data.action.name == action and _keys() == keys, f"{mode}: undo"
        yield from hands.redo()
        assert armature().animation_data.action.name == made and _keys() == new, f"{mode}: redo"
        yield from hands.undo()
        yield 0.3
    print("bytes of keys:", count)
    assert count["FITTED"] < count["EVERY_FRAME"]


def _look_at(mode: str) -> None:
    bpy.ops.lookat_pd.bake("EXEC_DEFAULT", True, key_mode=mode)


def _is_solved() -> bool:
    return load("rig.layers.live").status(_scene(), armature(), HEAD).state == "SOLVED"


@script(needs=NEEDS)
def look_at_with_each_choice_of_keys(hands: Hands) -> Waiting:
    yield from look_at_ball(hands)
    assert (yield from hands.until(_is_solved))
    yield from _each(hands, _look_at, 0.02)


@script(needs=NEEDS)
def linked_character_with_each_choice_of_keys(hands: Hands) -> Waiting:
    path, made = Path(bpy.data.filepath).with_name("key modes.blend"), bpy.data.collections.new("Character")
    made.objects.link(armature())
    bpy.data.libraries.write(str(path), {made})
    bpy.data.objects.remove(armature())
    bpy.data.collections.remove(made)
    with bpy.data.libraries.load(str(path), link=True) as (_, into):
        into.collections = ["Character"]
    into.collections[0].override_hierarchy_create(_scene(), hands.window.view_layer, do_fully_editable=True)
    linked = next(item for item in _scene().objects if item.type == "ARMATURE")
    assert linked.override_library is not None and armature() == linked
    select(linked)
    yield 0.3
    yield from look_at_ball(hands)
    assert (yield from hands.until(_is_solved))
    yield from _each(hands, _look_at, 0.02)


@script(needs=NEEDS)
def interpolated_with_each_choice_of_keys_and_swapped(hands: Hands) -> Waiting:
    """*Swap* shows the one action and the other, whatever the keys are."""
    yield from _begin(hands)

    def interpolate(mode: str) -> None:
        bpy.ops.lookat_pd.interpolate_keys("EXEC_DEFAULT", True, key_mode=mode)

    yield from _each(hands, interpolate, 0.0)
    for mode in MODES:
        bpy.ops.ed.undo_push(message="Ready")
        source = armature().animation_data.action.name
        with hands.override():
            interpolate(mode)
        yield 0.5
        made, keys = armature().animation_data.action.name, _keys()
        for shown in (source, made):
            with hands.override():
                bpy.ops.lookat_pd.dynamics_compare("INVOKE_DEFAULT", True)
            yield 0.2
            assert armature().animation_data.action.name == shown
        assert _keys() == keys
        for _ in range(3):
            yield from hands.undo()
        assert armature().animation_data.action.name == source and made not in bpy.data.actions
