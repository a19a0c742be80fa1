"""The settings of PD Follow on an object or a pose bone: `lookat_pd_follow`.

Every setting is an input; nothing here is simulation state. No postponed annotations: Blender reads them.
"""

from collections.abc import Callable

import bpy

from ...lookat_pd.pd.offsets import Controller
from ..animation.stored_settings import registration
from ..layers.controller_settings import (
    EDITABLE,
    ControllerSettings,
    aim_axis,
    changed,
    damping_ratio,
    setting,
    settle_time,
)
from ..settings import Properties, pointer

AXES = {
    "POS_X": ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "NEG_X": ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "POS_Y": ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "NEG_Y": ((0.0, -1.0, 0.0), (0.0, 0.0, 1.0)),
    "POS_Z": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
    "NEG_Z": ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0)),
}
"""The axis that aims, and the one that stays upright."""
listeners: list[Callable[[], None]] = []
"""Called when what follows, or what it follows, may be another."""


def _is_other(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    for listener in listeners:
        listener()
    changed(settings, context)


_deciding = Properties(override=EDITABLE, update=_is_other, options=set())


class PDFollowSettings(ControllerSettings, bpy.types.PropertyGroup):
    """What an object or a bone follows, and how."""

    exists: _deciding.switch("PD Follow", "This object or bone has PD Follow", options={"HIDDEN"})
    mute: _deciding.switch("Mute", "Disable PD Follow. Baking mutes it because its motion is then in the keys")
    target: _deciding.pointer(
        bpy.types.Object, "Target", "Object to follow; leave empty to lag behind the own animation"
    )
    subtarget: _deciding.text("Bone", "Bone of the target armature to follow")
    use_location: setting.switch(
        "Location", "Follow in location, too; a bone that hangs on another one is then moved away from it", True
    )
    turn: setting.choice(
        "Rotation",
        "How the rotation follows",
        (
            ("NONE", "None", "Keep the rotation of the animation"),
            ("FOLLOW", "Follow", "Turn as the target does, or lag behind the own rotation on the result of the parent"),
            ("AIM", "Aim", "Point an axis at the target"),
        ),
    )
    aim_axis: aim_axis(
        "Own axis that is pointed at the target", "-Z of cameras and lights, Y of bones, -Y of other objects"
    )
    keep_offset: setting.switch(
        "Keep Offset", "Stay as far from the target as when the offset was set; otherwise go to the target itself", True
    )
    # The target in the world when the offset was set.
    target_location: setting.vector("Target Location", size=3, options={"HIDDEN"})
    target_rotation: setting.vector("Target Rotation", default=(1.0, 0.0, 0.0, 0.0), size=4, options={"HIDDEN"})
    settle_time: settle_time("Time in seconds until it has settled at the target")
    max_speed: setting.number(
        "Speed Limit",
        "Largest speed per second of the motion that is added; 0 for no limit",
        0.0,
        max=1e6,
        soft_max=100.0,
        subtype="DISTANCE",
    )
    max_turn: setting.angle(
        "Turn Limit",
        "Largest angular speed per second of the rotation that is added; 0 for no limit",
        0.0,
        max=36000.0,
        soft_max=720.0,
    )
    use: setting.switch(
        "Follow",
        "Follow the target; insert keys to go to the target and back to the animation",
        True,
        options={"ANIMATABLE"},
    )
    influence: setting.factor(
        "Influence", "Amount of the motion that is added to the animation", 1.0, options={"ANIMATABLE"}
    )


KEYABLE = ("use", "influence")
COPIED = ("settle_time", "damping", "damping_ratio", "integrator", "feed_forward", "max_speed", "max_turn")
"""How something follows, which others can take over."""


def values(settings: PDFollowSettings) -> tuple:
    """All that decides about the motion but does not change with the frame, to tell whether it has changed."""
    left_out = ("rna_type", "name", "target", *KEYABLE)
    names = [name for name in settings.bl_rna.properties.keys() if name not in left_out]
    every = (getattr(settings, name) for name in names)
    return tuple(tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value for value in every)


def controller(settings: PDFollowSettings) -> Controller:
    return Controller(
        settings.settle_time,
        damping_ratio(settings),
        settings.integrator.lower(),
        settings.max_speed or None,
        settings.max_turn or None,
        settings.feed_forward,
    )


register, unregister = registration(
    (PDFollowSettings,),
    *(
        (owner, "lookat_pd_follow", pointer(PDFollowSettings, override=EDITABLE))
        for owner in (bpy.types.Object, bpy.types.PoseBone)
    ),
)
