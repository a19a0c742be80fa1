"""The registered extension, for benchmarks that measure it in Blender."""

from collections.abc import Iterator
from contextlib import contextmanager

from standalone import load

from .timing import quiet

suspend = load("rig.sampling.suspend")
finish = load("lookat_pd.progress").drain
"""Takes all steps of a generator, and gives what it returns."""


@contextmanager
def registered(*, playing: bool = False) -> Iterator[None]:
    """The extension registered, and nothing printed. playing: with the live look-at, else it is suspended."""
    with quiet():
        load().register()
        try:
            if playing:
                yield
            else:
                with suspend.suspend_live():
                    yield
        finally:
            load().unregister()
