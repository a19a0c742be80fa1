"""The files beside its input that reach an output: libraries, images, sounds, caches, and what these name in turn."""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy

from . import gltf

_NUMBER = re.compile(r"(\d+)(?=\D*$)")
_TILE = re.compile(r"<(UDIM|UVTILE)>")
_USD = (".usd", ".usda", ".usdc", ".usdz")


def of_present(source: Path) -> list[Path]:
    """Files and folders that the present Blender file, which was read from `source`, takes content from."""
    found = dict.fromkeys(map(Path, bpy.utils.blend_paths(absolute=True, packed=False, local=False)))
    for path in _sequences():
        found.pop(path, None)
        found |= dict.fromkeys(_numbered(path))
    if source.suffix.lower() == ".gltf":
        found |= dict.fromkeys(gltf.files(source))
    found |= dict.fromkeys(_caches(source))
    for path in [*found]:
        if path.suffix.lower() in _USD:
            found |= dict.fromkeys(_of_usd(path))
    temporary, own = Path(bpy.app.tempdir), _real(source)
    # What Blender made of the input for itself has another name in each run.
    return [path for path in found if temporary not in path.parents and _real(path) != own]


def files_in(path: Path) -> Iterator[Path]:
    """The file itself, all tiles of one, or the files in a folder, sorted."""
    if _TILE.search(path.name):
        yield from sorted(path.parent.glob(_TILE.sub("[0-9]*", _escaped(path.name))))
    elif path.is_dir():
        for folder, _, names in sorted(os.walk(path)):
            yield from (Path(folder, name) for name in sorted(names))
    else:
        yield path


def _sequences() -> Iterator[Path]:
    """Files that stand for all of the same name with another number."""
    data: Iterable[Any] = (*bpy.data.images, *bpy.data.movieclips, *bpy.data.cache_files, *bpy.data.volumes)
    for item in data:
        if getattr(item, "source", "") == "SEQUENCE" or getattr(item, "is_sequence", False):
            yield Path(bpy.path.abspath(item.filepath, library=item.library))


def _numbered(path: Path) -> list[Path]:
    match = _NUMBER.search(path.name)
    if match is None:
        return [path]
    wanted = re.compile(rf"{re.escape(path.name[: match.start()])}\d+{re.escape(path.name[match.end() :])}")
    try:
        names = sorted(name for name in os.listdir(path.parent) if wanted.fullmatch(name))
    except OSError:
        names = []
    return [path.with_name(name) for name in names] or [path]


def _caches(source: Path) -> Iterator[Path]:
    """Caches, and what else is read, that Blender does not list among the paths of a file."""
    libraries = [Path(bpy.path.abspath(library.filepath)) for library in bpy.data.libraries]
    for path in (source, *libraries):
        # What is linked keeps its caches beside its library.
        beside = path.parent / f"blendcache_{path.stem}"
        if beside.is_dir():
            yield beside
    for item in bpy.data.objects:
        for modifier in item.modifiers:
            yield from (Path(bpy.path.abspath(path, library=item.library)) for path in _of_modifier(modifier) if path)
            given = (Path(bpy.path.abspath(text, library=item.library)) for text in _given(modifier))
            yield from (path for path in given if path.is_absolute() and path.is_file())
        for system in item.particle_systems:
            yield from map(Path, _external(system.point_cache))
    for scene in bpy.data.scenes:
        if scene.rigidbody_world is not None:
            yield from map(Path, _external(scene.rigidbody_world.point_cache))
    for cache in bpy.data.cache_files:
        yield from (Path(bpy.path.abspath(layer.filepath, library=cache.library)) for layer in cache.layers)


def _of_modifier(modifier: Any) -> Iterator[str]:
    """Folders of its caches."""
    yield getattr(modifier, "bake_directory", "")
    yield from (bake.directory for bake in getattr(modifier, "bakes", ()) if bake.use_custom_path)
    yield from _external(getattr(modifier, "point_cache", None))


def _given(modifier: Any) -> list[str]:
    """The texts that Geometry Nodes get; some are the paths of files to read."""
    if modifier.type != "NODES" or modifier.node_group is None:
        return []
    if not hasattr(modifier, "properties"):
        # Before Blender 5.2.
        return [value for value in modifier.values() if isinstance(value, str) and value]
    inputs = modifier.properties.inputs
    sockets = [one.identifier for one in modifier.node_group.interface.items_tree if one.item_type == "SOCKET"]
    values = [getattr(getattr(inputs, name, None), "value", None) for name in sockets]
    return [value for value in values if isinstance(value, str) and value]


def _external(cache: Any) -> list[str]:
    return [bpy.path.abspath(cache.filepath)] if cache is not None and cache.use_external and cache.filepath else []


def _of_usd(path: Path) -> list[Path]:
    """The layers and assets that a USD file refers to."""
    with contextlib.suppress(Exception):
        from pxr import Sdf, UsdUtils  # pyright: ignore[reportMissingImports]

        layers, assets, _ = UsdUtils.ComputeAllDependencies(Sdf.AssetPath(str(path)))
        return [Path(layer.realPath) for layer in layers if layer.realPath] + [Path(asset) for asset in assets]
    return []


def _escaped(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _real(path: Path) -> str:
    return os.path.realpath(path)
