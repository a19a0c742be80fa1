"""What is added to the channels of controls, and how it is written over them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.channels import LOCATION
from ..sampling.own_channels import own_displacement
from ..sampling.sampler import Samples

_NEARLY_NOTHING = 1e-7
"""An angle [rad] up to which a channel keeps its value: the precision of Blender's numbers."""


class ChannelWriter(Protocol):
    """What channels are written to: a bake transaction, several together, or the pose of a drag."""

    def write(self, bone: str, mode: str, frames: Array, values: Array, base: Array, /) -> None:
        """Write the channels (F, 3 or 4) of a bone; `base` is their value before."""
        ...


@dataclass(frozen=True)
class Changes:
    """What is added to the channels of controls over F frames."""

    turns: dict[str, Array] = field(default_factory=dict)
    """Rotations (F, 4) by name of the control, in its own axes."""
    moves: dict[str, Array] = field(default_factory=dict)
    """Locations (F, 3) by name of the control, in the axes of its channels."""

    def turn(self, control: str, frames: int) -> Array:
        """The rotation (F, 4) of a control."""
        return self.turns[control] if control in self.turns else rotation.identity(frames)

    def move(self, control: str, frames: int) -> Array:
        """The location (F, 3) that is added to that of a control."""
        return self.moves[control] if control in self.moves else np.zeros((frames, 3))

    def where(self, chosen: Array, other: "Changes") -> "Changes":
        """These at the chosen frames (F,), others elsewhere."""

        def mix(own: Array, others: Array) -> Array:
            return np.where(chosen[:, None], own, others)

        return self._mixed(other, mix, mix)

    def halfway(self, other: "Changes") -> "Changes":
        """The middle of both."""
        return self._mixed(
            other, lambda own, others: rotation.slerp(own, others, 0.5), lambda own, others: 0.5 * (own + others)
        )

    def _mixed(self, other: "Changes", mix_turns: "_Mix", mix_moves: "_Mix") -> "Changes":
        turns = {name: len(turn) for one in (self, other) for name, turn in one.turns.items()}
        moves = {name: len(move) for one in (self, other) for name, move in one.moves.items()}
        return Changes(
            {name: mix_turns(self.turn(name, frames), other.turn(name, frames)) for name, frames in turns.items()},
            {name: mix_moves(self.move(name, frames), other.move(name, frames)) for name, frames in moves.items()},
        )


def in_channels(samples: Samples, changes: Changes) -> Changes:
    """Changes whose controls move in the axes of the armature, with moves in the axes of their channels."""
    moves = {
        name: own_displacement(samples, name, samples.rotations[:, samples.bones.index(name)], move)
        for name, move in changes.moves.items()
    }
    return Changes(changes.turns, moves)


_Mix = Callable[[Array, Array], Array]
Adjust = Callable[[str, Array, Array], Array]
"""What the channels (F, 3 or 4) of a bone become, from those to be written and those as animated."""


class AnimatedChannels:
    """The channels of controls as animated, over which changes are written.

    size: of the body, the unit of distances that are none. adjust: for channels that are locked.
    """

    def __init__(
        self, samples: Samples, *, size: float = 1.0, adjust: Adjust = lambda bone, values, raw: values
    ) -> None:
        self._samples, self._size, self._adjust = samples, size, adjust
        self._written: dict[tuple[str, str], bool] = {}
        """The channels that have been written, and whether they are not as animated."""

    def forget(self) -> None:
        """What was written is gone."""
        self._written.clear()

    def write(self, writer: ChannelWriter, changes: Changes, part: slice = slice(None)) -> list[str]:
        """Write the channels of the controls that turn or move, and those written before as animated, at some of the
        frames; returns the names of all that have been written."""
        for bone, mode, values, raw, differs in self._changed(changes, part):
            writer.write(bone, mode, self._samples.frames[part], self._adjust(bone, values, raw), raw)
            self._written[bone, mode] = differs
        return self.written

    @property
    def written(self) -> list[str]:
        """The controls that have been written."""
        return list(dict.fromkeys(bone for bone, _ in self._written))

    def are_changed(self, changes: Changes) -> bool:
        """Whether there is anything to write."""
        return next(self._changed(changes, slice(None)), None) is not None

    def _changed(self, changes: Changes, part: slice) -> Iterator[tuple[str, str, Array, Array, bool]]:
        """The bone, the mode, the new and the animated values of each channel that is to be written, and whether it
        turns or moves."""
        count = len(self._samples.frames)
        for bone in self._names(changes.turns, location=False):
            mode, raw = self._samples.channel(bone)
            turn = changes.turn(bone, count)[part]
            turn = np.where((rotation.angle(turn) < _NEARLY_NOTHING)[:, None], rotation.IDENTITY, turn)
            differs = bool(np.any(turn != rotation.IDENTITY))
            if differs or self._written.get((bone, mode)):
                yield bone, mode, channels.turned(raw[part], mode, turn), raw[part], differs
        for bone in self._names(changes.moves, location=True):
            raw = self._samples.raw[LOCATION][:, self._samples.bones.index(bone)]
            move = changes.move(bone, count)[part]
            move = np.where(np.linalg.norm(move, axis=-1, keepdims=True) > _NEARLY_NOTHING * self._size, move, 0.0)
            differs = bool(np.any(move))
            if differs or self._written.get((bone, LOCATION)):
                yield bone, LOCATION, raw[part] + move, raw[part], differs

    def _names(self, changed: Mapping[str, Array], *, location: bool) -> list[str]:
        before = (bone for (bone, mode), differs in self._written.items() if differs and (mode == LOCATION) is location)
        return list(dict.fromkeys((*changed, *before)))
