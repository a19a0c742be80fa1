"""What is registered in Blender, as plain data that can be compared."""

from collections.abc import Iterator

import bpy

EXTENSIBLE = (
    "PoseBone",
    "Bone",
    "Object",
    "Key",
    "Armature",
    "Action",
    "Scene",
    "WindowManager",
    "Screen",
    "Collection",
)
BASES = ("PropertyGroup", "Operator", "Panel", "Menu", "Header", "UIList", "AddonPreferences", "Gizmo", "GizmoGroup")


def _classes() -> Iterator[tuple[str, str]]:
    """Name and Python module of every registered class, those that `bpy.types` does not list among them."""
    for name in dir(bpy.types):
        # Blender makes its own classes when they are asked for: having all makes two snapshots alike.
        yield name, getattr(getattr(bpy.types, name), "__module__", "")
    for base in BASES:
        below = list(getattr(bpy.types, base).__subclasses__())
        while below:
            kind = below.pop()
            below += kind.__subclasses__()
            if getattr(kind, "is_registered", False):
                yield kind.__name__, kind.__module__


def _handlers() -> Iterator[tuple[str, str]]:
    """List and Python module of every application handler."""
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        if isinstance(handlers, list):
            yield from ((name, getattr(handler, "__module__", "")) for handler in handlers)


def _properties() -> Iterator[tuple[str, str]]:
    """Type and name of every property that add-ons may have put on Blender's own types."""
    for name in EXTENSIBLE:
        kind = getattr(bpy.types, name)
        yield from ((name, attribute) for attribute in dir(kind) if not attribute.startswith("__"))
        yield from ((name, prop.identifier) for prop in kind.bl_rna.properties)


def _draw_functions() -> Iterator[tuple[str, str]]:
    """Menu or panel, and Python module, of every draw function appended to it."""
    for name in dir(bpy.types):
        draw = getattr(getattr(bpy.types, name), "draw", None)
        for function in getattr(draw, "_draw_funcs", ()):
            yield name, getattr(function, "__module__", "")


def _keys() -> Iterator[tuple[str, str]]:
    """Keymap and operator of every add-on key; Blender without a window has no add-on keys."""
    addon = bpy.context.window_manager.keyconfigs.addon
    for keymap in addon.keymaps if addon else ():
        yield from ((keymap.name, item.idname) for item in keymap.keymap_items)


def _operators() -> Iterator[tuple[str, str]]:
    """Category and name of our operators that can be called."""
    yield from (("lookat_pd", name) for name in dir(bpy.ops.lookat_pd))


def snapshot() -> dict[str, list[tuple[str, str]]]:
    """Everything registered now, by kind."""
    return {
        "class": sorted(_classes()),
        "handler": sorted(_handlers()),
        "property": sorted(_properties()),
        "draw function": sorted(_draw_functions()),
        "key": sorted(_keys()),
        "operator": sorted(_operators()),
        "scene": sorted((scene.name, "") for scene in bpy.data.scenes),
    }


def left_behind(package: str) -> list[str]:
    """Entries of `snapshot` that belong to the package, by their module or by the project's name."""
    return [
        f"{kind}: {' '.join(entry)}"
        for kind, entries in snapshot().items()
        for entry in entries
        if any(part.startswith((package, "lookat_pd", "LOOKAT_PD")) for part in entry)
    ]
