"""Report a problem: what developers need goes to the clipboard, and the form of the repository is opened.

No names of data and no paths are in it.
"""

import json
import platform
import sys
import traceback
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import bpy

from ..lookat_pd.dynamics import engine
from ..lookat_pd.message import Message
from ..rig import project
from ..rig.guards import faults
from ..rig.layers import live
from ..rig.look_at import describe
from ..rig.settings import switch
from . import reporting

FORM, JAPANESE_FORM = "problem.yml", "problem.ja.yml"
"""Forms in `.github/ISSUE_TEMPLATE`, whose fields are those of `fields`."""
_PACKAGE = __package__.rpartition(".")[0]
_FOLDER = Path(__file__).parents[1]
_PLAIN = {
    *("rigify", "read_from", "source", "damping", "integrator", "method", "aim_axis", "type", "version", "format"),
}
"""Fields of `describe` whose texts are the extension's own words."""


def fields() -> dict[str, str]:
    """What a form asks for, by the names of its fields."""
    return {
        "version": project.version(),
        "blender": f"{bpy.app.version_string}, Python {platform.python_version()}",
        "platform": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "engine": _engine(),
        "language": bpy.app.translations.locale or "en_US",
    }


def text(scene: bpy.types.Scene) -> str:
    """All of it, as Markdown."""
    return "\n".join(_lines(scene)) + "\n"


def _lines(scene: bpy.types.Scene) -> Iterator[str]:
    for name, value in fields().items():
        yield f"- {name}: {value}"
    yield f"- extension: {'enabled by Blender' if _PACKAGE.startswith('bl_ext.') else 'loaded by Python'}"
    yield from (f"- status of {kind}: {_status(status)}" for kind, status in live.all_statuses(scene))
    fault = faults.last()
    if fault is not None:
        yield from ("", "```", *_traceback(fault), "```")
    yield from ("", "```json", json.dumps(inspected(scene), separators=(",", ":"), default=str), "```")


def _engine() -> str:
    if not engine.available():
        return f"none: {engine.reason()}"
    try:
        return f"MuJoCo {metadata.version('mujoco-core')}"
    except metadata.PackageNotFoundError:
        return "MuJoCo"


def _status(status: live.Status) -> str:
    """The state, and what is wrong as a template, without the names in it."""
    said = [_template(message) for message in (status.error, *status.notes) if message]
    return "; ".join([status.state, *said])


def _template(message: str) -> str:
    return message.template if isinstance(message, Message) else "(a message)"


# The traceback


def _traceback(fault: BaseException) -> Iterator[str]:
    """The calls as in Python's traceback, with paths from the extension's folder on, and no values in the message."""
    for cause in (fault.__cause__, None if fault.__suppress_context__ else fault.__context__):
        if cause is not None:
            yield from (*_traceback(cause), "")
            break
    for frame in traceback.extract_tb(fault.__traceback__):
        yield _call(frame)
    yield f"{type(fault).__name__}: {_nameless_message(fault)}"


def _call(frame: traceback.FrameSummary) -> str:
    """Where the extension was; of other files, only that it was in them."""
    path = Path(frame.filename)
    if not path.is_relative_to(_FOLDER):
        return f"…/{path.name}:{frame.lineno}"
    return f"{path.relative_to(_FOLDER).as_posix()}:{frame.lineno} in {frame.name}: {frame.line}"


def _nameless_message(fault: BaseException) -> str:
    """What Python says, without what stands in quotes, where names and paths of the user are."""
    said, opened = [], ""
    for letter in " ".join(str(fault).split()):
        if opened:
            opened = "" if letter == opened else opened
        elif letter in "'\"":
            opened = letter
            said.append("'…'")
        else:
            said.append(letter)
    return "".join(part if part not in "/\\" else "…" for part in said)


# What is in the file


def inspected(scene: bpy.types.Scene) -> dict[str, Any]:
    """What `inspect --json` reports, with a number in the place of each name, and of lists that are long."""
    armatures = [item for item in scene.objects if item.type == "ARMATURE"]
    render = scene.render
    whole = {
        "fps": round(render.fps / render.fps_base, 4),
        "scene_frames": [scene.frame_start, scene.frame_end],
        "rigs": [{**described, "bones": len(described["bones"])} for described in map(describe.rig, armatures)],
        "actions": describe.actions(),
        "targets": len(describe.targets(scene)),
        "python": ".".join(map(str, sys.version_info[:2])),
    }
    return _nameless(whole, {}, "")


def _nameless(value: Any, numbers: dict[str, str], field: str) -> Any:
    """numbers: what stands for each name, the same wherever it is."""
    if isinstance(value, Message):
        return value.template
    if isinstance(value, str):
        return value if field in _PLAIN or not value else numbers.setdefault(value, f"name {len(numbers) + 1}")
    if isinstance(value, dict):
        return {key: _nameless(item, numbers, key) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_nameless(item, numbers, field) for item in value]
    return value


# The operators


def address() -> str:
    """The form in the language of the interface, with the fields filled in that hold nothing of the file."""
    form = JAPANESE_FORM if (bpy.app.translations.locale or "").startswith("ja") else FORM
    return f"{project.REPOSITORY}/issues/new?{urlencode({'template': form, **fields()})}"


class LOOKAT_PD_OT_report_problem(bpy.types.Operator):
    """Copy what developers need, without names and paths, and open the form; you send it, nothing is sent by itself"""

    bl_idname = "lookat_pd.report_problem"
    bl_label = "Report a Problem"
    bl_options = {"REGISTER"}

    open_form: switch("Open Form", "Open the form in the browser", True, options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.window_manager.clipboard = text(context.scene)
        if self.open_form:
            bpy.ops.wm.url_open(url=address())
        faults.dismiss()
        reporting.report_info(self, "The details are on the clipboard; paste them into the form.")
        return {"FINISHED"}


class LOOKAT_PD_OT_dismiss_problem(bpy.types.Operator):
    """Hide this message; Report a Problem still knows of the error"""

    bl_idname = "lookat_pd.dismiss_problem"
    bl_label = "Dismiss"
    bl_options = {"REGISTER", "INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        faults.dismiss()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_report_problem, LOOKAT_PD_OT_dismiss_problem))
