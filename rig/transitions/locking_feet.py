"""Whether feet are locked: everywhere by default, where the rig has legs that can be."""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import bpy

from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import drain
from ..feet import foot_bones

WHERE_POSSIBLE = None
"""The default of `lock_feet` in panel, operators, command line and Python: feet are locked if the rig has legs and they
can be. With True it is an error if they cannot."""


def locking(
    armature: bpy.types.Object, make: Callable[[bool], Generator[float, None, Any]], lock_feet: bool | None
) -> Generator[float, None, Any]:
    """What `make` makes with locked feet or without; yields the completed fraction.

    make: leaves nothing behind where it fails. Its result has a field `unlocked`, for the reason why feet are not
    locked though the rig has legs. Raises LookAtError.
    """
    if lock_feet is not None:
        return (yield from make(lock_feet))
    if not has_legs(armature):
        return (yield from make(False))
    try:
        return (yield from make(True))
    except RigError as error:
        # What is wrong with anything else is wrong again.
        return replace((yield from make(False)), unlocked=error)


def locked(armature: bpy.types.Object, make: Callable[[bool], Any], lock_feet: bool | None) -> Any:
    """The same of what is made at once."""

    def steps(lock: bool) -> Generator[float, None, Any]:
        yield 0.0
        return make(lock)

    return drain(locking(armature, steps, lock_feet))


def has_legs(armature: bpy.types.Object) -> bool:
    try:
        foot_bones.find(armature)
    except RigError:
        return False
    return True
