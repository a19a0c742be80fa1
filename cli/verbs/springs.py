"""`springs`: tails, hair, ears and straps that swing, as keys."""

import argparse
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import FileError, RigError
from ...rig.animation.bake_options import BakeOptions
from ...rig.detection import vrm
from ...rig.layers import layer_bake
from ...rig.layers.kinds import LayerSolve
from ...rig.springs import (
    along_chain,
    chains,
    find_chains,
    mesh_colliders,
    springs_edit,
    springs_solve,
    vrm_data,
    vrm_springs,
    vrm_writing,
)
from ...rig.springs.chains import SpringChain
from ...rig.springs.settings import OF_BONE, SpringSettings
from ...rig.springs.springs_kind import SpringKind, SpringSolve, instance_of
from .. import arguments as words
from .. import baking, dry_run, each_action, each_file, each_rig, key_arguments, rigs, setting_flags
from ..console import Console
from ..jobs import FileJob
from ..report import Row

NAME = "springs"
SUMMARY = "bake springs: tails, hair, ears and straps that swing"
FIELDS = ("springs",)
"""What its report has beside the fields of every verb."""
EPILOG = (
    "Bakes all springs of the file that are not muted. With --bones those of these bones, which get springs if they "
    "have none: lines of bones that hang on each other are chains. A file without springs and without --bones gets "
    "those that are found by the names of its bones. On a cyclic action each cycle ends as it begins. A VRM file gets "
    "its own springs, and an output .vrm is the VRM file with these springs, changed by the flags, instead of a bake."
)
_SET = (
    "preset",
    "settle_time",
    "damping_ratio",
    "gravity",
    "tip_factor",
    "drag",
    "inertia",
    "limit",
    "stretch",
    "wind",
    "turbulence",
    "influence",
    "radius",
)
"""Settings that have flags; the preset sets others, and comes first."""


_ALONG = {name.removesuffix("_factor"): name for name in OF_BONE}
"""Settings that may change along a chain, by their names for --along."""


class _Along(argparse.Action):
    """Collects what bones have of a setting, and factors of it from root to tip."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        name, *words_of = values
        try:
            factors = [float(word) for word in words_of]
        except ValueError:
            factors = []
        if name not in _ALONG or not factors or not all(0.0 <= factor <= _LARGEST for factor in factors):
            raise argparse.ArgumentError(
                self, f"give one of {', '.join(_ALONG)}, and numbers from 0 to {_LARGEST:g} after it"
            )
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or ()), (_ALONG[name], factors)])


_LARGEST = 1e4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser, further={"vrm": ".vrm"})
    help = "bones that swing, by a name or a pattern such as 'tail*'; several patterns, and the option may be repeated"
    parser.add_argument("--bones", metavar="PATTERN", nargs="+", action="extend", help=help)
    add = partial(setting_flags.add, parser, stored=True)
    add("--preset", SpringSettings, "preset", help="how the bones swing (default: by their names)")
    add("--settle-time", SpringSettings, "settle_time", "S")
    add("--damping", SpringSettings, "damping_ratio", "RATIO")
    add("--gravity", SpringSettings, "gravity", "X")
    add("--tip-factor", SpringSettings, "tip_factor", "X")
    add("--drag", SpringSettings, "drag", "X")
    help = (
        "by what a setting is multiplied along each chain, evenly from its first to its last bone: "
        f"{', '.join(_ALONG)}; such as '--along drag 1 2 0.5', and the option may be repeated"
    )
    parser.add_argument("--along", metavar=("SETTING", "X"), nargs="+", action=_Along, help=help)
    add("--inertia", SpringSettings, "inertia", "X")
    add("--limit", SpringSettings, "limit", "DEG")
    add("--stretch", SpringSettings, "stretch", "X")
    help = (
        "acceleration by which wind pushes the chain, along the axes of the world in m/s² (default: the setting of "
        "the file, otherwise none)"
    )
    add("--wind", SpringSettings, "wind", ("X", "Y", "Z"), help=help, nargs=3)
    add("--turbulence", SpringSettings, "turbulence", "X")
    add("--influence", SpringSettings, "influence", "X")
    help = "VRM file of the character, whose springs it gets, and of which a .vrm is made (default: the input)"
    parser.add_argument("--from-vrm", type=Path, metavar="FILE", help=help)
    cycle = parser.add_mutually_exclusive_group()
    help = "fail where the action is no cycle, instead of beginning at rest"
    cycle.add_argument("--cyclic", action="store_const", const=True, default=None, help=help)
    help = "begin at rest, also on a cyclic action"
    cycle.add_argument("--no-cyclic", dest="cyclic", action="store_const", const=False, help=help)
    help = (
        "what springs do not pass through: names or patterns of bones of the rig, each as thick as its mesh, and of "
        "empties, as large as they are displayed; 'mesh' for all bones of the body, 'floor' for the height Z = 0"
    )
    parser.add_argument("--collider", metavar="PATTERN", nargs="+", action="extend", help=help)
    add("--radius", SpringSettings, "radius", "M")
    baking.add_into(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    baking.check(options)

    def work(scene: bpy.types.Scene, job: FileJob, row: Row) -> bytes | None:
        if job.output.suffix.lower() == ".vrm":
            return _write(options, scene, job, row)

        def one(own: Row) -> None:
            _work(options, scene, job, own, console)

        each_rig.run(options, scene, job, row, console, one, among=_swinging(options, scene, job))
        return None

    return each_file.convert(options, console, work, FIELDS)


def _work(options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, row: Row, console: Console) -> None:
    into = baking.INTO[options.into]
    baking.check_output(into, job)
    rig = baking.choose_rig(options, scene, row)
    every = _prepared(options, scene, job, rig, row)
    task = each_action.ActionTask(options, job, row, console, [rig], into, baking.named(layer_bake.ending(SpringKind)))
    each_action.run(task, lambda own: _bake(options, scene, job, every, own, console))


def _prepared(
    options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, rig: bpy.types.Object, row: Row
) -> list[SpringChain]:
    """The chains that swing, with the settings of the flags. Raises LookAtError."""
    _take_over(options, scene, job, rig, row)
    every = _chains(options, rig)
    row["bone"] = every[0].bone
    for chain in every:
        chain.settings.mute = False
        setting_flags.apply(options, chain.settings, _SET)
        for name, factors in options.along or ():
            along_chain.draw(chain, name, partial(np.interp, xp=np.linspace(0.0, 1.0, len(factors)), fp=factors))
        if options.cyclic is not None:
            chain.settings.cyclic = options.cyclic
    _collide(options.collider or (), scene, rig, every)
    for chain in every:
        chain.check()
    return every


def _source(options: argparse.Namespace, job: FileJob) -> Path | None:
    """The VRM file of the character."""
    if options.from_vrm is not None:
        return options.from_vrm
    return job.input if job.input.suffix.lower() in (".vrm", ".glb") else None


def _said(options: argparse.Namespace, job: FileJob) -> vrm_data.VrmSprings | None:
    """What the VRM file of the character says, None where there is none. Raises FileError."""
    source = _source(options, job)
    return None if source is None else vrm_data.read(vrm.document(source))


def _take_over(
    options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, rig: bpy.types.Object, row: Row
) -> None:
    """Give a rig without springs those of its VRM file, if there is one; those of --from-vrm in any case."""
    said = _said(options, job)
    if said is None or (options.from_vrm is None and any(True for _ in chains.on(rig))):
        return
    if options.from_vrm is not None and not said.chains:
        raise FileError("'{name}' has no springs; leave out --from-vrm.", name=options.from_vrm.name)
    row["warnings"] += vrm_springs.take_over(scene, rig, said).notes


def _write(options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, row: Row) -> bytes:
    """The VRM file with the springs that the flags choose. Raises LookAtError."""
    source = _source(options, job)
    if source is None or not vrm_data.is_vrm(vrm.document(source)):
        raise FileError("A .vrm is made of the VRM file of the character; give that as the input or with --from-vrm.")
    rig = baking.choose_rig(options, scene, row)
    if options.dry_run is not None:
        dry_run.stop(row, rig.name, ())
    every = _prepared(options, scene, job, rig, row)
    content, written = vrm_writing.content(source, scene, rig)
    row["warnings"] += written.notes
    row["springs"] = [
        {
            "bones": list(chain.bones),
            "preset": chain.settings.preset,
            "settle_time": round(chain.settings.settle_time, 6),
            "peak_swing_deg": None,
            "cycle": None,
            "penetration": None,
            "beyond_limit": None,
            "seam_deg": None,
            "written": "changed"
            if chain.bone in written.changed
            else "added"
            if chain.bone in written.added
            else "kept",
        }
        for chain in every
    ]
    return content


def _swinging(options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob) -> list[bpy.types.Object]:
    """Not every character has something that swings: those with springs that are not muted, or bones to get some."""
    every = rigs.armatures(scene)
    if options.bones is not None:
        return [rig for rig in every if all(_matching(pattern, rig) for pattern in options.bones)]
    said = _said(options, job)
    named = {joint.bone for chain in said.chains for joint in chain.joints} if said is not None else set()
    if named:
        return [rig for rig in every if options.from_vrm or named.intersection(rig.data.bones.keys())] or every
    known = {rig: list(chains.on(rig)) for rig in every}
    for has in (lambda chain: not chain.settings.mute, lambda chain: True):
        if any(has(chain) for own in known.values() for chain in own):
            return [rig for rig, own in known.items() if any(map(has, own))]
    return [rig for rig in rigs.characters(every) if any(chain.is_likely for chain in find_chains.find(rig))]


def _matching(pattern: str, rig: bpy.types.Object) -> list[str]:
    """Names of the bones that match a pattern."""
    return [bone.name for bone in rig.pose.bones if fnmatchcase(bone.name, pattern)]


def _chains(options: argparse.Namespace, rig: bpy.types.Object) -> list[SpringChain]:
    """The chains that swing. Raises RigError."""
    known = list(chains.on(rig))
    if options.bones is not None:
        return _named(options.bones, rig, known)
    awake = [chain for chain in known if not chain.settings.mute]
    if known and not awake:
        raise RigError("All springs of the file are muted, as after a bake; unmute them, or give --bones.")
    if not known:
        found = [chain for chain in find_chains.find(rig) if chain.is_likely]
        awake = springs_edit.add(rig, [chain.bones for chain in found], [chain.preset for chain in found])
    if not awake:
        raise RigError(
            "The file has no springs, and no bone of '{armature}' is called a tail, hair or the like; choose bones "
            "with --bones.",
            armature=rig.name,
        )
    return awake


def _named(patterns: Sequence[str], rig: bpy.types.Object, known: Sequence[SpringChain]) -> list[SpringChain]:
    """The chains with bones that match patterns, those that have springs and new ones. Raises RigError."""
    names = [bone.name for bone in rig.pose.bones]
    for pattern in patterns:
        if not _matching(pattern, rig):
            raise _unmatched(rig, pattern, names)
    wanted = {name for pattern in patterns for name in _matching(pattern, rig)}
    old = [chain for chain in known if wanted.intersection(chain.bones)]
    taken = {bone for chain in known for bone in chain.bones}
    new = chains.selected([rig.pose.bones[name] for name in names if name in wanted - taken])
    presets = [find_chains.preset_of(rig, bones[0]) for bones in new]
    return old + (springs_edit.add(rig, new, presets) if new else [])


def _unmatched(rig: bpy.types.Object, pattern: str, names: Sequence[str]) -> RigError:
    return RigError(
        "No bone of '{armature}' matches '{pattern}' {others}.",
        armature=rig.name,
        pattern=pattern,
        others=rigs.instead(pattern, names),
    )


def _collide(
    patterns: Sequence[str], scene: bpy.types.Scene, rig: bpy.types.Object, every: Sequence[SpringChain]
) -> None:
    """Make colliders of what patterns name. Raises RigError."""
    names = [bone.name for bone in rig.pose.bones]
    empties = {item.name: item for item in scene.objects if item.type == "EMPTY"}
    radii = mesh_colliders.measured(rig) if patterns else {}
    for pattern in patterns:
        if pattern == "floor":
            for chain in every:
                chain.settings.floor = True
        elif pattern == "mesh":
            mesh_colliders.make(rig)
        else:
            bones = [name for name in names if fnmatchcase(name, pattern)]
            found = [empties[name] for name in empties if fnmatchcase(name, pattern)]
            if not bones and not found:
                raise _unmatched(rig, pattern, [*names, *empties])
            for bone in bones:
                own = rig.pose.bones[bone].lookat_pd_collider
                own.radius, own.exists = radii.get(bone, own.radius), True
            for item in found:
                item.lookat_pd_collider.exists = True


def _bake(
    options: argparse.Namespace,
    scene: bpy.types.Scene,
    job: FileJob,
    every: Sequence[SpringChain],
    row: Row,
    console: Console,
) -> bpy.types.Action:
    """Bake the chains into what the rig plays; the action."""
    rig = every[0].armature
    first, last = options.range or rigs.frame_range(scene, [rig])
    extent = rigs.frame_range(scene, [rig]) if rigs.plays(rig) else (first, last)
    if options.cyclic and springs_solve.cycle_of(rig) is None:
        raise RigError(
            "The action that '{armature}' plays is no cycle: its ends differ, or it is part of the NLA; leave out "
            "--cyclic.",
            armature=rig.name,
        )
    for chain in every:
        chain.settings.mute = False
    how = BakeOptions(first, last, baking.INTO[options.into], writer=key_arguments.writer(options))
    solved: list[LayerSolve] = []
    steps = layer_bake.bake(scene, SpringKind, [instance_of(scene, rig, every)], how, solved.extend)
    action = baking.work(steps, console, "baking")[rig]
    if job.output.suffix.lower() == ".glb":
        baking.trim(action, extent, first, last)
    row["rig"], row["bone"], row["frames"], row["action"] = rig.name, every[0].bone, [first, last], action.name
    key_arguments.fill(row, how.writer)
    row["springs"] = [_summary(chain, solved[0]) for chain in every]
    return action


def _penetration(depth: springs_solve.Depth) -> dict[str, object]:
    return {"bone": depth.bone, "in": depth.collider, "frame": depth.frame, "depth_m": round(depth.depth, 6)}


def _beyond(beyond: springs_solve.Beyond) -> dict[str, object]:
    return {"bone": beyond.bone, "frame": beyond.frame, "angle_deg": round(float(np.degrees(beyond.angle)), 3)}


def _summary(chain: SpringChain, solve: LayerSolve) -> dict[str, object]:
    assert isinstance(solve, SpringSolve), "they are springs"
    s, track = chain.settings, solve.track
    rows = [track.turned.index(bone) for bone in chain.bones]
    peaks = np.degrees(rotation.angle(track.offsets[:, rows]).max(axis=0))
    return {
        "bones": list(chain.bones),
        "preset": s.preset,
        "settle_time": round(s.settle_time, 6),
        "peak_swing_deg": [round(float(peak), 3) for peak in peaks],
        "cycle": None if solve.seam is None else [solve.cycle.first, solve.cycle.last],
        "penetration": next((_penetration(d) for d in solve.depths if d.chain == chain.bone), None),
        "beyond_limit": next((_beyond(b) for b in solve.beyond if b.chain == chain.bone), None),
        "seam_deg": None if solve.seam is None else round(float(np.degrees(solve.seam)), 6),
        "written": None,
    }
