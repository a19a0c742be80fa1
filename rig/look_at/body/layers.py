"""The layers of the body response to a look-at: one row each.

The switches in the settings, the panel, the words of `--body`, the report and the response itself derive from this
table, so a new layer is one more row with its functions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import bpy

from ....lookat_pd.errors import RigError
from ....lookat_pd.rotation import Array
from . import body_eyes, body_limbs, body_rig, response, shape_eyes
from .body_rig import BodyRequest, BodyRig
from .response import BodyMotion


def _nothing(request: BodyRequest, body: BodyRig) -> BodyRig:
    return body


@dataclass(frozen=True)
class BodyLayer:
    """A part of the body that responds."""

    id: str
    """The word on the command line."""
    group: str
    """Group of the look-at's settings, "body" or "eyes"."""
    switch: str
    """Property in the group that enables the layer."""
    label: str
    """Name of the switch."""
    description: str
    """Tooltip of the switch."""
    find: Callable[[BodyRequest, BodyRig], BodyRig]
    """Puts the bones that it needs into a `BodyRig`, and a note into the request if there are none; a layer without a
    field of its own puts them into `turned` or `moved`."""
    respond: Sequence[Callable[[BodyMotion], None]]
    """Functions that add to the offsets and displacements of a `BodyMotion`; one that several layers name runs once."""
    report: str
    """Field of the layer in the report."""
    reported: Callable[[BodyRig], object]
    """Value of that field."""
    tune: Callable[[BodyRequest, BodyRig], BodyRig] = _nothing
    """Turns the amounts among the settings into parameters of the solver."""
    amounts: tuple[str, ...] = ()
    """Names of these settings, in the order of the panel, the main one first."""
    needs: str = ""
    """Id of the layer without which it does nothing, or ""."""
    default: bool = False
    """Whether it is on by default."""
    whole: bool = True
    """Whether *Whole Body* includes it; otherwise it is chosen by itself."""


# Bones are found, and their motion is computed, in this order.
LAYERS: dict[str, BodyLayer] = {
    row.id: row
    for row in (
        BodyLayer(
            "weight",
            "body",
            "use_weight_shift",
            "Weight Shift",
            "Move the hips opposite to the turn of the head, forward or back when it looks up or down, to balance its "
            "weight",
            find=body_limbs.find_hips,
            respond=(response.move_hips,),
            report="hips",
            reported=lambda body: body.hips_control or None,
            tune=body_limbs.tune_weight,
            amounts=("weight_shift", "weight_side", "weight_back", "weight_pitch", "weight_settle_factor"),
        ),
        BodyLayer(
            "arms",
            "body",
            "use_arm_recoil",
            "Arm Recoil",
            "Make the arms lag behind the rib cage and swing until they come to rest",
            find=body_limbs.find_arms,
            respond=(response.swing_arms,),
            report="arms",
            reported=lambda body: [arm.upper for arm in body.arms],
            tune=body_limbs.tune_arms,
            amounts=("arm_recoil", "arm_settle_factor", "arm_damping_ratio"),
        ),
        BodyLayer(
            "hands",
            "body",
            "use_hand_recoil",
            "Hands on IK",
            "Take hands that inverse kinematics of the rig holds along with the rib cage, and let them recoil, instead "
            "of keeping them in their places",
            find=body_limbs.find_held_hands,
            respond=(response.carry_hands,),
            report="hands",
            reported=lambda body: [arm.goal for arm in body.held],
            needs="arms",
            whole=False,
        ),
        BodyLayer(
            "breathing",
            "body",
            "use_breathing",
            "Breathing",
            "Raise and lower the shoulders and the chest with the breath while the look-at is on",
            find=body_limbs.find_shoulders,
            respond=(response.breathe,),
            report="shoulders",
            reported=lambda body: [clavicle for clavicle, _ in body.shoulders],
            tune=body_limbs.tune_breathing,
            amounts=("breathing", "breathing_chest", "breathing_rate"),
            whole=False,
        ),
        BodyLayer(
            "feet",
            "body",
            "use_planted_feet",
            "Planted Feet",
            "Keep the feet at their animated positions while the hips move",
            find=body_limbs.find_feet,
            respond=(response.move_hips, response.plant_feet, response.hold_feet, response.correct_feet),
            default=True,
            report="legs",
            reported=lambda body: [leg.upper for leg in body.legs],
        ),
        BodyLayer(
            "eyes",
            "eyes",
            "use",
            "Eyes",
            "Turn the eyes to the target first and hold it while the head follows",
            find=body_eyes.find_eyes,
            respond=(response.turn_eyes,),
            report="eyes",
            reported=lambda body: [
                *(eye.bone for eye in body.eyes),
                *dict.fromkeys(lid.name for lid in shape_eyes.lids(body.looks)),
                *dict.fromkeys(control.bone for control in shape_eyes.controls(body.looks)),
            ],
            tune=body_eyes.tune_eyes,
            amounts=(
                "head_share",
                "head_delay",
                "yaw_limit",
                "pitch_up_limit",
                "pitch_down_limit",
                "vergence",
                "vergence_limit",
                "micro",
            ),
        ),
        BodyLayer(
            "blink",
            "eyes",
            "use_blink",
            "Blink",
            "Close the eyelids during large gaze shifts",
            find=body_eyes.find_lids,
            respond=(response.close_lids,),
            report="lids",
            reported=lambda body: [*body.lid_bones, *dict.fromkeys(lid.name for lid in body.shapes)],
            tune=body_eyes.tune_lids,
            amounts=("blink_from", "blink_angle"),
            needs="eyes",
        ),
        BodyLayer(
            "lids",
            "eyes",
            "use_lids",
            "Lids Follow",
            "Move the upper eyelids with the eyes as these look up and down",
            find=body_eyes.find_following_lids,
            respond=(response.follow_eyes,),
            report="following_lids",
            reported=lambda body: body.lid_follow > 0.0 and bool(body.lid_bones or body.shapes),
            tune=body_eyes.tune_following,
            amounts=("lid_follow",),
            needs="eyes",
        ),
    )
}


def whole_body() -> list[str]:
    """The layers that are switched on together as the whole body."""
    return [layer.id for layer in LAYERS.values() if layer.whole]


def of_group(group: str) -> list[BodyLayer]:
    """The layers whose settings are in a group."""
    return [layer for layer in LAYERS.values() if layer.group == group]


def switch_on(settings, layers: Iterable[str] | None = None) -> None:
    """Enable layers of the body response, by default the whole body, in the settings of a look-at."""
    for name in whole_body() if layers is None else layers:
        layer = LAYERS[name]
        setattr(getattr(settings, layer.group), layer.switch, True)


def switch_off(settings, layer: BodyLayer) -> None:
    """Disable a layer in the settings of a look-at."""
    setattr(getattr(settings, layer.group), layer.switch, False)


def extent(settings, group: str = "") -> str:
    """How much of the whole body responds, or of its layers of one group: "ALL" layers, "NONE" except those that are on
    by default, or "SOME"."""
    chosen = _whole(group)
    on = [is_switched_on(layer, settings) for layer in chosen]
    if all(on):
        return "ALL"
    more = [state for state, layer in zip(on, chosen, strict=True) if not layer.default]
    return "SOME" if any(more) else "NONE"


def switch_whole_body(settings, on: bool, group: str = "") -> None:
    """Enable all layers, or those of one group, or return to those that are on by default."""
    chosen = _whole(group)
    if on:
        switch_on(settings, [layer.id for layer in chosen])
        return
    for layer in chosen:
        if layer.default:
            getattr(settings, layer.group).property_unset(layer.switch)
    # Unsetting calls no update, switching does: so it comes last.
    for layer in chosen:
        if not layer.default:
            switch_off(settings, layer)


def _whole(group: str) -> list[BodyLayer]:
    """The layers of the whole body, or those of them that are in a group."""
    return [LAYERS[name] for name in whole_body() if group in ("", LAYERS[name].group)]


def is_switched_on(layer: BodyLayer, settings) -> bool:
    """Whether the switch of a layer is on; it may need another layer all the same."""
    return bool(getattr(getattr(settings, layer.group), layer.switch))


def enabled(settings) -> list[BodyLayer]:
    """The enabled layers, in order."""
    return [layer for layer in LAYERS.values() if _is_on(layer, settings)]


def _is_on(layer: BodyLayer, settings) -> bool:
    return is_switched_on(layer, settings) and (not layer.needs or _is_on(LAYERS[layer.needs], settings))


def is_wanted(settings) -> bool:
    """Whether any layer is enabled, or the gaze drifts."""
    return bool(enabled(settings)) or settings.eyes.drift > 0.0


def find(
    armature: bpy.types.Object, chain: Sequence[str], settings, axes: tuple[Array, Array]
) -> tuple[BodyRig | None, tuple[str, ...]]:
    """The bones that a look-at's settings ask for, and what is to be noted where that is none. Raises RigError.

    axes: the character's forward and up (3,) in armature space.
    """
    if not is_wanted(settings):
        return None, ()
    request, body = BodyRequest(armature, chain, settings, axes=axes), BodyRig()
    layers = enabled(settings)
    for layer in layers:
        body = layer.find(request, body)
    notes = tuple(request.notes)
    if body == BodyRig() and not settings.eyes.drift and not request.asks_for_feet and layers == [LAYERS["feet"]]:
        return None, notes
    responses = tuple(dict.fromkeys(function for layer in layers for function in layer.respond))
    return body_rig.placed(request, replace(body, responses=responses, notes=notes)), ()


def fits(
    layer: BodyLayer, armature: bpy.types.Object, chain: Sequence[str], settings, axes: tuple[Array, Array]
) -> bool:
    """Whether a layer can respond to this chain: none of its bones is in it."""
    request, body = BodyRequest(armature, chain, settings, axes=axes), BodyRig()
    try:
        for row in (LAYERS[layer.needs], layer) if layer.needs else (layer,):
            body = row.find(request, body)
        body_rig.placed(request, body)
    except RigError as error:
        return error.args[0].values.get("bone") not in chain
    return True


def tuned(
    body: BodyRig, armature: bpy.types.Object, chain: Sequence[str], settings, aim: tuple[Array, Array]
) -> BodyRig:
    """The same body with the parameters from the settings.

    aim: forward and up (3,) of the look-at in the frame of the chain's first bone.
    """
    request = BodyRequest(armature, chain, settings, aim)
    body = replace(
        body,
        shift=None,
        recoil=None,
        breathing=None,
        ocular=None,
        head_delay=0.0,
        lid_follow=0.0,
        drift=settings.eyes.drift,
        seed=settings.eyes.seed,
    )
    for layer in enabled(settings):
        body = layer.tune(request, body)
    return body


def report(body: BodyRig) -> dict[str, object]:
    """The bones of each layer, as the command line reports them."""
    return {layer.report: layer.reported(body) for layer in LAYERS.values()}
