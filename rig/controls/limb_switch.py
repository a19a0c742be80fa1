"""Switching limbs of rigs with controls between IK and FK over a range of frames: the switch is keyed, and so are the
controls that take over, so that the limb keeps its pose (`limb_fit`)."""

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import replace

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from ..animation import actions, bake_options
from ..animation.bake_options import BakeOptions
from ..animation.bake_transaction import BakeTransaction
from ..detection import limb_controls, other_ik
from ..detection.limb_controls import LimbControls
from ..detection.read_once import unchanged
from ..sampling import suspend
from . import switch_property
from .limb_fit import CALLED, LimbFit, SwitchResult
from .switch_property import SwitchProperty

_SAME = 1e-5
"""Difference of two numbers that count as one."""


def skipping(limb: LimbControls, state: str) -> Message:
    """What is reported of a limb that was skipped."""
    return Message("'{limb}' is in {state} already and was left as it is.", limb=limb.goal, state=state)


def check_switches(armature: bpy.types.Object) -> list[LimbControls]:
    """The limbs that switch. Raises RigError if there are none."""
    limbs = limb_controls.find(armature)
    if not limbs:
        raise RigError(
            "No arm or leg of '{armature}' switches between IK and FK by a property that drives its constraints; "
            "choose another rig, or key its controls by hand.",
            armature=armature.name,
        )
    return limbs


def belonging(armature: bpy.types.Object, bones: Sequence[str]) -> list[LimbControls]:
    """The limbs that these bones belong to; none for other bones."""
    controls = {*limb_controls.controls_of(armature, bones).values()}

    def belongs(limb: LimbControls) -> bool:
        return bool(controls & {*limb.turned} or {*bones} & limb_controls.poles_of(armature, limb))

    return [limb for limb in limb_controls.find(armature) if belongs(limb)]


@unchanged()
def limbs_of(armature: bpy.types.Object, bones: Sequence[str]) -> list[LimbControls]:
    """The limbs that these bones belong to. Raises RigError."""
    limbs = belonging(armature, bones)
    if limbs:
        return limbs
    other = other_ik.of(armature, bones)
    if other is not None and other.is_limb(armature):
        raise other_ik.refusal(armature, other, bones[0])
    check_switches(armature)
    raise RigError("No arm or leg that switches between IK and FK is selected; select one of its controls.")


def switch(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bones: Sequence[str],
    state: str,
    options: BakeOptions,
    *,
    may_be_idle: bool = False,
    into_others: str = "",
) -> Generator[float, None, SwitchResult]:
    """Switch the limbs of these bones to "FK" or "IK"; yields the completed fraction. Raises RigError.

    Limbs that are in that state at all frames are left as they are. may_be_idle: have an action that is the same as
    before if these are all limbs, instead of an error. into_others: where keys of other objects and data go that
    switch a limb, "" for the destination of all keys.
    """
    how = {"may_be_idle": may_be_idle, "into_others": into_others}
    with unchanged():
        work, skipped = _planned(scene, armature, bones, state, options, **how)
    yield 0.0
    if work is None:
        frames = np.arange(options.first, options.last + 1)
        none = np.zeros((0, len(frames)))
        return SwitchResult(_unchanged(armature, options, state), frames, (), none, none, skipped)
    with suspend.suspend_live():
        return replace((yield from work.steps()), skipped=skipped)


def check(
    scene: bpy.types.Scene, armature: bpy.types.Object, bones: Sequence[str], state: str, options: BakeOptions
) -> None:
    """Raise RigError if `switch` would."""
    with unchanged():
        _planned(scene, armature, bones, state, options)


def _planned(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bones: Sequence[str],
    state: str,
    options: BakeOptions,
    *,
    may_be_idle: bool = False,
    into_others: str = "",
) -> tuple[LimbFit | None, tuple[LimbControls, ...]]:
    """The work on the limbs to switch, None for none, and the limbs that are in the state already. Raises RigError."""
    bake_options.check_range(options.first, options.last)
    chosen = limbs_of(armature, bones)
    actions.check(armature, options.into)
    switches = _switches(armature, chosen, state)
    limbs = list(switches)
    frames = np.arange(options.first, options.last + 1)
    skipped = tuple(limb for limb in limbs if all(item.is_in(state, frames) for item in switches[limb]))
    switched = [limb for limb in limbs if limb not in skipped]
    if not switched and not may_be_idle:
        raise RigError(
            "All of these limbs are in {state!s} already from frame {first} to {last}: {limbs}; choose other frames, "
            "or controls of another limb.",
            limbs=", ".join(f"'{limb.goal}'" for limb in skipped),
            state=state,
            first=options.first,
            last=options.last,
        )
    if not switched:
        return None, skipped
    into = into_others or options.into
    return LimbFit(scene, armature, switched, [switches[limb] for limb in switched], state, options, into), skipped


def _switches(
    armature: bpy.types.Object, chosen: Sequence[LimbControls], state: str
) -> dict[LimbControls, list[SwitchProperty]]:
    """What switches the chosen limbs, and the others that the same numbers switch: these keep their pose as well.
    Raises RigError."""
    by_limb = {limb: switch_property.of(armature, limb) for limb in chosen}
    wanted = {item.number_of: item.value(state) for items in by_limb.values() for item in items}
    for limb in limb_controls.find(armature):
        if limb in by_limb:
            continue
        with suppress(RigError):
            items = switch_property.of(armature, limb)
            if any(item.number_of in wanted for item in items):
                by_limb[limb] = items
    for limb, items in by_limb.items():
        for item in items:
            if abs(wanted.setdefault(item.number_of, item.value(state)) - item.value(state)) > _SAME:
                raise RigError(
                    "What switches '{limb}' to {state!s} switches another limb to the other state; give each limb a "
                    "switch of its own.",
                    limb=limb.goal,
                    state=state,
                )
    return by_limb


def _unchanged(armature: bpy.types.Object, options: BakeOptions, state: str) -> bpy.types.Action:
    """The action without a switch, as after any other bake."""
    with BakeTransaction(armature) as work:
        name = options.name or actions.baked_name(armature, options.into, CALLED[state])
        return work.commit(options.into, name)


def is_held(armature: bpy.types.Object, limb: LimbControls, frames: Array) -> bool:
    """Whether inverse kinematics poses a limb at any of these frames. Raises RigError."""
    return switch_property.of(armature, limb)[0].holds(frames)
