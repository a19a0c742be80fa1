"""What a mode of `inertialize` is."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...report import Row
from .made import Made
from .mode_task import ModeTask

EACH_ACTION = ("action", "all_actions")
"""Options of modes that make something of each action."""
JOINING = ("visual", "lock_feet", "root", "method", "damping_ratio", "profile")
"""Options of modes that join clips."""


@dataclass(frozen=True)
class Mode:
    """One thing that the verb does, chosen by an option of its name."""

    name: str
    make: Callable[[ModeTask], Made]
    """Makes the action, which the rig plays then. Raises LookAtError."""
    choose: Mapping[str, Any] | None
    """Arguments of `add_argument` for the option that chooses it; None where `add_arguments` adds that."""
    options: tuple[str, ...] = ()
    """Options that mean something with it, as argparse names their values; without such a mode they are refused."""
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Options that mean something only beside one of these others."""
    add_arguments: Callable[[argparse.ArgumentParser], None] | None = None
    """Adds the options that no other mode has."""
    check: Callable[[argparse.Namespace], None] | None = None
    """Raises Misuse where its options do not fit together."""
    ending: str = ""
    """Added to the name of each action, for that of its result; empty where one result is made of several clips."""
    is_copy: bool = False
    """Whether the result of an action has all F-curves of it that are not replaced."""
    has_range: bool = True
    """Whether --range means something."""
    make_visual: Callable[[ModeTask, Row], None] | None = None
    """What is done to the visual pose, where that makes no action: it fills the row. Raises LookAtError."""


def given(options: argparse.Namespace, name: str) -> bool:
    # A frame or a name may be 0 or empty.
    value = getattr(options, name)
    return value is not None and value is not False


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
