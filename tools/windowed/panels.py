"""Panels that are closed at first, open: what Blender remembers of a panel is not in a script's hands."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

import extension

_COMMON, _TAB = "LOOKAT_PD_PT_", "Look-at PD"
_LEFT_OUT = ("bl_rna", "is_registered", "bl_options")


@contextmanager
def opened(*names: str, alone: bool = True) -> Iterator[None]:
    """Some panels in the tab, under other names and open: Blender remembers of the others that they were closed.

    names: as "ik" or "sidebar_body", of registered panels without what all have in common. alone: no others are there.
    """
    own = [name for name in dir(bpy.types) if name.startswith(_COMMON)]
    kinds = {name.removeprefix(_COMMON): getattr(bpy.types, name) for name in own}
    away = [kind for name, kind in kinds.items() if _is_in_tab(kind, kinds) and (alone or _below(name, names))]
    made = [_open(name, kinds[name]) for name in names]
    for kind in reversed(away):
        bpy.utils.unregister_class(kind)
    for kind in made:
        bpy.utils.register_class(kind)
    try:
        yield
    finally:
        for kind in reversed(made):
            bpy.utils.unregister_class(kind)
        for kind in away:
            bpy.utils.register_class(kind)
        # In their order in the tab again.
        panels = extension.load("panels")
        panels.unregister()
        panels.register()


def _is_in_tab(kind: type, kinds: dict[str, type]) -> bool:
    parent = kinds.get(getattr(kind, "bl_parent_id", "").removeprefix(_COMMON))
    return _is_in_tab(parent, kinds) if parent is not None else getattr(kind, "bl_category", "") == _TAB


def _below(name: str, names: tuple[str, ...]) -> bool:
    """Whether a panel is one of these or in one of them."""
    return any(name == other or name.startswith(f"{other}_") for other in names)


def _open(name: str, closed: type) -> type:
    own = {key: value for key, value in vars(closed).items() if key not in _LEFT_OUT and key[:2] != "__"}
    where = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": _TAB, "bl_options": set()}
    # Its parent may be that of a class that it inherits from.
    where["bl_parent_id"] = ""
    # Its base, since methods of it may ask for those of their class.
    return type(f"{_COMMON}{name}_opened", (closed,), {**own, **where})
