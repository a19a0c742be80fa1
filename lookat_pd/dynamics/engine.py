"""The physics engine, MuJoCo: forward dynamics of a body. Everything else does without it.

Source: Todorov, Erez, Tassa, MuJoCo: A physics engine for model-based control, IROS 2012.
"""

import importlib
from functools import cache
from typing import Any

import numpy as np

from .. import rotation
from ..errors import EngineMissing
from ..rotation import Array
from .body import Body


@cache
def _module() -> Any:
    """The engine's module, or the ImportError or OSError that it came with."""
    try:
        return importlib.import_module("mujoco")
    except (ImportError, OSError) as problem:
        return problem


def reason() -> str | None:
    """Why the engine cannot be used, in a sentence; None if it can."""
    problem = _module()
    if isinstance(problem, ModuleNotFoundError):
        return "The physics engine MuJoCo is not installed; install the extension's zip made for this platform."
    if isinstance(problem, Exception):
        return (
            f"The physics engine MuJoCo does not load ({problem}); install the extension's zip made for this platform."
        )
    return None


def available() -> bool:
    """Whether the engine can be used."""
    return reason() is None


def load() -> Any:
    """The engine's module. Raises EngineMissing."""
    problem = reason()
    if problem is not None:
        raise EngineMissing(problem)
    return _module()
