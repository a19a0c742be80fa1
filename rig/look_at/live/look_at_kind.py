"""Look-ats as a kind of layer: what they depend on, and what is seen of them before they are solved."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import bpy
import numpy as np

from ...animation import stored_settings
from ...layers import kinds, live, track
from ...layers.kinds import BODY, TARGETS, Instance, Kind, LayerSolve, LiveWork, SolveRange
from ...layers.layer import Place
from ...layers.track import Track
from .. import constraint_sync, look_at_layer, looking, setting_changes
from .. import resolve as look_at
from ..body import blink
from ..look_at_layer import LookAtLayer
from ..look_at_solve import LookAtSolve
from ..scene_solve import SceneSolve
from . import inputs
from .playhead import PlayheadSolve, SeenFirst, frames_around
from .previews import LookAtPreviews

NAME = looking.KIND
_BLINKS = "lookat_pd_blinks"
"""What shape keys have that are changed by look-ats."""
_INSTALLING = 0.01
"""Seconds for which a turn of the window's loop may be held up by making constraints."""
_KEYED = ("ACTION", "ARMATURE")
"""Kinds of data that are changed where keys of the shot are."""


class LookAtKind(Kind):
    """The live look-ats of one scene."""

    name, layer, groups, is_together = NAME, LookAtLayer, ("lookat_pd", _BLINKS), True

    def __init__(self, live_work: LiveWork | None = None) -> None:
        super().__init__(live_work)
        self.previews: LookAtPreviews = LookAtPreviews()
        self.scene_solve: SceneSolve | None = None
        self._solves: Sequence[LookAtSolve] = ()
        self._clips: dict[int, tuple[int, int]] = {}
        """Which action each rig has played when its keys of the shot were last looked at."""
        self._around: tuple[int, int] | None = None

    @classmethod
    def is_used(cls) -> bool:
        armatures = [item for item in bpy.data.objects if item.type == "ARMATURE" and item.library is None]
        moved = any(constraint_sync.live_bones(item) or any(cls.layer.on(item)) for item in armatures if item.pose)
        if not moved:
            # Nobody else reads the names of bones, which may be others when a look-at is live again.
            for item in armatures:
                if item.pose and constraint_sync.may_be_live(item):
                    constraint_sync.follow_renames(item)
        return moved or (bool(stored_settings.in_file((_BLINKS,))) and blink.is_shown())

    def find(self, scene: bpy.types.Scene) -> Iterable[Instance]:
        for armature in constraint_sync.live_armatures(scene):
            if any(bone.bone is None for bone in armature.pose.bones):
                # Just copied: Blender has not put it together yet.
                if self.live is not None:
                    self.live.is_ready = False
                continue
            at_once = self.live is None or not self.live.is_gradual
            yield from constraint_sync.sync(armature, np.inf if at_once else _INSTALLING)

    def tidy(self, scene: bpy.types.Scene, instances: Sequence[Instance]) -> None:
        """`find` has removed the constraints of others."""

    def is_live(self, instance: Instance) -> bool:
        bone = instance.owner.pose.bones.get(instance.bone)
        return bone is not None and constraint_sync.is_live(bone)

    def installed(self, instance: Instance) -> LookAtLayer:
        """`find` has put its constraints in place, or `steps` has."""
        return LookAtLayer(instance.owner, instance.number)

    def _complete(self, solves: Sequence[LookAtSolve]) -> Iterator[None]:
        """Make the constraints that `find` has not come to."""
        for owner in dict.fromkeys(solve.owner for solve in solves if not solve.instance.is_installed):
            on_it = [solve for solve in self._solves if solve.owner == owner]
            yield from constraint_sync.complete(owner, [solve.instance for solve in on_it])
            for solve in on_it:
                if not solve.instance.is_installed and self.live is not None:
                    solve.instance = replace(solve.instance, is_installed=True)
                    self.live.complete(solve)

    def make(self, instance: Instance) -> LayerSolve:
        return LookAtSolve(instance.resolved, instance.number)

    def keyed(self, instance: Instance) -> frozenset[str]:
        return inputs.keyed(instance.owner, instance.bone)

    def settings(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        return inputs.settings_key(instance.owner, instance.bone, keyed)

    def saved(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        return inputs.saved(instance.owner, instance.bone, keyed)

    def retune(self, solve: LookAtSolve) -> None:
        solve.look_at = look_at.retuned(solve.look_at)

    def place(self, instance: Instance) -> Hashable:
        return inputs.place(instance.resolved)

    def places(self, instance: Instance) -> list[Place]:
        return track.places(instance.resolved.turned, instance.resolved.moved)

    def same(self, one: Instance, other: Instance) -> bool:
        return inputs.same(one.resolved, other.resolved)

    def inputs(self, instance: Instance) -> tuple[Sequence[bpy.types.ID | None], Sequence[bpy.types.ID | None]]:
        return [instance.owner], instance.resolved.surroundings

    def look(self, scene: bpy.types.Scene, touched: set[str] | None) -> dict[tuple[str, str], bytes]:
        for armature in constraint_sync.live_armatures(scene):
            clip = inputs.clip(armature)
            if touched is None or not touched.isdisjoint(_KEYED) or self._clips.get(armature.session_uid) != clip:
                # Keys may have come or gone in an animation editor, or another clip has keys of its own.
                constraint_sync.mend_keys(armature)
                self._clips[armature.session_uid] = clip
        prints = {}
        for solve in self._solves:
            resolved, name = solve.look_at, f"{solve.owner.name_full} {solve.number}"
            if inputs.blinks(resolved):
                faces = blink.signature(resolved.armature, resolved.shapes)
                prints[f"{kinds.OWN} SHAPES", name] = repr(faces).encode()
            if resolved.occluders:
                prints[f"{kinds.OWN} OCCLUDERS", name] = repr(inputs.occluders(resolved)).encode()
        return prints

    # Solving

    def rebuilt(self, scene: bpy.types.Scene, first: int, last: int, solves: Sequence[LookAtSolve]) -> None:
        if stored_settings.in_file((_BLINKS,)):
            used = (item.name_full for item in bpy.data.objects if item.pose and constraint_sync.live_bones(item))
            blink.give_back_lost(used)
        self._solves = solves
        self.scene_solve = SceneSolve(scene, first, last, list(solves))
        self.previews.of(solves, self.scene_solve.context)

    def forget_order(self) -> None:
        if self.scene_solve is not None:
            self.scene_solve.forget_order()

    def begin(self, solves: Sequence[LookAtSolve], frame: float) -> Hashable:
        _sample_whole(solves)
        self._around = None if self.scene_solve is None else frames_around(self.scene_solve, frame)
        return self._around is not None, *map(_extent, solves)

    def steps(self, solves: Sequence[LookAtSolve], over: SolveRange) -> Iterator[float]:
        """First the frames around the playhead, unless it is waited for, then all."""
        assert self.scene_solve is not None and self.live is not None
        for _ in self._complete(solves):
            yield 0.0
        _sample_whole(solves)
        share = 0.0
        around, self._around = self._around, None
        if around is not None and not self.live.waited_for:
            first, frames = PlayheadSolve(self.scene_solve, around), len(self.scene_solve.context.frames)
            part = around[1] - around[0] + 1
            share = part / (part + frames)
            with closing(first.steps()) as work:
                for fraction in work:
                    if first.is_expected and not self.live.is_expected:
                        self.previews.see_first(first.tracks)
                        self.live.is_expected = True
                    yield share * fraction
            self.previews.see_first(first.tracks)
            self.live.seen = self.live.news = True
            yield share
        for fraction in self.scene_solve.steps(solves, self.live.fail):
            yield share + (1.0 - share) * fraction
        self.previews.first = SeenFirst()
        self.previews.end()

    def let_go(self) -> None:
        self.scene_solve = None
        for solve in self._solves:
            # It names armatures, which an undo replaces.
            solve.restructured()
        self.previews.end()
        self.previews.of((), None)
        self.previews.first = SeenFirst()

    # Saved with the offsets

    def trust(self) -> None:
        if self.scene_solve is not None:
            self.scene_solve.trust()

    def store(self, solve: LookAtSolve, *, is_solved: bool) -> None:
        amounts = solve.track.shapes if is_solved and solve.look_at.shapes and solve.track is not None else None
        LookAtLayer(solve.owner, solve.number).set_shapes(amounts)

    def read(self, solve: LookAtSolve, first: int, last: int) -> Track | None:
        known = super().read(solve, first, last)
        if known is not None and solve.look_at.shapes:
            layer = LookAtLayer(solve.owner, solve.number)
            amounts = layer.shapes(len(known.offsets), len(solve.look_at.shapes))
            if amounts is None:
                return None
            known.shapes = amounts
        return known

    # Showing

    def shown(self, solve: LookAtSolve) -> Track | None:
        return self.previews.track(solve.key, solve)

    def after_show(self, scene: bpy.types.Scene) -> None:
        """Close and turn the eyes by shape keys as it is solved for the current frame."""
        # Of the keys, where time is stretched.
        frame = scene.frame_current_final
        amounts: dict[blink.Lid, tuple[float, str]] = {}
        for solve in self._solves:
            armature = solve.owner
            if not solve.look_at.shapes or armature.mode == "EDIT":
                continue
            lids, shown = solve.look_at.shapes, self.previews.first.track(solve)
            there = shown is not None and shown.shapes.shape[1] == len(lids)
            for lid, amount in zip(lids, shown.shapes_at(frame) if there else [0.0] * len(lids), strict=True):
                # Characters may share a face; who changes it more has the word.
                known = amounts.get(lid, (0.0, ""))
                amounts[lid] = (float(amount), armature.name_full) if abs(amount) >= abs(known[0]) else known
        if amounts:
            blink.show(amounts)

    @classmethod
    def before_save(cls) -> None:
        """Save what the animator has set; to give that back calls for an evaluation, and that closes the lids again."""
        blink.give_back_lost()

    @classmethod
    def remove_all(cls) -> None:
        for item in [item for item in bpy.data.objects if item.type == "ARMATURE" and item.library is None]:
            look_at_layer.remove(item)
        blink.give_back_lost()


def _sample_whole(solves: Sequence[LookAtSolve]) -> None:
    """A target can be sampled again without the rig only where the chain is plain."""
    for solve in solves:
        if solve.stale == TARGETS and not solve.look_at.plain:
            solve.stale = BODY


def _extent(solve: LookAtSolve) -> tuple[int | bool, ...]:
    """What decides in which proportions the time of a solve goes to its parts."""
    resolved = solve.look_at
    extent = len(resolved.turned), len(resolved.moved), len(resolved.shapes)
    # What can be cut down is found out once, and the first samples are of all.
    return solve.stale, *extent, solve.predicted, solve.kept.cut_down is None, solve.samples is None


register, unregister = live.registration(LookAtKind, setting_changes.listeners)
