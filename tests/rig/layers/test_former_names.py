"""Modules that scripts import by the names that they had before."""

from extension import load


def test_the_live_loop_has_its_former_name() -> None:
    live, handlers = load("rig.layers.live"), load("rig.live.handlers")
    assert all(getattr(handlers, name) is getattr(live, name) for name in handlers.__all__)
