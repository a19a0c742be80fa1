"""Settings of inverse kinematics, stored in the scene: the chain, its target, and the solver.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

from typing import Any

import bpy

from ...lookat_pd.ik import methods
from ..animation.stored_settings import declare, stored, withdraw
from ..detection import body_joints
from ..detection.joint_chain import length_of_chain, soft_reach
from ..feet import contact_settings
from ..feet.contact_plan import Contact
from ..settings import EDITABLE, Properties, choice, integer, number, pointer, switch, switches, text

METHOD_ITEMS = tuple((row.identifier, row.label, row.description) for row in methods.METHODS.values())
POINT_ITEMS = (
    ("HEAD", "Head", "Place the head of the effector on the target; the bones above it turn, as for a hand or foot"),
    ("TIP", "Tip", "Place the tip of the effector on the target; the effector turns as well"),
)
ORIENTATION_ITEMS = (
    ("FREE", "Free", "Let the effector turn with the chain"),
    ("KEEP", "Keep", "Keep the animated orientation of the effector"),
    ("TARGET", "Match Target", "Match the orientation of the target"),
)
EFFECTOR_ORIENTATION_ITEMS = (
    ("FREE", "Free", "Let the effector turn with the body"),
    *ORIENTATION_ITEMS[1:],
    ("AIM", "Point at Target", "Point the effector at the target; the head and the spine look at it"),
)
PRIORITY_ITEMS = (
    ("HIGH", "High", "Reached first, as feet on the ground"),
    ("NORMAL", "Normal", "Reached as far as effectors of high priority and the balance allow"),
    ("LOW", "Low", "Reached as far as all others allow"),
)
FOLLOW_ITEMS = (
    ("TARGET", "Target", "Follow an object, or a bone of an armature"),
    ("PATH", "Motion Path", "Follow the motion path of the effector as it was last calculated"),
)
EXTENT_ITEMS = (
    ("LIMB", "Limb", "The detected arm, leg, finger, tail or spine; two bones if none is detected"),
    ("LENGTH", "Number of Bones", "The number of bones in Chain Length"),
)
_FOR_LIMBS = {"extent": "LIMB", "method": "NEAREST_POSE", "iterations": 100}
PRESETS = {
    "LIMB": (
        "Arm or Leg",
        "Place the head of a hand or foot and keep its orientation",
        {"point": "HEAD", "orientation": "KEEP", **_FOR_LIMBS},
    ),
    "FINGER": (
        "Finger",
        "Place the tip of the last bone and bend within the joint limits",
        {"point": "TIP", "orientation": "FREE", **_FOR_LIMBS},
    ),
    "TAIL": (
        "Tail or Rope",
        "Bend all bones up to the root or to a pinned bone evenly",
        {"point": "TIP", "length": 0, "orientation": "FREE", "method": "FABRIK", "iterations": 100},
    ),
    "EXACT": (
        "Smallest Rotations",
        "Stay as close to the animation as possible",
        {"method": "JACOBIAN_QUATERNION", "iterations": 100},
    ),
}


_own = Properties(override=EDITABLE)


def _is_counted(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    settings.extent = "LENGTH"


def _detected(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Start from the detected values."""
    if settings.use_custom:
        # Blender 4.5 knows no path of these settings.
        own, bones = settings.as_pointer(), settings.id_data.pose.bones
        joints = ((bone, stored(bone, "lookat_pd_ik_joint")) for bone in bones)
        bone = next(bone for bone, joint in joints if joint is not None and joint.as_pointer() == own)
        settings.part = body_joints.detected(settings.id_data, bone.name).part.id.upper()


def _of_part(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    part = body_joints.PARTS[settings.part.lower()]
    settings.stiffness = part.stiffness
    if part.bend is not None:
        settings.minimum, settings.maximum = part.bend


def _orientation(items: tuple) -> Any:
    """The property of the orientation that an effector has."""
    return _own.choice("Effector Orientation", "Orientation of the effector", items)


def _kept_offset() -> Any:
    """The property of whether an effector stays as far from its target as it is."""
    return _own.switch("Keep Offset", "Keep the offset from the target that the effector has at the first frame")


def _ease_time() -> Any:
    """The property of the time in which a target takes effect."""
    return _own.number(
        "Ease",
        "Time in seconds over which targets take effect at the start of the range and end at its end",
        0.0,
        max=60.0,
        soft_max=1.0,
    )


class IKJoint(bpy.types.PropertyGroup):
    """How a joint prefers to turn, instead of the detected values."""

    use_custom: _own.switch("Custom", "Use these values for the joint instead of the detected ones", update=_detected)
    part: _own.choice(
        "Part",
        "Part of the body, which sets stiffness and range; elbows, knees and fingers are hinges",
        [(part.id.upper(), part.label, "") for part in body_joints.PARTS.values()],
        update=_of_part,
    )
    stiffness: _own.number(
        "Stiffness", "Fraction of its rotation that the joint leaves to the other joints", 0.0, max=0.99
    )
    minimum: _own.angle("Minimum Bend", "Smallest angle of a hinge; 0 is straight", 0.0, max=180.0, min=-180.0)
    maximum: _own.angle("Maximum Bend", "Largest angle of a hinge; 0 is straight", 180.0, max=180.0, min=-180.0)


class ChainSolving:
    """How a chain is solved: the settings of `IKTuning`."""

    method: choice("Solver", "Method of solving the chain", METHOD_ITEMS, methods.default().identifier)
    as_published: switch(
        "As Published",
        "Run the solver as published, to compare: without overshoot beyond the target, which speeds up "
        "convergence, with one sweep of the particles, and with each frame by itself, in which joints may leap",
    )
    iterations: integer("Iterations", "Maximum number of passes of the solver over the chain", 100, max=1000, min=1)
    smoothness: number(
        "Smoothness",
        "Time in seconds over which baked rotations are smoothed; the effector stays on its target",
        0.0,
        max=60.0,
        soft_max=1.0,
    )
    soft_reach: soft_reach(Properties())


class GoalFollowing:
    """How the effector of a chain follows its target: the settings of `Goal`."""

    orientation: _orientation(ORIENTATION_ITEMS)
    use_offset: _kept_offset()
    ease: _ease_time()


class BodySolving:
    """How a body with several effectors is solved: the settings of `BodyTuning`."""

    balance: _own.factor(
        "Balance", "Keep the centre of mass above the feet; 0 for no balance. Feet that are no effectors are pinned"
    )
    move_hips: _own.switch("Move Hips", "Let the hips change their location, as in a squat", True)
    soft_reach: soft_reach(_own)
    ease: _ease_time()


class EffectorFollowing:
    """How one of several effectors follows its target: the settings of `BodyEffector`."""

    use_position: _own.switch("Position", "Place the head of the bone on the target", True)
    orientation: _orientation(EFFECTOR_ORIENTATION_ITEMS)
    use_offset: _kept_offset()
    weight: _own.factor(
        "Weight",
        "1 reaches the target, 0 has no effect; between, the bone is between animation and target and "
        "gives way to all effectors with a weight of 1",
        1.0,
    )
    priority: _own.choice("Priority", "Which effectors are reached where not all can be", PRIORITY_ITEMS, "NORMAL")


class IKSettings(ChainSolving, GoalFollowing, bpy.types.PropertyGroup):
    """Settings of the next drag, bake or contact clean-up."""

    version: integer("Version", options={"HIDDEN"})
    point: choice("Effector Point", "Point of the effector that is placed on the target", POINT_ITEMS)
    extent: choice("Chain", "The bones that turn", EXTENT_ITEMS)
    length: length_of_chain(update=_is_counted)
    follow: choice("Follow", "What the effector follows", FOLLOW_ITEMS)
    target: pointer(
        bpy.types.Object, "Target", "Object that the effector follows; for an armature, choose a bone as well"
    )
    subtarget: text("Bone", "Bone of the target armature that the effector follows")
    pole: pointer(bpy.types.Object, "Pole Target", "Object towards which the chain bends; leave empty for none")
    compare: switch(
        "Compare Solvers",
        "Show where up to four solvers place the chain, each in its color, while dragging or at this frame",
    )
    compared: switches(
        "Compared Solver",
        "Show this solver in the comparison; at most four at once",
        [row.key in "0123" for row in methods.METHODS.values()],
        size=len(methods.METHODS),
    )
    hold_effectors: switch(
        "Hold in Drag",
        "While a bone is dragged, hold the other effectors of the list and pinned bones; the spine and the "
        "hips take part. B switches it during the drag",
        True,
    )
    contact_blend: contact_settings.blend(Contact.blend)
    contact_surface: pointer(
        bpy.types.Object,
        "Surface",
        "What is touched, such as a prop or another character, which may move; leave empty for the world",
    )
    contact_bone: text("Bone", "Bone of the armature that is touched")
    contact_speed: contact_settings.speed()
    contact_height: contact_settings.height()


_register, _unregister = bpy.utils.register_classes_factory((IKJoint, IKSettings))


def register() -> None:
    _register()
    bpy.types.Scene.lookat_pd_ik = pointer(IKSettings, "Look-at PD Inverse Kinematics")
    declare(bpy.types.PoseBone, "lookat_pd_ik_joint", _own.pointer(IKJoint, "Look-at PD Joint"))
    bpy.types.PoseBone.lookat_pd_ik_pin = _own.switch(
        "Pin", "End chains at this bone; inverse kinematics does not move it"
    )


def unregister() -> None:
    del bpy.types.PoseBone.lookat_pd_ik_pin
    withdraw(bpy.types.PoseBone, "lookat_pd_ik_joint")
    del bpy.types.Scene.lookat_pd_ik
    _unregister()
