"""PD Follow as a kind of layer: objects and bones that are solved again when what they are solved from has changed."""

import time
from collections.abc import Iterator, Sequence

import bpy

from ...lookat_pd.errors import LookAtError, RigError
from ..layers import kinds, live
from ..layers.kinds import SETTINGS, Instance, Kind, LayerSolve, SolveRange
from ..layers.layer import Place
from ..sampling import fingerprint
from . import follow_solve, owners, settings
from .follow_layer import FollowLayer
from .follow_solve import FollowMotion
from .owners import Owner

NAME = "FOLLOW"
_AT_ONCE = 0.1
"""Seconds that solving may take for the window to wait for it at every step of a drag."""


def instance_of(owner: Owner) -> Instance:
    """What follows, as a layer that can be baked."""
    return Instance(owner.object, owner.bone, resolved=owner)


class FollowSolve(LayerSolve):
    """What one owner adds."""

    seconds = 0.0
    """How long solving took."""

    @property
    def is_slow(self) -> bool:
        return self.seconds > _AT_ONCE


class FollowKind(Kind):
    """What follows in one scene."""

    name, layer = NAME, FollowLayer

    @classmethod
    def is_used(cls) -> bool:
        items = (item for item in bpy.data.objects if item.library is None)
        return any(True for item in items for _ in owners.on(item))

    def find(self, scene: bpy.types.Scene) -> Iterator[Instance]:
        for owner in owners.in_scene(scene):
            if not self.is_live(Instance(owner.object, owner.bone)):
                FollowLayer(owner).hide()
                continue
            try:
                owners.check(owner)
                yield instance_of(owner)
            except LookAtError as error:
                FollowLayer(owner).hide()
                yield Instance(owner.object, owner.bone, error=str(error))

    def tidy(self, scene: bpy.types.Scene, instances: Sequence[Instance]) -> None:
        """`find` has hidden those that are muted."""

    def is_live(self, instance: Instance) -> bool:
        s = Owner(instance.owner, instance.bone).settings
        return s.exists and not s.mute and instance.owner.mode != "EDIT"

    def make(self, instance: Instance) -> LayerSolve:
        return FollowSolve(instance)

    def layer_of(self, instance: Instance) -> FollowLayer:
        return FollowLayer(Owner(instance.owner, instance.bone))

    def keyed(self, instance: Instance) -> frozenset[str]:
        path = Owner(instance.owner, instance.bone).settings_path
        return frozenset(name for name in settings.KEYABLE if fingerprint.animates(instance.owner, path + name))

    def settings(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        owner = Owner(instance.owner, instance.bone)
        s = owner.settings
        still = tuple(getattr(s, name) for name in settings.KEYABLE if name not in keyed)
        target = (s.target.session_uid if s.target is not None else 0), s.subtarget
        return settings.values(s), still, target, owner.item.rotation_mode

    def saved(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        target = Owner(instance.owner, instance.bone).settings.target
        tuning, still, (_, subtarget), mode = self.settings(instance, keyed)
        return tuning, still, target.name_full if target is not None else "", subtarget, mode

    def inputs(self, instance: Instance) -> tuple[Sequence[bpy.types.ID | None], Sequence[bpy.types.ID | None]]:
        return [instance.owner], [Owner(instance.owner, instance.bone).settings.target]

    def places(self, instance: Instance) -> list[Place]:
        return self.layer_of(instance).places

    def place(self, instance: Instance) -> tuple:
        return self.settings(instance, self.keyed(instance))[1:]

    def solve(self, solve: FollowSolve, over: SolveRange) -> Iterator[float]:
        begin, owner = time.perf_counter(), solve.instance.resolved
        if solve.samples is None or solve.stale > SETTINGS:
            first, last = int(over.frames[0]), int(over.frames[-1])
            solve.samples = None
            solve.samples = yield from follow_solve.sample(over.scene, owner, first, last)
        solve.keep(follow_solve.solve(owner, solve.samples, over.dt))
        solve.seconds = time.perf_counter() - begin

    def baked(self, instance: Instance) -> list[Place]:
        owner = Owner(instance.owner, instance.bone)
        owners.check(owner)
        if others := FollowLayer(owner).others():
            raise RigError(
                "'{name}' also has the constraint '{constraint}', which keys cannot replace; apply it first (Object > "
                "Animation > Bake Action, with Visual Keying), or mute it.",
                name=owner.label,
                constraint=others[0].name,
            )
        return [(owner.bone, what) for what in owner.used]

    def mute(self, instance: Instance) -> None:
        Owner(instance.owner, instance.bone).settings.mute = True

    def read(self, solve: LayerSolve, first: int, last: int) -> FollowMotion | None:
        return FollowMotion.read(self.layer_of(solve.instance), first, last)


def _touch() -> None:
    live.touch_kind(FollowKind)


def register() -> None:
    settings.listeners.append(_touch)
    kinds.register_kind(FollowKind)


def unregister() -> None:
    kinds.unregister_kind(FollowKind)
    settings.listeners.remove(_touch)
