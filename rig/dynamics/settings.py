"""Settings of dynamics: what a body weighs, how its bones move, what a reach goes for.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

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
    ("CAPSULES", "Capsules", "Each bone is a rounded cylinder along its length"),
    ("MESHES", "Skinned Meshes", "The volume inside the meshes, given to the bone that moves it most"),
)
SPREAD_ITEMS = (
    ("AUTO", "Automatic", "As in a human where the bones are those of one, else by volume"),
    ("VOLUME", "By Volume", "Every bone is as dense as the others"),
    ("HUMAN", "Human Segments", "Head, trunk, arms and legs have the parts of the whole that they have in humans"),
)
BUILD_ITEMS = (
    ("MEAN", "Mean", "Between the two"),
    ("MALE", "Male", "Means of young men"),
    ("FEMALE", "Female", "Means of young women"),
)
KEYS_ITEMS = (
    ("SELECTED", "Selected Keys", "The keys that are selected in the timeline or in an animation editor"),
    ("ALL", "All Keys", "All keys of the selected bones within the range"),
)
LIMIT_ITEMS = (
    ("NONE", "None", "The joints are as strong as the keys demand"),
    ("STRENGTH", "Strength", "As a multiple of what it takes to hold the limb out level"),
    ("TORQUE", "Torque", "In newton metres, whatever the limb weighs"),
)
INERTIA_ITEMS = (
    ("TRUE", "Own Mass", "The joints know what they have to move: a heavier body moves just the same"),
    (
        "REFERENCE",
        "Reference",
        "The joints give a body of the density of water what it needs: a heavier one is late",
    ),
)
METHOD_ITEMS = (
    ("SMOOTHING", "Smoothing", "The published loop: the torques of a minimum-jerk reach are smoothed, pass after pass"),
    ("OPTIMAL", "Optimal", "The least change of torque that there is, found directly; takes longer"),
)
POINT_ITEMS = (
    ("HEAD", "Head", "The effector's head reaches the goal; the bones above it turn, as for a hand or foot"),
    ("TIP", "Tip", "The effector's tip reaches the goal; it turns as well"),
)
GOAL_ITEMS = (
    ("OBJECT", "Object", "An object, or a bone of an armature, where it is when the effector arrives"),
    ("CURSOR", "3D Cursor", "The 3D cursor"),
)
_EDITABLE = {"LIBRARY_OVERRIDABLE"}
TENSION = 9.2334
"""Leaves a thousandth of the way at the key."""


class BoneBodySettings(bpy.types.PropertyGroup):
    """What is special about one bone."""

    mass: FloatProperty(
        override=_EDITABLE,
        name="Mass",
        description="Kilograms of this bone; 0 for what the body gives it",
        default=0.0,
        min=0.0,
    )
    density: FloatProperty(
        override=_EDITABLE,
        name="Density",
        description="So many times as dense as the body",
        default=1.0,
        min=0.001,
        soft_max=10.0,
    )
    use_own: BoolProperty(
        override=_EDITABLE,
        name="Own Settings",
        description="This bone has tension, strength and the like of its own",
        default=False,
    )
    tension: FloatProperty(
        override=_EDITABLE,
        name="Tension",
        description="How early the bone arrives: at 9.2 a thousandth of the way is left at its key, at 4.7 a twentieth",
        default=TENSION,
        min=1.0,
        max=30.0,
        soft_min=3.0,
        soft_max=15.0,
    )
    limit: EnumProperty(
        override=_EDITABLE, name="Torque Limit", description="How strong the joint is", items=LIMIT_ITEMS
    )
    strength: FloatProperty(
        override=_EDITABLE,
        name="Strength",
        description="Times what holds the limb out level",
        default=3.0,
        min=0.01,
        soft_max=20.0,
    )
    torque: FloatProperty(
        override=_EDITABLE,
        name="Torque",
        description="Largest torque of the joint, in newton metres",
        default=50.0,
        min=0.0001,
    )
    passive: BoolProperty(
        override=_EDITABLE,
        name="Passive",
        description="The bone has no muscles: its keys after the first do not count, what carries it drags it along",
        default=False,
    )
    stiffness: FloatProperty(
        override=_EDITABLE,
        name="Stiffness",
        description="How fast a passive bone swings back to its first key, in swings a second; 0 hangs freely",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    damping: FloatProperty(
        override=_EDITABLE,
        name="Damping",
        description="How fast a passive bone's swinging dies away: 1 swings back without going past",
        default=0.3,
        min=0.0,
        soft_max=2.0,
    )


class BodySettings(bpy.types.PropertyGroup):
    """What an armature weighs."""

    shape: EnumProperty(
        override=_EDITABLE, name="Shape", description="Where the volume of the bones comes from", items=SHAPE_ITEMS
    )
    spread: EnumProperty(
        override=_EDITABLE, name="Distribution", description="How the mass is spread over the bones", items=SPREAD_ITEMS
    )
    build: EnumProperty(override=_EDITABLE, name="Physique", description="Whose segments", items=BUILD_ITEMS)
    total_mass: FloatProperty(
        override=_EDITABLE,
        name="Total Mass",
        description="Kilograms of the whole body; 0 for what one of its size weighs",
        default=0.0,
        min=0.0,
    )
    density: FloatProperty(
        override=_EDITABLE,
        name="Density",
        description="Kilograms in a cubic metre; water has 1000",
        default=1000.0,
        min=0.001,
    )
    radius: FloatProperty(
        override=_EDITABLE,
        name="Radius",
        description="Of the capsules, as a part of the bone's length",
        default=0.15,
        min=0.01,
        max=0.5,
    )
    before: StringProperty(
        override=_EDITABLE, name="Before", description="Action that the last result was made from", options={"HIDDEN"}
    )
    after: StringProperty(
        override=_EDITABLE, name="After", description="Action with the last result", options={"HIDDEN"}
    )


class ReachVia(bpy.types.PropertyGroup):
    """A place on the way of a reach."""

    target: PointerProperty(name="Via", description="Object through which the effector goes", type=bpy.types.Object)
    time: FloatProperty(name="Time", description="When, as a part of the whole time", default=0.5, min=0.01, max=0.99)


class DynamicsSettings(bpy.types.PropertyGroup):
    """How keys are interpolated and how a reach is made."""

    keys: EnumProperty(name="Keys", description="Which keys the motion must hit", items=KEYS_ITEMS)
    tension: FloatProperty(
        name="Tension",
        description="How early the bones arrive: at 9.2 a thousandth of the way is left at a key, at 4.7 a twentieth",
        default=TENSION,
        min=1.0,
        max=30.0,
        soft_min=3.0,
        soft_max=15.0,
    )
    limit: EnumProperty(name="Torque Limit", description="How strong the joints are", items=LIMIT_ITEMS)
    strength: FloatProperty(
        name="Strength", description="Times what holds the limb out level", default=3.0, min=0.01, soft_max=20.0
    )
    torque: FloatProperty(
        name="Torque", description="Largest torque of each joint, in newton metres", default=50.0, min=0.0001
    )
    use_gravity: BoolProperty(name="Gravity", description="The scene's gravity pulls at the body", default=True)
    inertia: EnumProperty(
        name="Inertia", description="What the joints take the body to weigh, pose by pose", items=INERTIA_ITEMS
    )
    passive: BoolProperty(
        name="Passive",
        description="The selected bones have no muscles: their keys after the first do not count, what carries them "
        "drags them along",
        default=False,
    )
    stiffness: FloatProperty(
        name="Stiffness",
        description="How fast passive bones swing back to their first key, in swings a second; 0 hangs freely",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    damping: FloatProperty(
        name="Damping",
        description="How fast the swinging of passive bones dies away: 1 swings back without going past",
        default=0.3,
        min=0.0,
        soft_max=2.0,
    )
    settle: FloatProperty(
        name="Settle",
        description="Seconds that the motion goes on after the last key, overshooting and coming to rest there",
        default=0.0,
        min=0.0,
        soft_max=5.0,
    )
    point: EnumProperty(name="Effector Point", description="What reaches the goal", items=POINT_ITEMS)
    length: IntProperty(
        name="Chain Length",
        description="How many bones turn; 0 for all up to the root or to a pinned bone",
        default=2,
        min=0,
        soft_max=20,
    )
    goal: EnumProperty(name="Goal", description="What the effector reaches for", items=GOAL_ITEMS)
    target: PointerProperty(
        name="Target",
        description="Object that is reached; for an armature, choose a bone as well",
        type=bpy.types.Object,
    )
    subtarget: StringProperty(name="Bone", description="Bone of the target armature that is reached")
    duration: FloatProperty(
        name="Duration", description="Seconds that the reach takes", default=1.0, min=0.01, soft_max=5.0
    )
    method: EnumProperty(name="Method", description="How the motion is found", items=METHOD_ITEMS)
    passes: IntProperty(
        name="Passes", description="How often the torques are smoothed, at most", default=50, min=1, max=1000
    )
    joint_damping: FloatProperty(
        name="Joint Damping",
        description="How much the joints resist turning, in newton metres for each radian a second",
        default=0.0,
        min=0.0,
        soft_max=5.0,
    )
    use_limits: BoolProperty(
        name="Joint Limits",
        description="Keep to the limits under Bone > Inverse Kinematics and to Limit Rotation constraints",
        default=True,
    )
    vias: CollectionProperty(type=ReachVia)
    show_masses: BoolProperty(
        name="Show Masses",
        description="Draw the ellipsoid of inertia of each bone in the viewport",
        default=False,
        options=set(),
    )


CLASSES = (BoneBodySettings, BodySettings, ReachVia, DynamicsSettings)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.lookat_pd_dynamics = PointerProperty(type=DynamicsSettings, name="Look-at PD Dynamics")
    bpy.types.Object.lookat_pd_body = PointerProperty(type=BodySettings, name="Look-at PD Body", override=_EDITABLE)
    bpy.types.PoseBone.lookat_pd_body = PointerProperty(
        type=BoneBodySettings, name="Look-at PD Bone", override=_EDITABLE
    )


def unregister() -> None:
    del bpy.types.PoseBone.lookat_pd_body
    del bpy.types.Object.lookat_pd_body
    del bpy.types.Scene.lookat_pd_dynamics
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
