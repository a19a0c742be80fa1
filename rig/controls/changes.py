"""What is added to the channels of controls, and how it is written over them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
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

    turns: Mapping[str, Array] = field(default_factory=dict)
    """Rotations (F, 4) by name of the control, in its own axes."""
    moves: Mapping[str, Array] = field(default_factory=dict)
    """Locations (F, 3) by name of the control, in the axes of its channels."""

    def where(self, chosen: Array, other: "Changes") -> "Changes":
        """These at the chosen frames (F,), others elsewhere."""
        return Changes(
            {
                name: np.where(chosen[:, None], own, others)
                for name, own, others in _pairs(self.turns, other.turns, rotation.IDENTITY)
            },
            {
                name: np.where(chosen[:, None], own, others)
                for name, own, others in _pairs(self.moves, other.moves, np.zeros(3))
            },
        )

    def halfway(self, other: "Changes") -> "Changes":
        """The middle of both."""
        return Changes(
            {
                name: rotation.slerp(own, others, 0.5)
                for name, own, others in _pairs(self.turns, other.turns, rotation.IDENTITY)
            },
            {name: 0.5 * (own + others) for name, own, others in _pairs(self.moves, other.moves, np.zeros(3))},
        )


def _pairs(one: Mapping[str, Array], other: Mapping[str, Array], none: Array) -> Iterator[tuple[str, Array, Array]]:
    """The values of both by name, in order; `none` where one has no such name."""
    for name in dict.fromkeys((*one, *other)):
        shape = (one[name] if name in one else other[name]).shape
        yield name, one.get(name, np.broadcast_to(none, shape)), other.get(name, np.broadcast_to(none, shape))


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
        self._written: dict[tuple[str, str], None] = {}

    def forget(self) -> None:
        """What was written is gone."""
        self._written.clear()

    def write(self, writer: ChannelWriter, changes: Changes, frames: int | None = None) -> list[str]:
        """Write the channels of the controls that turn or move, and of those written before; returns their names.

        frames: only the first ones.
        """
        part = slice(frames)
        for bone in self._names(changes.turns, location=False):
            mode, raw = self._samples.channel(bone)
            turn = changes.turns.get(bone, np.broadcast_to(rotation.IDENTITY, (len(raw), 4)))[part]
            turn = np.where((rotation.angle(turn) < _NEARLY_NOTHING)[:, None], rotation.IDENTITY, turn)
            if np.any(turn != rotation.IDENTITY) or (bone, mode) in self._written:
                self._write(writer, bone, mode, channels.turned(raw[part], mode, turn), raw[part])
        for bone in self._names(changes.moves, location=True):
            raw = self._samples.raw[channels.LOCATION][:, self._samples.bones.index(bone)]
            move = changes.moves.get(bone, np.zeros((len(raw), 3)))[part]
            move = np.where(np.linalg.norm(move, axis=-1, keepdims=True) > _NEARLY_NOTHING * self._size, move, 0.0)
            if np.any(move) or (bone, channels.LOCATION) in self._written:
                self._write(writer, bone, channels.LOCATION, raw[part] + move, raw[part])
        return list(dict.fromkeys(bone for bone, _ in self._written))

    def _names(self, changed: Mapping[str, Array], *, location: bool) -> list[str]:
        before = (bone for bone, mode in self._written if (mode == channels.LOCATION) is location)
        return list(dict.fromkeys((*changed, *before)))

    def _write(self, writer: ChannelWriter, bone: str, mode: str, values: Array, raw: Array) -> None:
        writer.write(bone, mode, self._samples.frames[: len(raw)], self._adjust(bone, values, raw), raw)
        self._written[bone, mode] = None
