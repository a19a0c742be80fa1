"""Who looks at what: the look-ats of armatures, and those that have an object or a bone as a target."""

from collections.abc import Collection, Iterable, Iterator

import bpy
from bpy.app.handlers import persistent

from ..sampling import targets
from . import resolve, setting_changes

_names: dict[int, tuple[int, list[str]]] = {}
"""Number of bones and names of those with look-ats, by armature: large rigs have hundreds, and each redraw asks."""


def bones(armature: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The bones of an armature that have a look-at."""
    if armature.pose is None:
        return []
    there = armature.pose.bones
    known = _names.get(armature.session_uid)
    if known is None or known[0] != len(there) or not all(_has_one(there, name) for name in known[1]):
        known = _names[armature.session_uid] = len(there), resolve.bones_with_look_at(armature)
    return [there[name] for name in known[1]]


def _has_one(there: Collection, name: str) -> bool:
    bone = there.get(name)  # type: ignore[attr-defined]
    return bone is not None and resolve.exists_on(bone)


def at(
    objects: Iterable[bpy.types.Object], items: Collection[bpy.types.Object], bone: str = ""
) -> Iterator[bpy.types.PoseBone]:
    """Bones of armatures among `objects` with a look-at that has one of `items`, or a bone of it, as a target.

    bone: of armatures among `items` only that bone, or the whole; "" for any.
    """
    for armature in objects:
        if armature.type != "ARMATURE" or armature.library is not None:
            continue
        for owner in bones(armature):
            aimed = (target for target in targets.listed(owner.lookat_pd) if target.object in items)
            if any(not bone or target.bone in ("", bone) for target in aimed):
                yield owner


@persistent
def _forget(*_: object) -> None:
    _names.clear()


_HANDLERS = ("undo_post", "redo_post", "load_pre", "load_post")


def register() -> None:
    setting_changes.listeners.append(_forget)
    for name in _HANDLERS:
        getattr(bpy.app.handlers, name).append(_forget)


def unregister() -> None:
    for name in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(_forget)
    setting_changes.listeners.remove(_forget)
    _forget()
