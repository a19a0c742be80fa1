"""Time: scrubbing and playing, without and with a look-at."""

import bpy
import numpy as np
from character import look_at_ball, pose
from windowed.hands import TIMELINE, VIEWPORT, Hands, Waiting
from windowed.scripts import script


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def scrub(hands: Hands, start: int, end: int, each=None) -> Waiting:
    """Drag the playhead in the timeline's ruler from frame to frame."""
    region = hands.region(TIMELINE)
    y = region.y + region.height - 12
    places = [(region.x + region.view2d.view_to_region(frame, 0, clip=False)[0], y) for frame in (start, end)]
    yield from hands.drag(*places, steps=12, each=each)


def poses_from_elsewhere(frames: list[int]) -> list[np.ndarray]:
    """The poses at some frames, each reached by a jump from a far frame."""
    found = []
    for frame in frames:
        _scene().frame_set(60 if frame < 30 else 1)
        _scene().frame_set(frame)
        found.append(pose())
    return found


def assert_same(seen: dict[int, np.ndarray]) -> None:
    """Poses that were seen are, bit for bit, those that are reached by a jump."""
    for (frame, one), other in zip(seen.items(), poses_from_elsewhere(list(seen)), strict=True):
        assert (one == other).all(), f"frame {frame} differs by {abs(one - other).max():.3g}"


@script()
def scrubbed(hands: Hands) -> Waiting:
    """The pose under the mouse is the pose of that frame."""
    yield from look_at_ball(hands)
    seen: dict[int, np.ndarray] = {}
    yield from scrub(hands, 2, 50, each=lambda: seen.update({_scene().frame_current: pose()}))
    assert _scene().frame_current == 50, _scene().frame_current
    assert len(seen) > 6, list(seen)
    yield from scrub(hands, 50, 10, each=lambda: seen.update({_scene().frame_current: pose()}))
    assert _scene().frame_current == 10, _scene().frame_current
    assert_same(seen)


@script()
def played(hands: Hands) -> Waiting:
    """Space plays, Space stops; the frame it stops at has the pose of that frame."""
    yield from look_at_ball(hands)
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("SPACE")
    assert hands.window.screen.is_animation_playing
    seen = {}

    def enough() -> bool:
        seen[_scene().frame_current] = pose()
        return len(seen) > 8

    assert (yield from hands.until(enough)), list(seen)
    yield from hands.key("SPACE")
    assert not hands.window.screen.is_animation_playing
    frame = _scene().frame_current
    assert frame != 1
    seen[frame] = pose()
    assert_same(seen)
