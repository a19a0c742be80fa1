"""A transition while it is solved: its offsets are on the rig only while that is sampled.

Between two slices of the work the rig shows what it showed before, and the transitions that come after this one are
left out of what is sampled.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ...layers import live
from ...layers.layer import Held
from ...sampling import suspend
from . import visual_offsets
from .visual_offsets import VisualLayer, VisualTrack


class Trial:
    """What is tried for a transition, and at the end its solution."""

    def __init__(
        self,
        armature: bpy.types.Object,
        action: bpy.types.Action | None = None,
        later: Collection[bpy.types.Action] = (),
    ) -> None:
        """action: of the transition, None for a new one. later: of those that are solved after it."""
        self.armature = armature
        self.layer = VisualLayer(armature, action)
        self.layer.is_tried = True
        self._before: Held = {} if action is None else self.layer.written()
        self.note: dict[str, Any] = {}
        """What it is made by and, at the end, what has come of it."""
        self.track: VisualTrack | None = None
        """What is tried now."""
        self._is_shown = False
        self._later = set(later)
        self._is_open = False

    @property
    def action(self) -> bpy.types.Action:
        assert self.layer.action is not None, "it has begun"
        return self.layer.action

    def begin(self, note: dict[str, Any]) -> None:
        """note: what the transition is made by. A new one gets its action, which no constraint reads yet."""
        if self.layer.action is None:
            self.layer.action = visual_offsets.new(self.armature, note)
        self.note = note | {"number": visual_offsets.number_of(self.action)}

    def show(self, track: VisualTrack) -> None:
        """Try offsets."""
        self.track = track
        if self._is_open:
            self._is_shown = True
            self.layer.show(track.first, track.rows())

    @contextmanager
    def sampled(self) -> Iterator[None]:
        """A context in which the rig has what is tried, but neither what comes later nor look-ats."""
        with suspend.layers_disabled(), visual_offsets.muted(self.armature, {self.action, *self._later}):
            self._is_open, self._is_shown = True, False
            try:
                if self.track is not None:
                    self.show(self.track)
                yield
            finally:
                self._is_open = False
                if self._is_shown:
                    self.layer.write_back(self._before)


@contextmanager
def of_new(armature: bpy.types.Object) -> Iterator[Trial]:
    """A trial of a transition that is kept at the end with what was tried last, and leaves nothing if it fails.

    Live updates are suspended meanwhile.
    """
    trial = Trial(armature)
    with suspend.suspend_live():
        try:
            yield trial
            if trial.track is not None:
                trial.layer.show(trial.track.first, trial.track.rows())
                visual_offsets.write_note(trial.action, trial.note)
        except BaseException:
            if trial.layer.action is not None:
                visual_offsets.remove(armature, trial.action)
            raise
    live.touch()
