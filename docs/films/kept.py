"""Which films there are, and what each was made by: a film that is older than its scripts is found without Blender."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "images" / "films"
NOTES = FOLDER / "films.json"
FILMS = (
    "look_at",
    "settle_time",
    "whole_body",
    "eyes",
    "conversation",
    "live_follow",
    "best_cut",
    "loop",
    "ik_drag",
    "contacts",
    "reach",
    "hit",
    "springs",
)
"""In the order of the reel."""
IN_WINDOW = "settle_panel", "stranger"
"""Those of the interface, which need a Blender with a window."""
REEL = "reel"
_COMMON = "docs/films/shooting.py", "docs/alive/stage.py"
_PEOPLE = tuple(
    f"assets/demo/{name}.py"
    for name in ("appearance", "geometry", "hand", "head", "human", "mannequin", "materials", "rigify_human")
)
_ALSO = {
    "look_at": ("assets/demo/animation.py", "assets/demo/performance.py", "assets/demo/targets.py"),
    "conversation": ("docs/alive/conversation.py",),
    "best_cut": ("docs/alive/join.py", "docs/alive/run.py"),
    "reach": ("assets/demo/lifting.py",),
    "loop": ("docs/alive/dance.py",),
    "springs": ("docs/springs_filmstrip.py",),
}
"""Scripts that single films are made by, besides their own."""
_INTERFACE = (
    *("docs/films/window.py", "tools/windowed/filming.py", "operators/drawing.py"),
    *(f"panels/{name}.py" for name in ("look_at", "rows", "presets", "status", "plots", "sidebar")),
)
_SHOWN = {
    "settle_panel": ("docs/films/in_window/interface.py", "docs/pictures/scene.py"),
    "stranger": (
        *("tools/windowed/strangers.py", "tests/window/installing/strangers_path.py", "docs/alive/dance.py"),
        *("docs/installation.md", "operators/open_example.py", "panels/newcomer.py", "assets/demo/example.py"),
    ),
}
"""What films of the interface are made by; they show panels. Who stands beside them does not matter."""


def path(name: str) -> Path:
    return FOLDER / f"{name}.webp"


def sources(name: str) -> Iterable[str]:
    """Files of the repository that a film is made by."""
    if name == REEL:
        return "docs/films/cutting.py", *(f"docs/images/films/{film}.webp" for film in FILMS)
    if name in IN_WINDOW:
        return f"docs/films/{name}.py", *_INTERFACE, *_SHOWN[name]
    return f"docs/films/{name}.py", *_ALSO.get(name, ()), *_COMMON, *_PEOPLE


def digest(name: str) -> str:
    found = hashlib.sha256()
    for source in sources(name):
        found.update((ROOT / source).read_bytes().replace(b"\r\n", b"\n"))
    return found.hexdigest()


def note(name: str) -> None:
    """Keep what a film was made by."""
    NOTES.write_text(json.dumps(_notes() | {name: digest(name)}, indent=2, sort_keys=True) + "\n", "utf-8")


def outdated() -> list[str]:
    """Films that are not there, or older than what they are made by."""
    notes = _notes()
    return [name for name in (*FILMS, *IN_WINDOW, REEL) if not path(name).exists() or notes.get(name) != digest(name)]


def _notes() -> dict[str, str]:
    return json.loads(NOTES.read_text("utf-8")) if NOTES.exists() else {}
