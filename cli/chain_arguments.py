"""The flags that say which bones above an effector turn."""

import argparse
from typing import Any

from . import setting_flags


def add_effector(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    help = "effector: hand, foot or last bone of a tail"
    parser.add_argument("--bone", metavar="NAME", required=required, help=help)


def add_arguments(parser: argparse.ArgumentParser, owner: Any, tip: str, *, limb: bool = False) -> None:
    """owner: the registered class with the length. tip: what --tip does. limb: whether the default is the detected
    limb."""
    usual = "that of the detected limb" if limb else "given by --length"
    parser.add_argument("--base", metavar="NAME", help=f"first bone of the chain (default: {usual})")
    usual = "the detected limb" if limb else owner.bl_rna.properties["length"].default
    help = f"number of bones in the chain, 0 for all up to the root (default: {usual})"
    setting_flags.add(parser, "--length", owner, "length", "N", help=help, stored=limb)
    parser.add_argument("--tip", action="store_true", help=tip)
