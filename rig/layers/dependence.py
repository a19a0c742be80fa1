"""On what the layers of a scene depend: the data that moves them, and the layers of other kinds; and their order."""

from collections.abc import Hashable, Iterable, Mapping

import bpy

from ..sampling import fingerprint
from .kinds import BODY, FRESH, TARGETS, Key, Kind, LayerSolve

Group = tuple[Kind, list[LayerSolve]]
Identities = set[tuple[str, str]]
Reach = tuple[Identities, Identities]
"""What the owner of a layer, and what it aims at, depend on."""
_NONE: Reach = set(), set()
_IDLE = object()


class Dependence:
    """On what each layer of one scene depends."""

    def __init__(self) -> None:
        self.reach: dict[Key, Reach] = {}
        self._below: dict[Key, dict[Key, object]] = {}
        """The tracks of layers of other kinds with which each was solved, `_IDLE` for those that move nothing of it."""

    def touched(self, key: Key, before: Mapping[Key, Reach]) -> Reach:
        """What may have changed a layer: what it depends on, and what it depended on before."""
        body, targets = (a | b for a, b in zip(self.reach.get(key, _NONE), before.get(key, _NONE), strict=True))
        return body, targets

    def groups(self, scene: bpy.types.Scene, layers: Iterable[tuple[Kind, LayerSolve]]) -> list[Group]:
        """Layers that are solved together, in order: what comes last in the stacks but depends on nothing before it is
        solved first, since other layers may look at it."""
        groups: dict[tuple[str, Hashable], Group] = {}
        for kind, solve in layers:
            groups.setdefault((kind.name, kind.together(solve)), (kind, []))[1].append(solve)
        early: list[Group] = []
        late: list[Group] = []
        waiting: list[tuple[Kind, LayerSolve]] = []
        for kind, solves in groups.values():
            in_order = kind.is_together or kind.layer.order >= 0
            if in_order or any(self._depends(scene, kind, solve, *other) for solve in solves for other in waiting):
                late.append((kind, solves))
                waiting.extend((kind, solve) for solve in solves)
            else:
                early.append((kind, solves))
        return early + late

    def see_below(
        self, scene: bpy.types.Scene, kind: Kind, solve: LayerSolve, layers: Iterable[tuple[Kind, LayerSolve]]
    ) -> bool:
        """Note what has changed of the layers of other kinds on which a layer depends; whether anything has."""
        body, targets = self._reach_of(scene, kind, solve)
        below: dict[Key, object] = {}
        stale = FRESH
        before = self._below.get(solve.key, {})
        for other_kind, other in layers:
            owner = fingerprint.identity(other.owner)
            if other is solve or not kind.sees(solve, other_kind, other) or not (owner in body or owner in targets):
                continue
            if _is_idle(solve, other_kind, other, before.get(other.key)):
                below[other.key] = _IDLE
                continue
            below[other.key] = other.track
            if before.get(other.key) is not other.track:
                stale = max(stale, BODY if owner in body else TARGETS)
        if any(before[key] is not _IDLE for key in before.keys() - below.keys()):
            stale = BODY
        self._below[solve.key] = below
        solve.stale = max(solve.stale, stale)
        return stale != FRESH

    def _reach_of(self, scene: bpy.types.Scene, kind: Kind, solve: LayerSolve) -> Reach:
        if solve.key not in self.reach:
            body, targets = (set(fingerprint.dependencies(scene, items)) for items in kind.inputs(solve.instance))
            self.reach[solve.key] = body, targets
        return self.reach[solve.key]

    def _depends(
        self, scene: bpy.types.Scene, kind: Kind, solve: LayerSolve, other_kind: Kind, other: LayerSolve
    ) -> bool:
        """Whether a layer depends on what another one moves."""
        owner = fingerprint.identity(other.owner)
        seen = kind.sees(solve, other_kind, other)
        return seen and any(owner in items for items in self._reach_of(scene, kind, solve))


def _is_idle(solve: LayerSolve, other_kind: Kind, other: LayerSolve, before: object) -> bool:
    """Whether another layer moves no bone of its rig on which what a layer is sampled from depends. before: what was
    noted of it."""
    if solve.copied is None:
        # After an undo the samples are still those, as long as nothing says otherwise.
        return before is _IDLE and solve.stale < BODY
    bones = solve.copied.get(other.owner)
    return bones is not None and all(bone and bone not in bones for bone, _ in other_kind.places(other.instance))
