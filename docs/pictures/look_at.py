"""The look-at: its panel, and what is seen of it in the viewport."""

import bpy
from scene import keep_sidebar, keep_viewport, look_at_ball, rest, settings, solve, view
from windowed.hands import SIDEBAR, Hands, Waiting
from windowed.scripts import script

LIVE = ("rig.layers.live",)
UPPER_BODY = {"centre": (0.75, 0.0, 1.6), "distance": 2.2, "direction": (0.42, -1.0, 0.12)}


@script(needs=LIVE)
def panel(hands: Hands) -> Waiting:
    """The character looks, beside the panel."""
    yield from look_at_ball(hands)
    yield from view(hands, **UPPER_BODY)
    area = hands.area("VIEW_3D")
    hands.keep("panel", area.x, area.y, area.width, area.height)


@script(needs=LIVE)
def overlay(hands: Hands) -> Waiting:
    """The line of sight and the reach."""
    yield from look_at_ball(hands)
    yield from view(hands, **{**UPPER_BODY, "centre": (0.75, 0.0, 1.75)}, sidebar=False)
    keep_viewport(hands, "overlay")


@script()
def step_response(hands: Hands) -> Waiting:
    """The plot of a controller that swings over."""
    yield from look_at_ball(hands)
    settings().damping = "CUSTOM"
    settings().damping_ratio = 0.45
    yield from solve(hands)
    yield from view(hands, **UPPER_BODY)
    keep_sidebar(hands, "step_response", 365)


@script(needs=("panels.presets",))
def presets(hands: Hands) -> Waiting:
    """The list of presets, open."""
    yield from look_at_ball(hands)
    yield from view(hands, **UPPER_BODY)
    region, slider = hands.region(SIDEBAR), (yield from hands.find("settle_time"))
    yield from hands.click((slider.x, slider.y + 22))
    yield 0.5
    hands.keep("presets", region.x - 40, region.y + region.height - 400, region.width + 86, 400)


@script()
def panel_japanese(hands: Hands) -> Waiting:
    """The panel in Japanese."""
    yield from look_at_ball(hands)
    yield from view(hands, **UPPER_BODY)
    interface = bpy.context.preferences.view
    interface.language = "ja_JP"
    interface.use_translate_interface = interface.use_translate_tooltips = True
    try:
        yield from rest(hands)
        keep_sidebar(hands, "panel_japanese", 365)
    finally:
        interface.language = "en_US"
