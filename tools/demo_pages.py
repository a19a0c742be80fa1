"""Brings what the documents show of the demo up to date with build/demo, as `make demo` leaves it: pictures and tables.

python tools/demo_pages.py
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "build/demo"
IMAGES = ROOT / "docs/images"
PICTURES = {"look_at.png": "demo.png", "conversation.png": "conversation.png", "filmstrip.png": "filmstrip.png"}
"""Names in the demo's folder and in the documents."""


def _reaches(report: list[dict[str, Any]]) -> Iterator[str]:
    sides = {"side": "the side"}
    for reach in next(row["reaches"] for row in report if "reaches" in row):
        straight, *others = (f"{reach['costs'][name]:.0f}" for name in ("straight path", "smoothing", "optimal"))
        yield f"| {sides.get(reach['from'], reach['from'])} | {straight} N²m²/s | {' | '.join(others)} |"


TABLES: dict[str, tuple[Path, Callable[[list[dict[str, Any]]], Iterator[str]]]] = {
    "| reach of 0.8 s from |": (ROOT / "docs/dynamics/rigs.md", _reaches),
}
"""How the head of a table begins: its page, and its rows of the demo's report."""


def updated() -> Iterator[tuple[Path, str]]:
    """Pages with such a table, and their texts as they should be."""
    report = json.loads((DEMO / "report.json").read_text("utf-8"))
    for head, (page, rows) in TABLES.items():
        lines = page.read_text("utf-8").split("\n")
        first = next(number for number, line in enumerate(lines) if line.startswith(head)) + 2
        last = next(number for number in range(first, len(lines)) if not lines[number].startswith("|"))
        lines[first:last] = rows(report)
        yield page, "\n".join(lines)


def main() -> None:
    for page, text in updated():
        page.write_text(text, "utf-8")
        print(page.relative_to(ROOT))
    for made, shown in PICTURES.items():
        shutil.copyfile(DEMO / made, IMAGES / shown)
        print((IMAGES / shown).relative_to(ROOT))


if __name__ == "__main__":
    main()
