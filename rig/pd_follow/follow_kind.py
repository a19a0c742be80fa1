"""PD Follow as a kind of layer: objects and bones that are solved again when what they are solved from has changed."""

import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import bpy

from ...lookat_pd.errors import LookAtError, RigError
from ...lookat_pd.rotation import Array
from ..layers import live
from ..layers.kinds import FRESH, SETTINGS, Instance, Kind, LayerSolve, LiveWork, SolveRange
from ..layers.layer import Place
from ..sampling import fingerprint
from . import follow_chains, follow_solve, owners, settings
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
    carrier: FollowMotion | None = None
    """What the parent added, on the result of which it was solved."""

    @property
    def is_slow(self) -> bool:
        return self.seconds > _AT_ONCE


class FollowKind(Kind):
    """What follows in one scene."""

    name, layer, groups = NAME, FollowLayer, ("lookat_pd_follow",)

    @classmethod
    def is_used(cls) -> bool:
        items = (item for item in bpy.data.objects if item.library is None)
        return any(True for item in items for _ in owners.on(item))

    def __init__(self, live: LiveWork | None = None) -> None:
        super().__init__(live)
        self._groups: list[list[FollowSolve]] = []
        """Those that are solved together."""

    def find(self, scene: bpy.types.Scene) -> Iterator[Instance]:
        for owner in follow_chains.in_scene(scene):
            if not self.is_live(Instance(owner.object, owner.bone)):
                FollowLayer(owner).hide()
                continue
            try:
                owners.check(owner)
                yield instance_of(owner)
            except LookAtError as error:
                FollowLayer(owner).hide()
                yield Instance(owner.object, owner.bone, error=str(error))

    def rebuilt(self, scene: bpy.types.Scene, first: int, last: int, solves: Sequence[FollowSolve]) -> None:
        self._groups = _groups(solves)

    def together(self, solve: LayerSolve) -> Hashable:
        return next((id(group) for group in self._groups if solve in group), solve.key)

    def sees(self, solve: FollowSolve, kind: Kind, other: LayerSolve) -> bool:
        if kind is self and self.together(solve) == self.together(other):
            return False
        return super().sees(solve, kind, other)

    def trust(self) -> None:
        for group in self._groups:
            for solve in group:
                solve.carrier = _carrier(group, solve)[0]

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
        moving = fingerprint.animated_paths(instance.owner)
        return frozenset(name for name in settings.KEYABLE if path + name in moving)

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

    def steps(self, solves: Sequence[FollowSolve], over: SolveRange) -> Iterator[float]:
        groups = _groups(solves)
        with ExitStack() as shown:
            for n, group in enumerate(groups):
                for solve in group:
                    yield from self.installing(solve)
                for fraction in self._solve(group, over):
                    yield (n + fraction) / len(groups)
                if self.live is None and n < len(groups) - 1:
                    # Those that come after are sampled with it.
                    for solve in group:
                        shown.enter_context(self._shown(solve))

    def _solve(self, group: Sequence[FollowSolve], over: SolveRange) -> Iterator[float]:
        """Solve what of a group is out of date, from root to tip."""
        begin = time.perf_counter()
        if all(solve.stale == FRESH and solve.carrier is _carrier(group, solve)[0] for solve in group):
            return
        if any(solve.samples is None or solve.stale > SETTINGS for solve in group):
            for fraction in _sample(group, over):
                yield 0.5 * fraction
        for n, solve in enumerate(group):
            carrier, carry = _carrier(group, solve)
            if solve.stale == FRESH and solve.carrier is carrier:
                continue
            solve.samples.carry, solve.carrier = carry, carrier
            try:
                solve.keep(follow_solve.solve(solve.instance.resolved, solve.samples, over.dt))
                solve.stale, solve.rough = FRESH, False
            except LookAtError as error:
                if self.live is None:
                    raise
                self.live.fail(solve, error)
            solve.seconds = time.perf_counter() - begin
            yield 0.5 + 0.5 * (n + 1) / len(group)

    @contextmanager
    def _shown(self, solve: FollowSolve) -> Iterator[None]:
        """Let a rig show a solution for a while."""
        layer = self.layer_of(solve.instance)
        was_installed, held = layer.is_installed(layer.places), layer.written()
        self.installed(solve.instance).show(solve.track.first, solve.track.rows())
        try:
            yield
        finally:
            if was_installed:
                layer.write_back(held)
            else:
                layer.remove()

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


def _groups(solves: Sequence[FollowSolve]) -> list[list[FollowSolve]]:
    """What is solved together, in order."""
    by_owner = {solve.instance.resolved: solve for solve in solves}
    return [[by_owner[owner] for owner in group] for group in follow_chains.groups(list(by_owner))]


def _carrier(group: Sequence[FollowSolve], solve: FollowSolve) -> tuple[FollowMotion | None, Array | None]:
    """What the nearest bone of a group that one hangs on adds, and by what matrices it carries that along."""
    owners_of_group = {other.instance.resolved: other for other in group}
    parent = follow_chains.parent_in(owners_of_group, solve.instance.resolved)
    if parent is None:
        return None, None
    above = owners_of_group[parent]
    if above.samples is None:
        return above.track, None
    return above.track, above.samples.carry if above.track is None else above.track.carries(above.samples)


def _sample(group: Sequence[FollowSolve], over: SolveRange) -> Iterator[float]:
    """Sample a group, which is then solved anew."""
    for solve in group:
        solve.samples = None
    first, last = int(over.frames[0]), int(over.frames[-1])
    every = yield from follow_solve.sample(over.scene, [solve.instance.resolved for solve in group], first, last)
    for solve, samples in zip(group, every, strict=True):
        solve.samples, solve.stale = samples, max(solve.stale, SETTINGS)


register, unregister = live.registration(FollowKind, settings.listeners)
