"""What a mode of `inertialize` works on: the command line as checked, and a rig with its clips."""

import argparse
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import bpy

from ....lookat_pd.errors import RigError
from ....lookat_pd.message import Message
from ....lookat_pd.progress import drain
from ....lookat_pd.transitions import methods
from ....lookat_pd.transitions.methods import TransitionMethod
from ....lookat_pd.transitions.profiles import ProfileRow
from ....rig.animation import actions
from ....rig.animation.key_writer import EVERY_FRAME, KEEP, KeyWriter
from ....rig.settings import default
from ....rig.transitions import blend_profiles, join, sequence
from ....rig.transitions.sequence import ClipRef
from ....rig.transitions.settings import Blending
from ....rig.transitions.splice import Blend
from ....rig.transitions.visual import visual_join, visual_keys
from ... import key_arguments, rigs
from ...arguments import Misuse
from ...console import Console
from .clip_files import ClipFiles
from .clip_list import Entry

WRITE_TO = ("CONSTRAINTS", *actions.INTO)
"""Where visual transitions may be written."""


@dataclass(frozen=True)
class TransitionRequest:
    """What the command line asks for, checked."""

    options: argparse.Namespace
    clip_files: ClipFiles
    entries: tuple[Entry, ...] = ()
    """Of the clip list, none without one."""
    profile: tuple[ProfileRow, ...] = ()


@dataclass(frozen=True)
class ModeClip:
    """An action of the rig."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot

    def at(self, frame: float) -> ClipRef:
        return ClipRef(self.action, frame, self.slot)


@dataclass(frozen=True)
class ModeTask:
    """A rig of an input that is made to play the result."""

    request: TransitionRequest
    scene: bpy.types.Scene
    rig: bpy.types.Object
    warnings: list[Any]
    console: Console

    @property
    def options(self) -> argparse.Namespace:
        return self.request.options

    @cached_property
    def writer(self) -> KeyWriter:
        """Which keys the result has."""
        return key_arguments.writer(self.options, KEEP)

    @property
    def _whole(self) -> KeyWriter:
        """Which keys a result has of which a range is taken, with those of `writer`."""
        return KeyWriter(KEEP if self.writer.mode == KEEP else EVERY_FRAME)

    @property
    def name(self) -> str:
        """Of the new action; empty for the usual one."""
        return self.options.name or ""

    def take(self, name: str | None = None) -> ModeClip:
        """The clip called so, None for the one that the rig plays; the rig plays it then. Raises RigError."""
        if name is not None:
            rigs.use_action(self.rig, name, "NEW")
        data = self.rig.animation_data
        if data is None or data.action is None:
            raise RigError("'{rig}' has no action; choose one with --action.", rig=self.rig.name)
        if data.action_slot is None:
            rigs.use_action(self.rig, data.action.name, "NEW")
        sequence.fitting(self.rig, data.action, data.action_slot)
        self.request.clip_files.check(self.rig, data.action, data.action_slot)
        return ModeClip(data.action, data.action_slot)

    def missing(self, clip: ModeClip) -> list[str]:
        """Bones that the clip moves and the rig lacks."""
        return list(sequence.fitting(self.rig, clip.action, clip.slot).missing)

    def blend(self, own: float | str | None = None) -> Blend:
        """own: what an entry of the clip list says itself."""
        seconds = self.options.blend if own is None else own
        return Blend(
            None if isinstance(seconds, str) else seconds,
            method(self.options).identifier,
            blend_profiles.fitted(self.request.profile, self.rig),
            default(Blending, "damping_ratio") if self.options.damping_ratio is None else self.options.damping_ratio,
        )

    def joined(
        self, make: Callable[[Blend], Generator[float, None, join.Joined]], blends: Sequence[Blend] = ()
    ) -> join.Joined:
        """What `make` joins with a blend of the keys or of the visual pose. blends: of each cut, by
        default the same. Raises LookAtError."""
        if not self.options.visual:
            return drain(make(self.blend()))
        steps = visual_join.joined(self.scene, self.rig, make, blends or self.blend(), lock_feet=self.options.lock_feet)
        return drain(steps)

    @property
    def placing(self) -> dict[str, Any]:
        """Arguments of `join.join` and `join.chain`."""
        return {
            "root": self.options.root or default(Blending, "root"),
            "name": self.name,
            "lock_feet": False if self.options.visual else self.options.lock_feet,
            "scene": self.scene,
            "writer": self.writer if self.options.range is None else self._whole,
        }

    def warn_unlocked(self, unlocked: RigError | None) -> None:
        """Say why feet are not locked."""
        if unlocked is not None:
            self.warnings.append(Message("Feet are not locked: {reason}", reason=unlocked, code="feet-unreachable"))

    def write(self, *, is_new: bool = False) -> list[str] | None:
        """Write what was made of the visual pose where it shall be, and return the bones that have keys; None where it
        stays in constraints. is_new: the action was just made, and needs no copy. Raises LookAtError."""
        into = (self.options.write_to or WRITE_TO[0]).upper()
        if not self.options.visual or into == WRITE_TO[0]:
            return None
        if is_new and into == "NEW":
            into = "CURRENT"
        written = drain(visual_keys.write(self.scene, self.rig, into, writer=key_arguments.writer(self.options)))
        return list(dict.fromkeys(bone for made in written for bone in made.controls))


def method(options: argparse.Namespace) -> TransitionMethod:
    """The method that is chosen, or the usual one."""
    return methods.of_identifier(options.method or "") or methods.default()


def check_method(options: argparse.Namespace, flag: str) -> None:
    """Raise Misuse where the method mixes two clips, and with this flag there is one."""
    how = method(options)
    if not how.blends or how.plays_both:
        raise Misuse(f"--method {how.id} needs two clips or none; choose another method with {flag}")
