"""Bones that swing as in VRM's springBone and in game engines, on the result of what they hang on.

Such a bone does not pull at its parent. It begins a body of its own (`solver`), on a base that is the solved bone
before it, and bodies are solved in the order in which they hang on each other. It is held by a pull of constant
strength along its animated direction, as a pendulum is by gravity, instead of a torsion spring: the same for small
swings, softer for large ones.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..pd.second_order import check_tuning
from ..rotation import Array
from . import solver
from .colliders import Borders, Colliders
from .solver import SpringMotion

_SLACK = 100.0
"""Settle time [s] of the torsion springs of bones that are held by a pull."""
_NUMBERS = ("settle_time", "damping_ratio", "inertia", "drag", "stretch", "limit", "radius")


def solve(
    positions: ArrayLike,
    rotations: ArrayLike,
    tips: ArrayLike,
    parents: ArrayLike,
    dt: float,
    *,
    one_way: ArrayLike = False,
    **settings: Any,
) -> SpringMotion:
    """The same as `solver.solve`, with bones that do not pull at what they hang on.

    one_way: whether a bone does not, for all bones or (n,). They do not stretch. Raises InvalidArgument.
    """
    above = checks.array("parents", parents)
    given = np.asarray(one_way, dtype=float)
    if not given.any() or above.ndim != 1:
        return solver.solve(positions, rotations, tips, parents, dt, **settings)
    flags = checks.like("one-way bones", given, len(above)) != 0.0
    checks.check_order(above.astype(int).tolist())
    places = checks.animated("positions", positions)
    turns = checks.quaternions("rotations", rotations)
    ends = checks.array("tips", tips, 3)
    if places.ndim != 3 or {places.shape[1], turns.shape[1], len(ends)} != {len(above)} or len(turns) != len(places):
        # It says what is wrong with the shapes.
        return solver.solve(positions, rotations, tips, parents, dt, **settings)
    stages = np.zeros(len(above), dtype=int)
    roots = np.arange(len(above))
    for bone in np.flatnonzero(above >= 0):
        stages[bone] = stages[int(above[bone])] + flags[bone]
        roots[bone] = roots[int(above[bone])]
    every = _Settings.checked(settings, len(places), len(above), roots)
    cascade = _Cascade(places, turns, ends, above.astype(int), every.held(flags, np.linalg.norm(ends, axis=1)))
    cascade.meet(settings.get("colliders"), every.bones.get("radius", 0.0))
    for stage in range(int(stages.max()) + 1):
        cascade.solve(np.flatnonzero(stages == stage), dt, every)
    return cascade.result()


@dataclass(frozen=True)
class _Settings:
    """The settings of all bones."""

    bones: dict[str, Array]
    """(n, ...) those of which each bone has its own."""
    frames: dict[str, Array]
    """(F, n, ...) the same, that change."""
    shared: dict[str, Any]

    @classmethod
    def checked(cls, settings: dict[str, Any], frames: int, count: int, roots: Array) -> "_Settings":
        bones, changing, shared = {}, {}, dict(settings)
        shared.setdefault("damping_ratio", 0.5)
        for name in _NUMBERS:
            if name in shared:
                bones[name] = checks.like(name.replace("_", " "), shared.pop(name), count)
        if "gravity" in shared:
            bones["gravity"] = checks.like("gravity", shared.pop("gravity"), count, 3)
        if shared.get("meets") is not None:
            meets = np.asarray(shared.pop("meets"), dtype=bool)
            bones["meets"] = np.broadcast_to(meets, (count, meets.shape[-1]))
        if np.ndim(shared.get("wind", ())) == 3 and np.shape(shared["wind"])[1] == count:
            changing["wind"] = np.asarray(shared.pop("wind"), dtype=float)
        if shared.get("restarts") is not None:
            starts = checks.numbers("restarts", shared.pop("restarts"))
            starts = starts[:, None] if starts.ndim == 1 else starts
            # What hangs on a chain starts anew with it.
            changing["restarts"] = checks.like("restarts", starts, frames, count)[:, roots]
        return cls(bones, changing, shared)

    def held(self, flags: Array, lengths: Array) -> Array:
        """(n,) pulls [m/s²] that hold the bones with flags, instead of their springs."""
        settle_time, ratio = (self.bones[name].copy() for name in ("settle_time", "damping_ratio"))
        check_tuning(settle_time, ratio)
        pulls = np.where(flags, (2.0 * np.pi / settle_time) ** 2 * lengths, 0.0)
        self.bones["damping_ratio"] = np.where(flags, ratio * _SLACK / settle_time, ratio)
        self.bones["settle_time"] = np.where(flags, _SLACK, settle_time)
        if "stretch" in self.bones:
            self.bones["stretch"] = np.where(flags, 0.0, self.bones["stretch"])
        return pulls

    def of(self, rows: Array) -> dict[str, Any]:
        """Those of some bones."""
        result = {**self.shared, **{name: values[rows] for name, values in self.bones.items()}}
        result |= {name: values[:, rows] for name, values in self.frames.items()}
        center = result.get("center")
        if center is not None and np.ndim(center[0]) == 3:
            result["center"] = tuple(np.asarray(part, dtype=float)[:, rows] for part in center)
        return result


class _Cascade:
    """Bones over F frames, on the way from root to tip."""

    def __init__(self, places: Array, turns: Array, tips: Array, parents: Array, pulls: Array) -> None:
        self.tips, self.parents, self.turns, self.places = tips, parents, turns, places
        length = np.linalg.norm(tips, axis=1)
        self.pulls = tips * (pulls / np.maximum(length, 1e-300))[:, None]
        """(n, 3) in the frames of the bones."""
        self.borders: Borders | None = None
        """As animated: the root of a chain decides what is left in a collider, not that of a body."""
        self.solved = turns.copy(), places.copy()
        """Orientations (F, n, 4) and places (F, n, 3) with the swing."""
        self.longer = np.zeros(places.shape[:2])
        self.parts: list[tuple[Array, SpringMotion]] = []
        below = np.flatnonzero(parents >= 0)
        back = rotation.inverse(turns[:, parents[below]])
        self.hung_turns, self.hung_places = turns.copy(), places.copy()
        self.hung_turns[:, below] = rotation.multiply(back, turns[:, below])
        self.hung_places[:, below] = rotation.rotate(back, places[:, below] - places[:, parents[below]])

    def meet(self, colliders: Colliders | None, radius: ArrayLike) -> None:
        """What bones collide with. Raises InvalidArgument."""
        if colliders is not None and len(colliders):
            ends = self.places[0] + rotation.rotate(self.turns[0], self.tips)
            own = checks.like("radius", radius, len(self.parents))
            self.borders = Borders.of(colliders, own, self.places[0], ends, self.parents)

    def _hang(self, bone: int, turns: Array, places: Array) -> None:
        """Place a bone on the one that it hangs on, where these are."""
        above = int(self.parents[bone])
        way, tip = self.hung_places[:, bone], self.tips[above]
        if self.longer[:, above].any():
            way = way + tip * ((way @ tip) / max(tip @ tip, 1e-300) * self.longer[:, above])[:, None]
        places[:, bone] = places[:, above] + rotation.rotate(turns[:, above], way)
        turns[:, bone] = rotation.multiply(turns[:, above], self.hung_turns[:, bone])

    def solve(self, rows: Array, dt: float, settings: _Settings) -> None:
        """The bones of one stage, on those before."""
        turns, places = self.solved
        number = {int(bone): n for n, bone in enumerate(rows)}
        for bone in rows[self.parents[rows] >= 0].tolist():
            self._hang(bone, turns, places)
        own = [number.get(int(self.parents[bone]), -1) for bone in rows]
        given = settings.of(rows)
        if self.borders is not None:
            given["borders"] = replace(self.borders.of_bones(rows), is_first=np.array(own) < 0)
        if self.pulls[rows].any():
            given["wind"] = np.asarray(given.get("wind", 0.0)) + rotation.rotate(turns[:, rows], self.pulls[rows])
        found = solver.solve(places[:, rows], turns[:, rows], self.tips[rows], own, dt, **given)
        self.parts.append((rows, found))
        offsets, longer = found.offsets.copy(), found.longer.copy()
        if settings.shared.get("cyclic"):
            # What hangs on it is a cycle too, also where the state has not returned.
            offsets[-1], longer[-1] = offsets[0], longer[0]
        self.longer[:, rows] = longer
        for n, bone in enumerate(rows.tolist()):
            if own[n] >= 0:
                self._hang(bone, turns, places)
            turns[:, bone] = rotation.multiply(turns[:, bone], offsets[:, n])

    def result(self) -> SpringMotion:
        """The motion of all bones."""

        def gathered(name: str) -> Array:
            first = getattr(self.parts[0][1], name)
            rows_at = min(first.ndim - 1, 1)
            shape = list(first.shape)
            shape[rows_at] = len(self.parents)
            whole = np.empty(shape, dtype=first.dtype)
            for rows, found in self.parts:
                whole[(slice(None),) * rows_at + (rows,)] = getattr(found, name)
            return whole

        swings = rotation.multiply(rotation.inverse(self.turns), self.solved[0])
        return SpringMotion(
            offsets=gathered("offsets"),
            swings=swings,
            tips=gathered("tips"),
            longer=gathered("longer"),
            stepped=gathered("stepped"),
            depth=gathered("depth"),
            collider=gathered("collider"),
            beyond=gathered("beyond"),
            seam=max(found.seam for _, found in self.parts),
        )
