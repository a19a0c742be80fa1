"""A small character with an animation, files made of it, and the command line called within this process."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

import kept
from extension import load

from ..rig import scenes

# Name, parent, head, tail: a figure of 1.8 m that faces -Y.
BONES = (
    ("root", None, (0, 0, 0), (0, 0.3, 0)),
    ("hips", "root", (0, 0, 1.0), (0, 0, 1.15)),
    ("spine", "hips", (0, 0, 1.15), (0, 0, 1.3)),
    ("chest", "spine", (0, 0, 1.3), (0, 0, 1.5)),
    ("neck", "chest", (0, 0, 1.5), (0, 0, 1.6)),
    ("head", "neck", (0, 0, 1.6), (0, 0, 1.8)),
    ("upper_arm.L", "chest", (0.15, 0, 1.45), (0.45, 0, 1.45)),
    ("upper_arm.R", "chest", (-0.15, 0, 1.45), (-0.45, 0, 1.45)),
    ("thigh.L", "hips", (0.1, 0, 1.0), (0.1, -0.02, 0.5)),
    ("thigh.R", "hips", (-0.1, 0, 1.0), (-0.1, -0.02, 0.5)),
    ("shin.L", "thigh.L", (0.1, -0.02, 0.5), (0.1, 0, 0.1)),
    ("shin.R", "thigh.R", (-0.1, -0.02, 0.5), (-0.1, 0, 0.1)),
    ("foot.L", "shin.L", (0.1, 0, 0.1), (0.1, -0.15, 0)),
    ("foot.R", "shin.R", (-0.1, 0, 0.1), (-0.1, -0.15, 0)),
)
MOVING, LAST = (1, 11, 21, 31), 121
STILL = (95, 108, 121)
"""Frames at which the character has stood still long enough for every controller to have arrived."""


def make_armature(name: str) -> bpy.types.Object:
    """The character at rest, linked to the scene."""
    return scenes.figure(name, BONES)


def animate(armature: bpy.types.Object, name: str = "Walk") -> bpy.types.Action:
    """An action in which chest and head sway, then stand still; its keys are at whole frames of 1 to 121."""
    armature.animation_data_create()
    armature.animation_data.action = bpy.data.actions.new(name)
    for frame in (*MOVING, LAST):
        phase = min(frame, MOVING[-1]) / 10.0
        for bone, angles in (("chest", (0.1 * np.sin(phase), 0, 0.2)), ("head", (0, 0.2 * np.cos(phase), 0.1))):
            pose = armature.pose.bones[bone]
            pose.rotation_quaternion = Euler(angles).to_quaternion()
            pose.keyframe_insert("rotation_quaternion", frame=frame)
    return armature.animation_data.action


def make_ball() -> bpy.types.Object:
    """An empty in front of the character, a little up and aside, that stays in reach."""
    return scenes.ball()


def make_character() -> bpy.types.Object:
    """The whole scene: character "Hero" with the action "Walk", and the ball."""
    hero = make_armature("Hero")
    animate(hero)
    make_ball()
    bpy.context.scene.frame_end = 150
    return hero


def save(path: Path, **options: Any) -> Path:
    # Left out, it is what the last file was.
    options.setdefault("compress", False)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, **options)
    return path


def export(path: Path) -> Path:
    bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLB")
    return path


@cache
def _exported(make: Callable[..., object], *arguments: Hashable) -> bytes:
    kept.scene(make, *arguments)
    with tempfile.TemporaryDirectory() as folder:
        return export(Path(folder) / "made.glb").read_bytes()


def written(path: Path, make: Callable[..., object], *arguments: Hashable) -> Path:
    """A .blend or .glb of what `make(*arguments)` makes of an empty file, made once a run; open afterwards."""
    data = _exported(make, *arguments) if path.suffix == ".glb" else None
    kept.scene(make, *arguments)
    if data is None:
        return save(path)
    path.write_bytes(data)
    return path


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """The character as a .blend."""
    return written(tmp_path / "walk.blend", make_character)


@pytest.fixture
def walk_glb(tmp_path: Path) -> Path:
    """The character as a .glb made at 24 frames per second."""
    return written(tmp_path / "walk.glb", make_character)


@dataclass(frozen=True)
class Outcome:
    """What a call of the command line came to. rows: the report; errors: lines on stderr."""

    code: int
    out: str
    errors: list[str]
    rows: list[dict[str, Any]]

    @property
    def row(self) -> dict[str, Any]:
        assert len(self.rows) == 1
        return self.rows[0]


Call = Callable[..., Outcome]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory) -> Call:
    """The command line within this process; every call of a verb writes a report, where the words name it."""
    folder = tmp_path_factory.mktemp("reports")

    def run(verb: str, *words: object) -> Outcome:
        report = folder / f"{len(os.listdir(folder))}.json"
        capsys.readouterr()
        own = [] if "--report" in words else ["--report", str(report)]
        code = load("cli.program").main([verb, *map(str, words), *own], "test")
        out, err = capsys.readouterr()
        rows = json.loads(report.read_text("utf-8")) if report.exists() else []
        return Outcome(code, out, err.splitlines(), rows)

    return run


def reopen(path: Path) -> bpy.types.Scene:
    """Load a .blend or import a .glb into an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
    return bpy.context.scene


def play(rig: bpy.types.Object, clip: str) -> None:
    """Let a rig play one of the file's actions."""
    data = rig.animation_data
    for track in data.nla_tracks:
        track.mute = True
    data.action = bpy.data.actions[clip]
    data.action_slot = data.action.slots[0]


def eyes_of(rig: bpy.types.Object, bone: str = "head") -> Vector:
    """Where the eyes are in the frame of a head."""
    return Vector(load("rig.detection.eye_place").between_eyes(rig, bone))


def aim_error(
    rig: bpy.types.Object, bone: str, axis: list[float], point: Vector, eyes: Sequence[float] = (0.0, 0.0, 0.0)
) -> float:
    """Angle [deg] between a head's aim axis and a point of the world, on the evaluated rig at the present frame.

    eyes: where the aim starts, in the frame of the bone.
    """
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    place = evaluated.matrix_world @ evaluated.pose.bones[bone].matrix
    aim = place.to_3x3() @ Vector(axis)
    return float(np.degrees(aim.angle(point - place @ Vector(eyes))))


def poses(rig: bpy.types.Object, bones: list[str], frames: list[float]) -> np.ndarray:
    """Local quaternions (frames, bones, 4) of evaluated bones; frames may be fractions."""
    found = np.empty((len(frames), len(bones), 4))
    for k, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=frame % 1.0)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for n, bone in enumerate(bones):
            found[k, n] = evaluated.pose.bones[bone].matrix_basis.to_quaternion()
    return found


def angles_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles [deg] between quaternions."""
    norm = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.degrees(2.0 * np.arccos(np.clip(np.abs(np.sum(a * b, axis=-1)) / norm, 0.0, 1.0)))


@pytest.fixture(scope="session")
def tools() -> ModuleType:
    """The functions above: with importlib mode a conftest cannot be imported."""
    return sys.modules[__name__]
