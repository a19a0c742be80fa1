"""The first lesson of the documents, click by click, in the file that a new Blender opens."""

from pathlib import Path

import bpy
import numpy as np
from character import settled
from windowed.hands import SIDEBAR, VIEWPORT, Button, Hands, NotThere, Place, Waiting
from windowed.scripts import script

LESSON = Path(__file__).resolve().parents[3] / "docs/lessons/first-look-at.md"
MOST = 6
"""Clicks that the lesson promises."""
DARK = 48
"""A tab is not as bright as this, of 255; what is behind the sidebar is."""


class Learner:
    """Somebody who clicks what the lesson names."""

    def __init__(self, hands: Hands) -> None:
        self.hands, self.clicks, self.text = hands, 0, LESSON.read_text("utf-8")

    def click(self, name: str, place: Place | Button) -> Waiting:
        assert f"**{name}**" in self.text.partition("## ")[0], f"the lesson does not name {name}"
        self.clicks += 1
        yield from self.hands.click(place)
        yield 0.4

    def button(self, name: str, meaning: str) -> Waiting:
        yield from self.click(name, (yield from self.hands.find(meaning)))


def last_tab(hands: Hands) -> Place:
    """A place on the lowest tab of the sidebar, which is that of an extension that came last: tabs are dark."""
    region = hands.region(SIDEBAR)
    edge = hands.pixels(region.x + region.width - 17, region.y, 1, region.height)[::-1, 0].astype(np.int16)
    dark = np.flatnonzero(edge.max(axis=1)[8:] < DARK) + 8
    return region.x + region.width - 11, region.y + int(dark[0]) + 12


def row_of_list(hands: Hands, name: str, below: Place) -> Waiting:
    x, top = below
    for y in range(top - 10, top - 300, -10):
        yield from hands.move((x - 40, y))
        if name in (yield from hands.copied()):
            return x - 40, y
    raise NotThere(f"no preset {name!r} in the list")


def example():
    armature = bpy.context.view_layer.objects.active
    return armature, armature.pose.bones["head"].lookat_pd


@script(needs=("operators.open_example",))
def first_look_at_in_sixty_seconds(hands: Hands) -> Waiting:
    """In a window as it comes: where the sidebar lies over the viewport, its tabs alone are dark."""
    system = bpy.context.preferences.system
    before, system.use_region_overlap = system.use_region_overlap, True
    try:
        yield from _lesson(hands)
    finally:
        system.use_region_overlap = before


def _lesson(hands: Hands) -> Waiting:
    bpy.ops.wm.read_homefile(use_factory_startup=False)
    yield 0.5
    learner = Learner(hands)
    hands.area("VIEW_3D").spaces.active.show_region_ui = False
    yield from hands.move(hands.inside(VIEWPORT, 0.4, 0.5))
    yield from hands.key("N")
    yield 0.5
    yield from learner.click("Look-at PD", last_tab(hands))
    assert hands.region(SIDEBAR).active_panel_category == "Look-at PD"
    yield from learner.button("Open Example", "lookat_pd.open_example")
    yield from settled(hands)
    armature, settings = example()
    assert settings.exists
    before, action = settings.settle_time, armature.animation_data.action
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.4))
    yield from hands.key("SPACE")
    frame = hands.window.scene.frame_current
    assert (yield from hands.until(lambda: hands.window.scene.frame_current != frame, 20.0)), "nothing plays"
    yield from hands.key("SPACE")
    yield 0.3
    slider = yield from hands.find("settle_time")
    place = slider.x, slider.y + 22
    yield from learner.click("Preset", place)
    yield from learner.click("Bird", (yield from row_of_list(hands, "Bird", place)))
    assert example()[1].settle_time < before
    yield from hands.key("ESC")
    yield from settled(hands)
    hands.look("lesson-bird")
    yield from learner.button("Bake", "lookat_pd.bake(")
    yield from hands.idle()
    armature, settings = example()
    assert settings.mute
    assert armature.animation_data.action != action
    hands.look("lesson-baked")
    yield from learner.button("Edit Live Again", "lookat_pd.edit_live")
    yield from settled(hands)
    armature, settings = example()
    assert not settings.mute
    assert armature.animation_data.action == action
    assert learner.clicks <= MOST, learner.clicks
