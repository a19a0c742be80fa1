"""Every number in the interface has a largest value, so that nobody can ask for more than a machine has."""

from collections.abc import Iterator
from typing import Any

import bpy
import pytest
from registry import BASES

from extension import load

ONE_OF_MANY = {"seed", "number", "index", "active_target"}
"""Numbers that choose something: a large one asks for no more than a small one."""
RESULTS = {"cost"}
LARGEST = 1e9


def ours() -> Iterator[type]:
    """All classes of the extension that Blender knows."""
    for base in BASES:
        below = list(getattr(bpy.types, base).__subclasses__())
        while below:
            kind = below.pop()
            below += kind.__subclasses__()
            if kind.__module__.startswith(load().__name__) and getattr(kind, "is_registered", False):
                yield kind


def number_properties() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Class, identifier and definition of every number that is shown."""
    for owner in ours():
        for kind in owner.__mro__:
            for name, deferred in getattr(kind, "__annotations__", {}).items():
                function = getattr(getattr(deferred, "function", None), "__name__", "")
                if function.startswith(("Int", "Float")) and "HIDDEN" not in deferred.keywords.get("options", ()):
                    yield owner.__name__, name, deferred.keywords


def is_frame_or_place(name: str, keywords: dict[str, Any]) -> bool:
    says = " ".join((name, keywords.get("name", ""), keywords.get("description", ""))).lower()
    return "frame" in says or keywords.get("subtype") in ("XYZ", "TRANSLATION")


def test_there_are_numbers_to_look_at() -> None:
    assert len({(owner, name) for owner, name, _ in number_properties()}) > 60


def test_every_number_has_bounds() -> None:
    without = sorted(
        {
            f"{owner}.{name}"
            for owner, name, keywords in number_properties()
            if not is_frame_or_place(name, keywords)
            and name not in ONE_OF_MANY | RESULTS
            and not (keywords.get("min", -float("inf")) >= -LARGEST and keywords.get("max", float("inf")) <= LARGEST)
        }
    )
    assert not without


@pytest.mark.parametrize(("setting", "asked", "has"), [("smoothness", 1e6, 60.0), ("length", 10**6, 1000)])
def test_a_number_beyond_its_bounds_becomes_the_largest(setting: str, asked: float, has: float) -> None:
    settings = bpy.context.scene.lookat_pd_ik
    setattr(settings, setting, asked)
    assert getattr(settings, setting) == has
