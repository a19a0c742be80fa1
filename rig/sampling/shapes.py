"""What gives objects their shape, where the place of something else depends on it: modifiers, shape keys, node groups.

An object on the vertices of a mesh, on a surface or on a path moves with everything that deforms these.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from . import own_data

ON_SHAPES = frozenset(("SHRINKWRAP", "FOLLOW_PATH", "CLAMP_TO", "SPLINE_IK", "GEOMETRY_ATTRIBUTE"))
"""Constraints that follow the shape of their target."""
_GROUPED = ("MESH", "LATTICE")
"""Objects of which a constraint may follow a group of vertices."""
_SIMPLE = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
_SKIPPED = frozenset(
    (
        "rna_type",
        "name_full",
        "is_active",
        "show_in_editmode",
        "show_on_cage",
        "use_pin_to_last",
        "is_override_data",
        "point_cache",
        "solver_result",
        "id_data",
        "select",
        "is_baking",
        "is_outdated",
        "info",
        "index",
        "name",
    )
)
_CACHE = ("frame_start", "frame_end", "frame_step", "is_baked", "use_disk_cache", "use_external", "filepath")
_DEPTH = 4
"""How deep settings are nested in settings."""
_LISTS = frozenset(("curves", "points", "elements", "canvas_surfaces"))
"""Lists of settings that are part of a setting, such as the points of a curve of values."""


@dataclass(frozen=True)
class Shape:
    """The shape of an object, as something that the place of others depends on."""

    object: bpy.types.Object


Used = bpy.types.ID | Shape | None


def followed(constraint: bpy.types.Constraint, target: bpy.types.Object | None, subtarget: str) -> bool:
    """Whether a constraint follows the shape of its target, not its place alone."""
    if target is None:
        return False
    return constraint.type in ON_SHAPES or bool(subtarget and target.type in _GROUPED)


def is_parent_by_shape(item: bpy.types.Object) -> bool:
    """Whether an object moves with the shape of its parent: on vertices of it, or along it as a path."""
    if item.parent is None:
        return False
    on_path = item.parent.type == "CURVE" and item.parent.data.use_path
    return item.parent_type.startswith("VERTEX") or on_path


def uses(item: bpy.types.Object) -> Iterator[Used]:
    """What the shape of an object depends on."""
    yield item.data
    yield getattr(item.data, "shape_keys", None)
    for name in ("bevel_object", "taper_object"):
        yield from _each(getattr(item.data, name, None))
    for modifier in item.modifiers:
        if modifier.show_viewport:
            for found in _pointers(modifier, _DEPTH):
                yield from _each(found)
            if modifier.type == "PARTICLE_SYSTEM":
                yield modifier.particle_system.settings


def tree_uses(tree: bpy.types.NodeTree) -> Iterator[Used]:
    """What the nodes of a group read."""
    for node in tree.nodes:
        for setting in node.bl_rna.properties:
            if setting.type == "POINTER" and not setting.identifier.startswith("parent"):
                value = getattr(node, setting.identifier)
                if isinstance(value, bpy.types.ID):
                    yield from _each(value)
        for socket in node.inputs:
            value = getattr(socket, "default_value", None)
            if isinstance(value, bpy.types.ID):
                yield from _each(value)


def _each(found: Any) -> Iterator[Used]:
    """An item, with the shapes of objects: what is read of them is not known."""
    if isinstance(found, bpy.types.Collection):
        yield found
        for item in found.all_objects:
            yield from _each(item)
    elif isinstance(found, bpy.types.Object):
        yield found
        yield Shape(found)
    elif isinstance(found, bpy.types.ID):
        yield found


def _pointers(item: Any, depth: int) -> Iterator[bpy.types.ID]:
    """All data that settings point to."""
    for setting in item.bl_rna.properties:
        if setting.type == "POINTER" and setting.identifier not in _SKIPPED:
            value = getattr(item, setting.identifier)
            if isinstance(value, bpy.types.ID):
                yield value
            elif value is not None and depth and not isinstance(value, bpy.types.ParticleSystem):
                yield from _pointers(value, depth - 1)
    for value in _custom_values(item).values():
        if isinstance(value, bpy.types.ID):
            yield value


# Fingerprints


def parts(item: bpy.types.Object, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """What an object gives to its shape that does not change with the frame, beside its data."""
    for modifier in item.modifiers:
        path = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"]'
        yield modifier.name, modifier.type
        yield from settings(modifier, path, animated)
    for number, system in enumerate(item.particle_systems):
        yield system.seed, system.settings.name_full
        yield from settings(system.point_cache, f"particle_systems[{number}].point_cache", animated, only=_CACHE)


def settings(
    item: Any, path: str, animated: Mapping[str, set[int]], depth: int = _DEPTH, only: tuple[str, ...] = ()
) -> Iterator[object]:
    """Settings with those in them. path: of the item. animated: data paths that change with the frame."""
    for setting in item.bl_rna.properties:
        name = setting.identifier
        if (name in _SKIPPED or (only and name not in only)) and name != "point_cache":
            continue
        here = f"{path}.{name}"
        if setting.type in _SIMPLE:
            if (not setting.is_readonly or only) and here not in animated:
                yield name, plain(getattr(item, name))
        elif setting.type == "POINTER":
            value = getattr(item, name)
            if name == "point_cache":
                if value is not None and not only:
                    yield from settings(value, here, animated, 0, only=_CACHE)
            elif isinstance(value, bpy.types.ID):
                yield name, value.name_full
            elif value is not None and depth and not isinstance(value, bpy.types.ParticleSystem):
                yield from settings(value, here, animated, depth - 1)
        elif setting.type == "COLLECTION" and name in _LISTS and depth:
            for number, value in enumerate(getattr(item, name)):
                yield from settings(value, f"{here}[{number}]", animated, depth - 1)
    for key, value in _custom_values(item).items():
        if f'{path}["{bpy.utils.escape_identifier(key)}"]' not in animated:
            yield key, value.name_full if isinstance(value, bpy.types.ID) else plain(value)


def key_parts(keys: bpy.types.Key, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """Shape keys, without what the extension shows with them."""
    shown = {}
    if keys.is_property_set("lookat_pd_blinks"):
        shown = {item.name: item.base for item in keys.lookat_pd_blinks}
    for block in keys.key_blocks:
        path = f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].'
        yield block.name, block.mute, block.vertex_group, block.relative_key.name
        if path + "value" not in animated:
            yield shown.get(block.name, block.value)
        for name in ("slider_min", "slider_max"):
            yield getattr(block, name)
        places = np.empty(3 * len(block.data), dtype=np.float32)
        if places.size and hasattr(block.data[0], "co"):
            block.data.foreach_get("co", places)
        yield places.tobytes()


def tree_parts(tree: bpy.types.NodeTree, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """The nodes of a group, their values and links."""
    for node in tree.nodes:
        path = f'nodes["{bpy.utils.escape_identifier(node.name)}"]'
        yield node.name, node.bl_idname, node.mute
        for setting in node.bl_rna.properties:
            if (setting.type == "ENUM" and not setting.is_readonly) or setting.identifier in ("boolean", "integer"):
                yield setting.identifier, plain(getattr(node, setting.identifier))
            elif setting.type == "POINTER":
                value = getattr(node, setting.identifier)
                if isinstance(value, bpy.types.ID):
                    yield setting.identifier, value.name_full
                elif isinstance(value, bpy.types.CurveMapping | bpy.types.ColorRamp):
                    yield from settings(value, f"{path}.{setting.identifier}", animated)
        for name in ("value", "vector", "string", "rotation_euler"):
            if hasattr(node, name) and f"{path}.{name}" not in animated:
                yield name, plain(getattr(node, name))
        for number, socket in enumerate((*node.inputs, *node.outputs)):
            if hasattr(socket, "default_value") and f"{path}.inputs[{number}].default_value" not in animated:
                yield socket.identifier, plain(socket.default_value)
    for link in tree.links:
        yield link.from_node.name, link.from_socket.identifier, link.to_node.name, link.to_socket.identifier
        yield link.is_muted


def file_parts(cache: bpy.types.CacheFile) -> Iterator[object]:
    """The file that a cache reads, as it is on the disk."""
    file = Path(bpy.path.abspath(cache.filepath, library=cache.library))
    try:
        known = file.stat()
    except OSError:
        return
    yield known.st_mtime_ns, known.st_size


def plain(value: Any) -> object:
    """A value as something that compares by what it is."""
    if isinstance(value, bpy.types.ID):
        return value.name_full
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return tuple(plain(one) for one in value) if hasattr(value, "__len__") else None


def _custom_values(item: Any) -> dict[str, Any]:
    """Custom properties, such as what a modifier gives a node group."""
    try:
        return {key: item[key] for key in item.keys() if not key.startswith(own_data.KEY)}
    except TypeError:
        return {}
