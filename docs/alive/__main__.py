"""Draws docs/images/alive_*.png: twelve frames and curves of each case, before and after, one above the other.

    python docs/alive [CASE]...

CASE: dance, run, conversation, join, reach, swing; all of them if none is named, and then the table of docs/alive.md is
written, too. *Before* are the settings that a file of an earlier version has, *after* those of a new one.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

from standalone import load  # noqa: E402
from tools.figures import pages  # noqa: E402

CASES = "dance", "run", "conversation", "join", "reach", "swing"


def main(names: list[str]) -> int:
    if unknown := set(names) - set(CASES):
        sys.stderr.write(f"No case is named {', '.join(sorted(unknown))}.\n{__doc__}")
        return 2
    load().register()
    sheets, table = import_module("docs.alive.sheets"), pages.head("", "", "before", "after")
    for name in names or CASES:
        case = import_module(f"docs.alive.{name}")
        for line in sheets.draw(name, case.TITLE, case.takes):
            print(line, flush=True)
            table += f"{line}\n"
    if not names:
        pages.replace_tables(pages.DOCS / "alive.md", [table])
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
