"""How long slow randomized tests take: LOOKAT_PD_ATTACK=30 makes them 30 times as long, with new seeds each time."""

import os
from typing import Any

from hypothesis import settings

FACTOR = int(os.environ.get("LOOKAT_PD_ATTACK", "1"))


def attack(examples: int, **options: Any) -> settings:
    """The settings of a slow randomized test with so many examples."""
    return settings(max_examples=examples * FACTOR, derandomize=FACTOR == 1, **options)
