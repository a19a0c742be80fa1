"""Springs as a kind of layer: all chains of an armature are sampled at once and solved together, after look-ats."""

import dataclasses
import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ..layers import bone_chains, live
from ..layers.kinds import SETTINGS, Instance, Kind, LayerSolve, LiveWork, SolveRange
from ..sampling import sampler
from ..sampling.sampler import CutDown
from . import centers, chains, colliders, fields, realized_swing, settings, springs_solve
from .chains import SpringChain
from .springs_layer import SpringLayer
from .springs_solve import Beyond, Depth, Met, SpringCycle, SpringRig

NAME = "SPRINGS"
_NUMBER = 1
_CYCLE = Message("Solved as a cycle from frame {first} to {last}, which returns to where it begins.").template
_TORN = Message(
    "The cyclic action is not the same at the frames {first} and {last}, so the springs begin at rest; make these "
    "poses the same, or disable Cyclic."
).template
_PARTIAL = Message(
    "The cyclic action is {length:.6g} frames long, so its ends are not both on whole frames and the springs begin at "
    "rest; move its last keys so that the length is a whole number of frames, or disable Cyclic."
).template
_HELD = Message(
    "Constraints hold bone '{name}' or others of its chain up to {angle:.1f}° from where they should swing; choose "
    "bones that are parent and child, such as FK controls."
).template
_DEEP = Message(
    "Bone '{name}' is {size:.3g} m deep in '{other}' at frame {frame}; move the collider or make it smaller."
).template
_BEYOND = Message(
    "A collider pushes bone '{name}' {angle:.1f}° beyond its limit at frame {frame}; move the collider or make the "
    "limit wider."
).template
_AT_ONCE = 0.1
"""Seconds that solving may take for the window to wait for it at every step of a drag."""


@dataclass(frozen=True)
class _Found:
    """What swings of an armature, by names."""

    bones: tuple[str, ...]
    """The first bones of its chains."""
    met: Met = dataclasses.field(default_factory=Met)
    """What acts on them."""

    @property
    def objects(self) -> list[bpy.types.Object]:
        """Objects that act on them."""
        return [item.object for item in (*self.met.colliders, *self.met.fields)]

    def values(self) -> tuple:
        """All that decides about what acts on them, besides where it is."""
        return tuple(item.values() for item in (*self.met.colliders, *self.met.fields)), self.met.centers


def instance_of(scene: bpy.types.Scene, armature: bpy.types.Object, every: Sequence[SpringChain]) -> Instance:
    """Chains of an armature as a layer."""
    bones = bone_chains.root_to_tip(armature, (bone for chain in every for bone in chain.bones))
    rows = *((bone, "ROTATION") for bone in bones), *((bone, "LOCATION") for chain in every for bone in chain.moved)
    met = Met(
        tuple(colliders.on(scene)) if any(chain.settings.collide for chain in every) else (),
        tuple(fields.on(scene)) if any(chain.settings.fields for chain in every) else (),
        tuple(centers.of(every)),
    )
    return Instance(armature, "", _NUMBER, _Found(tuple(chain.bone for chain in every), met), rows=rows)


class SpringSolve(LayerSolve):
    """The springs of one armature."""

    wide: Any = None
    """Samples at all frames that it is solved at: those of a whole cycle, too."""
    rig: SpringRig | None = None
    """Its bones, as they were when they were sampled."""
    cycle: SpringCycle | None = None
    seconds = 0.0
    """How long solving took."""
    cut_down: CutDown | None = None
    loose: tuple[str, ...] = ()
    """Bones that constraints move too."""
    off = 0.0
    """How far one of them is from how it should swing [rad]; 0 where they all do."""
    seam: float | None = None
    """How far the end of a cycle is from its beginning [rad], None where nothing repeats."""

    depths: tuple[Depth, ...] = ()
    """How deep chains are in colliders, where they are."""
    beyond: tuple[Beyond, ...] = ()
    """How far colliders push chains beyond limits, where they do."""
    is_torn = False
    """Whether an action that is set to repeat does not end as it begins."""

    fields: tuple[Message, ...] = ()
    """What is said of force fields that have no effect."""

    @property
    def copied(self) -> CutDown | None:
        return self.cut_down

    @property
    def is_slow(self) -> bool:
        return self.seconds > _AT_ONCE

    @property
    def notes(self) -> tuple[str, ...]:
        notes = []
        if self.seam is not None and self.cycle is not None:
            notes.append(Message(_CYCLE, first=self.cycle.first, last=self.cycle.last))
        if self.is_torn and self.cycle is not None:
            c = self.cycle
            torn = Message(_TORN, first=c.first, last=c.last) if c.is_whole else Message(_PARTIAL, length=c.length)
            notes.append(torn)
        if self.loose and self.off:
            notes.append(Message(_HELD, name=self.loose[0], angle=np.degrees(self.off)))
        if self.depths:
            deep = max(self.depths, key=lambda depth: depth.parts)
            notes.append(Message(_DEEP, name=deep.bone, size=deep.depth, other=deep.collider, frame=deep.frame))
        if self.beyond:
            far = max(self.beyond, key=lambda beyond: beyond.angle)
            notes.append(Message(_BEYOND, name=far.bone, angle=np.degrees(far.angle), frame=far.frame))
        return (*notes, *self.fields)

    def restructured(self, *, moves_owner: bool = True) -> None:
        self.rig = self.cut_down = None

    @property
    def every(self) -> list[SpringChain]:
        return [SpringChain(self.owner, bone) for bone in self.instance.resolved.bones]


class SpringKind(Kind):
    """The springs of one scene."""

    name, layer, groups = NAME, SpringLayer, (settings.NAME,)

    @classmethod
    def is_used(cls) -> bool:
        items = (item for item in bpy.data.objects if item.library is None)
        return any(True for item in items for _ in (*chains.on(item), *SpringLayer.on(item)))

    def __init__(self, live: LiveWork | None = None) -> None:
        super().__init__(live)

    def find(self, scene: bpy.types.Scene) -> Iterator[Instance]:
        for item in scene.objects:
            if item.library is not None or item.mode == "EDIT":
                continue
            chains.follow_renames(item)
            good, errors = chains.swinging(item)
            if good:
                yield instance_of(scene, item, good)
            elif errors:
                yield Instance(item, "", _NUMBER, error=next(iter(errors.values())))

    def is_live(self, instance: Instance) -> bool:
        return instance.owner.mode != "EDIT" and any(not c.settings.mute for c in chains.on(instance.owner))

    def make(self, instance: Instance) -> LayerSolve:
        return SpringSolve(instance)

    def settings(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        if instance.resolved is None:
            return ()
        every = [SpringChain(instance.owner, bone) for bone in instance.resolved.bones]
        found = instance.resolved
        bones = tuple(collider.bone for collider in found.met.colliders)
        met = tuple(item.session_uid for item in found.objects), bones, found.values()
        return tuple(settings.values(chain.settings) for chain in every), tuple(chain.bones for chain in every), met

    def place(self, instance: Instance) -> Hashable:
        if instance.resolved is None:
            return tuple(self.places(instance))
        met = instance.resolved.met
        placed = ((c.object.session_uid, c.bone, c.line()) for c in met.colliders)
        return *self.places(instance), *placed, *(field.object.session_uid for field in met.fields), met.centers

    def saved(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        if instance.resolved is None:
            return ()
        found = instance.resolved
        bones = tuple(collider.bone for collider in found.met.colliders)
        met = tuple(item.name for item in found.objects), bones, found.values()
        return *self.settings(instance, keyed)[:2], met

    def inputs(self, instance: Instance) -> tuple[Sequence[bpy.types.ID | None], Sequence[bpy.types.ID | None]]:
        met = () if instance.resolved is None else instance.resolved.objects
        return [instance.owner], [item for item in met if item != instance.owner]

    def solve(self, solve: SpringSolve, over: SolveRange) -> Iterator[float]:
        begin = time.perf_counter()
        yield from self.installing(solve)
        if solve.wide is None or solve.rig is None or solve.samples is None or solve.stale > SETTINGS:
            yield from self._sample(solve, over)
        assert solve.wide is not None and solve.rig is not None, "it was sampled"
        rig = replace(solve.rig, armature=solve.owner, chains=tuple(solve.every))
        solve.loose = rig.loose
        cycle = solve.cycle if all(chain.settings.cyclic for chain in solve.every) else None
        gravity = np.array(over.scene.gravity if over.scene.use_gravity else (0.0, 0.0, 0.0))
        met = solve.instance.resolved.met
        solve.fields = fields.notes(met.fields)
        swung = yield from springs_solve.solving(rig, solve.wide, gravity, over.dt, cycle, met)
        solve.depths, solve.beyond, solve.is_torn = swung.depths, swung.beyond, swung.is_torn
        solve.seam, track = swung.seam, swung.track
        first, last = int(over.frames[0] - track.first), int(over.frames[-1] - track.first)
        track.offsets, track.moves = track.offsets[first : last + 1], track.moves[first : last + 1]
        track.first = int(over.frames[0])
        solve.off = 0.0
        if rig.loose:
            wanted = swung.wanted[first : last + 1]
            done = yield from realized_swing.steps(
                solve.owner, rig.bones, track.offsets, wanted, over, cut_down=solve.cut_down
            )
            track.offsets, solve.off = done.values, float(done.error.max()) * (not done.reached.all())
        solve.keep(track)
        solve.seconds = time.perf_counter() - begin

    def _sample(self, solve: SpringSolve, over: SolveRange) -> Iterator[float]:
        solve.samples = solve.wide = None
        solve.rig = SpringRig.of(solve.owner, solve.every)
        yield 0.0
        solve.cycle = springs_solve.cycle_of(solve.owner)
        frames = over.frames
        if solve.cycle is not None:
            frames = np.arange(min(frames[0], solve.cycle.first), max(frames[-1], solve.cycle.last) + 1)
        bones = [bone for bone, what in solve.instance.rows if what == "ROTATION"]
        met = solve.instance.resolved.met.targets(solve.owner)
        stretches = any(what == "LOCATION" for _, what in solve.instance.rows)
        with over.sampler(solve.owner, bones, met, located=stretches) as work:
            wide = yield from sampler.sample_frames(work, frames)
        plan = work.cut_down or {}
        solve.cut_down = {solve.owner: plan[solve.owner]} if solve.owner in plan else {}
        bad = ~np.isfinite(wide.positions).all(axis=(1, 2))
        if bad.any():
            raise RigError(
                "'{name}' has a pose that is not a number at frame {frame}; fix its animation.",
                name=solve.owner.name,
                frame=int(frames[np.argmax(bad)]),
            )
        begin = int(over.frames[0] - frames[0])
        solve.wide, solve.samples = wide, wide.at(slice(begin, begin + len(over.frames)))

    def mute(self, instance: Instance) -> None:
        for bone in instance.resolved.bones:
            SpringChain(instance.owner, bone).settings.mute = True


register, unregister = live.registration(SpringKind, settings.listeners)
