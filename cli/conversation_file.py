"""Conversations from files of turns: speakers are matched with rigs, and the plan is reported."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..lookat_pd.conversation import files
from ..lookat_pd.conversation.files import Line
from ..lookat_pd.errors import FileError, RigError
from ..rig.look_at.directing import conversation, conversation_settings, conversation_table
from . import rigs
from .arguments import Misuse, shown

FIELD = "conversation"
"""Field of the report."""
AMOUNTS = {"glances": 1.0, **dict.fromkeys((*conversation_settings.AMOUNTS, "breathing"), 2.0)}
"""Amounts of a conversation, and the largest of each."""


@dataclass(frozen=True)
class Talk:
    """What the command line asks for."""

    lines: tuple[Line, ...]
    """Lines of the file, in order of time."""
    speakers: Mapping[str, str] = field(default_factory=dict)
    """Names of armatures by the names in the file."""
    seed: int = 0
    """Another number gives another conversation."""
    amounts: Mapping[str, float] = field(default_factory=dict)
    """Amounts of what people do, by the names of settings."""


def add_arguments(parser: argparse.ArgumentParser, what: Any) -> None:
    """what: group of the flags that exclude each other."""
    what.add_argument(
        "--conversation",
        type=Path,
        metavar="FILE",
        help="let characters talk: turns from subtitles (.srt), a table (.csv), .json or .txt",
    )
    parser.add_argument(
        "--speaker",
        type=_speaker,
        action="append",
        metavar="NAME=ARMATURE",
        help="armature of a speaker of the conversation, or of a silent participant; repeatable (default: the one of "
        "that name)",
    )
    parser.add_argument("--seed", type=_seed, metavar="N", help="seed of the conversation (default: 0)")
    parser.add_argument(
        "--amount",
        type=_amount,
        action="append",
        metavar="NAME=FACTOR",
        help=f"how much of it people of the conversation do, 0 for none and 1 as people do: {', '.join(AMOUNTS)}; "
        "repeatable",
    )


def _amount(word: str) -> tuple[str, float]:
    name, _, number = (part.strip() for part in word.partition("="))
    most = AMOUNTS.get(name)
    if most is None:
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is not NAME=FACTOR; NAME is one of {', '.join(AMOUNTS)}")
    try:
        factor = float(number)
    except ValueError:
        factor = np.nan
    if not 0.0 <= factor <= most:
        raise argparse.ArgumentTypeError(f"{shown(word)!r} has no factor from 0 to {most:g}")
    return name, factor


def _speaker(word: str) -> tuple[str, str]:
    name, _, armature = (part.strip() for part in word.partition("="))
    if not name or not armature:
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is not NAME=ARMATURE")
    return name, armature


def _seed(word: str) -> int:
    if not word.isdecimal() or not int(word[:11]) <= conversation.MOST_SEED:
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is no whole number from 0 to {conversation.MOST_SEED}")
    return int(word)


def read(options: argparse.Namespace) -> Talk | None:
    """The conversation that is asked for, if any. Raises Misuse."""
    if options.conversation is None:
        for flag in ("speaker", "seed", "amount"):
            if getattr(options, flag) is not None:
                raise Misuse(f"--{flag} is for a conversation; give --conversation FILE too")
        return None
    for flag in ("rig", "bone"):
        if getattr(options, flag) is not None:
            raise Misuse(f"--{flag} chooses one character; leave it out with --conversation, or use --speaker")
    try:
        lines = files.load(options.conversation)
    except FileError as error:
        raise Misuse(f"--conversation {options.conversation}: {error}") from None
    return Talk(tuple(lines), dict(options.speaker or ()), options.seed or 0, dict(options.amount or ()))


def people(scene: bpy.types.Scene, talk: Talk) -> dict[bpy.types.Object, str]:
    """The armatures of the participants, and what the file calls them. Raises RigError, which names what there is."""
    rigs_of_file = rigs.armatures(scene)
    if not rigs_of_file:
        rigs.choose(scene, None, [])
    stored = {person.armature: person.called for person in scene.lookat_pd_conversation.people}
    known = conversation_settings.called([(armature, stored.get(armature, "")) for armature in rigs_of_file])
    result: dict[bpy.types.Object, str] = {}
    for name in dict.fromkeys([*(line.name for line in talk.lines), *talk.speakers]):
        if name in talk.speakers:
            armature = rigs.choose(scene, [talk.speakers[name]], [])
        elif name.lower() in known:
            armature = known[name.lower()]
        else:
            raise RigError(
                "There is no armature for the speaker '{name}' {instead} with --speaker NAME=ARMATURE.",
                name=shown(name),
                instead=rigs.instead(name, [item.name for item in rigs_of_file]),
                code="rig-missing",
            )
        if armature in result:
            raise RigError(
                "'{name}' and '{other}' of the conversation are both the armature '{armature}'; choose another one for "
                "either with --speaker NAME=ARMATURE.",
                name=shown(result[armature]),
                other=shown(name),
                armature=armature.name,
            )
        result[armature] = name
    if len(result) < 2:
        raise RigError(
            "Only '{name}' takes part in the conversation; add who listens with --speaker NAME=ARMATURE.",
            name=shown(next(iter(result.values()))),
        )
    return result


def make(
    scene: bpy.types.Scene, talk: Talk, called: Mapping[bpy.types.Object, str], first: int, last: int
) -> dict[str, Any]:
    """Key the conversation, with time 0 at frame `first`, and return what the report says of it. Raises RigError."""
    by_name = {name: armature for armature, name in called.items()}
    lines = [
        replace(line, name=by_name[line.name].name, at=_at(scene, line.at, by_name) if line.at else "")
        for line in talk.lines
    ]
    conversation_settings.set_people(scene, list(called))
    settings = scene.lookat_pd_conversation
    with conversation_settings.silent():
        settings.seed, settings.end = talk.seed, max(last, 0)
        for name, amount in talk.amounts.items():
            setattr(settings, name, amount)
        for person in settings.people:
            person.called = called[person.armature]
        conversation_table.take_lines(scene, lines, first)
    planned = conversation_settings.make(scene, eyes=True, body=True)
    return _report(planned, [(person.called, person.armature.name) for person in settings.people])


def _at(scene: bpy.types.Scene, name: str, by_name: Mapping[str, bpy.types.Object]) -> str:
    return by_name[name].name if name in by_name else rigs.find_target(scene, name)[0].name


def _report(planned: conversation.Planned, names: Sequence[tuple[str, str]]) -> dict[str, Any]:
    minutes = planned.seconds / 60.0
    shares = planned.shares
    return {
        "turns": len(planned.turns),
        "seconds": round(planned.seconds, 3),
        "listening": _rounded(shares.listening),
        "speaking": _rounded(shares.speaking),
        "mutual": _rounded(shares.mutual),
        "people": [
            {
                "name": name,
                "rig": rig,
                "gaze_changes_per_minute": round(float(shares.changes[n]), 2),
                "blinks_per_minute": round(len(planned.blinks[n]) / minutes, 2),
                "nods_per_minute": round(len(planned.nods[n]) / minutes, 2),
            }
            for n, (name, rig) in enumerate(names)
        ],
    }


def _rounded(share: float) -> float | None:
    return round(share, 4) if np.isfinite(share) else None
