"""What the project says of itself: version, website and repository, each in one place."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = "https://github.com/look-at-pd/look-at-pd"
MANUAL, FIRST_STEPS = "look-at", "look-at#adding-a-look-at"
"""Pages of `docs/` at which somebody new begins."""


@cache
def manifest() -> dict[str, Any]:
    """What Blender reads about the extension."""
    return tomllib.loads((Path(__file__).parents[1] / "blender_manifest.toml").read_text("utf-8"))


def version() -> str:
    return manifest()["version"]


def website() -> str:
    """Address of the website, with a slash at its end."""
    return manifest()["website"]


def page(name: str) -> str:
    """Address of a page of `docs/`, without its ending; a heading of it follows after #."""
    page, _, heading = name.partition("#")
    return f"{website()}{page}.html{f'#{heading}' if heading else ''}"
