"""A stranger's path: the repository, the installation, the example, the own character, baked keys; and its clock."""

from PIL import Image
from windowed import strangers

from . import window
from .kept import ROOT
from .window import FPS

__all__ = ["FPS", "pictures"]


def pictures() -> list[Image.Image]:
    folder = ROOT / "build/stranger"
    return window.cut(*window.filmed(strangers.walk(folder), folder), clock=True)
