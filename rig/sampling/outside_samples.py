"""Controls of a limb that are no bones of its armature, sampled beside it: they become rows of its samples."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.outside_controls import OutsideControl
from .own_channels import world_axes
from .sampler import Sampler, Samples, sample_frames, seen_from
from .targets import world_matrix


def sample(
    sampler: Sampler,
    frames: Sequence[float] | Array,
    controls: Sequence[OutsideControl],
    take: Callable[[int, bpy.types.Depsgraph], object] | None = None,
) -> Generator[float, None, Samples]:
    """The samples of the frames with a row for each control; yields the completed fraction. take: as for
    `sample_frames`."""
    record = OutsideRecord(controls, len(frames))

    def read(k: int, depsgraph: bpy.types.Depsgraph) -> None:
        record.read(k, depsgraph, sampler.stand_in)
        if take is not None:
            take(k, depsgraph)

    samples = yield from sample_frames(sampler, frames, take=read)
    return record.added_to(samples)


class OutsideRecord:
    """What is seen of outside controls over F frames."""

    def __init__(self, controls: Sequence[OutsideControl], frames: int) -> None:
        self.controls = tuple(controls)
        count = len(self.controls)
        self._worlds = np.empty((frames, count, 4, 4))
        self._axes = np.empty((frames, count, 3, 3))
        self._modes = [control.mode for control in self.controls]
        self._turns = [np.empty((frames, channels.channel(mode)[1])) for mode in self._modes]
        self._places = np.empty((frames, count, 3))

    def read(
        self,
        k: int,
        depsgraph: bpy.types.Depsgraph,
        stand_in: Callable[[bpy.types.Object], bpy.types.Object] = lambda item: item,
    ) -> None:
        """Take down the frame with index k. stand_in: gives what is evaluated for an object."""
        for n, control in enumerate(self.controls):
            seen = stand_in(control.object).evaluated_get(depsgraph)
            item = seen.pose.bones[control.bone] if control.bone else seen
            self._worlds[k, n] = world_matrix(seen, control.bone)
            self._axes[k, n] = world_axes(seen, control.bone)
            self._turns[n][k] = np.array(getattr(item, channels.channel(self._modes[n])[0])[:])
            self._places[k, n] = item.location

    def added_to(self, samples: Samples) -> Samples:
        """The samples of an armature with the controls as further bones, and with the axes of their locations."""
        if not self.controls:
            return samples
        own = np.linalg.inv(samples.worlds[:, :3, :3])[:, None]
        turned = own @ self._worlds[:, :, :3, :3]
        raw = dict(samples.raw)
        first, count = len(samples.bones), len(self.controls)
        for family in {channels.LOCATION, *map(channels.family, self._modes)}:
            size = channels.channel(family)[1]
            before = raw.get(family, np.zeros((len(samples.frames), first, size)))
            raw[family] = np.concatenate((before, np.zeros((len(samples.frames), count, size))), axis=1)
        raw[channels.LOCATION][:, first:] = self._places
        for n, (mode, turns) in enumerate(zip(self._modes, self._turns, strict=True)):
            raw[channels.family(mode)][:, first + n] = turns
        places = seen_from(samples.worlds, np.swapaxes(self._worlds[:, :, :3, 3], 0, 1))
        sizes = np.linalg.norm(turned, axis=-2).mean(axis=-1)
        return replace(
            samples,
            bones=(*samples.bones, *(control.name for control in self.controls)),
            modes=(*samples.modes, *self._modes),
            rotations=np.concatenate((samples.rotations, rotation.from_matrix(turned)), axis=1),
            positions=np.concatenate((samples.positions, np.swapaxes(places, 0, 1)), axis=1),
            sizes=np.concatenate((samples.sizes, sizes), axis=1),
            raw=raw,
            axes={control.name: (own @ self._axes)[:, n] for n, control in enumerate(self.controls)},
        )
