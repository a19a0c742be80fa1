"""Characters from a library, as shots have them: linked, overridden, from a library of a library, several of one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

KINDS = ("object", "object and data", "hierarchy", "library of a library")
"""What of a character is overridden, and how it comes into the shot."""
COLLECTION = "Character"


def empty_file() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def save_library(folder: Path, armature: bpy.types.Object, *others: bpy.types.Object) -> str:
    """Save the file as a library whose one collection has these objects."""
    collection = bpy.data.collections.new(COLLECTION)
    bpy.context.scene.collection.children.link(collection)
    for item in (armature, *others):
        collection.objects.link(item)
        bpy.context.scene.collection.objects.unlink(item)
    return save(folder / "library.blend")


def save(path: Path) -> str:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return str(path)


def link(library: str, kind: str = "collections", name: str = COLLECTION) -> Any:
    """Something of a library, linked."""
    with bpy.data.libraries.load(library, link=True) as (_, into):
        setattr(into, kind, [name])
    return getattr(into, kind)[0]


def override_all(collection: bpy.types.Collection) -> bpy.types.Object:
    """The armature of a linked collection that is overridden with everything in it."""
    made = collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    return next(item for item in made.all_objects if item.type == "ARMATURE")


def overridden(library: str, kind: str, name: str = "Hero") -> bpy.types.Object:
    """The armature of a library in an empty file, overridden as one of KINDS says."""
    empty_file()
    if kind == "hierarchy":
        return override_all(link(library))
    if kind == "library of a library":
        collection = link(library)
        bpy.context.scene.collection.children.link(collection)
        outer = override_all(collection).users_collection[0]
        outer.name = "Outer"
        between = save(Path(library).with_name("between.blend"))
        empty_file()
        hero = override_all(link(between, name="Outer"))
    else:
        hero = link(library, "objects", name).override_create(remap_local_usages=True)
        bpy.context.scene.collection.objects.link(hero)
    if kind != "object" and hero.data.library is not None:
        hero.data.override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    return hero


def reopened(folder: Path) -> None:
    """The file, saved and opened."""
    bpy.ops.wm.open_mainfile(filepath=save(folder / "shot.blend"))


def hero() -> bpy.types.Object:
    """The overridden armature of the file."""
    return next(item for item in bpy.data.objects if item.type == "ARMATURE" and item.override_library)


def save_edited(library: str, edit: Callable[[bpy.types.Object], None]) -> str:
    """A second version of a library, in a file of its own; the file that was open is left."""
    bpy.ops.wm.open_mainfile(filepath=library)
    edit(bpy.data.objects["Hero"])
    path = Path(library).with_name("edited.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return str(path)


def add_bone(armature: bpy.types.Object, name: str, parent: str) -> None:
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    made = armature.data.edit_bones.new(name)
    made.parent = armature.data.edit_bones[parent]
    made.head, made.tail = made.parent.tail, made.parent.tail * 1.1
    bpy.ops.object.mode_set(mode="OBJECT")
