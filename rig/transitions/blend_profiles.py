"""Blend profiles on a rig: which row each of its bones and curves has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import bpy

from ...lookat_pd.errors import RigError
from ...lookat_pd.transitions import profiles
from ...lookat_pd.transitions.profiles import ProfileRow
from ..animation import actions, data_paths
from ..detection import limb_controls
from .animated import Channel


@dataclass(frozen=True)
class BlendProfile:
    """A profile for the bones of a rig."""

    bones: Mapping[str, ProfileRow] = field(default_factory=dict)
    """The row of each bone that has one."""
    curves: Sequence[ProfileRow] = ()
    """Rows of curves."""

    @classmethod
    def of_factors(cls, factors: Mapping[str, float]) -> "BlendProfile":
        """The profile with these factors of the blend time by bone."""
        return cls({bone: ProfileRow("BONES", bone, factor) for bone, factor in factors.items()})

    def row(self, channel: Channel) -> ProfileRow | None:
        """The row of a channel; None if it blends as all others."""
        if self.curves:
            curve = profiles.first(self.curves, "CURVES", channel.path, property_name(channel.path))
            if curve is not None:
                return curve
        return self.bones.get(channel.bone)

    def factor(self, bone: str) -> float:
        """The factor of the blend time of a bone."""
        row = self.bones.get(bone)
        return 1.0 if row is None else row.time_factor

    @property
    def rows(self) -> list[ProfileRow]:
        """All rows that are used."""
        return [*dict.fromkeys(self.bones.values()), *self.curves]

    def duration(self, seconds: float) -> float:
        """The time [s] from the cut until only the destination plays, if the blend time is `seconds`. Rows of the
        source do not count."""
        blended = [row for row in self.rows if row.filter == "BLEND"]
        return max((seconds, *(row.delay + row.factor * seconds for row in blended)))

    def longest_blend(self, room: float) -> float:
        """The longest blend time [s] of which all is over within `room` [s]."""
        blended = [row for row in self.rows if row.filter == "BLEND" and row.factor > 0.0]
        return max(0.0, min((room, *((room - row.delay) / row.factor for row in blended))))

    def source_time(self) -> float:
        """The longest time [s] for which the source of a row plays on after the cut."""
        return max((row.source_time for row in self.rows), default=0.0)

    def without_delays(self) -> "BlendProfile":
        """Only the factors of bones, for a blend that begins at once."""
        return self.of_factors({bone: row.time_factor for bone, row in self.bones.items()})

    def check_one_clip(self) -> None:
        """Raise RigError if the source of a row would have to play on."""
        for row in self.rows:
            if row.source_time > 0.0:
                raise RigError(
                    "Row '{row}' of the profile lets the source play on, which only joined actions do; set its filter "
                    "to Blend and its delay to 0.",
                    row=row.pattern,
                )


NONE = BlendProfile()


def property_name(path: str) -> str:
    """The name of the property at a data path: the last part, without brackets if it is a custom property."""
    return data_paths.split_key(path)[1] or path.rpartition(".")[2]


def fitted(rows: Sequence[ProfileRow], armature: bpy.types.Object) -> BlendProfile:
    """A profile for the bones of an armature. The first row that fits a bone counts.

    Bones of a generated rig that no row names have that of the control that turns them.
    """
    if not rows:
        return NONE
    named = _named(rows, armature)
    rows_by_bone = dict(named)
    if named and limb_controls.is_generated(armature):
        others = [name for name in armature.pose.bones.keys() if name not in named]
        for name, control in limb_controls.controls_of(armature, others).items():
            if control in named:
                rows_by_bone[name] = named[control]
    return BlendProfile(rows_by_bone, tuple(row for row in rows if row.kind == "CURVES"))


def _named(rows: Sequence[ProfileRow], armature: bpy.types.Object) -> dict[str, ProfileRow]:
    """The row of each bone that a row names, itself or by a collection."""
    found: dict[str, ProfileRow] = {}
    for row in rows:
        for name in _bones_of(row, armature):
            found.setdefault(name, row)
    return found


def _bones_of(row: ProfileRow, armature: bpy.types.Object) -> Iterable[str]:
    if row.kind == "BONES":
        return [name for name in armature.pose.bones.keys() if row.fits(name)]
    if row.kind == "COLLECTION":
        groups = [group for group in armature.data.collections_all if row.fits(group.name)]
        return [bone.name for group in groups for bone in group.bones_recursive]
    return ()


def count(row: ProfileRow, armature: bpy.types.Object) -> int:
    """How many bones of an armature a row names; with a row of curves, how many of those that are animated now."""
    if row.kind != "CURVES":
        return len(set(_bones_of(row, armature)))
    data = armature.animation_data
    if data is None or data.action is None or data.action_slot is None:
        return 0
    paths = {curve.data_path for curve in actions.curves(data.action, data.action_slot)}
    return sum(row.fits(path, property_name(path)) for path in paths)


def unused(rows: Sequence[ProfileRow], armature: bpy.types.Object) -> list[ProfileRow]:
    """Rows that name no bone of an armature."""
    return [row for row in rows if row.kind != "CURVES" and not count(row, armature)]
