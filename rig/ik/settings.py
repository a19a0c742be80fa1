"""Settings of inverse kinematics, kept with the scene: which chain, what it follows, how it is solved.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

METHOD_ITEMS = (
    ("CCD", "CCD", "Joint after joint from the tip to the base; the tip does most"),
    ("CCD_ROOT", "CCD from the Base", "Joint after joint from the base to the tip; quick, and even on any chain"),
    ("PARTICLE", "Particle", "Joints as particles held apart by the bones; supple, for tails and ropes"),
    ("JACOBIAN_EULER", "Jacobian, Euler", "Damped least squares over angles about fixed axes; small, smooth turns"),
    ("JACOBIAN_QUATERNION", "Jacobian, Quaternion", "Damped least squares over rotations; small, smooth turns"),
    ("FABRIK", "FABRIK", "Joints are put in line from both ends in turn; quick, and evenly bent"),
)
POINT_ITEMS = (
    ("HEAD", "Head", "The effector's head comes to the target; the bones above it turn, as for a hand or foot"),
    ("TIP", "Tip", "The effector's tip comes to the target; it turns as well"),
)
ORIENTATION_ITEMS = (
    ("FREE", "Goes Along", "The effector turns with the chain"),
    ("KEEP", "Keep", "The effector keeps the orientation that its animation has"),
    ("TARGET", "As Target", "The effector takes the orientation of the target"),
)
FOLLOW_ITEMS = (
    ("TARGET", "Target", "An object, or a bone of an armature"),
    ("PATH", "Motion Path", "The motion path that was calculated for the effector, as it was then"),
)
PRESETS = {
    "LIMB": (
        "Arm or Leg",
        "The head of the hand or foot, which keeps its orientation",
        {"point": "HEAD", "length": 2, "orientation": "KEEP", "method": "CCD_ROOT", "iterations": 100},
    ),
    "FINGER": (
        "Finger",
        "The tip of the last bone; it bends as its limits allow",
        {"point": "TIP", "length": 3, "orientation": "FREE", "method": "CCD", "iterations": 100},
    ),
    "TAIL": (
        "Tail or Rope",
        "All bones up to the root or to a pinned one, evenly bent",
        {"point": "TIP", "length": 0, "orientation": "FREE", "method": "FABRIK", "iterations": 100},
    ),
    "EXACT": (
        "Smallest Turns",
        "As little as possible away from the animation",
        {"method": "JACOBIAN_QUATERNION", "iterations": 100},
    ),
}


class IKSettings(bpy.types.PropertyGroup):
    """How the next drag, bake or contact clean-up works."""

    point: EnumProperty(name="Effector Point", description="What comes to the target", items=POINT_ITEMS)
    length: IntProperty(
        name="Chain Length",
        description="How many bones turn; 0 for all up to the root or to a pinned bone",
        default=2,
        min=0,
        soft_max=20,
    )
    orientation: EnumProperty(
        name="Effector Orientation", description="What becomes of the effector's orientation", items=ORIENTATION_ITEMS
    )
    follow: EnumProperty(name="Follow", description="What the effector follows", items=FOLLOW_ITEMS)
    target: PointerProperty(
        name="Target",
        description="Object that the effector follows; for an armature, choose a bone as well",
        type=bpy.types.Object,
    )
    subtarget: StringProperty(name="Bone", description="Bone of the target armature that the effector follows")
    use_offset: BoolProperty(
        name="Keep Offset", description="Stay as far from the target as at the first frame", default=False
    )
    pole: PointerProperty(
        name="Bend Towards", description="Object towards which the chain bends; empty for none", type=bpy.types.Object
    )
    method: EnumProperty(name="Solver", description="How the turns are found", items=METHOD_ITEMS, default="CCD_ROOT")
    iterations: IntProperty(
        name="Iterations", description="How often at most the solver goes over the chain", default=100, min=1, max=1000
    )
    smoothness: FloatProperty(
        name="Smoothness",
        description="Seconds over which the turns of a bake are evened out; the effector stays at its target",
        default=0.0,
        min=0.0,
        soft_max=1.0,
    )
    contact_blend: FloatProperty(
        name="Blend",
        description="Seconds in which the effector comes to rest before a contact, and leaves it after",
        default=0.15,
        min=0.0,
        soft_max=1.0,
    )
    contact_speed: FloatProperty(
        name="Speed",
        description="Slower than this many chain lengths a second is a contact",
        default=0.3,
        min=0.001,
        soft_max=2.0,
    )
    contact_height: FloatProperty(
        name="Height",
        description="Not higher than this above the lowest place, in chain lengths",
        default=0.1,
        min=0.0,
        soft_max=1.0,
    )


CLASSES = (IKSettings,)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.lookat_pd_ik = PointerProperty(type=IKSettings, name="Look-at PD Inverse Kinematics")
    bpy.types.PoseBone.lookat_pd_ik_pin = BoolProperty(
        name="Pin", description="Chains end at this bone: inverse kinematics does not move it", default=False
    )


def unregister() -> None:
    del bpy.types.PoseBone.lookat_pd_ik_pin
    del bpy.types.Scene.lookat_pd_ik
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
