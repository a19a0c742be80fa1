"""The library of actions on the command line: a table of the best cuts, their numbers as JSON, and the graph as a
picture."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..lookat_pd.progress import drain
from ..rig.transitions import library
from ..rig.transitions.library import Library, LibraryCut, PathEnds
from ..rig.transitions.library_settings import LibrarySettings
from . import arguments as words
from . import motion_plots, setting_flags
from .arguments import Misuse
from .console import Console, one_line

_LISTED = 20
"""Cuts in the table that people read; the report has all."""
_DRAWN = 3
"""Cuts of each clip in the picture."""


def add_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """what: is done with the library, as a phrase."""
    parser.add_argument(
        "--library",
        metavar="PATTERNS",
        help=f"{what}; PATTERNS: actions, with wildcards and separated by commas, such as '*' for all of the rig",
    )
    parser.add_argument(
        "--plots",
        type=Path,
        metavar="FOLDER",
        help="with --library: folder for the graph of the cuts: JSON, and PNG if matplotlib is installed",
    )


def add_path_arguments(parser: argparse.ArgumentParser) -> None:
    help = "with --library: added to the difference of each cut; a larger cost leads over fewer actions "
    help += f"(default: {library.CUT_COST:g})"
    setting_flags.add(parser, "--cut-cost", LibrarySettings, "cut_cost", "C", help=help, stored=True)


def check(options: argparse.Namespace) -> None:
    """Raises Misuse."""
    if options.plots is not None and options.library is None:
        raise Misuse("--plots means nothing without --library")
    words.check_plots(options)


def compare(
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    patterns: str,
    console: Console,
    ends: PathEnds | None = None,
    room: int = 0,
) -> Library:
    """The actions of a rig that match, with the cuts between them. Raises LookAtError."""
    needed = () if ends is None else [bpy.data.actions[name] for name in (ends.start, ends.goal)]
    chosen = library.choose(rig, patterns, needed)
    steps = library.build(scene, rig, chosen, room=room, ends=ends)
    return drain(steps, lambda fraction: console.progress(0.1 + 0.5 * fraction, "comparing actions"))


def described(known: Library) -> dict[str, Any]:
    """For the report: the actions with their frames, and the best cut of each two of them."""
    return {
        "actions": [{"name": clip.action.name, "frames": [clip.first, clip.last]} for clip in known.clips],
        "cuts": as_rows(known.cuts.pairs()),
    }


def as_rows(cuts: Sequence[LibraryCut]) -> list[dict[str, Any]]:
    """For the report: cuts in their order."""
    return [
        {
            "source": cut.source,
            "destination": cut.destination,
            "source_frame": cut.source_frame,
            "destination_frame": cut.destination_frame,
            "cost": round(cut.cost, 6),
        }
        for cut in cuts
    ]


def table(library: dict[str, Any]) -> list[str]:
    """Lines for people, the best cuts first. library: as of `described`."""
    cuts = library["cuts"][:_LISTED]
    lines = [f"library of {len(library['actions'])} actions, {len(library['cuts'])} best cuts"]
    names = [(one_line(cut["source"]), one_line(cut["destination"])) for cut in cuts]
    wide = [max((len(pair[k]) for pair in names), default=0) for k in (0, 1)]
    for cut, (source, destination) in zip(cuts, names, strict=True):
        frames = f"{cut['source_frame']:>6} -> {cut['destination_frame']:<6}"
        lines.append(f"  {source:{wide[0]}} -> {destination:{wide[1]}} {frames} {cut['cost']:.4f}")
    if len(library["cuts"]) > len(cuts):
        lines.append(f"  … and {len(library['cuts']) - len(cuts)} more, in --report")
    return lines


def plot(folder: Path, stem: str, known: Library, path: Sequence[LibraryCut] = ()) -> list[str]:
    """Write the graph of the cuts; the paths written. Raises FileError."""
    numbers = {**described(known), "path": as_rows(path)}
    return motion_plots.write(folder, stem, numbers, _draw)


def _draw(numbers: dict[str, Any], picture: Path) -> None:
    """Actions on a circle; of each the arrows of its best cuts, wide and dark where they cost little; a path in red."""
    names = [action["name"] for action in numbers["actions"]]
    size = min(max(7.0, 0.28 * len(names)), 24.0)
    figure, (axes,), plt = motion_plots.plots(1, 1, (size, size))
    angles = np.pi / 2.0 - 2.0 * np.pi * np.arange(len(names)) / len(names)
    place = dict(zip(names, np.stack((np.cos(angles), np.sin(angles)), axis=-1), strict=True))
    costs = np.array([cut["cost"] for cut in numbers["cuts"]] or [0.0])
    drawn: dict[str, int] = {}
    for cut, rank in zip(numbers["cuts"], np.argsort(np.argsort(costs)) / len(costs), strict=False):
        drawn[cut["source"]] = drawn.get(cut["source"], 0) + 1
        if drawn[cut["source"]] <= _DRAWN:
            _arrow(axes, place, cut, colour=str(0.15 + 0.6 * rank), width=2.0 - 1.5 * rank)
    for cut in numbers["path"]:
        if cut["source"] != cut["destination"]:
            _arrow(axes, place, cut, colour="#d1495b", width=3.0, label=f"{cut['cost']:.4f}")
    for name, angle in zip(names, angles, strict=True):
        degrees, right = np.degrees(angle), np.cos(angle) >= -1e-9
        axes.text(
            *(1.04 * place[name]),
            name.replace("$", r"\$"),
            rotation=degrees if right else degrees + 180.0,
            rotation_mode="anchor",
            horizontalalignment="left" if right else "right",
            verticalalignment="center",
            fontsize=8,
        )
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal")
    axes.axis("off")
    axes.set_title(f"Best {_DRAWN} cuts from each action; dark and wide: small differences")
    figure.savefig(picture, dpi=110)
    plt.close(figure)


def _arrow(
    axes: Any, place: dict[str, Any], cut: dict[str, Any], *, colour: str, width: float, label: str = ""
) -> None:
    begin, end = place[cut["source"]], place[cut["destination"]]
    curve = "arc3,rad=0.12"
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "connectionstyle": curve}
    axes.annotate("", xy=end, xytext=begin, arrowprops={**style, "shrinkA": 4, "shrinkB": 4})
    if label:
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        axes.text(*(0.46 * (begin + end)), label, color=colour, fontsize=9, horizontalalignment="center", bbox=paper)
