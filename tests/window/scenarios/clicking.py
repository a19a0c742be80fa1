"""What is drawn under the mouse is what is highlighted and taken: each bone is drawn in a color of its own, and pixels
tell what is where."""

from collections import Counter
from collections.abc import Generator

import bpy
import numpy as np
from character import select
from rigify_human import build_scene
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

_VIEWS = ("FRONT", "RIGHT", "BACK", "TOP")
_PICTURES, _DARK, _BRIGHT = 3, 60, 140
"""In how many pictures bones are told apart, and the least and largest values of dark and bright channels."""
_LEFT, _LOW, _RIGHT, _HIGH = 0.1, 0.05, 0.7, 0.85
"""The part of the viewport that nothing else covers."""
_EACH = 2
"""Pixels of each bone that are hovered."""
_CROSSING = 0.05
"""Share of the pixels at which lines of several bones cross or touch, so that either may be meant."""


def _paint(rig: bpy.types.Object, names: list[str], picture: int) -> None:
    """Give each bone the color of three binary digits of its number."""
    for number, name in enumerate(names):
        color = [float(number >> 3 * picture + digit & 1) for digit in range(3)]
        bone = rig.pose.bones[name]
        bone.color.palette = "CUSTOM"
        bone.color.custom.normal = bone.color.custom.select = bone.color.custom.active = color


def _bare(hands: Hands) -> None:
    """Bones alone, in lines without soft edges."""
    bpy.context.preferences.system.use_overlay_smooth_wire = False
    space = hands.area("VIEW_3D").spaces.active
    space.show_gizmo = False
    for name in (
        "floor",
        "axis_x",
        "axis_y",
        "cursor",
        "object_origins",
        "relationship_lines",
        "extras",
        "outline_selected",
    ):
        setattr(space.overlay, f"show_{name}", False)


def _seen(
    hands: Hands, rig: bpy.types.Object, names: list[str]
) -> Generator[float, None, dict[str, list[tuple[int, int]]]]:
    """The pixels of the window at which each bone is drawn."""
    (x, y), (right, top) = hands.inside(VIEWPORT, _LEFT, _LOW), hands.inside(VIEWPORT, _RIGHT, _HIGH)
    overlay, numbers, drawn = hands.area("VIEW_3D").spaces.active.overlay, np.array(0), np.array(True)
    overlay.show_bones = False
    yield 0.3
    bare = hands.pixels(x, y, right - x, top - y).astype(int)
    overlay.show_bones = True
    for picture in range(_PICTURES):
        _paint(rig, names, picture)
        yield 0.3
        colors = hands.pixels(x, y, right - x, top - y).astype(int)
        drawn = drawn & np.any(colors != bare, axis=-1) & np.all((colors < _DARK) | (colors > _BRIGHT), axis=-1)
        numbers = numbers + ((colors > _BRIGHT) @ (1, 2, 4) << 3 * picture)
    found: dict[str, list[tuple[int, int]]] = {}
    for row, column in zip(*np.nonzero(drawn[::-1]), strict=True):
        number = int(numbers[::-1][row, column])
        if number < len(names):
            found.setdefault(names[number], []).append((x + int(column), y + int(row)))
    return {name: places for name, places in found.items() if len(places) > _EACH}


def _clicked(hands: Hands, rig: bpy.types.Object) -> Waiting:
    drag, random, counts = load("operators.ik_drag"), np.random.default_rng(0), Counter()
    hidden, wrong = load("rig.ik.clicked").is_hidden, []
    names = [bone.name for bone in rig.pose.bones if not hidden(rig, bone.name)]
    assert len(names) < 8**_PICTURES
    _bare(hands)
    select(rig)
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
    for view in _VIEWS:
        with hands.override():
            bpy.ops.view3d.view_axis(type=view)
        space = hands.area("VIEW_3D").spaces.active.region_3d
        space.view_location, space.view_distance = (0.0, 0.0, 0.9), 3.2
        yield 0.5
        places = yield from _seen(hands, rig, names)
        hands.look(f"painted {rig.name} {view}")
        with hands.override():
            bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT")
        yield 0.1
        for name, pixels in places.items():
            # The one that is active already is taken again.
            rig.data.bones.active = rig.data.bones[name]
            for n in random.choice(len(pixels), min(_EACH, len(pixels)), replace=False):
                yield from hands.move(pixels[n])
                yield 0.0
                counts[view] += 1
                taken = drag._running[0]._hovered.name
                if taken != name:
                    wrong.append((view, name, taken, pixels[n]))
        yield from hands.key("ESC")
        yield from hands.idle()
    print(f"@ {rig.name}: {sum(counts.values())} places, {len(wrong)} others taken: {wrong[:40]}")
    assert min(counts[view] for view in _VIEWS) > 20, counts
    assert len(wrong) <= _CROSSING * sum(counts.values()), wrong


@script(needs=("operators.ik_drag",))
def bones_of_a_rigify_human_under_the_mouse(hands: Hands) -> Waiting:
    hands.window.scene = build_scene().scene
    yield 0.3
    yield from _clicked(hands, bpy.data.objects["Human"])
