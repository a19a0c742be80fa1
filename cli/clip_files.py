"""Clips of further files: each file is read by itself, its actions are kept aside and added to the file worked on."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ..lookat_pd.errors import FileError, RigError
from ..rig import actions
from . import retime, rigs, scene_files
from .console import Console

_NAMED_BY_FILE = (".bvh", ".fbx")
_DIFFERS = 1e-3


@dataclass(frozen=True)
class _Kept:
    """The actions of a file, aside in a .blend. rate: what they are made for; modes: rotation modes of its bones."""

    source: Path
    file: Path
    names: tuple[str, ...]
    rate: float
    modes: dict[str, str]


class ClipFiles:
    """Files that bring clips, as a context manager: what is kept aside is gone at its end."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self._kept: dict[float, list[_Kept]] = {}
        self._origin: dict[str, _Kept] = {}

    def __enter__(self) -> "ClipFiles":
        self._folder = tempfile.TemporaryDirectory(prefix="lookat_pd-")
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def is_ready(self, rate: float) -> bool:
        """Whether `add` can do without reading files, which would take the place of the one worked on."""
        return not self.paths or rate in self._kept

    def read(self, rate: float, console: Console) -> None:
        """Read the clips at that frame rate, in place of whatever Blender has loaded. Raises FileError."""
        kept = []
        for number, path in enumerate(self.paths):
            console.progress(0.0, f"reading {path.name}")
            try:
                kept.append(self._keep(path, rate, Path(self._folder.name) / f"{len(self._kept)}-{number}", console))
            except FileError as error:
                raise FileError(f"The clips of {path} cannot be had: {error}") from None
        self._kept[rate] = kept

    @staticmethod
    def _keep(path: Path, rate: float, place: Path, console: Console) -> _Kept:
        # The keys of a .blend are on frames and stay there.
        native = path.suffix.lower() == ".blend"
        scene = scene_files.load(path, None if native else rate, console)
        found = [action for action in bpy.data.actions if action.library is None]
        if not found:
            raise FileError("There is no animation in it.")
        if path.suffix.lower() in _NAMED_BY_FILE and len(found) == 1:
            found[0].name = path.stem
        modes = {bone.name: bone.rotation_mode for rig in rigs.armatures(scene) for bone in rig.pose.bones}
        file = place.with_suffix(".blend")
        with console.hushed():
            bpy.data.libraries.write(str(file), set(found), fake_user=True)
        return _Kept(path, file, tuple(action.name for action in found), retime.rate(scene), modes)

    def add(self, scene: bpy.types.Scene, rate: float, notes: list[str]) -> None:
        """Add the clips, read at that rate, to the present file; one whose name is taken is called by its file."""
        self._origin = {}
        for kept in self._kept[rate] if self.paths else ():
            if abs(kept.rate - retime.rate(scene)) > _DIFFERS * kept.rate:
                notes.append(
                    f"The clips of {kept.source.name} are made for {kept.rate:g} frames a second; their keys stay on "
                    f"their frames and play at {retime.rate(scene):g}."
                )
            taken = set(bpy.data.actions.keys())
            for name, action in zip(kept.names, _append(kept), strict=True):
                action.use_fake_user = True
                if name in taken:
                    stem = kept.source.stem
                    action.name = stem if len(kept.names) == 1 else f"{stem} {name}"
                    notes.append(
                        f"The clip '{name}' of {kept.source.name} is called '{action.name}', since there is a '{name}' "
                        "already."
                    )
                self._origin[action.name] = kept

    def check_modes(self, rig: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> None:
        """Raise RigError where an action of another file holds rotations otherwise than the rig does."""
        kept = self._origin.get(action.name)
        bag = actions.channelbag(action, slot)
        if kept is None or bag is None:
            return
        keyed = {curve.data_path for curve in bag.fcurves}
        for bone in rig.pose.bones:
            mode = kept.modes.get(bone.name)
            if mode is not None and mode != bone.rotation_mode and actions.rotation_path(bone.name, mode) in keyed:
                raise RigError(
                    f"'{action.name}' of {kept.source.name} turns bone '{bone.name}' in the mode {mode}, and "
                    f"'{rig.name}' in {bone.rotation_mode}; give both the same rotation modes."
                )


def _append(kept: _Kept) -> list[bpy.types.Action]:
    with bpy.data.libraries.load(str(kept.file), link=False) as (_, wanted):
        names: Any = wanted
        names.actions = list(kept.names)
    # In place of each name there is now the action.
    return names.actions
