"""What probes have measured, kept until the rig is another one or its settings have other values.

By how much controls turn each other follows from bones, constraints, drivers and switches. The pose changes nothing of
it that is not corrected when a result is evaluated, so a new pose needs no new probe.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import bpy

from ..animation.channels import TRANSFORM_SIZES
from ..sampling import fingerprint

_MOST = 16
"""How many results are kept of one rig."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class RigState:
    """A rig with the values that its settings have at a frame."""

    uid: int
    digest: Hashable

    @classmethod
    def of(cls, scene: bpy.types.Scene, armature: bpy.types.Object, rig: bpy.types.Object) -> "RigState":
        """rig: the evaluated armature, which may be a copy that lacks bones."""
        reached = fingerprint.dependencies(scene, [armature]).values()
        # Blender evaluates constraints of a mirrored rig differently.
        mirrored = rig.matrix_world.is_negative
        return cls(armature.session_uid, (mirrored, *map(fingerprint.structure, reached), *_values(armature, rig)))


def _values(armature: bpy.types.Object, rig: bpy.types.Object) -> Iterator[Hashable]:
    """The settings that keys or drivers move, such as switches between IK and FK."""
    for path in fingerprint.animated_paths(armature):
        if path.rpartition(".")[2] not in TRANSFORM_SIZES:
            try:
                value = rig.path_resolve(path)
            except ValueError:
                continue
            yield path, tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


class KeptProbe(Generic[Result]):
    """Results of one kind of probe, by rig. They can be thrown away at any time."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[RigState, dict[Hashable, Result]]] = {}

    def get(self, state: RigState, question: Hashable) -> Result | None:
        """What was measured in this state of a rig, None where nothing was."""
        known, results = self._found.get(state.uid, (None, {}))
        return results.get(question) if known == state else None

    def keep(self, state: RigState, question: Hashable, result: Result) -> None:
        """Keep a result in place of those in other states of the rig."""
        known, results = self._found.get(state.uid, (None, {}))
        if known != state or len(results) >= _MOST:
            results = {}
        self._found[state.uid] = state, {**results, question: result}
