"""Python in .blend files: without trust it is not run, and then some drivers are not evaluated."""

import warnings
from collections.abc import Iterator
from typing import Any

import bpy

from ..lookat_pd.message import Message

_NAMED = 3


class DriversLeftOut(UserWarning):
    """Drivers of a file were not evaluated."""


def tell_of_drivers() -> None:
    """Warn of the drivers of the present file that need Python, where Blender may not run it."""
    drivers = list(dict.fromkeys(_drivers()))
    if drivers:
        named = ", ".join(drivers[:_NAMED]) + (" and others" if len(drivers) > _NAMED else "")
        warnings.warn(
            Message(
                "Drivers that are Python scripts were not evaluated, and the result may differ: {named}; give "
                "--trust-scripts if you trust the file.",
                named=named,
            ),
            DriversLeftOut,
            stacklevel=2,
        )


def _drivers() -> Iterator[str]:
    """What Blender evaluates by Python alone: simple expressions, as those of Rigify, need none."""
    for owner in _owners():
        data = getattr(owner, "animation_data", None)
        for curve in data.drivers if data else ():
            if curve.driver.type == "SCRIPTED" and not curve.driver.is_simple_expression:
                yield f"'{curve.data_path}' of '{owner.name}'"


def _owners() -> Iterator[Any]:
    """All data that can be animated."""
    for listed in bpy.data.bl_rna.properties:
        if listed.type == "COLLECTION":
            for owner in getattr(bpy.data, listed.identifier):
                yield owner
                # These trees belong to their owner, and are in no list.
                tree = getattr(owner, "node_tree", None)
                if tree is not None:
                    yield tree
