"""A Rigify human with dozens of clips on muted NLA tracks: how long the window stands still for an edit."""

import time
from collections.abc import Callable

import bpy
from character import select
from in_hand import _human, _state
from rigify_human import build_scene
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)
CLIPS, CURVES = 76, 3853


def add_clips() -> None:
    actions, rig = load("rig.animation.actions"), _human()
    first = bpy.data.actions.new("Clip")
    bag = actions.channelbag(first, first.slots.new(id_type="OBJECT", name=rig.name), ensure=True)
    for n in range(CURVES):
        curve = bag.fcurves.new(f'pose.bones["idle {n // 10}"].location', index=n % 10)
        curve.keyframe_points.add(2)
        curve.keyframe_points.foreach_set("co", (1.0, 0.0, 40.0, 1.0))
    for n in range(CLIPS):
        clip = first.copy() if n else first
        track = rig.animation_data.nla_tracks.new()
        strip = track.strips.new(clip.name, 1, clip)
        strip.action_slot, track.mute = clip.slots[0], True


class _Gaps:
    """The longest time between two turns of the window's loop."""

    def __init__(self) -> None:
        self.longest, self._last, self._timer = 0.0, time.perf_counter(), self._tick
        bpy.app.timers.register(self._timer)

    def _tick(self) -> float | None:
        now = time.perf_counter()
        self.longest, self._last = max(self.longest, now - self._last), now
        return 0.001

    def end(self) -> float:
        bpy.app.timers.unregister(self._timer)
        return self.longest


def _measured(hands: Hands, name: str, edit: Callable[[], object]) -> Waiting:
    """How long the window stands still for an edit, and for what follows."""
    gaps, begin = _Gaps(), time.perf_counter()
    edit()
    spent = time.perf_counter() - begin
    yield 0.1
    yield from hands.until(lambda: _state() == "SOLVED", 60.0)
    yield 0.4
    print(f"{name}: {1000 * spent:.0f} ms at once, longest gap {1000 * gaps.end():.0f} ms")


@script(needs=LIVE)
def muted_clips_hold_nothing_up(hands: Hands) -> Waiting:
    yield from hands.sidebar()
    demo = build_scene()
    hands.window.scene = demo.scene
    select(demo.ball, _human())
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield 1.0
    turn = [0]

    def add() -> None:
        with hands.override():
            bpy.ops.lookat_pd.add("INVOKE_DEFAULT", True)

    def key() -> None:
        turn[0] += 1
        chest = _human().pose.bones["chest"]
        chest.rotation_mode = "QUATERNION"
        chest.rotation_quaternion = (0.99, 0.1, 0.01 * turn[0], 0.0)
        chest.keyframe_insert("rotation_quaternion", frame=60)

    def settle() -> None:
        turn[0] += 1
        _human().pose.bones["head"].lookat_pd.settle_time = 0.6 + 0.02 * turn[0]

    yield from _measured(hands, "no clips: Add", add)
    fingerprint, paths = load("rig.sampling.fingerprint"), set()
    for name in ("no clips", f"{CLIPS} muted clips"):
        if paths:
            add_clips()
            yield 1.0
            # The pose of the chest is keyed at another frame, so this one shows a preview.
            assert (yield from hands.until(lambda: _state() in ("SOLVED", "PREVIEW"), 60.0)), _state()
        before = fingerprint._curve

        def read(curve: bpy.types.FCurve, before=before):
            paths.add(curve.data_path)
            return before(curve)

        fingerprint._curve = read
        try:
            for what, edit in (("settle time", settle), ("a key", key)) * 2:
                yield from _measured(hands, f"{name}: {what}", edit)
        finally:
            fingerprint._curve = before
    idle = [path for path in paths if "idle" in path]
    assert paths and not idle, f"{len(idle)} curves were read that do not play"
