"""`python benchmarks [NAME...]`: run the benchmarks, or those named, and print one Markdown table."""

import os
import platform
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

MODULES = (
    "solver",
    "bake",
    "live",
    "body",
    "inertialize",
    "join",
    "ik",
    "ik_bake",
    "dynamics",
    # Each further module stands here; it has run(), which returns rows of (what, figure).
)


def processor() -> str:
    """The processor's name as the system knows it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine() -> str:
    parts = [
        f"{processor()}, {os.cpu_count()} cores",
        f"Python {platform.python_version()}",
        f"numpy {np.__version__}",
    ]
    if find_spec("bpy"):
        import bpy

        parts.append(f"Blender {bpy.app.version_string}")
    return ", ".join(parts)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(f"No benchmark is called {unknown[0]}; there are {', '.join(MODULES)}.", file=sys.stderr)
        return 2
    print(f"{machine()}\n\n| what | figure |\n|---|---|", flush=True)
    for name in names or MODULES:
        for what, figure in import_module(name).run():
            print(f"| {what} | {figure} |", flush=True)
    return 0


if __name__ == "__main__":
    # `python benchmarks` puts this folder on the path; the solvers lie beside it.
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    code = main(sys.argv[1:])
    sys.stdout.flush()
    # bpy 4.5 from PyPI can hang when the interpreter exits.
    os._exit(code)
