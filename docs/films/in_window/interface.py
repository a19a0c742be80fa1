"""What is done in the window in the films of the interface; each script films itself."""

import bpy
from windowed.hands import Hands, Waiting
from windowed.scripts import script

from docs.pictures import scene

FACE = {"centre": (0.36, 0.0, 1.66), "distance": 1.5, "direction": (0.16, -1.0, 0.04)}
TIMES = 0.2, 0.6, 1.5
JUMP, SEEN, EVERY = 5, 40, 2
"""Frame at which the ball jumps, how many are seen, and each of how many."""
_PIXELS, _STEP = 400, 8
"""Most pixels of a drag, and of a step of it."""
_HELD, _DRAGGED = 0.15, 0.06
"""Seconds for which what is pressed or let go is seen, and for which a step is."""


def prepare(hands: Hands) -> None:
    """The demo's human who stands still, and a ball that jumps from one side to the other."""
    scene.prepare(hands)
    ball = bpy.data.objects["Ball"]
    ball.animation_data_clear()
    for frame, place in ((1, (-0.45, -0.75, 1.55)), (JUMP, (0.42, -0.75, 1.8))):
        ball.location, ball.scale = place, (0.6, 0.6, 0.6)
        ball.keyframe_insert("location", frame=frame)
    for layer in ball.animation_data.action.layers:
        for bag in layer.strips[0].channelbags:
            for curve in bag.fcurves:
                for key in curve.keyframe_points:
                    key.interpolation = "CONSTANT"
    scene.rig().animation_data_clear()
    bpy.context.scene.frame_end = SEEN


@script()
def settle_panel(hands: Hands) -> Waiting:
    """The slider is dragged, and the same look is played again: with 0.2 s, 0.6 s and 1.5 s."""
    yield from scene.look_at_ball(hands)
    yield from scene.view(hands, **FACE)
    settings, playing = scene.settings(), hands.window.scene
    # Nothing but the character, the line to the ball, and the panel.
    hands.area("VIEW_3D").spaces.active.overlay.show_bones = False
    playing.lookat_pd_overlay.show_limits = False
    settings.settle_time = 0.45
    playing.frame_set(1)
    yield from scene.solve(hands)
    slider = yield from hands.find("settle_time")
    with hands.film("settle_panel", ("VIEW_3D", "WINDOW")).covered():
        for wanted in TIMES:
            playing.frame_set(1)
            yield from _drag_to(hands, (slider.x, slider.y), wanted)
            yield from scene.solve(hands)
            yield from scene.rest(hands)
            for frame in range(1, SEEN, EVERY):
                playing.frame_set(frame)
                yield 0.05
                hands.filmed(EVERY / playing.render.fps)


def _drag_to(hands: Hands, place: tuple[int, int], wanted: float) -> Waiting:
    """Drag the slider until it has come to a value, as somebody does who watches the number."""
    settings = scene.settings()
    way = 1 if settings.settle_time < wanted else -1
    yield from hands.hover(place)
    yield 0.2
    yield from hands.button("PRESS")
    hands.filmed(_HELD)
    for pixels in range(_STEP, _PIXELS, _STEP):
        yield from hands.move((place[0] + way * pixels, place[1]))
        yield 0.05
        hands.filmed(_DRAGGED)
        if way * (settings.settle_time - wanted) >= -0.02:
            break
    yield from hands.button("RELEASE")
    settings.settle_time = wanted
    yield 0.2
    hands.filmed(_HELD)
