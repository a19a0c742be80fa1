"""Settings of dynamics: masses of a body, motion of its bones, goal of a reach.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

from typing import Any

import bpy

from ..animation.stored_settings import registration
from ..detection.joint_chain import length_of_chain, soft_reach
from ..settings import EDITABLE, Properties, choice, collection, factor, integer, number, pointer, switch, text

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
    (
        "MASS",
        "Mass",
        "Let the joints start and settle one after the other, from the root to the tip, and later the more mass they "
        "move; what falls arrives late",
    ),
    (
        "TENSION",
        "As Published",
        "Move all joints to each key at the same time, as a body whose muscles make up for its mass",
    ),
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
TIMING_ITEMS = (
    ("PEOPLE", "As People", "Be fastest at 0.4 to 0.5 of the duration, as people are"),
    ("COST", "As Published", "Be fastest where that changes the torques least"),
)
AFTER_ITEMS = (
    ("ANIMATION", "To Animation", "Return to the animation by a transition, without a pop"),
    ("RETURN", "Reach Back", "Reach back to the pose at the start, and from there return to the animation"),
    ("HOLD", "Hold", "Keep the pose to the end of the animation"),
)
POINT_ITEMS = (
    (
        "HAND",
        "Palm",
        "Bring the palm of a hand to the goal, turned as it is then, and both palms to two sides of one mesh; of other "
        "bones bring the head",
    ),
    (
        "FINGERTIPS",
        "Fingertips",
        "Bring the tip of the longest finger to the goal, bent as it is then; of other bones bring the head",
    ),
    (
        "AUTO",
        "Wrist",
        "Bring the head of the effector to the goal, which is the wrist of a hand; for both hands on two sides of one "
        "mesh bring the palms",
    ),
    ("HEAD", "Head", "Bring the head of the effector to the goal; the bones above it turn, as for a hand or foot"),
    ("TIP", "Tip", "Bring the tip of the effector to the goal; the effector turns as well"),
    (
        "PALM",
        "Palm on Side",
        "Bring the palm to the side of a mesh and turn it to that side; for goals without sides, bring it there",
    ),
)
SIDED = "HAND", "AUTO", "PALM"
"""Those with which two hands on one mesh lay their palms on its sides."""
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
HEAVIEST, DENSEST, STRONGEST, SPRINGIEST, LONGEST = 1e9, 1e6, 1e6, 1000.0, 3600.0
"""Largest mass [kg] and torque [N m], density, strength, stiffness [Hz] and damping ratio, and duration [s]."""
TENSION = 4.0
"""Leaves 9 % of the distance at the key: the bones keep moving between keys, at most 1.3 times as fast as along Bezier
curves."""
GAP = 0.02
"""Distance [m] of the middle of a hand from the face on which its palm lies."""


_own = Properties(override=EDITABLE)
_of_scene = Properties()


def joint_limits(own: Properties) -> Any:
    """The property of whether Blender's joint limits apply."""
    description = "Respect the limits under Bone > Inverse Kinematics and Limit Rotation constraints"
    return own.switch("Joint Limits", description, True)


def _tension(own: Properties, description: str) -> Any:
    return own.number("Tension", description, TENSION, max=30.0, min=1.0, soft_min=3.0, soft_max=15.0)


def _strength(own: Properties) -> Any:
    description = "Largest torque as a multiple of the torque that holds the limb horizontal"
    return own.number("Strength", description, 3.0, max=STRONGEST, min=0.01, soft_max=20.0)


def _torque(own: Properties, description: str) -> Any:
    return own.number("Torque", description, 50.0, max=HEAVIEST, min=0.0001)


def _friction(own: Properties) -> Any:
    description = (
        "Friction of the joint between keys, in newton metres per radian per second, for which the muscles do not "
        "make up: the bone is late on its way to a key. A relaxed elbow has about 0.3"
    )
    return own.number("Friction", description, 0.0, max=1e6, soft_max=5.0)


def _stiffness(own: Properties, description: str) -> Any:
    return own.number("Stiffness", description, 1.0, max=SPRINGIEST, soft_max=10.0)


def _damping(own: Properties, description: str) -> Any:
    return own.number("Damping", description, 0.3, max=SPRINGIEST, soft_max=2.0)


class BoneBodySettings(bpy.types.PropertyGroup):
    """Settings of one bone."""

    mass: _own.number(
        "Mass", "Mass of this bone in kilograms; 0 to take it from the distribution over the body", 0.0, max=HEAVIEST
    )
    density: _own.number(
        "Density",
        "Density of this bone as a factor of the density of the body",
        1.0,
        max=DENSEST,
        min=0.001,
        soft_max=10.0,
    )
    use_own: _own.switch("Override Settings", "Use separate tension, torque limit and passive settings for this bone")
    tension: _tension(
        _own, "How early the bone arrives at its keys: 9.2 leaves 0.1 % of the distance at a key, 4 leaves 9 %"
    )
    limit: _own.choice("Torque Limit", "Limit of the torque of the joint", LIMIT_ITEMS)
    strength: _strength(_own)
    torque: _torque(_own, "Largest torque of the joint, in newton metres")
    friction: _friction(_own)
    passive: _own.switch(
        "Passive", "Give the bone no muscles: it swings from its parent and ignores all keys but the first"
    )
    stiffness: _stiffness(
        _own, "Frequency in hertz at which a passive bone swings back to its first key; at 0 it hangs freely"
    )
    damping: _damping(_own, "Damping ratio of a passive bone; at 1 it returns without overshoot")


class BodySettings(bpy.types.PropertyGroup):
    """Mass settings of an armature."""

    shape: _own.choice("Shape", "Source of the volume of the bones", SHAPE_ITEMS)
    spread: _own.choice("Distribution", "Distribution of the mass over the bones", SPREAD_ITEMS)
    scale: _own.choice("Scale", "Size of the body, on which its mass depends", SCALE_ITEMS)
    build: _own.choice("Physique", "Source of the human segment masses", BUILD_ITEMS)
    total_mass: _own.number(
        "Total Mass", "Mass of the whole body in kilograms; 0 to estimate it from the size", 0.0, max=HEAVIEST
    )
    density: _own.number(
        "Density", "Density in kilograms per cubic metre; that of water is 1000", 1000.0, max=DENSEST, min=0.001
    )
    radius: _own.number("Radius", "Radius of the capsules as a factor of the bone length", 0.15, max=0.5, min=0.01)
    before: _own.text("Before", "Action from which the last result was computed", options={"HIDDEN"})
    after: _own.text("After", "Action with the last result", options={"HIDDEN"})


class ReachVia(bpy.types.PropertyGroup):
    """A waypoint of a reach."""

    target: pointer(bpy.types.Object, "Waypoint", "Object through which the effector passes")
    hand: choice("Passed By", "Hand that passes the waypoint, if both reach", VIA_HAND_ITEMS)
    time: number("Time", "Time at which the effector passes, as a factor of the duration", 0.5, max=0.99, min=0.01)


class WeightedMotion:
    """Settings of all motion of a body with mass."""

    use_gravity: switch("Gravity", "Apply the gravity of the scene to the body", True)
    use_limits: joint_limits(_of_scene)
    joint_damping: number(
        "Joint Damping",
        "Resistance of the joints to rotation, in newton metres per radian per second; "
        "with it, the way back differs from the way there",
        0.3,  # about that of a relaxed elbow
        max=1e6,
        soft_max=5.0,
    )


class InterpolationSettings(WeightedMotion):
    """How a body moves between keys: the settings of a request."""

    between: choice("Method", "Method of finding the motion between keys", BETWEEN_ITEMS)
    torque_cost: choice("Torques", "How the changes of the torques of joints add up", TORQUE_COST_ITEMS)
    at_keys: choice("At Keys", "Speed of the bones at their keys", AT_KEYS_ITEMS)
    swing_past: factor(
        "Swing Past",
        "How far the bones go beyond the last key before they return, as a fraction of the last distance. "
        "Without a settle time they take as long as they need; in less time they draw back before the key",
        soft_max=0.5,
    )
    inertia: choice("Inertia", "Inertia for which the joints compute their torques", INERTIA_ITEMS)
    weight: factor(
        "Weight",
        "How much the masses of single bones show, such as that of a hand with 5 kg in it: at 0 the joints "
        "compensate for them, at 1 they apply the torques for the body without them; keys are hit in both cases",
        0.25,  # with 5 kg in it a hand is late by some 15 cm, and arrives on time all the same
    )
    settle: number(
        "Settle",
        "Time in seconds for which the motion continues after the last key to overshoot and settle",
        0.0,
        max=LONGEST,
        soft_max=5.0,
    )


class ReachSettings(WeightedMotion):
    """How an effector reaches: the settings of a request."""

    length: length_of_chain()
    duration: number("Duration", "Duration of the reach in seconds", 1.0, max=LONGEST, min=0.01, soft_max=5.0)
    method: choice("Method", "Method of finding the motion", METHOD_ITEMS)
    timing: choice("Timing", "When the effector is fastest", TIMING_ITEMS)
    lean: switch(
        "Lean", "Let the torso lean for a goal that the arm cannot reach, or not without becoming straight", True
    )
    soft_reach: soft_reach(_of_scene)
    passes: integer("Passes", "Maximum number of smoothing passes", 50, max=1000, min=1)
    avoid_body: switch("Avoid Body", "Go around the character's own head and trunk, and keep both arms apart", True)
    keep_velocity: switch(
        "Keep Velocity", "Begin the reach at the speed that the bones have in the animation, instead of at rest", True
    )
    follow_goal: switch(
        "Follow Goal",
        "Arrive at the speed of the goal and stay on it during the hold, if it moves relative to the body",
        True,
    )
    after: choice("Afterwards", "What follows the arrival", AFTER_ITEMS)
    hold: number("Hold", "Time in seconds for which the pose is held after the arrival", 0.0, max=LONGEST, soft_max=5.0)
    blend: number("Blend", "Time in seconds of the transition to the animation", 0.5, max=LONGEST, soft_max=2.0)
    match_orientation: switch(
        "Match Orientation",
        "Turn the effector so that its axes are those of the goal on arrival, and as long as it is held",
    )
    approach: choice("Approach", "Direction from which the effector comes to the goal", APPROACH_ITEMS)
    approach_distance: number(
        "Approach Distance",
        "Length of the straight line on which the effector comes to the goal",
        0.1,
        max=1e6,
        min=0.001,
        soft_max=0.5,
        subtype="DISTANCE",
    )


class DynamicsSettings(InterpolationSettings, ReachSettings, bpy.types.PropertyGroup):
    """Settings of the interpolation of keys and of reaches, stored in the scene."""

    keys: choice("Keys", "Keys through which the motion must pass", KEYS_ITEMS)
    tension: _tension(
        _of_scene, "How early the bones arrive at their keys: 9.2 leaves 0.1 % of the distance at a key, 4 leaves 9 %"
    )
    limit: choice("Torque Limit", "Limit of the torque of the joints", LIMIT_ITEMS)
    strength: _strength(_of_scene)
    torque: _torque(_of_scene, "Largest torque of each joint, in newton metres")
    friction: _friction(_of_scene)
    passive: switch(
        "Passive", "Give the selected bones no muscles: they swing from their parents and ignore all keys but the first"
    )
    stiffness: _stiffness(
        _of_scene, "Frequency in hertz at which passive bones swing back to their first key; at 0 they hang freely"
    )
    damping: _damping(_of_scene, "Damping ratio of passive bones; at 1 they return without overshoot")
    point: choice("Reach With", "Point of the hand, or of another effector, that comes to the goal", POINT_ITEMS)
    palm_gap: number(
        "Palm Gap",
        "Distance of the bone of the hand from the side of the mesh: half of the thickness of the hand",
        GAP,
        max=1e6,
        soft_max=0.1,
        subtype="DISTANCE",
    )
    goal: choice("Goal", "What the effector reaches for", GOAL_ITEMS)
    target: pointer(bpy.types.Object, "Target", "Object to reach for; for an armature, choose a bone as well")
    subtarget: text("Bone", "Bone of the target armature to reach for")
    both_hands: switch(
        "Both Hands",
        "Let a second effector reach at the same time: the other selected bone or, if there is none, the "
        "same bone of the other side. Bones above both, such as the spine, move once for both",
    )
    other_target: pointer(
        bpy.types.Object,
        "Other Target",
        "What the other hand reaches for; if empty, both reach for the same object, each on its own side",
    )
    other_subtarget: text("Bone", "Bone of the target armature for the other hand")
    obstacles: pointer(
        bpy.types.Collection,
        "Obstacles",
        "Collection of objects to go around; each counts as a sphere around its origin",
    )
    vias: collection(ReachVia)
    version: integer("Version", options={"HIDDEN"})
    show_masses: switch("Show Masses", "Draw the inertia ellipsoid of each bone in the viewport", options=set())


register, unregister = registration(
    (BoneBodySettings, BodySettings, ReachVia, DynamicsSettings),
    (bpy.types.Object, "lookat_pd_body", _own.pointer(BodySettings, "Look-at PD Body")),
    (bpy.types.PoseBone, "lookat_pd_body", _own.pointer(BoneBodySettings, "Look-at PD Bone")),
    scene=("lookat_pd_dynamics", pointer(DynamicsSettings, "Look-at PD Dynamics")),
)
