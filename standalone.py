"""The add-on package without Blender's add-on machinery: for the command line, the demo, tests and benchmarks.

    from standalone import load
    actions = load("rig.animation.actions")

The folder of this file must be on `sys.path`. The solvers are then the same modules under both names, `lookat_pd` and
`lookat_pd_addon.lookat_pd`, so that their classes and exceptions exist once; so is `lookat_pd_batch`.
"""

import importlib
import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

PACKAGE = "lookat_pd_addon"
ROOT = Path(__file__).resolve().parent


class _Alias(MetaPathFinder, Loader):
    """Resolves imports below one name to the modules below another."""

    def __init__(self, name: str, target: str) -> None:
        self.name, self.target = name, target

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        inside = fullname == self.name or fullname.startswith(self.name + ".")
        return ModuleSpec(fullname, self) if inside else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Use the default: the module is replaced in the next step."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(self.target + name.removeprefix(self.name))


def alias(name: str, target: str) -> None:
    """Make `name` and all modules below it aliases of `target` and the modules below that."""
    sys.meta_path.insert(0, _Alias(name, target))


def package() -> ModuleType:
    """The add-on package, executed on the first call."""
    if PACKAGE not in sys.modules:
        for name in ("lookat_pd", "lookat_pd_batch"):
            alias(f"{PACKAGE}.{name}", name)
        spec = importlib.util.spec_from_file_location(
            PACKAGE, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        assert spec and spec.loader
        module = sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[PACKAGE]
            raise
    return sys.modules[PACKAGE]


def load(name: str = "") -> ModuleType:
    """The module of that dotted name inside the add-on package, such as "rig.sampling.sampler"; the package for ""."""
    root = package().__name__
    return importlib.import_module(f"{root}.{name}" if name else root)
