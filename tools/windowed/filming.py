"""Pictures of the screen while something is done in a window, and where its mouse was: what a film is made of.

A simulated mouse has no pointer that could be photographed, so its places are kept beside the pictures. `rows` reads
them under any Python.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

_EVERY = 0.07
"""Seconds between two pictures, at least."""
_ROWS = "film.jsonl"
_HIDDEN = 40
"""Brightness of what is hidden, of 255."""


@dataclass(frozen=True)
class Row:
    """One look at the screen."""

    picture: int
    """Number of its file; the one of the row before where nothing has changed."""
    seconds: float
    """Since the film began."""
    mouse: tuple[int, int]
    """Pixels from the lower left corner of the picture."""
    pressed: bool
    caption: str
    lasting: float | None = None
    """Seconds for which it is seen; None for as long as it was in truth."""


class Camera:
    """Films a part of the screen: pixels of its lower left corner, width and height."""

    def __init__(self, folder: Path, part: tuple[int, int, int, int]) -> None:
        self.folder, self.part = folder, part
        self.caption, self.pressed = "", False
        self.hidden: tuple[int, int, int, int] | None = None
        """A part that is not shown, such as a path of this machine: as `part`, in pixels of the screen."""
        self._started = time.monotonic()
        self._covered, self._number, self._last, self._seen = 0, -1, -1.0, None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    @contextmanager
    def covered(self) -> Iterator[None]:
        """Film nothing: a script looks about with the mouse, as nobody does who has eyes."""
        self._covered += 1
        try:
            yield
        finally:
            self._covered -= 1

    def see(self, mouse: tuple[int, int], lasting: float | None = None) -> None:
        """Keep what the screen shows, unless it was kept a moment ago. lasting: seconds for which it shall be seen, of
        what is filmed picture by picture while it is covered."""
        from . import pixels

        now = self.seconds
        if lasting is None and (self._covered or (now - self._last < _EVERY and not self.pressed)):
            return
        picture = pixels.grab(*self.part)
        if self.hidden is not None:
            left, low = self.hidden[0] - self.part[0], self.hidden[1] - self.part[1]
            bottom = self.part[3] - low
            picture[bottom - self.hidden[3] : bottom, left : left + self.hidden[2]] = _HIDDEN
        if self._seen is None or (picture != self._seen).any():
            self._number += 1
            self._seen = picture
            pixels.save(picture_of(self.folder, self._number), picture, small=False)
        place = mouse[0] - self.part[0], mouse[1] - self.part[1]
        row = Row(self._number, round(now, 3), place, self.pressed, self.caption, lasting)
        with (self.folder / _ROWS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
        self._last, self.pressed = now, False


def picture_of(folder: Path, number: int) -> Path:
    return folder / f"{number:05}.png"


def rows(folder: Path) -> list[Row]:
    """What a camera has kept in a folder."""
    lines = (folder / _ROWS).read_text("utf-8").splitlines()
    return [Row(**{**row, "mouse": tuple(row["mouse"])}) for row in map(json.loads, lines)]
