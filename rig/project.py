"""What the project says of itself: version, website and repository, each in one place."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = "https://github.com/look-at-pd/look-at-pd"
MANUAL, FIRST_STEPS = "index", "lessons/first-look-at"
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


def pages(language: str = "") -> str:
    """Address of the site's pages in a language of Blender; in English where they are not there in it."""
    return f"{website()}ja/" if language.startswith("ja") else website()


def file_of(page: str) -> str:
    """The file of a page of `docs/` on the site; a heading of it follows after #."""
    name, _, heading = page.partition("#")
    return f"{name}.html{f'#{heading}' if heading else ''}"
