"""Whether an operator can run, and the reason why it cannot, as a sentence that its tooltip shows."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import bpy

from ..lookat_pd.errors import LookAtError
from ..rig.animation import editable
from ..rig.guards import callbacks
from ..rig.sampling.own_data import TEMPORARY
from ..translations import messages
from . import selection

_known: dict[tuple[object, ...], str | None] = {}
"""What checks of rigs have said since anything has changed: by their names, rig, bones and language."""


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


def refusal_of_bones(
    check: Callable[[bpy.types.Object, Sequence[str]], object], armature: bpy.types.Object, bones: Sequence[str]
) -> str | None:
    """The same for a check that reads a whole rig: each redraw asks several times, so that it is called again only
    once something has changed."""
    key = check.__qualname__, armature.session_uid, tuple(bones), bpy.app.translations.locale
    if key not in _known:
        _known[key] = refusal(check, armature, bones)
    return _known[key]


@callbacks.handler
def _forget(*_: object) -> None:
    _known.clear()


@callbacks.handler
def _changed(scene: bpy.types.Scene, _: object) -> None:
    if _known and TEMPORARY not in scene:
        _known.clear()


_HANDLERS = (
    ("depsgraph_update_post", _changed),
    *((name, _forget) for name in ("undo_post", "redo_post", "load_pre", "load_post")),
)


def register() -> None:
    callbacks.add_handlers(_HANDLERS)


def unregister() -> None:
    callbacks.remove_handlers(_HANDLERS)
    _forget()


def why_no_action(armature: bpy.types.Object, *, or_strips: bool = False) -> str | None:
    """The reason why there is no animation to work on, as a sentence; None if there is. or_strips: NLA tracks will do
    as well."""
    data = armature.animation_data
    if data is None or (data.action is None and not (or_strips and data.nla_tracks)):
        return "The armature has no action; assign one in the Action editor"
    return None


def why_no_target(*, has_target: bool) -> str | None:
    """The reason why a look-at has nothing to look at, as a sentence; None if it has."""
    return None if has_target else "Choose a target to look at"


def why_no_bone(context: bpy.types.Context) -> str | None:
    """The reason why no bone can be moved, as a sentence; None if one can."""
    reason = why_no_armature(context)
    if reason is None and selection.bone(context) is None:
        reason = "Select the bone to move, such as a hand"
    return reason


def why_no_look_at(context: bpy.types.Context) -> str | None:
    """The reason why no look-at can be used, as a sentence; None if one can."""
    shown = selection.look_at_bone(context)
    if shown is None:
        return why_no_armature(context) or "Add a look-at first"
    if context.mode.startswith("EDIT"):
        return "Leave edit mode"
    return refusal(editable.check_armature, shown.id_data)


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
