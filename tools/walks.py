"""Which files and functions of the product run while a value passes from a setting to a curve or a key.

Each walk runs in a process of its own (`python tools/walks.py NAME ROOT`), so that nothing is kept from the one before.
It uses Blender's data, properties and operators only, which stay where the code behind them changes.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import bpy
from mathutils import Euler
from measure import PACKAGES

MARK = "@walk"
LAST = 40
_BODY = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("chest", "hips", (0, 0, 1.2), (0, 0, 1.5)),
    ("neck", "chest", (0, 0, 1.5), (0, 0, 1.6)),
    ("head", "neck", (0, 0, 1.6), (0, 0, 1.8)),
)
_ARM = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("arm", "hips", (0.1, 0, 1.2), (0.4, -0.02, 1.2)),
    ("forearm", "arm", (0.4, -0.02, 1.2), (0.7, 0, 1.2)),
    ("hand", "forearm", (0.7, 0, 1.2), (0.85, 0, 1.2)),
)


@dataclass(frozen=True)
class Walk:
    """A value's way."""

    title: str
    prepare: Callable[[], Any]
    """Makes the scene."""
    run: Callable[[Any], object]
    """Changes the value and waits until it has arrived. Gets what `prepare` returns."""


def _character(rows: Sequence[tuple]) -> bpy.types.Object:
    """An armature with these bones (name, parent, head, tail), active and in pose mode."""
    armature = bpy.data.objects.new("Hero", bpy.data.armatures.new("Hero"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in rows:
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = armature.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.scene.frame_end = LAST
    return armature


def _target(place: tuple[float, float, float]) -> bpy.types.Object:
    ball = bpy.data.objects.new("Ball", None)
    bpy.context.scene.collection.objects.link(ball)
    ball.location = place
    return ball


def _key(armature: bpy.types.Object, bones: Sequence[str], frames: Sequence[int], *, turn: float = 0.5) -> None:
    for n, frame in enumerate(frames):
        for bone in bones:
            armature.pose.bones[bone].rotation_quaternion = Euler((0.0, 0.3 * n, turn * (n % 2))).to_quaternion()
            armature.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)


def _activate(armature: bpy.types.Object, *bones: str) -> None:
    """Select these bones alone, the last of them active."""
    for bone in armature.pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone  # the latter in Blender 4.5
        owner.select = bone.name in bones
    armature.data.bones.active = armature.data.bones[bones[-1]]


def _looking() -> bpy.types.Object:
    """A character with a look-at that is solved and shown."""
    armature, ball = _character(_BODY), _target((0.8, -2.0, 1.9))
    _key(armature, ("hips",), (1, 20))
    bpy.ops.lookat_pd.add(bone="head", target=ball.name)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(10)
    return armature


def _slide(armature: bpy.types.Object) -> None:
    """Change the settle time and evaluate: in background, that solves the look-at and shows it."""
    armature.pose.bones["head"].lookat_pd.settle_time = 0.41
    bpy.context.view_layer.update()


def _slide_and_bake(armature: bpy.types.Object) -> None:
    _slide(armature)
    bpy.ops.lookat_pd.bake()


def _reaching() -> bpy.types.Object:
    """A hand to bake by inverse kinematics, with a target."""
    armature = _character(_ARM)
    _key(armature, ("hips",), (1, 20))
    _activate(armature, "hand")
    bpy.context.scene.lookat_pd_ik.target = _target((0.4, -0.3, 1.3))
    return armature


def _clips() -> bpy.types.Object:
    """Two actions, the first of them in use."""
    armature = _character(_BODY)
    for name, turn in (("Second", -0.2), ("First", 0.3)):
        armature.animation_data_clear()
        _key(armature, [row[0] for row in _BODY], (1, 12, 24, LAST), turn=turn)
        armature.animation_data.action.name = name
    bpy.context.scene.frame_set(20)
    return armature


def _swinging() -> bpy.types.Object:
    """An arm of two bones with three key poses."""
    armature = _character(_ARM)
    _key(armature, ("arm", "forearm"), (1, 10, 22))
    _activate(armature, "arm", "forearm")
    return armature


WALKS = {
    "live": Walk("settle time to live curve", _looking, _slide),
    "bake": Walk("settle time to baked key", _looking, _slide_and_bake),
    "ik": Walk("IK target to key", _reaching, lambda _: bpy.ops.lookat_pd.ik_bake()),
    "join": Walk("clip to join", _clips, lambda _: bpy.ops.lookat_pd.inertialize(destination="Second")),
    "dynamics": Walk("key to key by dynamics", _swinging, lambda _: bpy.ops.lookat_pd.interpolate_keys()),
}


class Recorder:
    """Notes each function of the product that is entered, in all threads."""

    def __init__(self, root: Path) -> None:
        self.folders = tuple(str(root / package) + os.sep for package in PACKAGES)
        self.codes: set[CodeType] = set()

    def __enter__(self) -> "Recorder":
        if sys.version_info >= (3, 12):
            tools = sys.monitoring
            tools.use_tool_id(tools.PROFILER_ID, "walks")
            tools.register_callback(tools.PROFILER_ID, tools.events.PY_START, self._started)
            tools.set_events(tools.PROFILER_ID, tools.events.PY_START)
        else:
            threading.setprofile(self._called)
            sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(sys.monitoring.PROFILER_ID, 0)
            sys.monitoring.free_tool_id(sys.monitoring.PROFILER_ID)
        else:
            sys.setprofile(None)
            threading.setprofile(None)

    def _started(self, code: CodeType, _offset: int) -> object:
        self._note(code)
        return sys.monitoring.DISABLE

    def _called(self, frame: Any, event: str, _value: object) -> None:
        if event == "call":
            self._note(frame.f_code)

    def _note(self, code: CodeType) -> None:
        # Generators and lambdas within a function count, as its own functions do; a module that is imported does not.
        if code.co_filename.startswith(self.folders) and code.co_name != "<module>":
            self.codes.add(code)

    def files(self) -> dict[str, int]:
        """Functions that ran, by file."""
        counts: dict[str, int] = {}
        for code in self.codes:
            counts[code.co_filename] = counts.get(code.co_filename, 0) + 1
        return counts


def main(name: str, root: Path) -> None:
    sys.path.insert(0, str(root))
    from standalone import load

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    load().register()
    walk = WALKS[name]
    prepared = walk.prepare()
    with Recorder(root) as recorder:
        walk.run(prepared)
    for file, count in sorted(recorder.files().items()):
        print(MARK, Path(file).relative_to(root), count, sep="\t", flush=True)
    # Blender's module may hang when the interpreter exits.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
