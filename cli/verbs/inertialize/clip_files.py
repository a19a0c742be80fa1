"""Clips of further files: each file is read by itself, its actions are kept aside and added to the file worked on."""

import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.errors import FileError, RigError
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ....rig.animation import actions
from ... import retime, rigs, scene_files
from ...console import Console

_NAMED_BY_FILE = (".bvh", ".fbx")
_DIFFERS = 1e-3
_RESTS_ALIKE = 2.0  # degrees


@dataclass(frozen=True)
class _Kept:
    """The actions of a file, aside in a .blend."""

    source: Path
    file: Path
    names: tuple[str, ...]
    rate: float
    """Frame rate for which the actions are made."""
    modes: dict[str, str]
    """Rotation modes of its bones."""
    rests: dict[str, Array]
    """Their orientations (4,) at rest."""


class ClipFiles:
    """Files that bring clips, as a context manager: what is kept aside is gone at its end."""

    def __init__(self, paths: Sequence[Path], *, trust: bool = False) -> None:
        """trust: whether Python in the files may run."""
        self.paths, self._trust = tuple(paths), trust
        self._kept: dict[float, list[_Kept]] = {}
        self._origin: dict[str, _Kept] = {}
        self._notes: list[str] = []

    def __enter__(self) -> "ClipFiles":
        self._folder = tempfile.TemporaryDirectory(prefix="lookat_pd-")
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    @property
    def names(self) -> Collection[str]:
        """Names of the actions that `add` has added."""
        return self._origin.keys()

    def is_ready(self, rate: float) -> bool:
        """Whether `add` can do without reading files, which would take the place of the one worked on."""
        return not self.paths or rate in self._kept

    def read(self, rate: float, console: Console) -> None:
        """Read the clips at that frame rate, in place of whatever Blender has loaded. Raises FileError."""
        kept = []
        for number, path in enumerate(self.paths):
            console.progress(0.0, f"reading {path.name}")
            try:
                kept.append(
                    self._keep(
                        path, rate, Path(self._folder.name) / f"{len(self._kept)}-{number}", console, self._trust
                    )
                )
            except FileError as error:
                raise FileError("The clips of {path} cannot be read: {error}", path=path, error=error) from None
        self._kept[rate] = kept

    @staticmethod
    def _keep(path: Path, rate: float, place: Path, console: Console, trust: bool) -> _Kept:
        # The keys of a .blend are on frames and stay there.
        native = path.suffix.lower() == ".blend"
        scene = scene_files.load(path, None if native else rate, console, trust=trust)
        clips = [action for action in bpy.data.actions if action.library is None]
        if not clips:
            raise FileError("The file has no animation; export it with its animation.")
        if path.suffix.lower() in _NAMED_BY_FILE and len(clips) == 1:
            clips[0].name = path.stem
        found_rigs = [rig for rig in rigs.armatures(scene) if rig.pose and len(rig.pose.bones)]
        modes = {bone.name: bone.rotation_mode for rig in found_rigs for bone in rig.pose.bones}
        rests = {name: turn for rig in found_rigs for name, turn in _rests(rig).items()}
        file = place.with_suffix(".blend")
        with console.hushed():
            bpy.data.libraries.write(str(file), set(clips), fake_user=True)
        return _Kept(path, file, tuple(action.name for action in clips), retime.rate(scene), modes, rests)

    def add(self, scene: bpy.types.Scene, rate: float, notes: list[str]) -> None:
        """Add the clips, read at that rate, to the present file; one whose name is taken is called by its file."""
        self._origin, self._notes = {}, notes
        for kept in self._kept[rate] if self.paths else ():
            if abs(kept.rate - retime.rate(scene)) > _DIFFERS * kept.rate:
                notes.append(
                    Message(
                        "The clips of {source} are made for {rate:g} frames a second; their keys stay on their "
                        "frames and play at {scene:g}.",
                        source=kept.source.name,
                        rate=kept.rate,
                        scene=retime.rate(scene),
                    )
                )
            taken = set(bpy.data.actions.keys())
            for name, action in zip(kept.names, _append(kept), strict=True):
                action.use_fake_user = True
                if name in taken:
                    stem = kept.source.stem
                    action.name = stem if len(kept.names) == 1 else f"{stem} {name}"
                    notes.append(
                        Message(
                            "The clip '{name}' of {source} is named '{action}' because '{name}' already exists.",
                            name=name,
                            source=kept.source.name,
                            action=action.name,
                        )
                    )
                self._origin[action.name] = kept

    def check(self, rig: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> None:
        """Raise RigError where an action of another file holds rotations otherwise than the rig does; add a note where
        the rest poses of that file and of the rig differ, so that the clip gives the rig another pose."""
        kept, bag = self._origin.get(action.name), actions.channelbag(action, slot)
        if kept is None or bag is None:
            return
        keyed = {curve.data_path for curve in bag.fcurves}
        turned = [name for name in kept.modes if name in rig.pose.bones]
        turned = [name for name in turned if actions.rotation_path(name, kept.modes[name]) in keyed]
        for name in turned:
            if kept.modes[name] != rig.pose.bones[name].rotation_mode:
                raise RigError(
                    "'{action}' of {source} has rotation mode {mode} for bone '{bone}', but '{rig}' has "
                    "{rig_mode}; use the same rotation mode in both.",
                    action=action.name,
                    source=kept.source.name,
                    bone=name,
                    mode=kept.modes[name],
                    rig=rig.name,
                    rig_mode=rig.pose.bones[name].rotation_mode,
                )
        here = _rests(rig)
        apart = {name: _degrees_apart(here[name], kept.rests[name]) for name in turned}
        worst = max(apart, key=apart.__getitem__, default=None)
        if worst is not None and apart[worst] > _RESTS_ALIKE:
            note = (
                f"The rest poses of {kept.source.name} and '{rig.name}' differ, at '{worst}' by {apart[worst]:.0f} "
                f"degrees, so its clips give '{rig.name}' other poses; retarget them to '{rig.name}' first."
            )
            if note not in self._notes:
                self._notes.append(note)


def _rests(rig: bpy.types.Object) -> dict[str, Array]:
    """Orientations (4,) of an armature's bones at rest, against their parents."""
    bones = rig.data.bones
    whole = rotation.from_matrix([np.array(bone.matrix_local)[:3, :3] for bone in bones])
    turns = dict(zip(bones.keys(), whole, strict=True))
    return {
        bone.name: rotation.multiply(rotation.inverse(turns[bone.parent.name]), turns[bone.name])
        if bone.parent
        else turns[bone.name]
        for bone in bones
    }


def _degrees_apart(a: Array, b: Array) -> float:
    return float(np.degrees(rotation.angle(rotation.multiply(a, rotation.inverse(b)))))


def _append(kept: _Kept) -> list[bpy.types.Action]:
    with bpy.data.libraries.load(str(kept.file), link=False) as (_, wanted):
        names: Any = wanted
        names.actions = list(kept.names)
    # In place of each name there is now the action.
    return names.actions
