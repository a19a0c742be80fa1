"""The panel beside a character: Settle Time is dragged, and the same look is seen with 0.2, 0.6 and 1.5 seconds."""

from PIL import Image
from windowed import blender

from . import window
from .kept import ROOT

FPS = 12
_PLACE = ROOT / "docs/films/in_window"
_SIZE = 1040, 640


def pictures() -> list[Image.Image]:
    folder = ROOT / "build/settle_panel"
    (result,) = blender.run(
        ["interface:settle_panel"], path=_PLACE, prepare="interface", folder=folder, limit=240.0, size=_SIZE
    )
    return window.cut(*window.filmed(result, folder), fps=FPS)
