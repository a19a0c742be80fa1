"""Smoothing pops of the action that an armature plays: one or several, into it or into a copy, with feet that stay."""

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import bpy

from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import subrange
from ..animation import actions, changed_curves
from ..animation.bake_transaction import curve_keys, write_changed
from ..animation.key_writer import KeyWriter
from ..feet.contact_report import ContactReport
from ..sampling import scene_time
from . import join, pops, sequence
from . import lock_feet as feet
from .lock_feet import WHERE_POSSIBLE, locking
from .splice import Blend

INTO = ("CURRENT", "NEW")


@dataclass(frozen=True)
class SmoothedAction:
    """A copy of an action, or the action, without its pops."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    blends: Mapping[int, Blend]
    """The blend of each pop by frame, with its length and its method as chosen."""
    feet: ContactReport | None = None
    """What locking the feet did, None where they are not locked or not planted."""
    unlocked: RigError | None = None
    """Why feet are not locked though the rig has legs, where nobody asked for it."""


def smooth(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bones_by_frame: Mapping[int, Collection[str] | None],
    blend: Blend,
    *,
    into: str = "NEW",
    name: str = "",
    lock_feet: bool | None = WHERE_POSSIBLE,
    shorten: bool = False,
    writer: KeyWriter | None = None,
) -> Generator[float, None, SmoothedAction]:
    """Smooth pops of the current action, which has a slot; yields the completed fraction.

    bones_by_frame: the bones to smooth by the first frame after each pop, None for those that jump there. into:
    "CURRENT" for its keys, "NEW" for a copy called `name`, which the armature plays then. lock_feet: keep planted
    feet on their places, by default where possible. shorten: a blend that is longer than the rest of the action is
    shortened. writer: which keys, by default one at every frame that changes. Raises LookAtError, after which nothing
    has changed.
    """
    make = partial(
        _smooth_all, scene, armature, bones_by_frame, blend, into=into, name=name, shorten=shorten, writer=writer
    )
    return (yield from locking(armature, lambda lock: make(lock_feet=lock), lock_feet))


def _smooth_all(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bones_by_frame: Mapping[int, Collection[str] | None],
    blend: Blend,
    *,
    into: str,
    name: str,
    lock_feet: bool,
    shorten: bool,
    writer: KeyWriter | None,
) -> Generator[float, None, SmoothedAction]:
    data = armature.animation_data
    original, slot = data.action, data.action_slot
    if into == "CURRENT":
        # The copy of what is linked would not be.
        pops.check_editable(original)
    copy = original.copy()
    own = copy.slots[slot.identifier]
    with actions.removed_if_failed(copy):
        made = {
            frame: _smooth(scene, armature, copy, own, frame, bones_by_frame[frame], blend, original.name, shorten)
            for frame in sorted(bones_by_frame)
        }
        locked = None
        yield 0.1
        if lock_feet and made:
            durations = [(frame, used.profile.duration(used.seconds or 0.0)) for frame, used in made.items()]
            clips = feet.divided(original, slot, *sequence.key_range(original, slot), durations)
            changed = changed_curves.bones(actions.channelbag(copy, own), actions.channelbag(original, slot))
            locked = yield from subrange(feet.lock_feet(scene, armature, copy, own, clips, changed), 0.1, 1.0)
        if writer is not None:
            bag = actions.channelbag(original, slot)
            changed_curves.thin(armature, actions.channelbag(copy, own), bag, writer)
    if into == "CURRENT":
        write_changed(curve_keys(actions.curves(copy, own)), actions.channelbag(original, slot, ensure=True))
        original.update_tag()
        bpy.data.actions.remove(copy)
        return SmoothedAction(original, slot, made, locked and replace(locked, action=original))
    copy.name = name or f"{original.name} smooth"
    join.use(armature, copy, own)
    return SmoothedAction(copy, own, made, locked)


def _smooth(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    frame: int,
    bones: Collection[str] | None,
    blend: Blend,
    called: str,
    shorten: bool,
) -> Blend:
    """Smooth a pop; called: the name of the action in messages."""
    if shorten and blend.seconds is not None:
        left = (sequence.key_range(action, slot)[1] - frame + 1) * scene_time.seconds_per_frame(scene)
        blend = replace(blend, seconds=min(blend.seconds, blend.profile.longest_blend(left)))
    return pops.smooth(armature, action, frame, blend, bones=bones, slot=slot, scene=scene, called=called)
