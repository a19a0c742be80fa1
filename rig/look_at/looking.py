"""Who looks at what: the look-ats of armatures, and those that have an object or a bone as a target."""

from collections.abc import Collection, Iterator

import bpy

from ..guards import callbacks
from ..layers import live
from ..sampling import targets
from . import resolve, setting_changes

KIND = "LOOK_AT"
"""Name of their kind of layer."""

_names: dict[int, tuple[int, list[str]]] = {}
"""Number of bones and names of those with look-ats, by armature: large rigs have hundreds, and each redraw asks."""
_rigs: dict[int, tuple[int, list[str]]] = {}
"""Number of objects in the file and names of armatures with look-ats, by scene: there may be thousands of objects."""


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


def at(scene: bpy.types.Scene, items: Collection[bpy.types.Object], bone: str = "") -> Iterator[bpy.types.PoseBone]:
    """Bones of armatures of a scene with a look-at that has one of `items`, or a bone of it, as a target.

    bone: of armatures among `items` only that bone, or the whole; "" for any.
    """
    for armature in _rigs_of(scene):
        for owner in bones(armature):
            aimed = (target for target in targets.listed(owner.lookat_pd) if target.object in items)
            if any(not bone or target.bone in ("", bone) for target in aimed):
                yield owner


def _rigs_of(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The local armatures of a scene that have look-ats."""
    if not live.is_there(KIND):
        return []
    _watch()
    count = len(bpy.data.objects)
    known = _rigs.get(scene.session_uid)
    if known is None or known[0] != count:
        found = [item for item in scene.objects if item.type == "ARMATURE" and item.library is None and bones(item)]
        _rigs[scene.session_uid] = count, [item.name for item in found]
        return found
    found = [bpy.data.objects.get((name, None)) for name in known[1]]
    if None in found:
        _rigs.clear()
        return _rigs_of(scene)
    return found


@callbacks.handler
def _forget(*_: object) -> None:
    _names.clear()
    _rigs.clear()
    if _updated in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.remove(_updated)


def _watch() -> None:
    """Hear of objects that come, go or move to another scene, as long as it is known who is in which."""
    if _updated not in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.append(_updated)


@callbacks.handler
def _updated(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.id_type_updated("COLLECTION") or depsgraph.id_type_updated("SCENE"):
        _rigs.clear()


_HANDLERS = tuple((name, _forget) for name in ("undo_post", "redo_post", "load_pre", "load_post"))


def register() -> None:
    setting_changes.listeners.append(_forget)
    callbacks.add_handlers(_HANDLERS)


def unregister() -> None:
    callbacks.remove_handlers(_HANDLERS)
    setting_changes.listeners.remove(_forget)
    _forget()
