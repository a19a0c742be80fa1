"""`job`: what a job file has, section by section, as the other verbs do it."""

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ...lookat_pd.errors import LookAtError
from ...lookat_pd_batch.errors import BatchError
from ...lookat_pd_batch.job_file import SHOW, Job, Section
from ...rig import whole_file
from .. import arguments as words
from .. import baking, jobs, report
from ..arguments import Misuse
from ..console import Console
from ..report import Row

NAME = "job"
SUMMARY = "do what a job file says: patterns of files, with settings for each character"
EPILOG = """\
A job file is TOML: [show] has the defaults, every other section the files of a character and its settings, whose names
are those of the options, such as settle_time:
  [show]
  output = "out"
  skip_done = true
  [anna]
  files = ["chars/anna/**/*.blend"]
  target = "Ball"
Paths are relative to the file. Outputs lie below the output folder as the inputs below the folder of the file."""
_ALIASES = {"actions": "action", "rigs": "rig"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.toml", help="the job file")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=words.pair("SECTION.KEY=VALUE", "anna.settle_time=0.4"),
        metavar="SECTION.KEY=VALUE",
        help="a setting instead of that of the file; can be repeated",
    )
    parser.add_argument("--report", type=Path, metavar="FILE.json", help="write a JSON list with one object per input")
    words.add_trust(parser)
    words.add_replacing(parser)
    words.add_batch(parser)
    own = ("help", "file", "set", "report")
    parser.set_defaults(usual={action.dest: action.default for action in parser._actions if action.dest not in own})


def run(options: argparse.Namespace, console: Console) -> int:
    parts = _parts(options, console)
    jobs.check_report(
        argparse.Namespace(report=options.report, inputs=[path for part in parts for path in part.inputs])
    )
    rows: list[Row] = []
    code = 0
    for part in parts:
        part.collected = rows
        code = max(code, part.run(part, console))
    if options.report is not None:
        with console.interruption.held():
            report.write(options.report, rows)
        for part in parts:
            if part.report is not None:
                part.report.unlink(missing_ok=True)
    failed = sum(not row["ok"] for row in rows)
    return code if not options.tolerate_failures.holds(failed, len(rows)) else 0


def _parts(options: argparse.Namespace, console: Console) -> list[argparse.Namespace]:
    """The options of the verbs of all sections, checked. Raises Misuse."""
    try:
        job = Job.read(options.file)
        for name, value in options.set:
            job.put(name, value)
        sections = job.sections()
        known = {key for section in sections for key in _known(job, section)}
        parts = [_options(job, section, options, known) for section in sections]
        _check_outputs(job, sections, parts)
        for section, part in zip(sections, parts, strict=True):
            _check(job, section, part, console)
    except BatchError as error:
        raise Misuse(str(error)) from None
    everything = [path for section in sections for path in section.paths]
    command = blake2b(repr(sorted(job.content.items())).encode("utf-8", "replace"), digest_size=16).hexdigest()
    for part, section in zip(parts, sections, strict=True):
        part.everything, part.of_command = everything, command
        part.report = _beside(options.report, section.name)
    return parts


def _beside(path: Path | None, name: str) -> Path | None:
    """The report of a section: what is left of a job that was killed."""
    if path is None or path == report.STANDARD_OUTPUT or whole_file.is_stream(path):
        return None
    return path.with_name(f"{path.stem}-{name}.json")


def _check(job: Job, section: Section, part: argparse.Namespace, console: Console) -> None:
    """Let the verb of a section look at its options: nothing is done where a later section is wrong. Raises
    BatchError."""
    try:
        if hasattr(part, "into"):
            for one in jobs.plan(part):
                baking.check_output(baking.INTO[part.into], one)
        part.checking = True
        part.run(part, console)
    except (Misuse, LookAtError) as error:
        raise BatchError(f"{job.place(section.name)}: {str(error).rstrip('.')}") from None
    finally:
        part.checking = False


def _check_outputs(job: Job, sections: list[Section], parts: list[argparse.Namespace]) -> None:
    taken: dict[str, str] = {}
    for section, part in zip(sections, parts, strict=True):
        if not hasattr(part, "output"):
            continue
        named = next((name for name in ("name", "file_name") if name in section.settings), "")
        try:
            planned = jobs.plan(part)
        except Misuse as misuse:
            raise BatchError(f"{job.at(section.name, named)}: {misuse}") from None
        for one in planned:
            owner = taken.setdefault(str(one.output).casefold(), section.name)
            if owner != section.name:
                where = job.at(section.name, named)
                raise BatchError(f"{where}: {one.output} is written by [{owner}] and [{section.name}]")


def _known(job: Job, section: Section) -> set[str]:
    """The keys of its verb."""
    return {*_flags(_parser(job, section)), *_ALIASES}


def _parser(job: Job, section: Section) -> argparse.ArgumentParser:
    """That of the verb of a section. Raises BatchError."""
    from ..program import parser

    verbs = _verbs(parser("job"))
    below = verbs.get(section.verb)
    if below is None or section.verb in (NAME, "report"):
        known = ", ".join(name for name in verbs if name not in (NAME, "report"))
        raise BatchError(f"{job.at(section.name, 'verb')}: there is no verb {section.verb!r}; there are {known}")
    return below


def _options(job: Job, section: Section, given: argparse.Namespace, known: set[str]) -> argparse.Namespace:
    """Those of the verb, from the keys of a section. known: of the verbs of all sections. Raises BatchError."""
    from ..program import complete

    below = _parser(job, section)
    flags, found = _flags(below), []
    for key, value in section.settings.items():
        if job.owner(section.name, key) == SHOW and key in known - {*flags, *_ALIASES}:
            # A default of the show that only other verbs have.
            continue
        found += _words(job, section, key, value, flags)
    for key, usual in given.usual.items():
        value = getattr(given, key)
        if value != usual and key in flags:
            # What the command line says comes last, and counts.
            found += _words(job, section, key, value if isinstance(value, bool) else str(value), flags)
    files = [str(path) for path in section.paths]
    with _complaining(below, lambda text: _complaint(job, section, text)):
        # Names of files may begin with a minus.
        options = below.parse_args(words.join_negative_numbers([*found, "--", *files]))
    complete(options, [section.verb, *found, "--", *files])
    options.verb, options.inputs = section.verb, list(section.paths)
    # Files elsewhere lie side by side, as those that are named on the command line.
    relative = {str(path): os.path.relpath(path.parent, job.folder) for path in section.paths}
    options.below = {path: below for path, below in relative.items() if below.split(os.sep)[0] != ".."}
    return options


def _verbs(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    choices = next(action.choices for action in top._actions if isinstance(action, argparse._SubParsersAction))
    return dict(choices)


def _flags(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """By the names that keys may have."""
    hidden = ("help", "worker", "report", "inputs")
    found = {}
    for action in parser._actions:
        if action.option_strings and action.dest not in hidden:
            names = [word.lstrip("-").replace("-", "_") for word in action.option_strings]
            found |= dict.fromkeys([action.dest, *names], action)
    return found


def _words(job: Job, section: Section, key: str, value: Any, flags: dict[str, argparse.Action]) -> Iterator[str]:
    """A setting as the command line has it. Raises BatchError."""
    action = flags.get(key) or flags.get(_ALIASES.get(key, ""))
    if action is None:
        raise job.unknown(section.name, key, {*flags, *_ALIASES})
    word = next((one for one in action.option_strings if one.startswith("--") and not one.startswith("--no-")), None)
    word = word or action.option_strings[0]
    if isinstance(value, bool):
        if value:
            yield word
        elif f"--no-{word[2:]}" in action.option_strings:
            yield f"--no-{word[2:]}"
        elif action.nargs != 0:
            raise BatchError(f"{job.at(section.name, key)}: it is true or false, but {word} takes a value")
        return
    if action.nargs == 0:
        raise BatchError(f"{job.at(section.name, key)}: give true or false")
    if isinstance(value, dict):
        value = [f"{name}={one}" for name, one in value.items()]
    if isinstance(value, list) and action.nargs is not None and action.nargs != "?":
        yield from (word, *(_text(job, action, one) for one in value))
    elif isinstance(value, list) and isinstance(action, argparse._AppendAction):
        yield from (f"{word}={_text(job, action, one)}" for one in value)
    elif isinstance(value, list) and action.type is not Path:
        yield f"{word}={','.join(_text(job, action, one) for one in value)}"
    elif action.type is Path and (not isinstance(value, str) or not value.strip()):
        raise BatchError(f"{job.at(section.name, key)}: give one path")
    else:
        yield f"{word}={_text(job, action, value)}"


def _text(job: Job, action: argparse.Action, value: Any) -> str:
    return str(job.folder / str(value)) if action.type is Path else str(value)


@contextlib.contextmanager
def _complaining(parser: argparse.ArgumentParser, complaint: Callable[[str], BatchError]) -> Iterator[None]:
    """Within it, what the parser complains of is raised."""

    def error(text: str) -> None:
        raise complaint(text)

    parser.error = error  # pyright: ignore[reportAttributeAccessIssue]
    yield


def _complaint(job: Job, section: Section, text: str) -> BatchError:
    """What argparse says of a flag, at the place of its key."""
    flag = text.removeprefix("argument ").partition(":")[0].split("/")[0]
    key = flag.removeprefix("--").replace("-", "_")
    named = [name for name, to in _ALIASES.items() if to == key]
    for name in (key, *named):
        for where in (section.name, "show"):
            if name in job.content.get(where, {}):
                return BatchError(f"{job.place(where, name)}: {text.partition(': ')[2] or text}")
    return BatchError(f"{job.place(section.name)}: {text}")
