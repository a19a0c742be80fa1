"""The bake of an armature and of other data that has keys of its controls: all of it is kept, or none."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack

import bpy

from ...lookat_pd.rotation import Array
from . import actions
from .bake_transaction import BakeTransaction
from .key_writer import KeyWriter
from .outside_controls import OutsideControl


class BakeTogether:
    """Bakes in progress, as a context manager; an exception rolls all of them back.

    main: that of the armature.
    """

    def __init__(
        self,
        armature: bpy.types.Object,
        others: Mapping[bpy.types.ID, str],
        controls: Iterable[OutsideControl] = (),
    ) -> None:
        """others: where keys of other data go, "NEW", "CURRENT" or "LAYER". controls: the outside controls that may be
        keyed by their names; their objects are among the others."""
        self._armature, self._destinations = armature, dict(others)
        self._controls = {control.name: control for control in controls}
        self._open = ExitStack()
        self._pens: dict[bpy.types.ID, BakeTransaction] = {}

    def __enter__(self) -> "BakeTogether":
        with ExitStack() as opened:
            self.main = opened.enter_context(BakeTransaction(self._armature))
            self._pens[self._armature] = self.main
            for owner in self._destinations:
                self._pens[owner] = opened.enter_context(BakeTransaction(owner, beside=self.main))
            self._open = opened.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.__exit__(*raised)  # type: ignore[arg-type]

    @property
    def others(self) -> tuple[BakeTransaction, ...]:
        """Those of other data that have keys."""
        return tuple(self._pens[owner] for owner in self._destinations if self._pens[owner].has_keys)

    def write(self, bone: str, mode: str, frames: Array, values: Array, base: Array) -> None:
        """Key the channels of a bone of the armature, or of an outside control; as `BakeTransaction.write`."""
        control = self._controls.get(bone)
        if control is None:
            self.main.write(bone, mode, frames, values, base)
        else:
            self._pens[control.object].write(control.bone, mode, frames, values, base)

    def write_of(self, owner: bpy.types.ID, bone: str, mode: str, frames: Array, values: Array, base: Array) -> None:
        """The same for a bone of the armature or of other data."""
        self._pens[owner].write(bone, mode, frames, values, base)

    def commit(self, into: str, name: str, ending: str, writer: KeyWriter | None = None) -> bpy.types.Action:
        """Keep all bakes; returns the action of the armature. ending: of the names of the other actions.
        writer: as for one bake."""
        for owner, destination in self._destinations.items():
            pen = self._pens[owner]
            if pen.has_keys:
                pen.commit(destination, actions.baked_name(owner, destination, ending), writer)
            else:
                pen.rollback()
        return self.main.commit(into, name, writer)
