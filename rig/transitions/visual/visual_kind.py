"""Visual transitions as a kind of layer: they are made again, from what each noted, when the animation has changed."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ....lookat_pd.errors import LookAtError, RigError
from ....lookat_pd.message import Message
from ...layers import kinds
from ...layers.kinds import Instance, Kind, LayerSolve, SolveRange
from . import visual_feet, visual_loop, visual_offsets, visual_transition
from .evaluated_pose import OBJECT
from .trial import Trial
from .visual_offsets import VisualLayer, VisualTrack
from .visual_transition import NothingJumps

NAME = "VISUAL"


@dataclass(frozen=True)
class _Found:
    """A transition of an armature."""

    action: bpy.types.Action
    place: int
    """Among those of its armature, in the order in which they are solved."""
    later: tuple[bpy.types.Action, ...]
    """Those that are solved after it."""


class VisualSolve(LayerSolve):
    """What one transition adds."""

    @property
    def is_slow(self) -> bool:
        return True

    @property
    def notes(self) -> tuple[str, ...]:
        if self.track is None or self.track.offsets.bones:
            return ()
        text = "Nothing jumps at frame {frame} any more, so this transition adds nothing; remove it if you are done."
        return (Message(text, frame=self.track.first + 1),)


class VisualKind(Kind):
    """The visual transitions of one scene. Each is solved with those of its armature that come before it."""

    name, layer, groups = NAME, VisualLayer, ()

    @classmethod
    def is_used(cls) -> bool:
        return visual_offsets.is_any()

    def find(self, scene: bpy.types.Scene) -> Iterator[Instance]:
        for item in scene.objects:
            if item.pose is None or item.library is not None or item.mode == "EDIT":
                continue
            found = visual_offsets.in_order(item)
            for n, action in enumerate(found):
                resolved = _Found(action, n, tuple(found[n + 1 :]))
                error = ""
                try:
                    visual_feet.clips_of(visual_offsets.note_of(action))
                except LookAtError as reason:
                    error = str(reason)
                yield Instance(item, "", visual_offsets.number_of(action), resolved, error)

    def tidy(self, scene: bpy.types.Scene, instances: Sequence[Instance]) -> None:
        """Every transition with a constraint is found."""

    def is_live(self, instance: Instance) -> bool:
        return instance.owner.mode != "EDIT"

    def make(self, instance: Instance) -> LayerSolve:
        return VisualSolve(instance)

    def layer_of(self, instance: Instance) -> VisualLayer:
        return VisualLayer(instance.owner, instance.resolved.action)

    def installed(self, instance: Instance) -> VisualLayer:
        """It adds constraints where it has something to show."""
        return self.layer_of(instance)

    def settings(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        return (visual_offsets.request_of(visual_offsets.note_of(instance.resolved.action)),)

    def inputs(self, instance: Instance) -> tuple[Sequence[bpy.types.ID | None], Sequence[bpy.types.ID | None]]:
        clips = visual_offsets.note_of(instance.resolved.action).get("clips", ())
        return [instance.owner, *(bpy.data.actions.get(clip["action"]) for clip in clips)], []

    def sees(self, solve: LayerSolve, kind: Kind, other: LayerSolve) -> bool:
        if kind is self and other.owner == solve.owner:
            return other.instance.resolved.place < solve.instance.resolved.place
        # Poses are read without what look-ats add.
        return kind.layer.order < 0

    def solve(self, solve: LayerSolve, over: SolveRange) -> Iterator[float]:
        if self.live is not None and not self.live.waited_for:
            # Nothing is seen before the end, so that the window need not wait at every step of a drag.
            self.live.seen = True
        yield 0.0
        found: _Found = solve.instance.resolved
        trial = Trial(solve.owner, found.action, found.later)
        note = visual_offsets.note_of(found.action)
        try:
            yield from _again(over.scene, trial, note)
        except NothingJumps:
            trial.track = None
        finally:
            trial.end()
        solve.keep(trial.track or VisualTrack.nothing(int(note["frame"])))
        visual_offsets.write_note(found.action, note | trial.note)

    def shown(self, solve: LayerSolve) -> VisualTrack | None:
        track, bones = solve.track, solve.owner.pose.bones
        return track if track is not None and all(not name or name in bones for name in track.offsets.bones) else None

    def read(self, solve: LayerSolve, first: int, last: int) -> VisualTrack | None:
        return VisualTrack.read(self.layer_of(solve.instance))

    def baked(self, instance: Instance) -> list[tuple[str, str]]:
        raise RigError(
            "Visual transitions of '{armature}' become keys of its controls; use Write as Keys.",
            armature=instance.owner.name,
        )

    def mute(self, instance: Instance) -> None:
        visual_offsets.remove(instance.owner, instance.resolved.action)


def _again(scene: bpy.types.Scene, trial: Trial, note: dict[str, Any]) -> Generator[float, None, object]:
    """Make the transition that was noted so."""
    if "clips" in note:
        return (yield from visual_feet.solve(scene, trial, visual_feet.clips_of(note)))
    blend, frame = visual_transition.noted_blend(note), int(note["frame"])
    if "loop" in note:
        return (yield from visual_loop.solve(scene, trial, frame, int(note["last"]), blend, **note["loop"]))
    # Bones that are gone or renamed since are left out.
    bones = note["chosen"] and [name for name in note["chosen"] if name == OBJECT or name in trial.armature.pose.bones]
    options = {"bones": bones, "is_cut": bool(note.get("is_cut"))}
    return (yield from visual_transition.solve(scene, trial, frame, blend, **options))


def register() -> None:
    kinds.register_kind(VisualKind)


def unregister() -> None:
    kinds.unregister_kind(VisualKind)
