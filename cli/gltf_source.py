"""A glTF file as the source of its own output: read without meshes, and written with nothing but its animations edited.

What is read is a copy in which every mesh is one triangle, so that objects, parents, skins and names of shape keys are
those of the file, and each node has its index as an extra.
"""

import copy
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import bpy

from ..lookat_pd.errors import FileError, LookAtError
from . import gltf

NODE = "lookat_pd_node"
"""Name of the extra that has the index of a node, in the copy that is imported."""
_LEFT_OUT = ("materials", "textures", "images", "samplers")
_OF_MESHES = ("KHR_draco_mesh_compression", "KHR_mesh_quantization", "KHR_materials", "KHR_texture", "EXT_texture")
_LONGEST_NAME = 60
"""Bytes of a name that every Blender keeps."""
_MIME = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


class WholeFileNeeded(LookAtError):
    """The output cannot be made by editing the input's animations; the whole file is imported and exported then."""


@dataclass(frozen=True)
class Written:
    """An action that a verb has made."""

    armature: bpy.types.Object
    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    pose: dict[str, dict[str, tuple[float, ...]]]
    """Channels of each bone while the rig played the action."""
    before: bpy.types.Action | None = None
    """Action that it was made from, unchanged; None if it is all new."""
    before_slot: bpy.types.ActionSlot | None = None
    source: str = ""
    """Name of the animation that it was made from."""
    in_place: bool = False
    """It takes the place of that animation."""


@dataclass
class GltfSource:
    """A file in one piece."""

    path: Path
    text: dict[str, str]
    """Text of the JSON part by section."""
    document: dict[str, Any]
    binary: bytes
    """Content of the only buffer."""
    written: list[Written] = field(default_factory=list)
    """What is to be added to the file."""

    @property
    def animations(self) -> dict[str, int]:
        """Index of each animation whose name is unique and is that of its action."""
        names = [animation.get("name") for animation in self.document.get("animations", ())]
        return {
            name: index
            for index, name in enumerate(names)
            if name and names.count(name) == 1 and len(name.encode()) <= _LONGEST_NAME
        }

    def check_meshes(self, why: bool) -> None:
        """Raise WholeFileNeeded where a result depends on meshes that are not read. why: whether it does."""
        if why and self.document.get("meshes"):
            raise WholeFileNeeded("The result depends on meshes.")

    @contextmanager
    def copied(self, patterns: Sequence[str] | None) -> Iterator[Path]:
        """The path of the copy to import.

        patterns: of the names of the animations that are needed besides the first; None for all.
        """
        content = gltf.assemble(gltf.dumped(_reduced(self, patterns)), self.binary)
        with tempfile.NamedTemporaryFile(dir=bpy.app.tempdir, suffix=".glb", delete=False) as file:
            file.write(content)
        path = Path(file.name)
        try:
            yield path
        finally:
            path.unlink()


def read(path: Path) -> GltfSource:
    """Raises FileError, and WholeFileNeeded for a file that cannot be read so."""
    text, binary = gltf.parts(path)
    texts = gltf.sections(text)
    document = {key: json.loads(value) for key, value in texts.items()}
    source = GltfSource(path, texts, document, binary)
    try:
        _check(document)
        _join_buffers(source)
        _embed_images(source)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        # The importer says what is wrong, or can read it.
        raise WholeFileNeeded("The file is unusual.") from error
    return source


def _check(document: dict[str, Any]) -> None:
    for animation in document.get("animations", ()):
        if any(channel["target"]["path"] == "pointer" for channel in animation["channels"]):
            raise WholeFileNeeded("Animation of other things than nodes.")
    if "EXT_meshopt_compression" in document.get("extensionsRequired", ()):
        raise WholeFileNeeded("Compressed data.")


def _join_buffers(source: GltfSource) -> None:
    """Bring all buffers into the first, which has no file of its own then."""
    buffers = source.document.get("buffers", [])
    if len(buffers) == 1 and "uri" not in buffers[0]:
        source.binary = source.binary[: buffers[0]["byteLength"]]
        return
    if not buffers:
        source.binary = b""
        return
    content, starts = b"", []
    for buffer in buffers:
        content += b"\0" * (-len(content) % 4)
        starts.append(len(content))
        content += gltf.buffer_of(buffer, source.binary, source.path.parent)[: buffer["byteLength"]]
    if len(buffers) > 1:
        for view in source.document["bufferViews"]:
            view["byteOffset"] = starts[view["buffer"]] + view.get("byteOffset", 0)
            view["buffer"] = 0
        source.text["bufferViews"] = gltf.dumped(source.document["bufferViews"])
    kept = {key: value for key, value in buffers[0].items() if key != "uri"}
    source.binary = content
    _set(source, "buffers", [{**kept, "byteLength": len(content)}])


def _embed_images(source: GltfSource) -> None:
    """Bring images in files of their own into the buffer: the output is one file."""
    images = source.document.get("images", [])
    if not any("uri" in image and not image["uri"].startswith("data:") for image in images):
        return
    for image in images:
        uri = image.get("uri")
        if uri is None or uri.startswith("data:"):
            continue
        kind = _MIME.get(Path(unquote(uri)).suffix.lower())
        if kind is None:
            raise WholeFileNeeded("An image of an unusual kind.")
        try:
            content = gltf.content_of(uri, source.path.parent)
        except FileError:
            raise WholeFileNeeded("An image is missing.") from None
        del image["uri"]
        image["bufferView"], image["mimeType"] = append(source, content), kind
    _set(source, "images", images)
    _set(source, "bufferViews", source.document["bufferViews"])


def append(source: GltfSource, content: bytes) -> int:
    """Add content to the buffer; returns the index of its view, which is not in the text yet."""
    source.binary += b"\0" * (-len(source.binary) % 4)
    views = source.document.setdefault("bufferViews", [])
    views.append({"buffer": 0, "byteOffset": len(source.binary), "byteLength": len(content)})
    source.binary += content
    buffers = source.document.get("buffers") or [{}]
    _set(source, "buffers", [{**buffers[0], "byteLength": len(source.binary)}])
    return len(views) - 1


def _set(source: GltfSource, key: str, value: Any) -> None:
    source.document[key] = value
    source.text[key] = gltf.dumped(value)


# The copy that is imported


def _reduced(source: GltfSource, patterns: Sequence[str] | None) -> dict[str, Any]:
    document = {key: value for key, value in source.document.items() if key not in _LEFT_OUT}
    accessors = list(document.get("accessors", ()))
    document["nodes"] = [
        {**node, "extras": {**_extras(node), NODE: index}} for index, node in enumerate(document.get("nodes", ()))
    ]
    if "meshes" in document:
        corner = {"componentType": 5126, "type": "VEC3", "count": 3, "min": [0.0] * 3, "max": [0.0] * 3}
        document["meshes"] = [_triangle(mesh, len(accessors)) for mesh in document["meshes"]]
        document["accessors"] = [*accessors, corner]
    for key in ("extensionsUsed", "extensionsRequired"):
        if key in document:
            document[key] = [name for name in document[key] if not name.startswith(_OF_MESHES)]
    wanted = _wanted(source, patterns)
    if wanted is not None:
        document["animations"] = [document["animations"][index] for index in wanted]
    return document


def _extras(node: dict[str, Any]) -> dict[str, Any]:
    found = node.get("extras")
    return found if isinstance(found, dict) else {}


def _triangle(mesh: dict[str, Any], corners: int) -> dict[str, Any]:
    """A mesh in place of another, with the shape keys of that. corners: index of the accessor of its corners."""
    targets = [primitive.get("targets", ()) for primitive in mesh["primitives"]]
    count = max(map(len, targets), default=0)
    moves = [any(len(own) > n and "POSITION" in own[n] for own in targets) for n in range(count)]
    primitive: dict[str, Any] = {"attributes": {"POSITION": corners}}
    if count:
        primitive["targets"] = [{"POSITION": corners} if moved else {} for moved in moves]
    kept = {key: copy.deepcopy(mesh[key]) for key in ("name", "weights", "extras") if key in mesh}
    return {**kept, "primitives": [primitive]}


def _wanted(source: GltfSource, patterns: Sequence[str] | None) -> list[int] | None:
    """Indices of the animations to import, None for all. The first is what plays where none is chosen."""
    named, count = source.animations, len(source.document.get("animations", ()))
    if patterns is None or len(named) < count:
        return None
    chosen = {named[name] for name in named for pattern in patterns if name == pattern or fnmatchcase(name, pattern)}
    return sorted({0, *chosen}) if chosen else None
