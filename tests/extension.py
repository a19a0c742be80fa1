"""The add-on package under test, whichever way it is present: installed in a real Blender, or as this checkout."""

import importlib
import sys
from functools import cache
from types import ModuleType

import standalone


def _installed() -> str | None:
    """Name of the package where Blender has the zip installed and enabled."""
    import bpy

    for name in bpy.context.preferences.addons.keys():
        if name.startswith("bl_ext.") and name.endswith(".lookat_pd"):
            return name
    return None


@cache
def package() -> ModuleType:
    """The add-on package; from the first call on `import lookat_pd` gives its solvers and no other copy."""
    name = _installed()
    if name is None:
        return standalone.package()
    if any(module.split(".")[0] == "lookat_pd" for module in sys.modules):
        raise ImportError("lookat_pd was imported before the installed extension was looked up")
    standalone.alias("lookat_pd", f"{name}.lookat_pd")
    return importlib.import_module(name)


def load(name: str = "") -> ModuleType:
    """The module of that dotted name inside the add-on package, such as "rig.sampling.sampler"; the package for ""."""
    root = package().__name__
    return importlib.import_module(f"{root}.{name}" if name else root)
