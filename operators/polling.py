"""Whether an operator can run, and the reason why it cannot, as a sentence that its tooltip shows."""

from collections.abc import Callable
from typing import ClassVar

import bpy

from ..lookat_pd.errors import LookAtError
from ..rig.animation import editable
from ..translations import messages
from . import selection


def why_no_armature(context: bpy.types.Context) -> str | None:
    """The reason why the armature cannot be used, as a sentence; None if it can."""
    item = selection.armature(context)
    if item is None or item.type != "ARMATURE":
        return "Select the character's armature"
    if context.mode.startswith("EDIT"):
        return "Leave edit mode"
    return refusal(editable.check_armature, item)


def refusal(check: Callable[..., object], *arguments: object) -> str | None:
    """The sentence of the LookAtError that a check raises; None if it raises none."""
    try:
        check(*arguments)
    except LookAtError as error:
        return messages.translate(str(error))
    return None


def why_no_look_at(context: bpy.types.Context) -> str | None:
    """The reason why no look-at can be used, as a sentence; None if one can."""
    reason = why_no_armature(context)
    if reason is None and selection.look_at_bone(context) is None:
        reason = "Add a look-at first"
    return reason


class Explained:
    """An operator that is disabled if `why_not` returns a reason, which its tooltip shows."""

    bl_options = {"REGISTER", "UNDO"}
    why_not: ClassVar[Callable[[bpy.types.Context], str | None]]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll(cls, cls.why_not(context))


class OfLookAt(Explained):
    """An operator for the displayed look-at."""

    why_not = staticmethod(why_no_look_at)


def poll(cls: type, reason: str | None) -> bool:
    """Disable an operator if there is a reason, which becomes the last line of the tooltip."""
    if reason is not None:
        cls.poll_message_set(messages.translate(reason).rstrip(".。"))
    return reason is None
