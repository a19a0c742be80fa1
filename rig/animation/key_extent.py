"""Where an item's own keys are, beside a range of frames."""

import bpy

from ...lookat_pd.message import Message
from . import actions


def outside(item: bpy.types.ID | None, first: int, last: int) -> Message | None:
    """What to tell of a range of frames in which the item stands still, because all keys of its action are before or
    after it; None if its animation may move it there."""
    data = None if item is None else item.animation_data
    if data is None or data.action is None or (data.use_nla and any(track.strips for track in data.nla_tracks)):
        return None
    curves = [curve for curve in actions.curves(data.action, data.action_slot) if len(curve.keyframe_points)]
    if not curves or any(curve.modifiers or curve.extrapolation != "CONSTANT" for curve in curves):
        return None
    begin, end = min(curve.range()[0] for curve in curves), max(curve.range()[1] for curve in curves)
    # Keys at one frame are a pose, which is meant for all frames.
    if begin == end or (first <= end and begin <= last):
        return None
    return Message(
        "Action '{action}' has keys from frame {begin:.0f} to {end:.0f}, so that '{item}' does not move in the frames "
        "{first} to {last}; choose frames of the action.",
        action=data.action.name,
        begin=begin,
        end=end,
        item=item.name,
        first=first,
        last=last,
    )
