"""Writing channels into the pose that is shown, as a drag does."""

from collections.abc import Iterator, Mapping

import bpy

from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.channels import channel
from ..animation.outside_controls import OutsideControl


class PoseWriter:
    """A `ChannelWriter` for the pose of an armature and of controls that are no bones of it; keeps what was before."""

    def __init__(self, armature: bpy.types.Object, outside: Mapping[str, OutsideControl] | None = None) -> None:
        """outside: by name."""
        self._armature, self._outside = armature, outside or {}
        self._before: dict[tuple[str, str], tuple[float, ...]] = {}

    def write(self, bone: str, mode: str, frames: Array, values: Array, base: Array, /) -> None:
        """Pose the channels of a bone as at the first of the frames."""
        item, prop = self._item(bone), channel(mode)[0]
        self._before.setdefault((bone, prop), tuple(getattr(item, prop)))
        setattr(item, prop, values[0])

    @property
    def bones(self) -> tuple[str, ...]:
        """The bones and outside controls that are not as before."""
        return tuple(dict.fromkeys(name for name, _ in self._changed()))

    def changed(self) -> Iterator[tuple[bpy.types.Object, list[str], list[str]]]:
        """By object its bones that have turned, and those that have moved; "" for the object itself."""
        listed: dict[bpy.types.Object, tuple[list[str], list[str]]] = {}
        for name, prop in self._changed():
            control = self._outside.get(name)
            item, bone = (self._armature, name) if control is None else (control.object, control.bone)
            listed.setdefault(item, ([], []))[prop == channel(channels.LOCATION)[0]].append(bone)
        for item, (turned, moved) in listed.items():
            yield item, turned, moved

    def restore(self) -> None:
        """The pose as before."""
        for (name, prop), values in self._before.items():
            setattr(self._item(name), prop, values)
        self._before.clear()

    def _changed(self) -> Iterator[tuple[str, str]]:
        for (name, prop), values in self._before.items():
            if tuple(getattr(self._item(name), prop)) != values:
                yield name, prop

    def _item(self, name: str) -> bpy.types.PoseBone | bpy.types.Object:
        control = self._outside.get(name)
        return self._armature.pose.bones[name] if control is None else control.item
