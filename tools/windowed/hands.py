"""Mouse, keyboard and eyes in a Blender that was started with --enable-event-simulate.

Everything that takes time is a generator and is called with `yield from`: Blender draws and handles events where it
yields. Places are pixels of the window, counted from its lower left corner as Blender does.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from . import pixels
from .filming import Camera

Waiting = Iterator[float]
Place = tuple[int, int]

SIDEBAR = ("VIEW_3D", "UI")
VIEWPORT = ("VIEW_3D", "WINDOW")
TIMELINE = ("DOPESHEET_EDITOR", "WINDOW")
STATUS = ("STATUSBAR", "HEADER")

_STEP = 13
"""Pixels between two places at which `find` looks; a button is 20 high."""
_DIGITS = dict(
    zip("0123456789", ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"), strict=True)
)


class NotThere(AssertionError):
    """What a script looked for is not in the window."""


@dataclass(frozen=True)
class Button:
    """A button that was found: a place on it, and what it stands for (a data path or a Python command)."""

    x: int
    y: int
    meaning: str


class Hands:
    """Somebody in front of a window of Blender."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.camera: Camera | None = None
        self._at: Place = (5, 5)
        self._known: dict[tuple[Sequence[str], float], dict[str, int]] = {}
        """Where buttons were seen last, by what they stand for: a panel seldom changes."""

    # What there is

    @property
    def window(self) -> bpy.types.Window:
        """The newest, as the preferences and the list of files are on top; loading a file replaces it."""
        return bpy.context.window_manager.windows[-1]

    @property
    def at_work(self) -> list[str]:
        """Names of the operators that wait in the window; not of what stands by while live layers are solved."""
        names = [item.bl_idname for item in self.window.modal_operators]
        return [name for name in names if name != "LOOKAT_PD_OT_stand_by"]

    def area(self, kind: str) -> bpy.types.Area:
        for area in self.window.screen.areas:
            if area.type == kind:
                return area
        raise NotThere(f"no area {kind}; there are {[area.type for area in self.window.screen.areas]}")

    def region(self, place: Sequence[str]) -> bpy.types.Region:
        """The region of an area, `SIDEBAR` say."""
        if place == STATUS:  # not among the screen's areas
            raise NotThere("the status bar cannot be reached")
        area = self.area(place[0])
        for region in area.regions:
            if region.type == place[1] and region.width > 1 and region.height > 1:
                return region
        raise NotThere(f"no region {place[1]} is open in {place[0]}")

    def inside(self, place: Sequence[str], x: float = 0.5, y: float = 0.5) -> Place:
        """A place in a region, as fractions of its width and height."""
        region = self.region(place)
        return round(region.x + x * region.width), round(region.y + y * region.height)

    def override(self, place: Sequence[str] = VIEWPORT):
        """The context of someone whose mouse is there."""
        return bpy.context.temp_override(window=self.window, area=self.area(place[0]), region=self.region(place))

    # A film

    def film(self, name: str, place: Sequence[str] | None = None, above: int = 0) -> Camera:
        """Film what is done from now on in the window above a height, or in one of its areas."""
        part = self.window if place is None else self.area(place[0])
        x, y = (0, 0) if place is None else (part.x, part.y)
        corner = self.window.x + x, self.window.y + y + above
        self.camera = Camera(self.folder / "films" / name, (*corner, part.width, part.height - above))
        return self.camera

    def filmed(self, lasting: float | None = None) -> None:
        """Have the camera see the window as it is now."""
        if self.camera is not None:
            self.camera.see((self.window.x + self._at[0], self.window.y + self._at[1]), lasting)

    def unseen(self) -> AbstractContextManager[None]:
        """Nothing is filmed meanwhile."""
        return self.camera.covered() if self.camera is not None else nullcontext()

    # Hands

    def move(self, place: Place) -> Waiting:
        self._at = place
        self.window.event_simulate("MOUSEMOVE", "NOTHING", x=place[0], y=place[1])
        yield 0.0

    def hover(self, place: Place) -> Waiting:
        """Move there in two steps: at the first the button that was left lets go, at the second this one wakes."""
        yield from self.move((place[0] - 1, place[1]))
        yield from self.move(place)

    def key(self, kind: str, *, ctrl: bool = False, shift: bool = False, alt: bool = False, text: str = "") -> Waiting:
        """Press a key and let it go, wherever the mouse is."""
        held = {"ctrl": ctrl, "shift": shift, "alt": alt, "x": self._at[0], "y": self._at[1]}
        self.window.event_simulate(kind, "PRESS", unicode=text or None, **held)
        yield 0.0
        self.window.event_simulate(kind, "RELEASE", **held)
        yield 0.05

    def write(self, text: str) -> Waiting:
        """Type letters, digits, blanks and a few signs."""
        signs = {" ": "SPACE", ".": "PERIOD", "-": "MINUS", ",": "COMMA", "/": "SLASH"}
        for letter in text:
            kind = signs.get(letter) or _DIGITS.get(letter) or letter.upper()
            yield from self.key(kind, text=letter, shift=letter.isupper())

    def button(self, value: str, which: str = "LEFTMOUSE", **held: bool) -> Waiting:
        """Press or release a mouse button."""
        self.window.event_simulate(which, value, x=self._at[0], y=self._at[1], **held)
        if self.camera is not None and value == "PRESS":
            self.camera.pressed = True
        yield 0.0

    def click(self, place: Place | Button, which: str = "LEFTMOUSE", **held: bool) -> Waiting:
        yield from self.hover((place.x, place.y) if isinstance(place, Button) else place)
        yield from self.button("PRESS", which, **held)
        yield from self.button("RELEASE", which, **held)
        yield 0.1

    def drag(self, start: Place, end: Place, steps: int = 10, each: Callable[[], object] | None = None) -> Waiting:
        """Drag with the left button; `each` is called after every step, when Blender has drawn it."""
        yield from self.move(start)
        yield from self.button("PRESS")
        for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
            yield from self.move(
                (round(start[0] + part * (end[0] - start[0])), round(start[1] + part * (end[1] - start[1])))
            )
            yield 0.02
            if each is not None:
                each()
        yield from self.button("RELEASE")
        yield 0.1

    def wheel(self, place: Place, notches: int) -> Waiting:
        """Turn the wheel; up for positive numbers."""
        yield from self.move(place)
        for _ in range(abs(notches)):
            kind = "WHEELUPMOUSE" if notches > 0 else "WHEELDOWNMOUSE"
            self.window.event_simulate(kind, "PRESS", x=place[0], y=place[1])
            yield 0.02

    def search(self, name: str) -> Waiting:
        """F3 in the 3D viewport, a few letters, Enter."""
        yield from self.move(self.inside(VIEWPORT, 0.3, 0.3))
        yield from self.key("F3")
        yield 0.2
        yield from self.write(name)
        yield 0.3
        yield from self.key("RET")
        yield 0.3

    def undo(self) -> Waiting:
        yield from self.move(self.inside(VIEWPORT, 0.3, 0.3))
        yield from self.key("Z", ctrl=True)
        yield 0.2

    def redo(self) -> Waiting:
        yield from self.move(self.inside(VIEWPORT, 0.3, 0.3))
        yield from self.key("Z", ctrl=True, shift=True)
        yield 0.2

    def until(self, done: Callable[[], bool], seconds: float = 60.0) -> Iterator[float]:
        """Wait until something is so, for a while at most; whether it is."""
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end:
            yield 0.05
        return done()

    def idle(self, seconds: float = 60.0) -> Waiting:
        """Wait until no operator is at work, as a bake is until it has ended or stopped."""
        yield 0.1
        ended = yield from self.until(lambda: not self.at_work, seconds)
        assert ended, f"still at work after {seconds:.0f} s: {self.at_work}"
        yield 0.1

    # Eyes

    def sidebar(self, category: str = "Look-at PD") -> Waiting:
        """Open the 3D viewport's sidebar at one of its tabs, the mouse away from it."""
        self.area("VIEW_3D").spaces.active.show_region_ui = True
        yield from self.move(self.inside(VIEWPORT, 0.3, 0.3))
        yield 0.1
        region = self.region(SIDEBAR)
        region.active_panel_category = category
        region.tag_redraw()
        yield 0.2

    def under_mouse(self, place: Sequence[str]) -> Iterator[float]:
        """What the button under the mouse stands for: a data path or a Python command; "" where there is none."""
        manager = bpy.context.window_manager
        with self.override(place):
            for copy in (
                lambda: bpy.ops.ui.copy_data_path_button(full_path=True),
                bpy.ops.ui.copy_python_command_button,
            ):
                manager.clipboard = ""
                try:
                    copy()
                except RuntimeError:  # no button there, or not of this kind
                    continue
                if manager.clipboard:
                    return manager.clipboard
        return (yield from self._by_menu())

    def _by_menu(self) -> Iterator[float]:
        """The same from the button's own context menu: settings that live on a bone have no data path to copy."""
        paths: list[str] = []

        def ask(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
            prop = getattr(context, "button_prop", None)
            if prop is not None:
                paths.append(f"{type(context.button_pointer).__name__}.{prop.identifier}")

        bpy.types.UI_MT_button_context_menu.append(ask)
        try:
            yield from self.button("PRESS", "RIGHTMOUSE")
            yield from self.button("RELEASE", "RIGHTMOUSE")
        finally:
            bpy.types.UI_MT_button_context_menu.remove(ask)
        # Nowhere near the menu: what it highlights must not be taken for chosen.
        self.window.event_simulate("ESC", "PRESS", x=self._at[0], y=self._at[1])
        yield 0.0
        self.window.event_simulate("ESC", "RELEASE", x=self._at[0], y=self._at[1])
        return paths[0] if paths else ""

    def copied(self) -> Iterator[float]:
        """What Ctrl+C over a button copies, also in a list that has popped up: the command, or the value."""
        bpy.context.window_manager.clipboard = ""
        yield from self.key("C", ctrl=True)
        return bpy.context.window_manager.clipboard

    def find(self, meaning: str, place: Sequence[str] = SIDEBAR, across: float = 0.62) -> Iterator[float]:
        """The topmost button whose data path or command contains that; `across`: where, in parts of the width.

        `button = yield from hands.find("settle_time")`
        """
        with self.unseen():
            return (yield from self._find(meaning, place, across))

    def _find(self, meaning: str, place: Sequence[str], across: float) -> Iterator[float]:
        region = self.region(place)
        x = round(region.x + across * region.width)
        known = self._known.setdefault((place, across), {})
        for y in [y for meanings, y in known.items() if meaning in meanings]:
            yield from self.hover((x, y))
            label = yield from self.under_mouse(place)
            if meaning in label:
                return Button(x, y, label)
        seen: list[str] = []
        busy = self._busy(region)
        for y in range(region.y + region.height - 6, region.y + 6, -_STEP):
            if not busy[y - region.y]:
                continue
            yield from self.hover((x, y))
            label = yield from self.under_mouse(place)
            if label and label not in seen:
                seen.append(label)
                known[label] = y - 3  # away from its upper edge
                yield from self.hover((x, y - 3))
                if (yield from self.under_mouse(place)) != label:
                    known[label] = y + 3
            if meaning in label:
                return Button(x, known[label], label)
        raise NotThere(f"no button for {meaning!r}; there are {seen}")

    def _busy(self, region: bpy.types.Region) -> np.ndarray:
        """Whether something is drawn (height,) in a region's rows, from the bottom up, beside their background."""
        seen = self.pixels(region.x, region.y, region.width, region.height)[::-1].astype(np.int16)
        margin = seen[:, [round(0.02 * region.width)]]
        inside = seen[:, round(0.1 * region.width) : round(0.85 * region.width)]
        return (abs(inside - margin).max(axis=2) > 8).any(axis=1)

    def visible(self, meaning: str, place: Sequence[str] = SIDEBAR, across: float = 0.62) -> Iterator[float]:
        """Whether there is such a button."""
        try:
            yield from self.find(meaning, place, across)
        except NotThere:
            return False
        return True

    def pixels(self, x: int = 0, y: int = 0, width: int = 0, height: int = 0) -> np.ndarray:
        """Pixels (height, width, 3) of a part of the window, by default of all of it."""
        window = self.window
        return pixels.grab(window.x + x, window.y + y, width or window.width, height or window.height)

    def keep(self, name: str, x: int, y: int, width: int, height: int) -> Path:
        """Keep a part of the window as a picture for the documents."""
        path = self.folder / "images" / f"{name}.png"
        pixels.save(path, self.pixels(x, y, width, height))
        return path

    def look(self, name: str) -> Path:
        """Keep a picture of the window."""
        path = self.folder / f"{name}.png"
        pixels.save(path, self.pixels(), small=False)
        return path
