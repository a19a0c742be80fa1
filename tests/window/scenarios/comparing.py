"""Compare: the plain animation as a ghost beside the result, live and after a bake, also while it plays."""

import bpy
import numpy as np
from character import look_at_ball
from overlay import _picture
from windowed.hands import Hands, Waiting
from windowed.scripts import script

COMPARE = ("operators.compare",)


def _changed(one: np.ndarray, other: np.ndarray) -> int:
    return int(np.any(np.abs(one - other) > 8, axis=-1).sum())


@script(needs=COMPARE)
def plain_beside_the_result(hands: Hands) -> Waiting:
    """The button draws the ghost and takes it away again; after a bake, too."""
    yield from look_at_ball(hands)
    with hands.override():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
    bpy.context.window_manager.windows[0].scene.frame_set(12)
    yield 0.5
    for state in ("live", "baked"):
        without = yield from _picture(hands)
        yield from hands.click((yield from hands.find("lookat_pd.compare")))
        yield 0.5
        shown = yield from _picture(hands)
        assert _changed(without, shown) > 100, f"no ghost of the {state} look-at"
        hands.look(f"compare_{state}")
        with hands.override():
            bpy.ops.screen.animation_play()
            yield 0.5
            bpy.ops.screen.animation_cancel()
        yield 0.3
        yield from hands.click((yield from hands.find("lookat_pd.compare")))
        yield 0.5
        assert _changed(without, (yield from _picture(hands))) == 0
        if state == "live":
            with hands.override():
                bpy.ops.lookat_pd.bake()
            yield 0.5
