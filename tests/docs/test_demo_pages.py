"""The documents' tables of the demo have the figures of its report."""

import sys

from . import pages

sys.path.insert(0, str(pages.ROOT / "tools"))

import demo_pages


@pages.on_the_newest
def test_tables_are_those_of_the_report(demo) -> None:
    """`make demo-pages` writes them."""
    for page, text in demo_pages.updated():
        assert page.read_text("utf-8") == text


def test_pictures_of_the_demo_are_shown() -> None:
    shown = "".join(page.read_text("utf-8") for page in pages.PAGES)
    assert not [name for name in demo_pages.PICTURES.values() if f"images/{name}" not in shown]
