"""The whole body: its panels beside a character whose body responds."""

from scene import look_at_ball, settings, solve, view
from windowed.hands import SIDEBAR, Hands, Waiting
from windowed.scripts import script

import extension

_OPEN = ("_body", "_eyes")


def _opened() -> None:
    """The sub-panels as if their headers had been clicked."""
    panels = extension.load("panels")
    panels.unregister()
    for panel in extension.load("panels.look_at").CLASSES:
        if panel.__name__.startswith("LOOKAT_PD_PT_sidebar") and panel.__name__.endswith(_OPEN):
            panel.bl_options = set()
    panels.register()


@script(needs=("panels.body_response",))
def body(hands: Hands) -> Waiting:
    """Hips, arms, feet and eyes of the character, and their settings."""
    _opened()
    yield from look_at_ball(hands)
    extension.load("rig.look_at.body.layers").switch_on(settings())
    yield from solve(hands)
    yield from view(hands, centre=(0.6, 0.0, 1.05), distance=3.6, direction=(0.42, -1.0, 0.12))
    region = hands.region(SIDEBAR)
    yield from hands.wheel((region.x + region.width // 2, region.y + region.height // 2), -16)
    yield 0.4
    area = hands.area("VIEW_3D")
    hands.keep("body", area.x, area.y, area.width, area.height)
