"""What strips of the NLA show together: Blender evaluates them on a copy of the armature, in a scene of its own.

Blend types, influence, scale, repeat, animated time and modifiers therefore need no code of their own.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..sampling import suspend
from ..sampling.own_data import TEMPORARY
from . import animated
from .animated import Channel
from .clips import Clip


class StripPlayback:
    """The NLA of an armature up to a track, without the action above it. From `played`."""

    def __init__(self, scene: bpy.types.Scene, original: bpy.types.Object, copy: bpy.types.Object) -> None:
        self._scene, self._original, self._copy = scene, original, copy

    def read(self, frames: Array, keyed: Iterable[Channel], without: bpy.types.NlaStrip | None = None) -> Clip:
        """The channels at whole frames (F,) of the scene; without: a strip of the original that does not play.

        Raises RigError if a value is not a number.
        """
        keyed = list(keyed)
        hidden = None if without is None else self.of_copy(without)
        clip = Clip(self._original, np.asarray(frames, dtype=float))
        clip.raw = {channel: np.empty((len(frames), channel.size)) for channel in keyed}
        try:
            if hidden is not None:
                hidden.mute = True
            for row, frame in enumerate(clip.frames.tolist()):
                self._scene.frame_set(int(frame))
                evaluated = self._copy.evaluated_get(self._scene.view_layers[0].depsgraph)
                for channel in keyed:
                    clip.raw[channel][row] = animated.current(evaluated, channel)
        finally:
            if hidden is not None:
                hidden.mute = False
        for channel, raw in clip.raw.items():
            if not np.isfinite(raw).all():
                raise RigError(
                    "The NLA of '{armature}' has a value that is not a number in {path} at frame {frame:g}; fix or "
                    "delete that key.",
                    armature=self._original.name,
                    path=channel.path,
                    frame=clip.frames[int(np.argmin(np.isfinite(raw).all(axis=1)))],
                )
        return clip

    def of_copy(self, strip: bpy.types.NlaStrip) -> bpy.types.NlaStrip:
        """The strip of the copy that corresponds to a strip of the original."""
        pairs = zip(self._original.animation_data.nla_tracks, self._copy.animation_data.nla_tracks, strict=True)
        for track, copied in pairs:
            for own, other in zip(track.strips, copied.strips, strict=True):
                if own == strip:
                    return other
        raise LookupError(strip.name)


@contextmanager
def played(armature: bpy.types.Object, height: int, sharp: Iterable[bpy.types.NlaStrip]) -> Iterator[StripPlayback]:
    """The tracks up to index `height`, as a context manager that leaves nothing in the file.

    sharp: strips that neither fade in nor out.
    """
    with ExitStack() as stack:
        stack.enter_context(suspend.suspend_live())
        scene = bpy.data.scenes.new("Look-at PD")
        stack.callback(bpy.data.scenes.remove, scene)
        scene[TEMPORARY] = True
        copy = armature.copy()
        stack.callback(bpy.data.objects.remove, copy)
        scene.collection.objects.link(copy)
        copy.hide_viewport = False
        # What constrains the copy does not matter to its channels.
        copy.constraints.clear()
        data = copy.animation_data
        data.action, data.use_nla = None, True
        for number, track in enumerate(data.nla_tracks):
            track.is_solo = False
            track.mute = track.mute or number > height
        playback = StripPlayback(scene, armature, copy)
        for strip in sharp:
            own = playback.of_copy(strip)
            own.use_auto_blend = False
            own.blend_in = own.blend_out = 0.0
        yield playback
