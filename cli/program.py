"""From words on the command line to a verb, and from what happens there to an exit code.

0: everything done. 1: at least one file failed. 2: the arguments are wrong, and nothing was touched.
128 and the signal's number: a signal ended the run.
"""

import argparse
import signal
from collections.abc import Sequence
from typing import NoReturn

from ..lookat_pd.errors import LookAtError
from ..rig.sampling import suspend
from . import arguments as words
from . import jobs, workers
from .console import Console, crash, one_line
from .verbs import VERBS
from .worker_pool import Pool

FAILED, MISUSED, SIGNALLED = 1, 2, 128


class _Parser(argparse.ArgumentParser):
    """Complains in one line; argparse would print the whole usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISUSED, f"lookat_pd: {one_line(message).rstrip('.')} (see {self.prog} --help)\n")


def parser(program: str, only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all verbs; `program` is how the user called it. only: the verb whose options it will read, where
    that is known: to declare those of all takes as long as to bake a small file."""
    top = _Parser(
        prog=program,
        description="Look-at PD: add look-ats, transitions, inverse kinematics and dynamics to the animation in files.",
        epilog=f"'{program} VERB --help' shows the options of a verb.",
        allow_abbrev=False,
    )
    verbs = top.add_subparsers(title="verbs", metavar="VERB", dest="verb", required=True)
    for verb in VERBS:
        below = verbs.add_parser(
            verb.NAME,
            help=verb.SUMMARY,
            description=f"{verb.SUMMARY[0].upper()}{verb.SUMMARY[1:]}.",
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            epilog=getattr(verb, "EPILOG", None),
        )
        if only not in (None, verb.NAME):
            continue
        verb.add_arguments(below)
        below.add_argument("--worker", help=argparse.SUPPRESS)
        below.add_argument("--debug", action="store_true", help="show Blender's own messages and Python tracebacks")
        below.set_defaults(run=verb.run, complain=below.error)
    return top


def main(arguments: Sequence[str], program: str, pool: Pool | None = None) -> int:
    """Run one verb and return the exit code; nothing is raised. pool: workers that were already started for it."""
    try:
        options = parser(program, arguments[0] if arguments else None).parse_args(
            words.join_negative_numbers(arguments)
        )
        complete(options, arguments, pool)
        return _run(options)
    except SystemExit as end:
        # Blender would take the exception for a failure of its own.
        return end.code if isinstance(end.code, int) else MISUSED


def complete(options: argparse.Namespace, arguments: Sequence[str], pool: Pool | None = None) -> None:
    """Add to parsed arguments what is no argument: the words themselves, workers that were started for them, and what a
    job of several sections has in common."""
    options.words, options.pool, options.parent = list(arguments), pool, None
    # Inputs and command of a whole job, and the list that takes the rows of all its sections.
    options.dry_run = getattr(options, "dry_run", None)
    options.everything = options.of_command = options.collected = None
    options.checking = False


def _run(options: argparse.Namespace) -> int:
    # Files come and go here; look-ats in them are baked, not played.
    loudness = {name: getattr(options, name, False) for name in ("quiet", "verbose")}
    progress = getattr(options, "progress", "auto")
    with Console(debug=options.debug, progress=progress, **loudness) as console, suspend.suspend_live():
        try:
            if options.worker is not None:
                told = workers.joined(options.worker)
                if told is None:
                    return FAILED
                options.parent, options.inputs, options.below, options.everything = told
            elif hasattr(options, "inputs"):
                jobs.expand(options, console)
            return options.run(options, console)
        except words.Misuse as misuse:
            complaint = str(misuse)
        except KeyboardInterrupt:
            console.complain("interrupted; files that are not written yet are left as they were.")
            return SIGNALLED + (console.interruption.number or signal.SIGINT)
        except LookAtError as error:
            console.complain(str(error))
            return FAILED
        except Exception as error:
            console.traceback()
            console.complain(crash(error))
            return FAILED
    return options.complain(complaint)
