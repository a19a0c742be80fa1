"""A transition while it is solved: its offsets are on the rig only while that is sampled.

Between two slices of the work the rig shows what it showed before, and the transitions that come after this one are
left out of what is sampled. What is tried is keyed once, in steps: for a new transition in its own action; for one that
shows something meanwhile in another. Constraints of the copy that stands in for the rig add that or, where there can be
none, only in slices those of the rig. Nothing else uses these actions between slices, so that no file contains them.
"""

from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

import bpy

from ....lookat_pd.progress import subrange
from ...layers import live
from ...layers.layer import Row
from ...sampling import suspend
from ...sampling.own_data import TEMPORARY
from . import visual_offsets
from .visual_offsets import Reading, VisualLayer, VisualTrack

Solved = TypeVar("Solved")


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
        self.note: dict[str, Any] = {}
        """What it is made by and, at the end, what has come of it."""
        self.track: VisualTrack | None = None
        """What is tried now."""
        self._written: VisualTrack | None = None
        self._rows: list[Row] = []
        self._is_new = action is None
        self._later = set(later)
        self._sampled: VisualLayer | None = None
        """Its layer on what is sampled now, the rig or a copy."""
        self._before: dict[str, Reading] = {}
        self._other: bpy.types.Action | None = None

    @property
    def action(self) -> bpy.types.Action:
        assert self.layer.action is not None, "it has begun"
        return self.layer.action

    def begin(self, note: dict[str, Any]) -> None:
        """note: what the transition is made by. A new one gets its action, which no constraint reads yet."""
        if self._is_new:
            self.layer.action = visual_offsets.new(self.armature, note)
            self.layer.action[TEMPORARY] = True
        self.note = note | {"number": visual_offsets.number_of(self.action)}

    def show(self, track: VisualTrack) -> None:
        """Try offsets: what is sampled has them from `writing` on."""
        self.track = track

    def writing(self) -> Generator[float, None, None]:
        """Key what is tried; yields the completed fraction."""
        if self.track is self._written:
            return
        assert self.track is not None, "something is tried"
        self._written, track = None, self.track
        if self._sampled is self.layer:
            self._take_off()
        self._rows = track.rows()
        for n, row in enumerate(self._rows):
            self.layer.write(self._tried(), self.layer.keys(track.first, row))
            yield (n + 1) / len(self._rows)
        self._written = track
        if self._sampled is not None:
            self._put_on(self._sampled)
            yield 1.0

    def _tried(self) -> bpy.types.Action:
        """The action that has what is tried."""
        if self._is_new:
            return self.action
        if self._other is None:
            self._other = visual_offsets.for_a_trial()
        return self._other

    def _put_on(self, layer: VisualLayer) -> None:
        assert self._written is not None
        layer.put_on(self._tried(), self._written.first, self._rows)

    def _take_off(self) -> None:
        if self._is_new:
            # Its constraints stay until the end, since to make them takes long.
            self.layer.hide()
        elif self._other is not None:
            self.layer.put_back(self._other, self._before)

    def end(self) -> None:
        """Leave nothing in the file of what was tried for a transition that shows something else."""
        if self._other is not None:
            with suppress(ReferenceError):
                bpy.data.actions.remove(self._other)
            self._other = None

    @property
    def left_out(self) -> suspend.LeftOut:
        """Of what is sampled, which has what is tried: what comes later, and look-ats."""
        others = visual_offsets.without(self.armature, {self.action, *self._later})

        def on_copy(copy: bpy.types.Object) -> None:
            self._begin_on(self.layer.instead(self._tried(), copy))

        both = others.changing(self.armature, self._on_rig, on_copy)

        @contextmanager
        def disabled(spared: Collection[bpy.types.Object]) -> Iterator[bool]:
            with both.disabled(spared) as changed:
                try:
                    yield changed
                finally:
                    self._sampled = None

        return replace(both, disabled=disabled)

    def _begin_on(self, layer: VisualLayer) -> None:
        """Show what is tried from now on."""
        self._sampled = layer
        if self._written is not None:
            self._put_on(layer)

    @contextmanager
    def _on_rig(self) -> Iterator[None]:
        self._before = self.layer.readings()
        try:
            self._begin_on(self.layer)
            yield
        finally:
            self._take_off()

    def keeping(self) -> Generator[float, None, None]:
        """Let a new transition add what was tried last; yields the completed fraction."""
        yield from subrange(self.writing(), 0.0, 0.8)
        yield 0.8
        yield from subrange(self.layer.keeping_only(self._rows), 0.8, 0.9)
        yield from subrange(self.layer.making(self._rows), 0.9, 1.0)
        yield 1.0
        self._put_on(self.layer)
        del self.action[TEMPORARY]
        visual_offsets.write_note(self.action, self.note)


def solving_new(
    armature: bpy.types.Object, solve: Callable[[Trial], Generator[float, None, Solved]]
) -> Generator[float, None, Solved]:
    """A new transition, solved by trials, that is kept with what was tried last, and leaves nothing if it fails; what
    `solve` returns. Yields the completed fraction.

    Live updates are suspended meanwhile.
    """
    trial = Trial(armature)
    with suspend.suspend_live():
        try:
            solved = yield from subrange(solve(trial), 0.0, 0.98)
            if trial.track is not None:
                yield from subrange(trial.keeping(), 0.98, 1.0)
        except BaseException:
            if trial.layer.action is not None:
                visual_offsets.remove(armature, trial.action)
            raise
    live.touch()
    return solved
