"""Settings of the body response to a look-at: `pose_bone.lookat_pd.body` and `.eyes`.

No postponed annotations: Blender reads them.
"""

from math import radians

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    StringProperty,
)

from ...layers.controller_settings import EDITABLE, changed
from ..setting_changes import needs_others
from . import layers, shape_table


def _named_after_shape_key(item: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Library overrides identify the items of a collection by name; rows may name a shape key several times."""
    item.name = f"{item.shape_key or item.control} {item.eye} {item.direction}"
    needs_others(item, context)


def _switch(name: str, description: str, default: bool) -> object:
    return BoolProperty(
        override=EDITABLE, update=needs_others, name=name, description=description, default=default, options=set()
    )


def _number(name: str, description: str, default: float, highest: float, lowest: float = 0.0, **more) -> object:
    return FloatProperty(
        override=EDITABLE,
        update=changed,
        name=name,
        description=description,
        default=default,
        min=lowest,
        options=set(),
        **({"max": highest, "soft_max": highest} | more),
    )


def _angle(name: str, description: str, default: float, highest: float) -> object:
    return _number(name, description, radians(default), radians(highest), subtype="ANGLE")


def _switches(group: str) -> type:
    """What gives a group of settings the switches of its layers."""
    switches = {
        layer.switch: _switch(layer.label, layer.description, layer.default) for layer in layers.of_group(group)
    }
    return type(f"{group.capitalize()}Switches", (), {"__annotations__": switches})


class LookAtEyeShape(bpy.types.PropertyGroup):
    """A shape key or a control bone that turns or closes an eye: a row of the table of a look-at's eyes."""

    shape_key: StringProperty(
        override=EDITABLE,
        update=_named_after_shape_key,
        name="Shape Key",
        description="Shape key that turns or closes the eye, on all meshes of the character that have it",
    )
    control: StringProperty(
        override=EDITABLE,
        update=_named_after_shape_key,
        name="Control Bone",
        description="Bone of the armature whose location turns or closes the eye, such as a control of a face board",
    )
    axis: EnumProperty(
        override=EDITABLE,
        update=needs_others,
        name="Axis",
        description="Axis of the control bone's location",
        items=tuple((axis, axis, f"The location on the {axis} axis of the bone") for axis in shape_table.AXES),
        default="X",
        options=set(),
    )
    distance: FloatProperty(
        override=EDITABLE,
        update=needs_others,
        name="Distance",
        description="Location of the control bone at which the eye is turned by the angle, or closed; may be negative",
        default=1.0,
        min=-shape_table.FARTHEST,
        max=shape_table.FARTHEST,
        soft_min=-1.0,
        soft_max=1.0,
        precision=3,
        options=set(),
    )
    eye: EnumProperty(
        override=EDITABLE,
        update=_named_after_shape_key,
        name="Eye",
        description="Eye that the shape key or the bone turns or closes",
        items=(
            ("LEFT", "Left Eye", "The left eye of the character"),
            ("RIGHT", "Right Eye", "The right eye of the character"),
            ("BOTH", "Both Eyes", "Both eyes at once"),
        ),
        default="BOTH",
        options=set(),
    )
    direction: EnumProperty(
        override=EDITABLE,
        update=_named_after_shape_key,
        name="Direction",
        description="Direction in which the eye turns, as seen by the character, or whether it closes",
        items=(
            ("LEFT", "Left", "To the left of the character"),
            ("RIGHT", "Right", "To the right of the character"),
            ("UP", "Up", "Upwards"),
            ("DOWN", "Down", "Downwards"),
            (shape_table.CLOSE, "Close Eyelids", "Close the eyelids"),
        ),
        default="LEFT",
        options=set(),
    )
    angle: FloatProperty(
        override=EDITABLE,
        update=needs_others,
        name="Angle",
        description="Angle by which the eye turns at value 1 of the shape key, or at the distance of the control bone; "
        "0 to measure it on the mesh, or 30° for a bone",
        default=0.0,
        min=0.0,
        max=radians(90.0),
        subtype="ANGLE",
        options=set(),
    )


class LookAtBody(_switches("body"), bpy.types.PropertyGroup):
    """Settings of hips, arms and feet."""

    weight_shift: _number("Amount", "Factor by which the distances below are multiplied", 1.0, 5.0, soft_max=2.0)
    weight_side: _number(
        "Lateral",
        "Lateral displacement of the hips when the head is turned by 90°, in percent of the leg length",
        5.0,
        30.0,
        lowest=-30.0,
        subtype="PERCENTAGE",
    )
    weight_back: _number(
        "Back",
        "Backward displacement of the hips when the head is turned by 90°, in percent of the leg length",
        1.5,
        30.0,
        lowest=-30.0,
        subtype="PERCENTAGE",
    )
    weight_pitch: _number(
        "Up and Down",
        "Forward displacement of the hips when the head looks up by 90°, backward when it looks down, in percent of "
        "the leg length",
        4.0,
        30.0,
        lowest=-30.0,
        subtype="PERCENTAGE",
    )
    weight_settle_factor: _number(
        "Settle Factor",
        "Settle time of the weight shift as a factor of the settle time of the look-at",
        2.0,
        10.0,
        lowest=0.05,
        soft_max=4.0,
    )
    arm_recoil: _number("Amount", "Factor by which the lag of the arms is multiplied", 1.0, 4.0, soft_max=2.0)
    arm_settle_factor: _number(
        "Settle Factor",
        "Settle time of the arms as a factor of the settle time of the look-at",
        2.0,
        10.0,
        lowest=0.05,
        soft_max=4.0,
    )
    arm_damping_ratio: _number(
        "Damping Ratio",
        "Damping ratio of the arms; with values below 1 they overshoot before they come to rest",
        0.4,
        20.0,
        soft_max=2.0,
    )
    breathing: _angle("Amount", "Angle by which the shoulders rise with each breath", 1.5, 10.0)
    breathing_rate: _number("Rate", "Breaths a minute", 16.6, 120.0, lowest=1.0, soft_max=40.0)
    torso_from: _angle(
        "Torso Threshold",
        "Turn angle above which the torso takes part; smaller turns use only the head and the eyes",
        0.0,
        90.0,
    )
    torso_more: _number(
        "Large Turns",
        "How much further the torso turns for targets more than 45° to the side, so that the neck twists less",
        0.5,
        1.0,
        subtype="FACTOR",
    )
    mover: StringProperty(
        override=EDITABLE,
        update=needs_others,
        name="Hips",
        description="Bone that moves the hips and the body above them; leave empty to detect it from the rig",
    )


class LookAtEyes(_switches("eyes"), bpy.types.PropertyGroup):
    """Settings of the eyes."""

    left: StringProperty(
        override=EDITABLE,
        update=needs_others,
        name="Left Eye",
        description="Bone of the left eye, or of the only eye; leave empty to detect it from the rig",
    )
    right: StringProperty(
        override=EDITABLE,
        update=needs_others,
        name="Right Eye",
        description="Bone of the right eye; leave empty to detect it from the rig",
    )
    turned_by: EnumProperty(
        override=EDITABLE,
        update=needs_others,
        name="Turned By",
        description="What turns the eyes of the character",
        items=(
            (
                "AUTO",
                "Automatic",
                "The shape keys of the table or, without any, eye bones or, without any, detected shape keys",
            ),
            ("BONES", "Bones", "Eye bones, or the control that they track"),
            (
                "SHAPE_KEYS",
                "Shape Keys",
                "Shape keys or control bones for left, right, up and down from the table, or detected shape keys",
            ),
        ),
        default="AUTO",
        options=set(),
    )
    shapes: CollectionProperty(
        type=LookAtEyeShape,
        name="Shape Keys",
        description="Shape keys and control bones that turn or close the eyes; leave empty to detect them by name",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    # The table as one text, for presets and copies. Not stored.
    shape_map: StringProperty(
        override=EDITABLE, name="Shape Key Table", options={"HIDDEN"}, get=shape_table.text, set=shape_table.set_text
    )
    control_order: EnumProperty(
        override=EDITABLE,
        update=needs_others,
        name="Rotation Order",
        description="How control bones turn an eye that looks up or down and to the side at once",
        items=(
            (
                "FICK",
                "Fick",
                "To the side about the vertical axis of the head, up and down about the eye's own lateral axis",
            ),
            (
                "HELMHOLTZ",
                "Helmholtz",
                "Up and down about the lateral axis of the head, to the side about the eye's own vertical axis",
            ),
            ("STRAIGHT", "Straight", "The pupil moves on straight lines, as where the controls drive shape keys"),
        ),
        default="FICK",
        options=set(),
    )
    shapes_index: IntProperty(override=EDITABLE, name="Highlighted Shape Key", options={"HIDDEN"})
    head_share: _number(
        "Head Share",
        "Part of the gaze shift taken by the head: at 1 all of it, at 0 only what is out of reach of the eyes",
        1.0,
        1.0,
        subtype="FACTOR",
    )
    head_delay: _number(
        "Head Delay",
        "Time in seconds between the start of the eye movement and that of the head",
        0.075,
        1.0,
        soft_max=0.3,
        precision=3,
    )
    yaw_limit: _angle("Sideways", "Largest angle of the eyes to either side", 45.0, 90.0)
    pitch_up_limit: _angle("Up", "Largest upward angle of the eyes", 35.0, 90.0)
    pitch_down_limit: _angle("Down", "Largest downward angle of the eyes", 35.0, 90.0)
    vergence: _number(
        "Vergence",
        "Amount by which the eyes converge on a near target; at 1 both point exactly at it",
        1.0,
        1.0,
        subtype="FACTOR",
    )
    vergence_limit: _angle("Vergence Limit", "Largest angle between the two lines of sight", 12.0, 60.0)
    blink_from: _angle("Blink Threshold", "Angle of a gaze shift above which the eyes blink", 33.0, 180.0)
    blink_angle: _angle("Lid Angle", "Angle by which the bones of the upper eyelids turn to close the eyes", 30.0, 90.0)
    lid_follow: _number(
        "Amount",
        "Turn of the upper eyelids relative to that of the eyes up and down; shape keys only close them",
        0.5,
        1.0,
        subtype="FACTOR",
    )
    blink_key: StringProperty(
        override=EDITABLE,
        update=needs_others,
        name="Shape Key",
        description=(
            "Shape key that closes the eyelids; leave empty to use eyelid bones, or a shape key detected from the "
            "meshes"
        ),
    )
    micro: _angle(
        "Microsaccades", "Size of the small, rapid movements of the eyes during fixation; 0 disables them", 0.0, 3.0
    )
    drift: _angle("Idle Drift", "Size of the random drift of the gaze around the target; 0 disables it", 0.0, 20.0)
    seed: IntProperty(
        override=EDITABLE,
        update=changed,
        name="Seed",
        description="Seed of the random drift and microsaccades",
        default=0,
        min=0,
        options=set(),
    )


class LookAtBlink(bpy.types.PropertyGroup):
    """The animator's value of a shape key that shows a blink, by the name of the shape key. Internal."""

    base: FloatProperty(override=EDITABLE, options={"HIDDEN"})
    owner: StringProperty(override=EDITABLE, options={"HIDDEN"})


CLASSES = (LookAtEyeShape, LookAtBody, LookAtEyes, LookAtBlink)


def _amounts(group: str) -> tuple[str, ...]:
    return tuple(name for layer in layers.of_group(group) for name in layer.amounts)


def _enabling(group: str) -> tuple[str, ...]:
    return tuple(layer.switch for layer in layers.of_group(group))


TUNING = {"body": (*_amounts("body"), "torso_from", "torso_more"), "eyes": (*_amounts("eyes"), "drift", "seed")}
"""Settings that change how the body moves, but not which bones do."""
BONES = {
    "body": (*_enabling("body"), "mover"),
    "eyes": (*_enabling("eyes"), "left", "right", "blink_key", "turned_by", "control_order"),
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
