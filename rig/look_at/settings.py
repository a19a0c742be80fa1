"""The look-at's settings on its pose bone, for panels, scripts and keys: `pose_bone.lookat_pd`.

Every setting is an input; nothing here is simulation state. No postponed annotations: Blender reads them.
"""

from math import pi, radians

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..layers.controller_settings import EDITABLE, SETTLE_TIME, ControllerSettings, changed, settle_time
from ..sampling import suspend
from . import gains, saved_settings, world_up
from .body import settings as body_settings
from .chain_settings import LookAtChainBone
from .setting_changes import keyable, needs_others
from .target_settings import LookAtTarget, is_target

AIM_AXES = {
    "POS_X": (1.0, 0.0, 0.0),
    "NEG_X": (-1.0, 0.0, 0.0),
    "POS_Y": (0.0, 1.0, 0.0),
    "NEG_Y": (0.0, -1.0, 0.0),
    "POS_Z": (0.0, 0.0, 1.0),
    "NEG_Z": (0.0, 0.0, -1.0),
}
_K_P = gains.round_k_p(SETTLE_TIME)


def chain_values(look_at) -> tuple[tuple, ...]:
    """All settings of the chain of a look-at, to detect changes."""
    return tuple(
        (c.bone, c.share, c.settle_factor, c.yaw_limit, c.pitch_up_limit, c.pitch_down_limit, c.makes_up)
        for c in look_at.chain
    )


TUNING = (
    "settle_time",
    "damping",
    "damping_ratio",
    "integrator",
    "method",
    "max_speed",
    "feed_forward",
    "release_angle",
    "release_speed",
    "release_time",
    "use",
    "influence",
    "active_target",
    "glance_yaw",
    "glance_pitch",
    "eyes_closed",
    "nod",
    "tilt",
    "level_head",
    "use_mix",
    "let_go_distance",
    "let_go_angle",
)
"""Settings that change how the chain moves, but not what it consists of or what it looks at."""


def _glance(setting: str, name: str, description: str) -> object:
    return FloatProperty(
        override=EDITABLE,
        update=keyable(setting),
        name=name,
        description=description,
        default=0.0,
        soft_min=radians(-30.0),
        soft_max=radians(30.0),
        min=radians(-60.0),
        max=radians(60.0),
        subtype="ANGLE",
        options={"ANIMATABLE"},
    )


class LookAtUnkeyed(bpy.types.PropertyGroup):
    """Channels that had no keys before a bake, and their values then. Not for animators."""

    bone: StringProperty(override=EDITABLE, name="Bone", options={"HIDDEN"})
    mode: StringProperty(override=EDITABLE, name="Rotation Mode", options={"HIDDEN"})
    values: FloatVectorProperty(override=EDITABLE, name="Unkeyed Pose", size=4, options={"HIDDEN"})


class LookAtSettings(ControllerSettings, bpy.types.PropertyGroup):
    """A look-at: the bone it stands on is the one that aims."""

    exists: BoolProperty(
        override=EDITABLE,
        name="Look-at",
        description="This bone has a look-at",
        options={"HIDDEN"},
        update=needs_others,
    )
    # Of the settings: 0 where a file was saved before there were `LATER` ones.
    version: IntProperty(override=EDITABLE, name="Version", options={"HIDDEN"})
    # Which of the rig's constraints are this look-at's own; 0 for none.
    number: IntProperty(override=EDITABLE, name="Number", options={"HIDDEN"})
    # Which item of the armature's data has its keys of the shot, counted from 1; 0 for none.
    shot: IntProperty(override=EDITABLE, name="Shot", options={"HIDDEN"})
    mute: BoolProperty(
        override=EDITABLE,
        name="Mute",
        description="Disable this look-at. Baking mutes a look-at because its motion is then in the keys",
        options=set(),
        update=needs_others,
    )
    target: PointerProperty(
        override=EDITABLE,
        type=bpy.types.Object,
        update=needs_others,
        name="Target",
        description="Object to look at; for an armature, choose a bone as well",
    )
    subtarget: StringProperty(
        override=EDITABLE, update=changed, name="Bone", description="Bone of the target armature to look at"
    )
    use: BoolProperty(
        override=EDITABLE,
        update=keyable("use"),
        name="Look",
        description="Look at the target; insert keys to turn to the target and back to the animation",
        default=True,
        options={"ANIMATABLE"},
    )
    influence: FloatProperty(
        override=EDITABLE,
        update=keyable("influence"),
        name="Influence",
        description="Amount of the look-at that is added to the animation",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options={"ANIMATABLE"},
    )
    settle_time: settle_time("Time in seconds until the head has settled on the target; the bones below it take longer")
    method: EnumProperty(
        override=EDITABLE,
        update=changed,
        name="Method",
        description="Quantity that the controller tracks",
        items=(
            ("GEODESIC", "Geodesic", "Track rotation vectors, so that offsets follow the shortest arc"),
            (
                "COMPONENT",
                "Component",
                "Track the four quaternion components and normalize them, as in FINAL FANTASY XVI",
            ),
        ),
        default="GEODESIC",
        options=set(),
    )
    max_speed: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Speed Limit",
        description="Largest angular speed of each bone per second; 0 for no limit. Low values look mechanical",
        default=0.0,
        min=0.0,
        soft_max=4.0 * pi,
        max=radians(36000.0),
        subtype="ANGLE",
        options=set(),
    )
    feed_forward: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Anticipation",
        description="Part of the lag behind a moving target that is removed; at 1 the look-at keeps up with it",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=set(),
    )
    aim_axis: EnumProperty(
        override=EDITABLE,
        update=changed,
        name="Aim Axis",
        description="Axis of the bone that is pointed at the target",
        items=(
            ("AUTO", "Automatic", "Direction in which the character faces in the rest pose"),
            ("POS_X", "X", "The X axis of the bone"),
            ("POS_Y", "Y", "The Y axis of the bone, from its head to its tail"),
            ("POS_Z", "Z", "The Z axis of the bone"),
            ("NEG_X", "-X", "The negative X axis of the bone"),
            ("NEG_Y", "-Y", "The negative Y axis of the bone"),
            ("NEG_Z", "-Z", "The negative Z axis of the bone"),
        ),
        default="AUTO",
        options=set(),
    )
    facing: FloatVectorProperty(
        override=EDITABLE,
        update=changed,
        name="Forward and Up",
        description="Chosen forward and up axes of the character in the frame of the bone; zero to detect them",
        size=6,
        options={"HIDDEN"},
    )
    soft_edge: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Soft Edge",
        description="Width of the smooth transition at each limit",
        default=radians(5.0),
        min=0.0,
        soft_max=radians(20.0),
        max=radians(60.0),
        subtype="ANGLE",
        options=set(),
    )
    level_head: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Level Head",
        description=(
            "Amount by which the head is rolled upright on a leaning body; at 0 the roll of the animation is kept, at "
            "1 the head is level"
        ),
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=set(),
    )
    world_up: EnumProperty(
        override=EDITABLE,
        update=needs_others,
        name="World Up",
        description="Direction towards which the head is leveled",
        items=world_up.KINDS,
        default="SCENE",
        options=set(),
    )
    world_up_object: PointerProperty(
        override=EDITABLE,
        type=bpy.types.Object,
        update=needs_others,
        name="Object",
        description="Object whose Z axis is up",
    )
    release_angle: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Angle",
        description=(
            "Angle to the animation below which all bones must be before a look-at that was switched off is released"
        ),
        default=radians(0.5),
        min=radians(0.001),
        soft_max=radians(5.0),
        max=pi,
        subtype="ANGLE",
        options=set(),
    )
    release_speed: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Speed",
        description=(
            "Angular speed per second below which all bones must be before a look-at that was switched off is released"
        ),
        default=radians(2.0),
        min=radians(0.001),
        soft_max=radians(20.0),
        max=radians(3600.0),
        subtype="ANGLE",
        options=set(),
    )
    release_time: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Time",
        description="Time in seconds in which the remaining offset fades out after the release",
        default=0.2,
        min=0.0,
        soft_max=1.0,
        max=60.0,
        options=set(),
    )
    chain: CollectionProperty(
        type=LookAtChainBone,
        name="Chain",
        description="Bones that turn towards the target, starting with the head",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    chain_index: IntProperty(override=EDITABLE, name="Highlighted Bone", options={"HIDDEN"})
    unkeyed: CollectionProperty(
        type=LookAtUnkeyed,
        name="Unkeyed",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
        options={"HIDDEN"},
    )
    targets: CollectionProperty(
        type=LookAtTarget,
        name="Additional Targets",
        description="Additional objects to look at, numbered from 1",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    targets_index: IntProperty(override=EDITABLE, name="Highlighted Target", options={"HIDDEN"})
    active_target: IntProperty(
        override=EDITABLE,
        update=keyable("active_target"),
        name="Active Target",
        description=(
            "Number of the current target: 0 is the main target, 1 the first additional target; insert keys to switch"
        ),
        default=0,
        min=0,
        options={"ANIMATABLE"},
    )
    glance_yaw: _glance(
        "glance_yaw",
        "Glance Sideways",
        "Angle to the left by which the eyes look beside the target; beyond 15° the head takes part, as it does "
        "without eyes",
    )
    glance_pitch: _glance(
        "glance_pitch",
        "Glance Up",
        "Angle up by which the eyes look beside the target; beyond 15° the head takes part, as it does without eyes",
    )
    eyes_closed: BoolProperty(
        override=EDITABLE,
        update=keyable("eyes_closed"),
        name="Eyes Closed",
        description="Close the eyelids; insert a key to close them and one to open them for a blink",
        default=False,
        options={"ANIMATABLE"},
    )
    nod: FloatProperty(
        override=EDITABLE,
        update=keyable("nod"),
        name="Nod",
        description="Angle by which the head nods, every 0.6 seconds, for as long as it is above 0; insert keys",
        default=0.0,
        min=0.0,
        soft_max=radians(15.0),
        max=radians(45.0),
        subtype="ANGLE",
        options={"ANIMATABLE"},
    )
    tilt: FloatProperty(
        override=EDITABLE,
        update=keyable("tilt"),
        name="Tilt",
        description="Angle by which the head leans to its left shoulder; insert keys, which the head follows smoothly",
        default=0.0,
        soft_min=radians(-20.0),
        soft_max=radians(20.0),
        min=radians(-45.0),
        max=radians(45.0),
        subtype="ANGLE",
        options={"ANIMATABLE"},
    )
    use_mix: BoolProperty(
        override=EDITABLE,
        update=changed,
        name="Mix Targets",
        description="Look between all targets according to their weights, instead of at the active target",
        default=False,
        options=set(),
    )
    target_weight: FloatProperty(
        override=EDITABLE,
        update=keyable("target_weight"),
        name="Weight",
        description="Weight of the main target in the mix; insert keys to change it over time",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options={"ANIMATABLE"},
    )
    let_go_distance: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Let Go Beyond",
        description=(
            "Distance from the head beyond which the target is let go; it is looked at again within nine tenths of "
            "it. 0 for no limit"
        ),
        default=0.0,
        min=0.0,
        soft_max=100.0,
        max=1e6,
        subtype="DISTANCE",
        options=set(),
    )
    let_go_angle: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Let Go Angle",
        description=(
            "Angle from where the animated head faces beyond which the target is let go; it is looked at again within "
            "nine tenths of it. 0 for no limit"
        ),
        default=0.0,
        min=0.0,
        max=pi,
        subtype="ANGLE",
        options=set(),
    )
    let_go_behind: PointerProperty(
        override=EDITABLE,
        type=bpy.types.Collection,
        update=needs_others,
        name="Let Go Behind",
        description="Collection of objects behind which a target is let go; it is looked at again when it is in sight",
    )
    body: PointerProperty(type=body_settings.LookAtBody, name="Body", override=EDITABLE)
    eyes: PointerProperty(type=body_settings.LookAtEyes, name="Eyes", override=EDITABLE)
    # Not stored: settle time and damping ratio in an engine's words. Last, so that an override sets those first.
    k_p: FloatProperty(
        override=EDITABLE,
        name="k_p",
        description=(
            "Proportional gain of the controller per second squared, (2π / settle time)². A custom damping keeps k_d"
        ),
        get=gains.k_p,
        set=gains.set_k_p,
        default=_K_P,
        min=gains.LOWEST_K_P,
        max=gains.HIGHEST_K_P,
        soft_min=4.0,
        soft_max=4000.0,
        precision=3,
        options=set(),
    )
    k_d: FloatProperty(
        override=EDITABLE,
        name="k_d",
        description="Derivative gain of the controller per second, 2 * damping ratio * √k_p. Sets a custom damping",
        get=gains.k_d,
        set=gains.set_k_d,
        default=gains.round_k_d(_K_P, 1.0),
        min=0.0,
        max=gains.HIGHEST_K_D,
        soft_max=200.0,
        precision=3,
        options=set(),
    )


CLASSES = (LookAtTarget, LookAtChainBone, LookAtUnkeyed, LookAtSettings)


def register() -> None:
    body_settings.register()
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.PoseBone.lookat_pd = PointerProperty(
        type=LookAtSettings, name="Look-at PD", override={"LIBRARY_OVERRIDABLE"}
    )
    saved_settings.register()
    suspend.WATCHERS.append(is_target)


def unregister() -> None:
    suspend.WATCHERS.remove(is_target)
    saved_settings.unregister()
    del bpy.types.PoseBone.lookat_pd
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    body_settings.unregister()
