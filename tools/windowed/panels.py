"""Panels that are closed at first, open: what Blender remembers of a panel is not in a script's hands."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy


@contextmanager
def opened(*names: str, alone: bool = True) -> Iterator[None]:
    """Some panels in the tab, under other names and open: Blender remembers of the others that they were closed.

    names: as "ik" or "sidebar_body", of registered panels without what all have in common. alone: no others are there.
    """
    common, tab = "LOOKAT_PD_PT_", "Look-at PD"
    kinds = [getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith(common)]
    hidden = [kind for kind in kinds if getattr(kind, "bl_category", "") == tab and not hasattr(kind, "bl_parent_id")]
    if not alone:
        hidden = [kind for kind in hidden if kind.__name__.removeprefix(common) in names]
    made = []
    for name in names:
        closed = getattr(bpy.types, common + name)
        skipped = ("bl_rna", "is_registered", "bl_options", "bl_parent_id")
        own = {key: value for key, value in vars(closed).items() if key not in skipped and key[:2] != "__"}
        where = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": tab, "bl_options": set()}
        made.append(type(f"{common}{name}_opened", closed.__bases__, {**own, **where}))
    polls = [(kind, vars(kind).get("poll")) for kind in hidden]
    for kind in hidden:
        kind.poll = classmethod(lambda cls, context: False)
    for kind in made:
        bpy.utils.register_class(kind)
    try:
        yield
    finally:
        for kind in reversed(made):
            bpy.utils.unregister_class(kind)
        for kind, poll in polls:
            if poll is None:
                del kind.poll
            else:
                kind.poll = poll
