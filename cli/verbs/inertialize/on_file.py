"""A mode of `inertialize` at work on one file: read it, change its rig, fill its row of the report."""

import bpy

from ....lookat_pd.errors import RigError
from ....rig.animation import actions, editable
from ....rig.transitions import blend_profiles
from ... import clip_library, dry_run, each_action, each_rig, key_arguments, retime, rigs, scene_files
from ...console import Console
from ...gltf_source import WholeFileNeeded
from ...jobs import FileJob
from ...report import Row
from . import made, velocity_jump
from .mode import Mode
from .mode_task import ModeTask, TransitionRequest


def run(mode: Mode, request: TransitionRequest, job: FileJob, row: Row, console: Console) -> None:
    """Raises LookAtError."""
    scene = _load(request, job, row, console)
    each_rig.run(
        request.options, scene, job, row, console, lambda own: _of_rig(mode, request, scene, job, own, console)
    )
    row["warnings"] += job.losses


def _of_rig(
    mode: Mode, request: TransitionRequest, scene: bpy.types.Scene, job: FileJob, row: Row, console: Console
) -> None:
    rig = editable.check_armature(rigs.choose(scene, request.options.rig, row["warnings"]))
    row["rig"] = rig.name
    _check(rig)
    for unused in blend_profiles.unused(request.profile, rig):
        row["warnings"].append(f"Row '{unused.pattern}' of the profile names no bone of '{rig.name}'.")
    if request.options.visual and job.source is not None:
        raise WholeFileNeeded("The result is in constraints.")
    if request.options.dry_run is not None and not mode.ending:
        named = request.options.action
        dry_run.stop(row, rig.name, [each_action.only(request.options, rig, job) if named else None])
    if request.options.visual and mode.make_visual is not None:
        _visual(mode, ModeTask(request, scene, rig, row["warnings"], console), job, row)
    elif mode.ending:
        _of_each_action(mode, request, scene, rig, job, row, console)
    else:
        _of_clips(mode, ModeTask(request, scene, rig, row["warnings"], console), job, row)


def _load(request: TransitionRequest, job: FileJob, row: Row, console: Console) -> bpy.types.Scene:
    """Read an input, and add the clips of further files at its frame rate. Raises LookAtError."""
    options = request.options
    if job.source is not None and options.clips:
        raise WholeFileNeeded("Clips of other files are added.")

    def load() -> bpy.types.Scene:
        return scene_files.load(job.input, options.fps, console, trust=options.trust_scripts, source=job.source)

    scene = load()
    rate = retime.rate(scene)
    if not request.clip_files.is_ready(rate):
        request.clip_files.read(rate, console)
        scene = load()
    request.clip_files.add(scene, rate, row["warnings"])
    row["fps"] = retime.reported(scene)
    return scene


def _check(rig: bpy.types.Object) -> None:
    """Raise RigError where the rig cannot play another action."""
    if rig.animation_data is not None and rig.animation_data.use_tweak_mode:
        raise RigError(
            "'{rig}' is in NLA tweak mode; leave tweak mode (Tab in the NLA editor) and save the file again.",
            rig=rig.name,
        )


def _visual(mode: Mode, task: ModeTask, job: FileJob, row: Row) -> None:
    """Change what is seen of the action that the rig plays, whose keys stay as they are."""
    assert mode.make_visual is not None
    _play(task, job, "CURRENT")
    mode.make_visual(task, row)
    row["keyed"] = task.write()
    data = task.rig.animation_data
    row["action"] = data.action.name if data is not None and data.action is not None else None
    _keep_all()


def _of_each_action(
    mode: Mode,
    request: TransitionRequest,
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    job: FileJob,
    row: Row,
    console: Console,
) -> None:
    def one(own: Row) -> bpy.types.Action:
        return _make(mode, ModeTask(request, scene, rig, own["warnings"], console), job, own)

    work = each_action.ActionTask(
        request.options,
        job,
        row,
        console,
        [rig],
        "NEW",
        lambda name: f"{name} {mode.ending}",
        is_copy=mode.is_copy,
        others=request.clip_files.names,
    )
    each_action.run(work, one)


def _of_clips(mode: Mode, task: ModeTask, job: FileJob, row: Row) -> None:
    if "action" in mode.options:
        _play(task, job, "NEW")
    own: Row = {"rig": task.rig.name, "warnings": row["warnings"]}
    action = _make(mode, task, job, own)
    row |= own
    each_action.note_written(job, task.rig, action)


def _play(task: ModeTask, job: FileJob, into: str) -> None:
    """Let the rig play the action that is asked for."""
    name = each_action.only(task.options, task.rig, job, task.request.clip_files.names)
    if name is not None:
        rigs.use_action(task.rig, name, into)


def _make(mode: Mode, task: ModeTask, job: FileJob, row: Row) -> bpy.types.Action:
    """Make the action and fill the row."""
    task.console.progress(0.2, "joining")
    result = mode.make(task)
    row["keyed"] = task.write(is_new=True)
    task.console.progress(0.6, "verifying")
    jumps = velocity_jump.velocity_jumps(task.scene, task.rig, result.places, only_left=task.options.visual)
    _keep_all()
    made.fill(row, result, jumps)
    key_arguments.fill(row, task.writer)
    if result.library is not None:
        row["library"], row["path"] = clip_library.described(result.library), clip_library.as_rows(result.path)
        if task.options.plots is not None:
            row["plots"] = clip_library.plot(task.options.plots, job.output.stem, result.library, result.path)
    if row["frames"][0] >= 0:
        task.scene.frame_start = min(task.scene.frame_start, row["frames"][0])
    task.scene.frame_end = max(task.scene.frame_end, row["frames"][1])
    return result.action


def _keep_all() -> None:
    """Let actions that nothing plays any more be saved."""
    for action in bpy.data.actions:
        actions.keep(action)
