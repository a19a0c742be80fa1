"""Settings of dynamics: masses of a body, motion of its bones, goal of a reach.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

SHAPE_ITEMS = (
    ("CAPSULES", "Capsules", "Treat each bone as a capsule along its length"),
    (
        "MESHES",
        "Skinned Meshes",
        "Use the volume inside the skinned meshes, assigned to the bone of the largest weight",
    ),
)
SPREAD_ITEMS = (
    ("AUTO", "Automatic", "Use human proportions for a human skeleton, otherwise the volume"),
    ("VOLUME", "By Volume", "Use the same density for all bones"),
    ("HUMAN", "Human Segments", "Use the mass proportions of humans for head, trunk, arms and legs"),
)
SCALE_ITEMS = (
    (
        "AUTO",
        "Automatic",
        "Use the units of the scene or, for a human below 0.3 m or above 8 m, those in which it is 1.75 m tall, and "
        "centimetres for an animal with legs longer than 4.5 m",
    ),
    ("SCENE", "Scene Units", "Use the units of the scene, whatever size this gives"),
)
BUILD_ITEMS = (
    ("MEAN", "Mean", "Mean of male and female values"),
    ("MALE", "Male", "Mean values of young men"),
    ("FEMALE", "Female", "Mean values of young women"),
)
KEYS_ITEMS = (
    ("SELECTED", "Selected Keys", "Keys that are selected in the timeline or in an animation editor"),
    ("ALL", "All Keys", "All keys of the selected bones within the range"),
)
AT_KEYS_ITEMS = (
    (
        "PASS",
        "By Key Type",
        "Pass breakdowns at speed, stop at extremes and moving holds, and pass other keys unless the motion reverses",
    ),
    ("STOP", "Stop", "Come to rest at every key, as published"),
)
BETWEEN_ITEMS = (
    ("TENSION", "Tension", "Move to each key as a body with muscles of some tension"),
    (
        "TORQUE_CHANGE",
        "Minimum Torque Change",
        "Find the motion through all keys with the least change of the torques of the joints, as for a reach",
    ),
)
TORQUE_COST_ITEMS = (
    ("RELATIVE", "Relative", "Count each torque relative to what its joint moves, so that light hands do not whip"),
    ("EQUAL", "As Published", "Count all torques equally: light hands swing far to spare the shoulders"),
)
LIMIT_ITEMS = (
    ("NONE", "None", "Do not limit the torque"),
    ("STRENGTH", "Strength", "Limit the torque to a multiple of the torque that holds the limb horizontal"),
    ("TORQUE", "Torque", "Limit the torque to a fixed value in newton metres"),
)
INERTIA_ITEMS = (
    ("TRUE", "Actual Mass", "Use the actual masses, so that a heavier body moves in the same way"),
    (
        "REFERENCE",
        "Reference",
        "Use the masses of a body with the density of water, so that a heavier body lags behind",
    ),
)
METHOD_ITEMS = (
    ("OPTIMAL", "Optimal", "Find the motion with the least change of torque directly"),
    ("SMOOTHING", "Smoothing", "Smooth the torques of a minimum-jerk reach in several passes, as published"),
)
AFTER_ITEMS = (
    ("ANIMATION", "To Animation", "Return to the animation by a transition, without a pop"),
    ("RETURN", "Reach Back", "Reach back to the pose at the start, and from there return to the animation"),
    ("HOLD", "Hold", "Keep the pose to the end of the animation"),
)
POINT_ITEMS = (
    ("AUTO", "Automatic", "The palms for both hands on two sides of one mesh, otherwise the head of the effector"),
    ("HEAD", "Head", "Bring the head of the effector to the goal; the bones above it turn, as for a hand or foot"),
    ("TIP", "Tip", "Bring the tip of the effector to the goal; the effector turns as well"),
    (
        "PALM",
        "Palm",
        "Bring the palm to the side of a mesh and turn it to that side; for goals without sides, bring it there",
    ),
)
GOAL_ITEMS = (
    ("OBJECT", "Object", "Reach for an object or a bone of an armature, at its position when the effector arrives"),
    ("CURSOR", "3D Cursor", "Reach for the 3D cursor"),
)
VIA_HAND_ITEMS = (
    ("BOTH", "Both Hands", "The middle between the hands passes, with the hands as far apart as at their goals"),
    ("ACTIVE", "Active Hand", "The active hand passes"),
    ("OTHER", "Other Hand", "The other hand passes"),
)
APPROACH_ITEMS = (
    ("FREE", "Any Direction", "Come to the goal from wherever the motion costs least"),
    ("ABOVE", "From Above", "Come to the goal from above"),
    ("POS_X", "From X", "Come to the goal from the side of its own X axis"),
    ("NEG_X", "From -X", "Come to the goal from the other side of its own X axis"),
    ("POS_Y", "From Y", "Come to the goal from the side of its own Y axis"),
    ("NEG_Y", "From -Y", "Come to the goal from the other side of its own Y axis"),
    ("POS_Z", "From Z", "Come to the goal from the side of its own Z axis"),
    ("NEG_Z", "From -Z", "Come to the goal from the other side of its own Z axis"),
)
_EDITABLE = {"LIBRARY_OVERRIDABLE"}
HEAVIEST, DENSEST, STRONGEST, SPRINGIEST, LONGEST = 1e9, 1e6, 1e6, 1000.0, 3600.0
"""Largest mass [kg] and torque [N m], density, strength, stiffness [Hz] and damping ratio, and duration [s]."""
DAMPING, BLEND = 0.3, 0.5
"""Friction of a joint [N m s/rad], about that of a relaxed elbow, and the time [s] of a transition to the animation."""
DISTANCE = 0.1
"""Length [m] of the straight line on which a hand comes to its goal."""
GAP = 0.02
"""Distance [m] of the middle of a hand from the face on which its palm lies."""
WEIGHT = 0.25
"""How much loads show: with 5 kg in it a hand is late by some 15 cm, and arrives on time all the same."""
TENSION = 4.0
"""Leaves 9 % of the distance at the key: the bones keep moving between keys, at most 1.3 times as fast as along Bezier
curves."""


def _tension(description: str, **options: Any) -> Any:
    limits = {"min": 1.0, "max": 30.0, "soft_min": 3.0, "soft_max": 15.0}
    return FloatProperty(name="Tension", description=description, default=TENSION, **limits, **options)


def _strength(**options: Any) -> Any:
    description = "Largest torque as a multiple of the torque that holds the limb horizontal"
    limits = {"min": 0.01, "soft_max": 20.0, "max": STRONGEST}
    return FloatProperty(name="Strength", description=description, default=3.0, **limits, **options)


def _torque(description: str, **options: Any) -> Any:
    return FloatProperty(name="Torque", description=description, default=50.0, min=0.0001, max=HEAVIEST, **options)


def _friction(**options: Any) -> Any:
    description = (
        "Friction of the joint between keys, in newton metres per radian per second, for which the muscles do not "
        "make up: the bone is late on its way to a key. A relaxed elbow has about 0.3"
    )
    return FloatProperty(
        name="Friction", description=description, default=0.0, min=0.0, soft_max=5.0, max=1e6, **options
    )


def _stiffness(description: str, **options: Any) -> Any:
    limits = {"min": 0.0, "soft_max": 10.0, "max": SPRINGIEST}
    return FloatProperty(name="Stiffness", description=description, default=1.0, **limits, **options)


def _damping(description: str, **options: Any) -> Any:
    limits = {"min": 0.0, "soft_max": 2.0, "max": SPRINGIEST}
    return FloatProperty(name="Damping", description=description, default=0.3, **limits, **options)


class BoneBodySettings(bpy.types.PropertyGroup):
    """Settings of one bone."""

    mass: FloatProperty(
        override=_EDITABLE,
        name="Mass",
        description="Mass of this bone in kilograms; 0 to take it from the distribution over the body",
        default=0.0,
        min=0.0,
        max=HEAVIEST,
    )
    density: FloatProperty(
        override=_EDITABLE,
        name="Density",
        description="Density of this bone as a factor of the density of the body",
        default=1.0,
        min=0.001,
        max=DENSEST,
        soft_max=10.0,
    )
    use_own: BoolProperty(
        override=_EDITABLE,
        name="Override Settings",
        description="Use separate tension, torque limit and passive settings for this bone",
        default=False,
    )
    tension: _tension(
        "How early the bone arrives at its keys: 9.2 leaves 0.1 % of the distance at a key, 4 leaves 9 %",
        override=_EDITABLE,
    )
    limit: EnumProperty(
        override=_EDITABLE, name="Torque Limit", description="Limit of the torque of the joint", items=LIMIT_ITEMS
    )
    strength: _strength(override=_EDITABLE)
    torque: _torque("Largest torque of the joint, in newton metres", override=_EDITABLE)
    friction: _friction(override=_EDITABLE)
    passive: BoolProperty(
        override=_EDITABLE,
        name="Passive",
        description="Give the bone no muscles: it swings from its parent and ignores all keys but the first",
        default=False,
    )
    stiffness: _stiffness(
        "Frequency in hertz at which a passive bone swings back to its first key; at 0 it hangs freely",
        override=_EDITABLE,
    )
    damping: _damping("Damping ratio of a passive bone; at 1 it returns without overshoot", override=_EDITABLE)


class BodySettings(bpy.types.PropertyGroup):
    """Mass settings of an armature."""

    shape: EnumProperty(
        override=_EDITABLE, name="Shape", description="Source of the volume of the bones", items=SHAPE_ITEMS
    )
    spread: EnumProperty(
        override=_EDITABLE,
        name="Distribution",
        description="Distribution of the mass over the bones",
        items=SPREAD_ITEMS,
    )
    scale: EnumProperty(
        override=_EDITABLE, name="Scale", description="Size of the body, on which its mass depends", items=SCALE_ITEMS
    )
    build: EnumProperty(
        override=_EDITABLE, name="Physique", description="Source of the human segment masses", items=BUILD_ITEMS
    )
    total_mass: FloatProperty(
        override=_EDITABLE,
        name="Total Mass",
        description="Mass of the whole body in kilograms; 0 to estimate it from the size",
        default=0.0,
        min=0.0,
        max=HEAVIEST,
    )
    density: FloatProperty(
        override=_EDITABLE,
        name="Density",
        description="Density in kilograms per cubic metre; that of water is 1000",
        default=1000.0,
        min=0.001,
        max=DENSEST,
    )
    radius: FloatProperty(
        override=_EDITABLE,
        name="Radius",
        description="Radius of the capsules as a factor of the bone length",
        default=0.15,
        min=0.01,
        max=0.5,
    )
    before: StringProperty(
        override=_EDITABLE,
        name="Before",
        description="Action from which the last result was computed",
        options={"HIDDEN"},
    )
    after: StringProperty(
        override=_EDITABLE, name="After", description="Action with the last result", options={"HIDDEN"}
    )


class ReachVia(bpy.types.PropertyGroup):
    """A waypoint of a reach."""

    target: PointerProperty(
        name="Waypoint", description="Object through which the effector passes", type=bpy.types.Object
    )
    hand: EnumProperty(
        name="Passed By", description="Hand that passes the waypoint, if both reach", items=VIA_HAND_ITEMS
    )
    time: FloatProperty(
        name="Time",
        description="Time at which the effector passes, as a factor of the duration",
        default=0.5,
        min=0.01,
        max=0.99,
    )


class DynamicsSettings(bpy.types.PropertyGroup):
    """Settings of the interpolation of keys and of reaches."""

    keys: EnumProperty(name="Keys", description="Keys through which the motion must pass", items=KEYS_ITEMS)
    tension: _tension(
        "How early the bones arrive at their keys: 9.2 leaves 0.1 % of the distance at a key, 4 leaves 9 %"
    )
    between: EnumProperty(name="Method", description="Method of finding the motion between keys", items=BETWEEN_ITEMS)
    torque_cost: EnumProperty(
        name="Torques", description="How the changes of the torques of joints add up", items=TORQUE_COST_ITEMS
    )
    at_keys: EnumProperty(name="At Keys", description="Speed of the bones at their keys", items=AT_KEYS_ITEMS)
    swing_past: FloatProperty(
        name="Swing Past",
        description=(
            "How far the bones go beyond the last key before they return, as a fraction of the last distance. "
            "Without a settle time they take as long as they need; in less time they draw back before the key"
        ),
        subtype="FACTOR",
        default=0.0,
        min=0.0,
        max=1.0,
        soft_max=0.5,
    )
    limit: EnumProperty(name="Torque Limit", description="Limit of the torque of the joints", items=LIMIT_ITEMS)
    strength: _strength()
    torque: _torque("Largest torque of each joint, in newton metres")
    friction: _friction()
    use_gravity: BoolProperty(name="Gravity", description="Apply the gravity of the scene to the body", default=True)
    inertia: EnumProperty(
        name="Inertia", description="Inertia for which the joints compute their torques", items=INERTIA_ITEMS
    )
    weight: FloatProperty(
        name="Weight",
        description=(
            "How much the masses of single bones show, such as that of a hand with 5 kg in it: at 0 the joints "
            "compensate for them, at 1 they apply the torques for the body without them; keys are hit in both cases"
        ),
        subtype="FACTOR",
        default=WEIGHT,
        min=0.0,
        max=1.0,
    )
    passive: BoolProperty(
        name="Passive",
        description=(
            "Give the selected bones no muscles: they swing from their parents and ignore all keys but the first"
        ),
        default=False,
    )
    stiffness: _stiffness(
        "Frequency in hertz at which passive bones swing back to their first key; at 0 they hang freely"
    )
    damping: _damping("Damping ratio of passive bones; at 1 they return without overshoot")
    settle: FloatProperty(
        name="Settle",
        description="Time in seconds for which the motion continues after the last key to overshoot and settle",
        default=0.0,
        min=0.0,
        soft_max=5.0,
        max=LONGEST,
    )
    point: EnumProperty(
        name="Effector Point", description="Point of the effector that reaches the goal", items=POINT_ITEMS
    )
    palm_gap: FloatProperty(
        name="Palm Gap",
        description="Distance of the bone of the hand from the side of the mesh: half of the thickness of the hand",
        subtype="DISTANCE",
        default=GAP,
        min=0.0,
        soft_max=0.1,
        max=1e6,
    )
    length: IntProperty(
        name="Chain Length",
        description="Number of bones in the chain; 0 for all up to the root or to a pinned bone",
        default=2,
        min=0,
        soft_max=20,
        max=1000,
    )
    goal: EnumProperty(name="Goal", description="What the effector reaches for", items=GOAL_ITEMS)
    target: PointerProperty(
        name="Target",
        description="Object to reach for; for an armature, choose a bone as well",
        type=bpy.types.Object,
    )
    subtarget: StringProperty(name="Bone", description="Bone of the target armature to reach for")
    both_hands: BoolProperty(
        name="Both Hands",
        description="Let a second effector reach at the same time: the other selected bone or, if there is none, the "
        "same bone of the other side. Bones above both, such as the spine, move once for both",
        default=False,
    )
    other_target: PointerProperty(
        name="Other Target",
        description="What the other hand reaches for; if empty, both reach for the same object, each on its own side",
        type=bpy.types.Object,
    )
    other_subtarget: StringProperty(name="Bone", description="Bone of the target armature for the other hand")
    duration: FloatProperty(
        name="Duration",
        description="Duration of the reach in seconds",
        default=1.0,
        min=0.01,
        soft_max=5.0,
        max=LONGEST,
    )
    method: EnumProperty(name="Method", description="Method of finding the motion", items=METHOD_ITEMS)
    passes: IntProperty(name="Passes", description="Maximum number of smoothing passes", default=50, min=1, max=1000)
    joint_damping: FloatProperty(
        name="Joint Damping",
        description="Resistance of the joints to rotation, in newton metres per radian per second; "
        "with it, the way back differs from the way there",
        default=DAMPING,
        min=0.0,
        soft_max=5.0,
        max=1e6,
    )
    use_limits: BoolProperty(
        name="Joint Limits",
        description="Respect the limits under Bone > Inverse Kinematics and Limit Rotation constraints",
        default=True,
    )
    avoid_body: BoolProperty(
        name="Avoid Body",
        description="Go around the character's own head and trunk, and keep both arms apart",
        default=True,
    )
    obstacles: PointerProperty(
        name="Obstacles",
        description="Collection of objects to go around; each counts as a sphere around its origin",
        type=bpy.types.Collection,
    )
    vias: CollectionProperty(type=ReachVia)
    keep_velocity: BoolProperty(
        name="Keep Velocity",
        description="Begin the reach at the speed that the bones have in the animation, instead of at rest",
        default=True,
    )
    follow_goal: BoolProperty(
        name="Follow Goal",
        description="Arrive at the speed of the goal and stay on it during the hold, if it moves relative to the body",
        default=True,
    )
    after: EnumProperty(name="Afterwards", description="What follows the arrival", items=AFTER_ITEMS)
    hold: FloatProperty(
        name="Hold",
        description="Time in seconds for which the pose is held after the arrival",
        default=0.0,
        min=0.0,
        soft_max=5.0,
        max=LONGEST,
    )
    blend: FloatProperty(
        name="Blend",
        description="Time in seconds of the transition to the animation",
        default=BLEND,
        min=0.0,
        soft_max=2.0,
        max=LONGEST,
    )
    match_orientation: BoolProperty(
        name="Match Orientation",
        description="Turn the effector so that its axes are those of the goal on arrival, and as long as it is held",
        default=False,
    )
    approach: EnumProperty(
        name="Approach", description="Direction from which the effector comes to the goal", items=APPROACH_ITEMS
    )
    approach_distance: FloatProperty(
        name="Approach Distance",
        description="Length of the straight line on which the effector comes to the goal",
        subtype="DISTANCE",
        default=DISTANCE,
        min=0.001,
        soft_max=0.5,
        max=1e6,
    )
    show_masses: BoolProperty(
        name="Show Masses",
        description="Draw the inertia ellipsoid of each bone in the viewport",
        default=False,
        options=set(),
    )


_register, _unregister = bpy.utils.register_classes_factory(
    (BoneBodySettings, BodySettings, ReachVia, DynamicsSettings)
)


def register() -> None:
    _register()
    bpy.types.Scene.lookat_pd_dynamics = PointerProperty(type=DynamicsSettings, name="Look-at PD Dynamics")
    bpy.types.Object.lookat_pd_body = PointerProperty(type=BodySettings, name="Look-at PD Body", override=_EDITABLE)
    bpy.types.PoseBone.lookat_pd_body = PointerProperty(
        type=BoneBodySettings, name="Look-at PD Bone", override=_EDITABLE
    )


def unregister() -> None:
    del bpy.types.PoseBone.lookat_pd_body
    del bpy.types.Object.lookat_pd_body
    del bpy.types.Scene.lookat_pd_dynamics
    _unregister()
