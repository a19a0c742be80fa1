"""*Lock Feet* of a transition between NLA strips: what the feet need more is a strip of its own above all tracks."""

from collections.abc import Generator

import bpy

from ...lookat_pd.progress import drain, subrange
from ..animation.playing import playing
from ..feet.contact_report import ContactReport
from .lock_feet import FootHold, divided
from .strips import StripPair


def lock(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    first: bpy.types.NlaStrip,
    second: bpy.types.NlaStrip,
    made: StripPair,
) -> Generator[float, None, ContactReport | None]:
    """Keep planted feet on their places through a new transition from strip `first` to `second`.

    The difference is a COMBINE strip. An action that plays above the NLA does not count. Yields the completed fraction;
    returns None if nothing is planted. Raises LookAtError, after which the transition is removed.
    """
    tracks = armature.animation_data.nla_tracks
    track = next(item for item in tracks if made.strip in list(item.strips))
    begin, end = int(first.frame_start), int(second.frame_end)
    clips = divided(None, None, min(begin, made.first - 1), max(end, made.last), [(made.first, made.blend)])
    try:
        with playing(armature, None, None):
            # The contacts are those of the strips themselves.
            track.mute = True
            try:
                hold = drain(FootHold.of(scene, armature, clips))
            finally:
                track.mute = False
            yield 0.2
            if hold is None:
                return None
            return (yield from subrange(hold.steps(scene, armature, "LAYER", f"{track.name} feet"), 0.2, 1.0))
    except BaseException:
        tracks.remove(track)
        bpy.data.actions.remove(made.action)
        raise
