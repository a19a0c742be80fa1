"""Makes the films of the documents, docs/images/films/*.webp, from scripts: each builds its scene and renders it, or
does something in Blender's window.

    python docs/films [FILM]...
    python docs/films --check

Without a name all are made, and then the reel, which is cut from them; those of the interface need BLENDER to name a
Blender with a window. --check makes nothing and names the films that
are older than the scripts they are made by.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT), str(ROOT / "tools")]

from docs.films import cutting, kept  # noqa: E402


def main(names: list[str]) -> int:
    if names == ["--check"]:
        for name in kept.outdated():
            print(f"{name} is older than what it is made by; run: make films ARGS={name}")
        return bool(kept.outdated())
    if unknown := set(names) - {*kept.FILMS, *kept.IN_WINDOW, kept.REEL}:
        sys.stderr.write(f"No film is named {', '.join(sorted(unknown))}.\n{__doc__}")
        return 2
    made = names or [*kept.FILMS, *kept.IN_WINDOW, kept.REEL]
    for name in (name for name in made if name in kept.IN_WINDOW):
        film = import_module(f"docs.films.{name}")
        cutting.save(name, film.pictures(), film.FPS)
        kept.note(name)
    films = [name for name in made if name in kept.FILMS]
    if films:
        # Only these need Blender.
        from standalone import load

        load().register()
        shooting = import_module("docs.films.shooting")
        for name in films:
            film = import_module(f"docs.films.{name}")
            if hasattr(film, "pictures"):
                cutting.save(name, list(film.pictures()), film.FPS)
            else:
                cutting.save(name, shooting.shoot(film.shots), shooting.FPS)
            kept.note(name)
    if kept.REEL in made:
        cutting.reel(kept.FILMS)
        kept.note(kept.REEL)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
