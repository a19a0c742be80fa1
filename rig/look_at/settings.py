"""The look-at's settings on its pose bone, for panels, scripts and keys: `pose_bone.lookat_pd`.

Every setting is an input; nothing here is simulation state. No postponed annotations: Blender reads them.
"""

from math import pi, radians

import bpy
from bpy.app.handlers import persistent
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

from .body import settings as body_settings

DAMPING_RATIOS = {"CRITICAL": 1.0, "RESPONSIVE": 2.0**-0.5}
AIM_AXES = {
    "POS_X": (1.0, 0.0, 0.0),
    "NEG_X": (-1.0, 0.0, 0.0),
    "POS_Y": (0.0, 1.0, 0.0),
    "NEG_Y": (0.0, -1.0, 0.0),
    "POS_Z": (0.0, 0.0, 1.0),
    "NEG_Z": (0.0, 0.0, -1.0),
}
_WIDEST = radians(170.0)
_EDITABLE = {"LIBRARY_OVERRIDABLE"}
"""On a library override too."""


def _name_after_bone(item: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Library overrides tell the items of a collection apart by their names."""
    item.name = item.bone
    _changed(item, context)


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
)
"""Settings that change how the chain moves, but not what it consists of or what it looks at."""
listeners = body_settings.listeners
"""Called when a look-at may have come or gone."""


def _changed(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Blender evaluates nothing by itself when a setting changes."""
    settings.id_data.update_tag(refresh={"OBJECT"})


def _came_or_went(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    for listener in listeners:
        listener()
    _changed(settings, context)


class LookAtChainBone(bpy.types.PropertyGroup):
    """One bone of a look-at's chain."""

    bone: StringProperty(
        name="Bone", description="Bone that takes part in the turn", override=_EDITABLE, update=_name_after_bone
    )
    share: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Share",
        description="How much of the turn this bone takes, relative to the shares of the others",
        default=0.25,
        min=0.001,
        soft_max=1.0,
    )
    settle_factor: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Settle Factor",
        description="This bone's settle time relative to the look-at's; larger down the spine, so that the head leads",
        default=1.0,
        min=0.05,
        soft_max=4.0,
    )
    yaw_limit: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Yaw Limit",
        description="Largest turn to either side that is added to the animation",
        subtype="ANGLE",
        default=radians(60.0),
        min=0.0,
        max=_WIDEST,
    )
    pitch_up_limit: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Up Limit",
        description="Largest turn upward that is added to the animation",
        subtype="ANGLE",
        default=radians(45.0),
        min=0.0,
        max=_WIDEST,
    )
    pitch_down_limit: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Down Limit",
        description="Largest turn downward that is added to the animation",
        subtype="ANGLE",
        default=radians(45.0),
        min=0.0,
        max=_WIDEST,
    )
    makes_up: BoolProperty(
        override=_EDITABLE,
        update=_changed,
        name="Make Up",
        description="Make up for what the slower bones below have not yet turned (the head always does)",
        default=False,
    )


class LookAtUnkeyed(bpy.types.PropertyGroup):
    """Channels that had no keys before a bake, and their values then. Not for animators."""

    bone: StringProperty(override=_EDITABLE, name="Bone", options={"HIDDEN"})
    mode: StringProperty(override=_EDITABLE, name="Rotation Mode", options={"HIDDEN"})
    values: FloatVectorProperty(override=_EDITABLE, name="Unkeyed Pose", size=4, options={"HIDDEN"})


class LookAtSettings(bpy.types.PropertyGroup):
    """A look-at: the bone it stands on is the one that aims."""

    exists: BoolProperty(
        override=_EDITABLE,
        name="Look-at",
        description="This bone has a look-at",
        options={"HIDDEN"},
        update=_came_or_went,
    )
    # Which of the rig's constraints are this look-at's own; 0 for none.
    number: IntProperty(override=_EDITABLE, name="Number", options={"HIDDEN"})
    mute: BoolProperty(
        override=_EDITABLE,
        name="Mute",
        description="Leave this look-at out. A baked look-at is muted, since its motion is in the keys",
        options=set(),
        update=_came_or_went,
    )
    target: PointerProperty(
        override=_EDITABLE,
        type=bpy.types.Object,
        update=_came_or_went,
        name="Target",
        description="Object to look at; for an armature, choose a bone as well",
    )
    subtarget: StringProperty(
        override=_EDITABLE, update=_changed, name="Bone", description="Bone of the target armature to look at"
    )
    use: BoolProperty(
        override=_EDITABLE,
        update=_changed,
        name="Look",
        description="Look at the target; key it to turn to the target and back to the animation",
        default=True,
        options={"ANIMATABLE"},
    )
    influence: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Influence",
        description="How much of the look-at is added to the animation",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options={"ANIMATABLE"},
    )
    settle_time: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Settle Time",
        description="Seconds until the head has arrived. The bones below it take longer",
        default=0.6,
        min=0.01,
        soft_min=0.1,
        soft_max=3.0,
        max=60.0,
        step=1,
        precision=2,
        options=set(),
    )
    damping: EnumProperty(
        override=_EDITABLE,
        update=_changed,
        name="Damping",
        description="How the motion ends",
        items=(
            ("CRITICAL", "Critical", "Arrive without overshoot, as fast as that allows"),
            ("RESPONSIVE", "Responsive", "Arrive sooner, with a slight overshoot"),
            ("CUSTOM", "Custom", "Set the damping ratio yourself"),
        ),
        default="CRITICAL",
        options=set(),
    )
    damping_ratio: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Damping Ratio",
        description="1 arrives without overshoot, less swings over, more creeps in",
        default=1.0,
        min=0.0,
        soft_min=0.2,
        soft_max=2.0,
        max=20.0,
        options=set(),
    )
    integrator: EnumProperty(
        override=_EDITABLE,
        update=_changed,
        name="Integrator",
        description="How the controller is stepped",
        items=(
            ("EXACT", "Exact", "Closed form: the same motion at every frame rate"),
            ("STABLE", "Stable PD", "As game engines do it, stepped once a frame"),
            ("EULER", "Euler", "The plain form, stepped once a frame and divided where it would be unstable"),
        ),
        default="EXACT",
        options=set(),
    )
    method: EnumProperty(
        override=_EDITABLE,
        update=_changed,
        name="Method",
        description="What the controller follows",
        items=(
            ("GEODESIC", "Geodesic", "Rotation vectors: the offset comes and goes along the shortest arc"),
            ("COMPONENT", "Component", "The four quaternion components, normalized, as in FINAL FANTASY XVI"),
        ),
        default="GEODESIC",
        options=set(),
    )
    max_speed: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Speed Limit",
        description="Largest angular speed of each bone per second; 0 for none. Low values look like a robot",
        default=0.0,
        min=0.0,
        soft_max=4.0 * pi,
        subtype="ANGLE",
        options=set(),
    )
    feed_forward: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Anticipation",
        description="How much of a moving target's lag is taken away: 0 trails behind it, 1 keeps up",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=set(),
    )
    aim_axis: EnumProperty(
        override=_EDITABLE,
        update=_changed,
        name="Aim Axis",
        description="Axis of the bone that points at the target",
        items=(
            ("AUTO", "Automatic", "Where the character faces in rest pose"),
            ("POS_X", "X", "The bone's X axis"),
            ("POS_Y", "Y", "The bone's Y axis, along the bone"),
            ("POS_Z", "Z", "The bone's Z axis"),
            ("NEG_X", "-X", "Against the bone's X axis"),
            ("NEG_Y", "-Y", "Against the bone's Y axis"),
            ("NEG_Z", "-Z", "Against the bone's Z axis"),
        ),
        default="AUTO",
        options=set(),
    )
    soft_edge: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Soft Edge",
        description="How gently the limits set in",
        default=radians(5.0),
        min=0.0,
        soft_max=radians(20.0),
        max=radians(60.0),
        subtype="ANGLE",
        options=set(),
    )
    release_angle: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Angle",
        description="Switched off, the look-at lets go once every bone is nearer to the animation than this",
        default=radians(0.5),
        min=radians(0.001),
        soft_max=radians(5.0),
        subtype="ANGLE",
        options=set(),
    )
    release_speed: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Speed",
        description="Switched off, the look-at lets go once every bone is slower than this per second",
        default=radians(2.0),
        min=radians(0.001),
        soft_max=radians(20.0),
        subtype="ANGLE",
        options=set(),
    )
    release_time: FloatProperty(
        override=_EDITABLE,
        update=_changed,
        name="Time",
        description="Seconds in which the remainder fades to exactly the animation",
        default=0.2,
        min=0.0,
        soft_max=1.0,
        options=set(),
    )
    chain: CollectionProperty(
        type=LookAtChainBone,
        name="Chain",
        description="Bones that turn, the head first",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    chain_index: IntProperty(override=_EDITABLE, name="Highlighted Bone", options={"HIDDEN"})
    unkeyed: CollectionProperty(
        type=LookAtUnkeyed,
        name="Unkeyed",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
        options={"HIDDEN"},
    )
    targets: CollectionProperty(
        type=body_settings.LookAtTarget,
        name="Further Targets",
        description="What else may be looked at, by number from 1 on",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    targets_index: IntProperty(override=_EDITABLE, name="Highlighted Target", options={"HIDDEN"})
    active_target: IntProperty(
        override=_EDITABLE,
        update=_changed,
        name="Active Target",
        description="What is looked at: 0 is the target above, 1 the first of the further targets; key it to switch",
        default=0,
        min=0,
        options={"ANIMATABLE"},
    )
    body: PointerProperty(type=body_settings.LookAtBody, name="Body", override=_EDITABLE)
    eyes: PointerProperty(type=body_settings.LookAtEyes, name="Eyes", override=_EDITABLE)


CLASSES = (LookAtChainBone, LookAtUnkeyed, LookAtSettings)


@persistent
def _touch_overrides(*_: object) -> None:
    """Let library overrides keep their look-ats when the file is saved.

    Blender 5 makes a group of settings when it is first looked at. Where the override has the group and the linked
    armature does not, or the other way round, it saves something that it cannot load: so both get it.
    """
    for item in bpy.data.objects:
        if item.type == "ARMATURE" and item.override_library and item.override_library.reference:
            for owner in (item, item.override_library.reference):
                for bone in owner.pose.bones if owner.pose else ():
                    settings = bone.lookat_pd
                    _ = settings.exists, settings.body.mover, settings.eyes.use


def register() -> None:
    body_settings.register()
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.PoseBone.lookat_pd = PointerProperty(
        type=LookAtSettings, name="Look-at PD", override={"LIBRARY_OVERRIDABLE"}
    )
    bpy.app.handlers.save_pre.append(_touch_overrides)


def unregister() -> None:
    bpy.app.handlers.save_pre.remove(_touch_overrides)
    del bpy.types.PoseBone.lookat_pd
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    body_settings.unregister()
