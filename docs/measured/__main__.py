"""Writes the tables of docs/axes-measured.md, dynamics-measured.md, gaze-measured.md, ik-measured.md,
joins-measured.md and rigs-measured.md.

    LOOKAT_PD_RIGS=FOLDER python docs/measured PAGE [NAME]...

PAGE: axes, dynamics, gaze, ik, joins or rigs. The folder has rigs and clips of other makers. With names, only the rows
of files whose names contain one of them are printed, and nothing is written.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

from standalone import load  # noqa: E402
from tools.figures.pages import DOCS, replace_tables  # noqa: E402

PAGES = "axes", "dynamics", "gaze", "ik", "joins", "rigs"


def main(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] not in PAGES or not Path(os.environ.get("LOOKAT_PD_RIGS", "")).is_dir():
        sys.stderr.write(__doc__ or "")
        return 2
    page, *names = arguments
    load().register()
    module = import_module(f"docs.measured.{page}")
    tables: dict[str, str] = dict.fromkeys(module.HEADS, "")
    for head, line in module.lines(names):
        sys.stderr.write(f"{line}\n" if head else f"    {line}\n")
        sys.stderr.flush()
        if head:
            tables[head] += f"{line}\n"
    if not names:
        replace_tables(DOCS / f"{page}-measured.md", (head + rows for head, rows in tables.items()))
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
