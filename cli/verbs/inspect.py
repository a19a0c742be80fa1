"""`inspect`: what is in a file, and what would be detected."""

import argparse
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...rig.detection.axes import CERTAIN
from ...rig.look_at import describe
from .. import arguments as words
from .. import clip_library, each_file, jobs, report, retime, rigs, scene_files
from ..console import Console, one_line
from ..report import Row

NAME = "inspect"
SUMMARY = "list rigs, bones, actions and look-ats, and what is detected"
FIELDS = ("scene_frames", "rigs", "actions", "targets", "library", "plots")
"""What its report has beside the fields of every verb."""
_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    clip_library.add_arguments(parser, "compare actions: the best cut of each two of them")
    parser.add_argument("--json", action="store_true", help="print the report as JSON instead of text")


def run(options: argparse.Namespace, console: Console) -> int:
    jobs.check_report(options)
    clip_library.check(options)

    def one(path: Path, row: Row) -> None:
        _inspect(options, path, row, console)
        if not options.json:
            console.say(*_text(row))

    code, rows = each_file.run(options.inputs, lambda path: path, one, options, console, FIELDS)
    if options.json and options.worker is None:
        console.say(*report.text(rows).rstrip().split("\n"))
    return code


def _inspect(options: argparse.Namespace, path: Path, row: Row, console: Console) -> None:
    jobs.check_input(path)
    scene = scene_files.load(path, options.fps, console, trust=options.trust_scripts)
    row["fps"], row["scene_frames"] = retime.reported(scene), [scene.frame_start, scene.frame_end]
    armatures = rigs.armatures(scene)
    if options.rig:
        armatures = rigs.named(scene, options.rig)
    row["rigs"] = [describe.rig(armature) for armature in armatures]
    row["actions"], row["targets"] = describe.actions(), describe.targets(scene)
    row["frames"] = list(rigs.frame_range(scene, []))
    if not armatures:
        row["warnings"].append("There is no armature in the scene.")
        return
    # The fields that every report has say what `bake` would do by default.
    chosen = rigs.choose(scene, options.rig, [])
    row["frames"] = list(rigs.frame_range(scene, [chosen]))
    detected = next(rig for rig in row["rigs"] if rig["name"] == chosen.name)
    row["rig"], row["bone"], row["aim_axis"] = chosen.name, detected["head"], detected["aim_axis"]
    row["chain"] = [link["bone"] for link in detected["chain"]] or None
    if options.library is not None:
        known = clip_library.compare(scene, chosen, options.library, console)
        row["library"] = clip_library.described(known)
        if options.plots is not None:
            row["plots"] = clip_library.plot(options.plots, path.stem, known)


# As text


def _text(row: Row) -> Iterator[str]:
    first, last = row["scene_frames"]
    yield f"{row['input']}: {row['fps']:g} fps, scene frames {first} to {last}"
    for rig in row["rigs"]:
        yield from _indented(_rig(rig))
    for action in row["actions"]:
        slots = ", ".join(f"{slot['name']} ({slot['type'].lower()})" for slot in action["slots"]) or "none"
        yield f"  action {action['name']}: frames {_range(action['frames'])}, slots: {slots}"
    if row["targets"]:
        yield from _list("  objects to look at: ", row["targets"])
    if row["library"]:
        yield from _indented(iter(clip_library.table(row["library"])))


def _rig(rig: dict[str, Any]) -> Iterator[str]:
    about = [f"{len(rig['bones'])} bones"]
    about += [f"Rigify, {rig['rigify']}"] if rig["rigify"] else []
    about += ["linked"] if rig["linked"] else []
    about += [f"plays {rig['action']}, slot {rig['slot'] or 'none'}"] if rig["action"] else ["has no action"]
    yield f"rig {rig['name']}: {', '.join(about)}"
    if rig["problem"]:
        yield f"  {rig['problem']}"
    if rig["head"]:
        axis = ", ".join(f"{round(part, 3) + 0.0:g}" for part in rig["aim_axis"])
        yield f"  head {rig['head']}, aims along ({axis})"
        yield from _chain(rig["chain"])
        yield from _indented(_detected(rig))
    for item in rig["look_ats"]:
        yield f"  look-at on {item['bone']}: {_look_at(item)}"
        yield from _indented(_chain(item["chain"]))
    yield from _list("  bones: ", rig["bones"])


def _detected(rig: dict[str, Any]) -> Iterator[str]:
    """Axes with the votes for them, limbs and eyes."""
    forward, up = (", ".join(f"{part:g}" for part in rig[name]) for name in ("forward", "up"))
    sure = f"confidence {rig['confidence']:.2f}" + (" (uncertain)" if rig["confidence"] < CERTAIN else "")
    yield f"forward ({forward}), up ({up}), {sure}, from the {rig['read_from']}"
    for name, label in (("votes", "forward"), ("up_votes", "up")):
        said = [f"{vote['source']} {vote['degrees_off']:g}° off x {vote['weight']:g}" for vote in rig[name]]
        yield from _list(f"  {label} votes: ", said)
    for leg in rig["legs"]:
        held = f", held by {', '.join(leg['held_by'])}" if leg["held_by"] else ""
        yield f"leg {', '.join(leg['bones'])}{held}"
    if rig["unplanted"]:
        yield f"legs of unknown controls below {rig['unplanted'][0]}"
    for arm in rig["arms"]:
        yield f"arm {', '.join(arm)}"
    if rig["eyes"]:
        yield f"eyes {', '.join(rig['eyes'])}"
    if rig["hips"]:
        yield f"hips moved by {rig['hips']}"


def _chain(chain: list[dict[str, Any]]) -> Iterator[str]:
    width = max((len(link["bone"]) for link in chain), default=0)
    for link in chain:
        yield f"    {link['bone']:{width}}  share {link['share']:.2f}  settle time x {link['settle_factor']:.2f}"


def _look_at(item: dict[str, Any]) -> str:
    target = item["target"] or "no target"
    target += f":{item['subtarget']}" if item["subtarget"] else ""
    damping = item["damping"].lower()
    damping += f" {item['damping_ratio']:g}" if damping == "custom" else ""
    muted = ", muted" if item["mute"] else ""
    return f"{target}, settle time {item['settle_time']:g} s, damping {damping}{muted}"


def _range(frames: list[float]) -> str:
    return f"{frames[0]:g} to {frames[1]:g}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    yield from (f"  {line}" for line in lines)


def _list(label: str, names: list[str]) -> list[str]:
    wrapped = textwrap.TextWrapper(_WIDTH, initial_indent=label, subsequent_indent=" " * 6, break_on_hyphens=False)
    wrapped.break_long_words = False
    return wrapped.wrap(", ".join(map(one_line, names))) if names else []
