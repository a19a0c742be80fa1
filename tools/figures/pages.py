"""Tables of Markdown in the documents."""

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"


def head(*columns: str) -> str:
    """The first two lines of a table."""
    return f"{row(*columns)}\n|{'---|' * len(columns)}\n"


def row(*cells: object) -> str:
    shown = (str(cell).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |"


def replace_tables(page: Path, tables: Iterable[str]) -> None:
    """Replace the tables of a page, in their order."""
    made = iter(tables)
    text = re.sub(r"(?:^\|.*\n)+", lambda _: next(made), page.read_text("utf-8"), flags=re.MULTILINE)
    page.write_text(text, "utf-8")
