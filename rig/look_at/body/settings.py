"""Settings of what the whole body does for a look-at: `pose_bone.lookat_pd.body`, `.eyes`, and further targets.

No postponed annotations: Blender reads them.
"""

from collections.abc import Callable
from math import radians

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

_EDITABLE = {"LIBRARY_OVERRIDABLE"}


def _changed(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    settings.id_data.update_tag(refresh={"OBJECT"})


listeners: list[Callable[[], None]] = []
"""Called when a look-at may need other bones, or looks at something else."""


def _needs_others(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    for listener in listeners:
        listener()
    _changed(settings, context)


def _named_after_target(item: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Library overrides tell the items of a collection apart by their names."""
    item.name = item.label
    _needs_others(item, context)


def _switch(name: str, description: str) -> object:
    return BoolProperty(
        override=_EDITABLE, update=_needs_others, name=name, description=description, default=False, options=set()
    )


def _number(name: str, description: str, default: float, highest: float, lowest: float = 0.0, **more) -> object:
    return FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name=name,
        description=description,
        default=default,
        min=lowest,
        options=set(),
        **({"max": highest, "soft_max": highest} | more),
    )


def _angle(name: str, description: str, default: float, highest: float) -> object:
    return _number(name, description, radians(default), radians(highest), subtype="ANGLE")


class LookAtTarget(bpy.types.PropertyGroup):
    """Something else that a look-at may look at."""

    object: PointerProperty(
        override=_EDITABLE,
        type=bpy.types.Object,
        update=_named_after_target,
        name="Target",
        description="Object to look at while this one is active; without one the look-at is off then",
    )
    bone: StringProperty(
        override=_EDITABLE,
        update=_named_after_target,
        name="Bone",
        description="Bone of the target armature to look at",
    )

    @property
    def label(self) -> str:
        """What lists and messages call it."""
        if self.object is None:
            return ""
        return f"{self.object.name}:{self.bone}" if self.bone else self.object.name


class LookAtBody(bpy.types.PropertyGroup):
    """What hips, arms and feet do while the head turns."""

    use_weight_shift: _switch("Weight Shift", "Move the hips against the turn of the head, which is heavy")
    weight_shift: _number("Amount", "How far the hips go, as a factor of the ways below", 1.0, 5.0, soft_max=2.0)
    weight_side: _number(
        "To the Side",
        "How far to the side the hips go against a head turned by 90°, in percent of the length of the legs",
        5.0,
        30.0,
        lowest=-30.0,
        subtype="PERCENTAGE",
    )
    weight_back: _number(
        "Back",
        "How far back the hips go under a head turned by 90°, in percent of the length of the legs",
        1.5,
        30.0,
        lowest=-30.0,
        subtype="PERCENTAGE",
    )
    weight_settle_factor: _number(
        "Settle Factor",
        "Settle time of the weight shift relative to the look-at's",
        2.0,
        10.0,
        lowest=0.05,
        soft_max=4.0,
    )
    use_arm_recoil: _switch("Arm Recoil", "Let the arms lag behind the rib cage and swing out")
    arm_recoil: _number("Amount", "How much of the arms' lag shows", 1.0, 4.0, soft_max=2.0)
    arm_settle_factor: _number(
        "Settle Factor", "Settle time of the arms relative to the look-at's", 2.0, 10.0, lowest=0.05, soft_max=4.0
    )
    arm_damping_ratio: _number(
        "Damping Ratio", "Below 1 the arms swing out before they hang still again", 0.4, 20.0, soft_max=2.0
    )
    use_planted_feet: _switch("Planted Feet", "Keep the feet where the animation has them while the hips move")
    torso_from: _angle(
        "Torso From",
        "The torso takes part in turns larger than this; smaller ones are the head's and the eyes'",
        0.0,
        90.0,
    )
    mover: StringProperty(
        override=_EDITABLE,
        update=_needs_others,
        name="Hips",
        description="Bone that moves the hips with all that is above them; empty: found from the rig",
    )


class LookAtEyes(bpy.types.PropertyGroup):
    """What the eyes do before, while and after the head turns."""

    use: _switch("Eyes", "Let the eyes look first, and hold the target while the head comes after")
    left: StringProperty(
        override=_EDITABLE,
        update=_needs_others,
        name="Left Eye",
        description="Bone of the left eye, or of the only one; empty: found from the rig",
    )
    right: StringProperty(
        override=_EDITABLE,
        update=_needs_others,
        name="Right Eye",
        description="Bone of the right eye; empty: found from the rig",
    )
    head_share: _number(
        "Head Mover",
        "1: the head turns all the way, the eyes only lead. 0: the head turns only where the eyes cannot reach",
        1.0,
        1.0,
        subtype="FACTOR",
    )
    head_delay: _number(
        "Head Delay", "Seconds by which the head sets out after the eyes", 0.075, 1.0, soft_max=0.3, precision=3
    )
    yaw_limit: _angle("Sideways", "How far the eyes turn to either side", 45.0, 90.0)
    pitch_up_limit: _angle("Up", "How far the eyes turn upward", 35.0, 90.0)
    pitch_down_limit: _angle("Down", "How far the eyes turn downward", 35.0, 90.0)
    vergence: _number(
        "Vergence", "How much the eyes turn towards each other for a near target", 1.0, 1.0, subtype="FACTOR"
    )
    vergence_limit: _angle("Vergence Limit", "Largest angle between the two lines of sight", 12.0, 60.0)
    use_blink: _switch("Blink", "Close the lids during large shifts of the gaze")
    blink_from: _angle("Blink From", "Shifts of the gaze larger than this come with a blink", 33.0, 180.0)
    blink_angle: _angle("Lid Angle", "How far the bones of the upper lids turn to close the eyes", 30.0, 90.0)
    blink_key: StringProperty(
        override=_EDITABLE,
        update=_needs_others,
        name="Shape Key",
        description="Shape key that closes the lids; empty: found from the meshes, where lid bones are not",
    )
    micro: _angle("Microsaccades", "Size of the small quick movements of eyes that hold still; 0 for none", 0.0, 3.0)
    drift: _angle("Idle Drift", "How far the gaze wanders about its target, by chance; 0 for not at all", 0.0, 20.0)
    seed: IntProperty(
        override=_EDITABLE,
        update=_changed,
        name="Seed",
        description="Another number gives another drift and other microsaccades",
        default=0,
        min=0,
        options=set(),
    )


class LookAtBlink(bpy.types.PropertyGroup):
    """What the animator has set a shape key to that shows a blink; its name is the shape key's. Not for animators."""

    base: FloatProperty(override=_EDITABLE, options={"HIDDEN"})
    owner: StringProperty(override=_EDITABLE, options={"HIDDEN"})


CLASSES = (LookAtTarget, LookAtBody, LookAtEyes, LookAtBlink)
TUNING = {
    "body": (
        "weight_shift",
        "weight_side",
        "weight_back",
        "weight_settle_factor",
        "arm_recoil",
        "arm_settle_factor",
        "arm_damping_ratio",
        "torso_from",
    ),
    "eyes": (
        "head_share",
        "head_delay",
        "yaw_limit",
        "pitch_up_limit",
        "pitch_down_limit",
        "vergence",
        "vergence_limit",
        "blink_from",
        "blink_angle",
        "micro",
        "drift",
        "seed",
    ),
}
"""Settings that change how the body moves, but not which bones do."""
BONES = {
    "body": ("use_weight_shift", "use_arm_recoil", "use_planted_feet", "mover"),
    "eyes": ("use", "left", "right", "use_blink", "blink_key"),
}
"""Settings that decide which bones move."""


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Key.lookat_pd_blinks = CollectionProperty(
        type=LookAtBlink, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}, options={"HIDDEN"}
    )


def unregister() -> None:
    del bpy.types.Key.lookat_pd_blinks
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
