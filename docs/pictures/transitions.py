"""Transitions: the panel with the plot of the decay, and a profile."""

import bpy
from scene import keep_sidebar, rest, rig, view
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

import extension

FRAMES = (64, 20)
"""The cut in the source and in the destination."""
VIEW = (0.5, 0.0, 1.0), 3.6, (0.42, -1.0, 0.12)


def _settings():
    """The demo's idle is joined with itself; the arms arrive later, and the fingers are cut."""
    settings, idle = bpy.context.scene.lookat_pd_transition, rig().animation_data.action
    settings.source = settings.destination = idle.name
    settings.source_frame, settings.destination_frame = FRAMES
    settings.lock_feet = True
    files = extension.load("rig.transitions.profile_settings")
    presets = files.available()
    files.fill(settings, files.read(presets["Fingers Cut"]) + files.read(presets["Arms Later"]))


@script(needs=("panels.transitions",))
def transitions_panel(hands: Hands) -> Waiting:
    """The panel beside the character."""
    _settings()
    with opened("transitions"):
        yield from hands.sidebar()
        yield from view(hands, *VIEW)
        yield from rest(hands)
        area = hands.area("VIEW_3D")
        hands.keep("transitions_panel", area.x, area.y, area.width, area.height)


@script(needs=("panels.blend_profile",))
def transitions_profile(hands: Hands) -> Waiting:
    """The rows of a profile."""
    _settings()
    with opened("transitions_profile"):
        yield from hands.sidebar()
        yield from view(hands, *VIEW)
        yield from rest(hands)
        keep_sidebar(hands, "transitions_profile", 330)
