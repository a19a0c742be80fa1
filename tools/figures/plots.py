"""Pictures of curves in the documents."""

import os
import sys
from collections.abc import Callable
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from .pages import IMAGES


def describe(axis: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Title, names of the axes, and a grid."""
    axis.set(title=title, xlabel=x, ylabel=y)
    axis.grid(alpha=0.25)


def save(figure: Any, name: str, dpi: int = 90) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / name, dpi=dpi)


def run(*works: Callable[[], object]) -> None:
    """Do the work of a script and end it: bpy 4.5 from PyPI can hang when the interpreter exits."""
    for work in works:
        work()
    sys.stdout.flush()
    os._exit(0)


__all__ = ["describe", "plt", "run", "save"]
