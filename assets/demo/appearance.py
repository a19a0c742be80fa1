"""What the people of the demo wear, so that two of them are told apart."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from .materials import paint

SKIN, SHIRT, TROUSERS, DARK, HAIR, LIPS, LIDS, SHOES = range(8)
"""Materials of a body, in the order of `Appearance.paints`."""


@dataclass(frozen=True)
class Appearance:
    """Colours by their names, and hair."""

    shirt: str = "Shirt"
    hair: str = "Hair"
    bun: bool = False

    def paints(self) -> list[bpy.types.Material]:
        return [paint(name) for name in ("Skin", self.shirt, "Trousers", "Dark", self.hair, "Lips", "Lids", "Shoes")]


PEOPLE = {"Anna": Appearance("Red Shirt", "Auburn Hair", bun=True)}


def of(name: str) -> Appearance:
    """The appearance of somebody with that name; most look alike."""
    return PEOPLE.get(name, Appearance())
