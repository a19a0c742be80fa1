"""Writing springs into a VRM file: what has changed since it was read, and chains that it does not have.

Those that were taken from it and are no longer here are removed from it.
All else of the file stays, also springs of it that were never taken.
"""

import copy
import json
from pathlib import Path
from typing import Any

import bpy

from ...lookat_pd.errors import FileError
from ..detection import glb, vrm
from . import chains, vrm_data, vrm_known, vrm_unsaid
from .vrm_data import NEW, OLD
from .vrm_new import NewSprings
from .vrm_old import OldSprings
from .vrm_work import VrmWork, VrmWritten


def content(path: Path, scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[bytes, VrmWritten]:
    """The content of a VRM file with the springs of an armature. Raises FileError."""
    document = vrm.document(path)
    if not vrm_data.is_vrm(document):
        raise FileError("'{name}' has no VRM data; choose a VRM file.", name=path.name)
    made, written = edited(document, scene, armature)
    text = json.dumps(made, separators=(",", ":"), ensure_ascii=False)
    return glb.assembled(text, glb.after_document(path.read_bytes())), written


def note(armature: bpy.types.Object, written: VrmWritten) -> None:
    """Note what a file has now, after it was written."""
    bones = [bone for chain in chains.on(armature) for bone in chain.bones]
    vrm_known.note_written(armature, bones, [(one.item, one.now) for one in written.placed])


def edited(
    document: dict[str, Any], scene: bpy.types.Scene, armature: bpy.types.Object
) -> tuple[dict[str, Any], VrmWritten]:
    """The same JSON part with the springs of an armature. Raises LookAtError."""
    made = copy.deepcopy(document)
    extensions = made.setdefault("extensions", {})
    work = VrmWork(scene, armature, made, vrm_data.read(document))
    if OLD in extensions and NEW not in extensions:
        OldSprings(work, extensions[OLD].setdefault("secondaryAnimation", {})).write()
    else:
        own = extensions.setdefault(NEW, {"specVersion": "1.0"})
        used = made.setdefault("extensionsUsed", [])
        if NEW not in used:
            used.append(NEW)
        NewSprings(work, own).write()
    work.written.notes += vrm_unsaid.notes(work)
    work.written.placed = work.placed
    return made, work.written
