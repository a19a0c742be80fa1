"""The groups of settings that objects, bones and their data have: declared, read, and kept on library overrides.

Blender makes a group of settings when it is first looked at, and it is in the file from then on. Of a library override
it saves a group that the linked original does not have as one whole, which it cannot load: it prints an error, and all
settings are lost. So what may have no settings is read by `stored` and `read`, which make nothing, and the original
gets the groups that its override has, in memory: it is never saved with the file.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import bpy

from ..guards import callbacks

DECLARED: dict[type, list[str]] = {}
"""The groups and lists of groups that each type of data has."""
_DATA = {
    bpy.types.Object: "objects",
    bpy.types.Armature: "armatures",
    bpy.types.Key: "shape_keys",
    bpy.types.Action: "actions",
}
"""Where the data of each type is, besides bones."""
_GROUPS = ("POINTER", "COLLECTION")
_PAUSE = 0.5
"""Seconds after an edit in which there may be others."""
_unmatched = 0
"""How many contexts of `unmatched` are open."""


def declare(owner: type, name: str, property: Any) -> None:
    """Let all data of a type have a group of settings, or a list of such groups."""
    setattr(owner, name, property)
    DECLARED.setdefault(owner, []).append(name)


def withdraw(owner: type, name: str) -> None:
    """Undo `declare`."""
    DECLARED[owner].remove(name)
    delattr(owner, name)
    _unset.cache_clear()
    _inner.cache_clear()


class Registered(Protocol):
    """What is registered and unregistered, such as a module."""

    def register(self) -> None: ...

    def unregister(self) -> None: ...


def registration(
    classes: Sequence[type],
    *groups: tuple[type, str, Any],
    scene: tuple[str, Any] | None = None,
    then: Sequence[Registered] = (),
) -> tuple[Callable[[], None], Callable[[], None]]:
    """The functions that register classes of settings with all data that have them, and unregister them in reverse.

    groups: each the type of data and the name and property that it gets by `declare`. scene: the name and property of
    the group that scenes have. then: what comes after them.
    """

    def register() -> None:
        for kind in classes:
            bpy.utils.register_class(kind)
        if scene is not None:
            setattr(bpy.types.Scene, *scene)
        for group in groups:
            declare(*group)
        for part in then:
            part.register()

    def unregister() -> None:
        for part in reversed(then):
            part.unregister()
        for owner, name, _ in reversed(groups):
            withdraw(owner, name)
        if scene is not None:
            delattr(bpy.types.Scene, scene[0])
        for kind in reversed(classes):
            bpy.utils.unregister_class(kind)

    return register, unregister


def stored(owner: Any, name: str) -> Any:
    """The settings of that name that an object, bone or armature has; None where nobody has set any."""
    return getattr(owner, name) if owner.is_property_set(name) else None


def read(owner: Any, name: str) -> Any:
    """The same, to be read only: where there are none, all have their defaults."""
    found = stored(owner, name)
    return found if found is not None else _unset(type(owner), name)


class _Unset:
    """Settings that nobody has set, with their defaults."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} is set on settings that are not stored")


@cache
def _unset(owner: type, name: str) -> _Unset:
    return _defaults(owner.bl_rna.properties[name].fixed_type)


def _defaults(group: Any) -> _Unset:
    return _Unset({p.identifier: _default(p) for p in group.properties if p.identifier != "rna_type"})


def _default(property: Any) -> Any:
    if property.type == "POINTER":
        return _defaults(property.fixed_type) if _is_group(property.fixed_type) else None
    if property.type == "COLLECTION":
        return ()
    if getattr(property, "is_array", False):
        return tuple(property.default_array)
    return property.default


def _is_group(kind: Any) -> bool:
    return kind.base is not None and kind.base.identifier == "PropertyGroup"


# Which there are


def in_file(names: Collection[str]) -> set[str]:
    """Those of some groups of settings, or of lists of such, that any local data of the file has."""
    found: set[str] = set()
    for kind in DECLARED:
        declared = [name for name in _of(kind) if name in names]
        for item in _local(kind) if declared else ():
            found.update(name for name in declared if item.is_property_set(name))
    return found


def _local(kind: type) -> Iterator[Any]:
    """All local data of a type that may have groups of settings."""
    if kind is bpy.types.PoseBone:
        for item in _local(bpy.types.Object):
            yield from item.pose.bones if item.pose else ()
        return
    yield from (item for item in getattr(bpy.data, _DATA[kind]) if item.library is None)


# Library overrides


def match(item: bpy.types.ID) -> None:
    """Let a library override and its linked original have the same groups of settings, and new items their names.

    Blender tells items of lists apart by their names, and forgets some of those that have none.
    """
    original = item.override_library.reference if item.override_library is not None else None
    if original is None:
        return
    for own, other in ((item, original), *_bones(item, original)):
        _match(own, other, _of(type(own)))


def _bones(item: bpy.types.ID, original: bpy.types.ID) -> Iterator[tuple[Any, Any]]:
    """The bones with settings of an armature and of its original, in pairs."""
    if not (isinstance(item, bpy.types.Object) and isinstance(original, bpy.types.Object)):
        return
    if item.pose is None or original.pose is None:
        return
    names = _of(bpy.types.PoseBone)
    for bone in {*_with_settings(item.pose, names), *_with_settings(original.pose, names)}:
        own, other = item.pose.bones.get(bone), original.pose.bones.get(bone)
        if own is not None and other is not None:
            yield own, other


def _with_settings(pose: bpy.types.Pose, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        # Hundreds of bones are asked at each edit.
        yield from [bone.name for bone in pose.bones if bone.is_property_set(name)]


def _of(kind: type) -> tuple[str, ...]:
    return tuple(DECLARED.get(kind, ()))


def _match(own: Any, other: Any, names: Iterable[str]) -> None:
    for name in names:
        if not own.is_property_set(name) and not other.is_property_set(name):
            continue
        mine, theirs = getattr(own, name), getattr(other, name)
        if own.bl_rna.properties[name].type == "COLLECTION":
            _match_items(mine, theirs, is_named=isinstance(own, bpy.types.ID))
        else:
            _match(mine, theirs, _inner(type(mine)))


def _match_items(own: Any, other: Any, *, is_named: bool) -> None:
    """is_named: whether names of the items say something, so that none is given."""
    taken = {item.name for item in other}
    for n, item in enumerate(own):
        if n < len(other):
            _match(item, other[n], _inner(type(item)))
        elif not is_named:
            if not item.name or item.name in taken:
                item.name = _free(item.name, taken)
            taken.add(item.name)


def _free(name: str, taken: set[str]) -> str:
    number = 1
    while f"{name or 'Item'} {number}" in taken:
        number += 1
    return f"{name or 'Item'} {number}"


@cache
def _inner(kind: type) -> tuple[str, ...]:
    """The groups and lists of groups within a group of settings."""
    found = [p for p in kind.bl_rna.properties if p.type in _GROUPS and _is_group(p.fixed_type)]
    return tuple(p.identifier for p in found)


@contextmanager
def unmatched() -> Iterator[None]:
    """Nothing gets settings in this context, such as a drag: overrides are not matched at its updates."""
    global _unmatched
    _unmatched += 1
    try:
        yield
    finally:
        _unmatched -= 1


@callbacks.handler
def _match_changed(_: object, depsgraph: bpy.types.Depsgraph) -> None:
    """Also between two times of saving: Blender compares overrides with originals before it reloads a library."""
    if _unmatched:
        return
    changed = [update.id.original for update in depsgraph.updates]
    overrides = [item for item in changed if item.override_library is not None]
    if bpy.app.background:
        for item in overrides:
            match(item)
    elif overrides and not callbacks.is_timed(_match_soon):
        # All bones of a rig are asked, which would take a fifth of the time of each step of a drag.
        callbacks.start_timer(_match_soon, _PAUSE)


def _match_soon() -> None:
    _match_all()


@callbacks.handler
def _match_all(*_: object) -> None:
    for items in (bpy.data.objects, bpy.data.armatures, bpy.data.shape_keys):
        for item in items:
            match(item)


_HANDLERS = (("save_pre", _match_all), ("load_post", _match_all), ("depsgraph_update_post", _match_changed))


def register() -> None:
    callbacks.add_handlers(_HANDLERS)


def unregister() -> None:
    callbacks.stop_timer(_match_soon)
    callbacks.remove_handlers(_HANDLERS)
