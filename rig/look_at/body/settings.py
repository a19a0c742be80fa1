"""Settings of the body response to a look-at: `pose_bone.lookat_pd.body` and `.eyes`.

No postponed annotations: Blender reads them.
"""

import bpy

from ...animation.stored_settings import registration
from ...layers.controller_settings import EDITABLE, setting
from ...settings import Properties, text
from ..setting_changes import needs_others
from . import layers, shape_table


def _named_after_shape_key(item: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Library overrides identify the items of a collection by name; rows may name a shape key several times."""
    item.name = f"{item.shape_key or item.control} {item.eye} {item.direction}"
    needs_others(item, context)


def _switches(group: str) -> type:
    """What gives a group of settings the switches of its layers."""
    switches = {
        layer.switch: _deciding.switch(layer.label, layer.description, layer.default)
        for layer in layers.of_group(group)
    }
    return type(f"{group.capitalize()}Switches", (), {"__annotations__": switches})


_deciding = Properties(override=EDITABLE, update=needs_others, options=set())
_hidden = Properties(override=EDITABLE, options={"HIDDEN"})


class LookAtEyeShape(bpy.types.PropertyGroup):
    """A shape key or a control bone that turns or closes an eye: a row of the table of a look-at's eyes."""

    shape_key: setting.text(
        "Shape Key",
        "Shape key that turns or closes the eye, on all meshes of the character that have it",
        update=_named_after_shape_key,
    )
    control: setting.text(
        "Control Bone",
        "Bone of the armature whose location turns or closes the eye, such as a control of a face board",
        update=_named_after_shape_key,
    )
    axis: _deciding.choice(
        "Axis",
        "Axis of the control bone's location",
        tuple((axis, axis, f"The location on the {axis} axis of the bone") for axis in shape_table.AXES),
        "X",
    )
    distance: _deciding.number(
        "Distance",
        "Location of the control bone at which the eye is turned by the angle, or closed; may be negative",
        1.0,
        max=shape_table.FARTHEST,
        min=-shape_table.FARTHEST,
        soft_min=-1.0,
        soft_max=1.0,
        precision=3,
    )
    eye: setting.choice(
        "Eye",
        "Eye that the shape key or the bone turns or closes",
        (
            ("LEFT", "Left Eye", "The left eye of the character"),
            ("RIGHT", "Right Eye", "The right eye of the character"),
            ("BOTH", "Both Eyes", "Both eyes at once"),
        ),
        "BOTH",
        update=_named_after_shape_key,
    )
    direction: setting.choice(
        "Direction",
        "Direction in which the eye turns, as seen by the character, or whether it closes",
        (
            ("LEFT", "Left", "To the left of the character"),
            ("RIGHT", "Right", "To the right of the character"),
            ("UP", "Up", "Upwards"),
            ("DOWN", "Down", "Downwards"),
            (shape_table.CLOSE, "Close Eyelids", "Close the eyelids"),
        ),
        update=_named_after_shape_key,
    )
    angle: _deciding.angle(
        "Angle",
        "Angle by which the eye turns at value 1 of the shape key, or at the distance of the control bone; "
        "0 to measure it on the mesh, or 30° for a bone",
        0.0,
        max=90.0,
    )


class LookAtBody(_switches("body"), bpy.types.PropertyGroup):
    """Settings of hips, arms and feet."""

    weight_shift: setting.number(
        "Amount", "Factor by which the distances below are multiplied", 1.0, max=5.0, soft_max=2.0
    )
    weight_side: setting.number(
        "Lateral",
        "Lateral displacement of the hips when the head is turned by 90°, in percent of the leg length",
        5.0,
        max=30.0,
        min=-30.0,
        subtype="PERCENTAGE",
    )
    weight_back: setting.number(
        "Back",
        "Backward displacement of the hips when the head is turned by 90°, in percent of the leg length",
        1.5,
        max=30.0,
        min=-30.0,
        subtype="PERCENTAGE",
    )
    weight_pitch: setting.number(
        "Up and Down",
        "Forward displacement of the hips when the head looks up by 90°, backward when it looks down, in percent of "
        "the leg length",
        4.0,
        max=30.0,
        min=-30.0,
        subtype="PERCENTAGE",
    )
    weight_settle_factor: setting.number(
        "Settle Factor",
        "Settle time of the weight shift as a factor of the settle time of the look-at",
        2.0,
        max=10.0,
        min=0.05,
        soft_max=4.0,
    )
    arm_recoil: setting.number(
        "Amount", "Factor by which the lag of the arms is multiplied", 1.0, max=4.0, soft_max=2.0
    )
    arm_settle_factor: setting.number(
        "Settle Factor",
        "Settle time of the arms as a factor of the settle time of the look-at",
        2.0,
        max=10.0,
        min=0.05,
        soft_max=4.0,
    )
    arm_damping_ratio: setting.number(
        "Damping Ratio",
        "Damping ratio of the arms; with values below 1 they overshoot before they come to rest",
        0.4,
        max=20.0,
        soft_max=2.0,
    )
    breathing: setting.angle("Amount", "Angle by which the shoulders rise with each breath", 1.5, max=10.0)
    breathing_chest: setting.angle(
        "Chest",
        "Angle by which the chest leans back with each breath, where the look-at turns it; neck and head stay as they "
        "are",
        1.0,
        max=10.0,
    )
    breathing_rate: setting.number("Rate", "Breaths a minute", 16.6, max=120.0, min=1.0, soft_max=40.0)
    torso_from: setting.angle(
        "Torso Threshold",
        "Turn angle above which the torso takes part; smaller turns use only the head and the eyes",
        0.0,
        max=90.0,
    )
    torso_more: setting.factor(
        "Large Turns",
        "How much further the torso turns for targets more than 45° to the side, so that the neck twists less",
        0.5,
    )
    mover: _deciding.text(
        "Hips", "Bone that moves the hips and the body above them; leave empty to detect it from the rig"
    )


class LookAtEyes(_switches("eyes"), bpy.types.PropertyGroup):
    """Settings of the eyes."""

    left: _deciding.text("Left Eye", "Bone of the left eye, or of the only eye; leave empty to detect it from the rig")
    right: _deciding.text("Right Eye", "Bone of the right eye; leave empty to detect it from the rig")
    turned_by: _deciding.choice(
        "Turned By",
        "What turns the eyes of the character",
        (
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
    )
    shapes: setting.collection(
        LookAtEyeShape,
        "Shape Keys",
        "Shape keys and control bones that turn or close the eyes; leave empty to detect them by name",
    )
    # The table as one text, for presets and copies. Not stored, nor overridden: it would add to the rows of the table.
    shape_map: text("Shape Key Table", get=shape_table.text, set=shape_table.set_text, options={"HIDDEN"})
    control_order: _deciding.choice(
        "Rotation Order",
        "How control bones turn an eye that looks up or down and to the side at once",
        (
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
    )
    shapes_index: _hidden.integer("Highlighted Shape Key")
    head_share: setting.factor(
        "Head Share",
        "Part of the gaze shift taken by the head: at 1 all of it, at 0 only what is out of reach of the eyes",
        1.0,
    )
    head_delay: setting.number(
        "Head Delay",
        "Time in seconds between the start of the eye movement and that of the head",
        0.075,
        max=1.0,
        soft_max=0.3,
        precision=3,
    )
    yaw_limit: setting.angle("Sideways", "Largest angle of the eyes to either side", 45.0, max=90.0)
    pitch_up_limit: setting.angle("Up", "Largest upward angle of the eyes", 35.0, max=90.0)
    pitch_down_limit: setting.angle("Down", "Largest downward angle of the eyes", 35.0, max=90.0)
    vergence: setting.factor(
        "Vergence", "Amount by which the eyes converge on a near target; at 1 both point exactly at it", 1.0
    )
    vergence_limit: setting.angle("Vergence Limit", "Largest angle between the two lines of sight", 12.0, max=60.0)
    blink_from: setting.angle("Blink Threshold", "Angle of a gaze shift above which the eyes blink", 33.0, max=180.0)
    blink_angle: setting.angle(
        "Lid Angle", "Angle by which the bones of the upper eyelids turn to close the eyes", 30.0, max=90.0
    )
    lid_follow: setting.factor(
        "Amount", "Turn of the upper eyelids relative to that of the eyes up and down; shape keys only close them", 0.5
    )
    blink_key: _deciding.text(
        "Shape Key",
        "Shape key that closes the eyelids; leave empty to use eyelid bones, or a shape key detected from the meshes",
    )
    micro: setting.angle(
        "Microsaccades", "Size of the small, rapid movements of the eyes during fixation; 0 disables them", 0.0, max=3.0
    )
    drift: setting.angle(
        "Idle Drift", "Size of the random drift of the gaze around the target; 0 disables it", 0.0, max=20.0
    )
    seed: setting.integer("Seed", "Seed of the random drift and microsaccades", min=0)


class LookAtBlink(bpy.types.PropertyGroup):
    """The animator's value of a shape key that shows a blink, by the name of the shape key. Internal."""

    base: _hidden.number(min=None)
    owner: _hidden.text()


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


register, unregister = registration(
    CLASSES, (bpy.types.Key, "lookat_pd_blinks", setting.collection(LookAtBlink, options={"HIDDEN"}))
)
