"""The modes of `inertialize`. A mode is added in this list: its options, checks, messages and work follow."""

import argparse
from collections.abc import Mapping, Sequence

from ...arguments import Misuse
from . import (
    clean_feet,
    close_loop,
    in_place,
    join_list,
    join_markers,
    join_path,
    join_two,
    smooth_pops,
    travel_on,
    walk_along,
)
from .mode import Mode, flag, given

MODES = (
    join_path.MODE,  # --library, beside --to
    join_two.MODE,
    join_list.MODE,
    join_markers.MODE,
    close_loop.MODE,
    smooth_pops.MODE,
    clean_feet.MODE,
    in_place.MODE,
    travel_on.MODE,
    walk_along.MODE,
)
"""The first one whose option is given is chosen."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that choose a mode, and those that belong to one."""
    group = parser.add_mutually_exclusive_group(required=True)
    for mode in MODES:
        if mode.choose is not None:
            group.add_argument(flag(mode.name), **mode.choose)
    for mode in MODES:
        if mode.add_arguments is not None:
            mode.add_arguments(parser)


def chosen(options: argparse.Namespace) -> Mode:
    return next(mode for mode in MODES if given(options, mode.name))


def check(options: argparse.Namespace, beside: Mapping[str, Sequence[str]]) -> Mode:
    """The mode that is chosen. beside: options of all modes that mean something only beside one of these others.
    Raises Misuse where options do not fit it."""
    for name, others in {**_modes_by_option(), **beside}.items():
        if given(options, name) and not any(given(options, other) for other in others):
            raise Misuse(f"{flag(name)} means nothing without {' or '.join(map(flag, others))}")
    mode = chosen(options)
    if mode.check is not None:
        mode.check(options)
    if options.range is not None and not mode.has_range:
        *first, last = (flag(other.name) for other in MODES if not other.has_range)
        raise Misuse(f"--range means nothing for a whole clip; leave it out with {', '.join(first)} and {last}")
    return mode


def _modes_by_option() -> dict[str, list[str]]:
    """By option, what it means something beside: modes, or other options of its mode."""
    found: dict[str, list[str]] = {}
    for mode in MODES:
        for name in mode.options:
            found.setdefault(name, []).append(mode.name)
    for mode in MODES:
        found |= {name: list(others) for name, others in mode.beside.items()}
    return found
