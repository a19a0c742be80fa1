"""How randomized tests choose their examples: in a plain run always the same ones, with LOOKAT_PD_ATTACK new ones.

LOOKAT_PD_ATTACK=30 makes those that are slow 30 times as long, too. `--hypothesis-seed=N` repeats such a run.
"""

import os
from typing import Any

from hypothesis import settings
from hypothesis.internal.conjecture import providers

NAME = "LOOKAT_PD_ATTACK"
IS_RANDOM = NAME in os.environ
FACTOR = int(os.environ.get(NAME, "1"))


def load_profile() -> None:
    """The settings of all randomized tests, to be loaded before any of them is read."""
    settings.register_profile(
        "lookat_pd", derandomize=not IS_RANDOM, deadline=None, max_examples=50, database=None, print_blob=True
    )
    settings.load_profile("lookat_pd")
    if not IS_RANDOM:
        # Hypothesis tries numbers that it finds in the source of all modules that are loaded at the time: whether a
        # test passes would depend on which tests run before it, and on numbers anywhere in the code.
        providers._get_local_constants = lambda: providers._local_constants


def attack(examples: int, **options: Any) -> settings:
    """The settings of a slow randomized test with so many examples."""
    return settings(max_examples=examples * FACTOR, **options)
