"""These tests need no Blender: they compare made-up figures."""

import pytest


@pytest.fixture(autouse=True)
def empty_file() -> None:
    """In place of the fixture that empties Blender's file before each test."""
