"""Makes the documents' pictures of Blender's window: the scripts in docs/pictures, each by the name of its picture.

tools/pictures [NAME]...        all of them, or those that are named: panel, presets
"""

import shutil
import sys
from collections.abc import Sequence

from . import blender

HERE = blender.ROOT / "docs/pictures"
IMAGES = blender.ROOT / "docs/images"
LARGEST = 300_000
"""Bytes of a picture, so that the repository stays light."""
SIZE = (1400, 900)


def main(names: Sequence[str]) -> int:
    known = {name: path.stem for path in sorted(HERE.glob("*.py")) for name in blender.scripts_in(path)}
    if unknown := [name for name in names if name not in known]:
        print(f"error: no picture {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    if reason := blender.why_no_window():
        print(f"error: the pictures are made in Blender's window: {reason}", file=sys.stderr)
        return 1
    scripts = [f"{known[name]}:{name}" for name in names or known]
    folder = blender.ROOT / "build/pictures"
    failed = 0
    for result in blender.run(scripts, path=HERE, prepare="scene", folder=folder, limit=120.0, size=SIZE):
        name = result.name.split(":")[1]
        if result.outcome == "skipped":
            print(f"{name}: skipped, {result.text}")
            continue
        made = folder / "images" / f"{name}.png"
        if result.outcome == "failed" or made.stat().st_size > LARGEST:
            failed += 1
            why = result.text if result.outcome == "failed" else f"{made.stat().st_size} bytes, more than {LARGEST}"
            print(f"{name}: failed\n{why}\n{result.output}")
            continue
        shutil.copy(made, IMAGES / made.name)
        print(f"docs/images/{made.name}: {made.stat().st_size // 1000} kB")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
