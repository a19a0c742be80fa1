"""The look-at's settings on its pose bone, for panels, scripts and keys: `pose_bone.lookat_pd`.

Every setting is an input; nothing here is simulation state. No postponed annotations: Blender reads them.
"""

import bpy

from ..animation.stored_settings import declare, read, withdraw
from ..layers.controller_settings import (
    EDITABLE,
    SETTLE_TIME,
    ControllerSettings,
    aim_axis,
    changed,
    setting,
    settle_time,
)
from ..sampling import suspend
from ..settings import Properties
from . import gains, saved_settings, world_up
from .body import settings as body_settings
from .setting_changes import keyable, needs_others
from .setting_paths import KEYABLE
from .target_settings import TARGET_BONE, LookAtTarget, is_target

ORIGINS = (
    (
        "AUTO",
        "Automatic",
        "Between the eyes where the eyes turn too, or where another character or a part of one is a target; otherwise "
        "the origin of the bone",
        2,
    ),
    (
        "EYES",
        "Eyes",
        "Between the eyes or, without eye bones, where they usually are in the head. The head of another character is "
        "looked at there, too",
        0,
    ),
    ("BONE", "Bone", "The origin of the bone. The head of another character is looked at at its origin, too", 1),
)
"""What the aim starts from: identifier, label, tooltip, and the number that files have."""
_K_P = gains.round_k_p(SETTLE_TIME)
_own = Properties(override=EDITABLE)
_of_chain = _own.but(update=changed)


def _name_after_bone(item: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Library overrides identify the items of a collection by their names, which there stay as they were first."""
    owner = item.id_data
    if owner.override_library is None:
        item.name = item.bone
    elif not item.name:
        chains = (read(bone, "lookat_pd").chain for bone in owner.pose.bones)
        taken = {other.name for other in next((chain for chain in chains if item in list(chain)), ())}
        name, number = item.bone, 1
        while name and name in taken:
            number += 1
            name = f"{item.bone} {number}"
        item.name = name
    changed(item, context)


class LookAtChainBone(bpy.types.PropertyGroup):
    """One bone of a look-at's chain."""

    bone: _of_chain.text("Bone", "Bone of the chain", update=_name_after_bone)
    share: _of_chain.number(
        "Share",
        "Part of the turn that this bone takes, relative to the shares of the other bones",
        0.25,
        max=1000.0,
        min=0.001,
        soft_max=1.0,
    )
    settle_factor: _of_chain.number(
        "Settle Factor",
        "Settle time of this bone as a factor of that of the look-at; increase it down the spine so that the "
        "head leads",
        1.0,
        max=100.0,
        min=0.05,
        soft_max=4.0,
    )
    yaw_limit: _of_chain.angle(
        "Yaw Limit", "Largest angle to either side that the look-at adds to the animation", 60.0, max=170.0
    )
    pitch_up_limit: _of_chain.angle(
        "Up Limit", "Largest upward angle that the look-at adds to the animation", 45.0, max=170.0
    )
    pitch_down_limit: _of_chain.angle(
        "Down Limit", "Largest downward angle that the look-at adds to the animation", 45.0, max=170.0
    )
    makes_up: _of_chain.switch(
        "Compensate Lag", "Turn this bone further while slower bones below it lag behind (always on for the head)"
    )


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
    "head_speed",
    "feed_forward",
    "release_angle",
    "release_speed",
    "release_time",
    *KEYABLE,
    "stabilize",
    "level_head",
    "head_roll",
    "use_mix",
    "let_go_distance",
    "let_go_angle",
)
"""Settings that change how the chain moves, but not what it consists of or what it looks at."""


def _glance(setting: str, name: str, description: str) -> object:
    return _keyed.angle(
        name, description, 0.0, max=60.0, min=-60.0, soft_min=-30.0, soft_max=30.0, update=keyable(setting)
    )


def _gesture(setting: str, name: str, description: str) -> object:
    return _keyed.angle(
        name, description, 0.0, max=45.0, min=-45.0, soft_min=-15.0, soft_max=15.0, update=keyable(setting)
    )


_still = _own.but(options=set())
_deciding = _still.but(update=needs_others)
_keyed = _own.but(options={"ANIMATABLE"})
_hidden = _own.but(options={"HIDDEN"})


class LookAtUnkeyed(bpy.types.PropertyGroup):
    """Channels that had no keys before a bake, and their values then. Not for animators."""

    bone: _hidden.text("Bone")
    mode: _hidden.text("Rotation Mode")
    values: _hidden.vector("Unkeyed Pose", size=4)


class LookAtSettings(ControllerSettings, bpy.types.PropertyGroup):
    """A look-at: the bone it stands on is the one that aims."""

    exists: _hidden.switch("Look-at", "This bone has a look-at", update=needs_others)
    # Of the settings: 0 where a file was saved before there were `LATER` ones.
    version: _hidden.integer("Version")
    # Which of the rig's constraints are this look-at's own; 0 for none.
    number: _hidden.integer("Number")
    # Which item of the armature's data has its keys of the shot, counted from 1; 0 for none.
    shot: _hidden.integer("Shot")
    mute: _deciding.switch(
        "Mute", "Disable this look-at. Baking mutes a look-at because its motion is then in the keys"
    )
    target: _deciding.pointer(bpy.types.Object, "Target", "Object to look at; for an armature, choose a bone as well")
    subtarget: setting.text("Bone", TARGET_BONE)
    use: _keyed.switch(
        "Active",
        "Look at the target; insert keys to turn to the target and back to the animation",
        True,
        # Of its own: Blender has a translation of Active, which means the active object.
        translation_context="Look-at",
        update=keyable("use"),
    )
    influence: _keyed.factor(
        "Influence", "Amount of the look-at that is added to the animation", 1.0, update=keyable("influence")
    )
    settle_time: settle_time("Time in seconds until the head has settled on the target; the bones below it take longer")
    method: setting.choice(
        "Method",
        "Quantity that the controller tracks",
        (
            ("GEODESIC", "Geodesic", "Track rotation vectors, so that offsets follow the shortest arc"),
            (
                "COMPONENT",
                "Component",
                "Track the four quaternion components and normalize them, as in FINAL FANTASY XVI",
            ),
        ),
    )
    max_speed: setting.angle(
        "Speed Limit",
        "Largest angular speed of each bone per second; 0 for no limit. Low values look mechanical",
        0.0,
        max=36000.0,
        soft_max=720.0,
    )
    head_speed: setting.angle(
        "Head Speed",
        "Largest angular speed per second of the head when the target jumps, passes behind or passes fast; 0 for no "
        "limit",
        550.0,
        max=36000.0,
        soft_max=720.0,
    )
    aim_axis: aim_axis(
        "Axis of the bone that is pointed at the target", "Direction in which the character faces in the rest pose"
    )
    facing: _hidden.vector(
        "Forward and Up",
        "Chosen forward and up axes of the character in the frame of the bone; zero to detect them",
        update=changed,
        size=6,
    )
    aim_from: _deciding.choice("Aim From", "Place in the head that is brought in line with the target", ORIGINS, "AUTO")
    soft_edge: setting.angle("Soft Edge", "Width of the smooth transition at each limit", 5.0, max=60.0, soft_max=20.0)
    stabilize: setting.factor(
        "Stabilize",
        "Part of the body's own motion that neck and head cancel at once, so that the gaze holds while the body moves; "
        "at 0 the settle time applies to it as to the motion of the target",
        0.95,
    )
    level_head: setting.factor(
        "Level Head",
        "Amount by which the head is rolled upright on a leaning body; at 0 the roll of the animation is kept, at "
        "1 the head is level",
    )
    head_roll: setting.angle(
        "Head Roll",
        "Largest roll of the head in the world that a look adds to that of the animation, as when a leaning body looks "
        "aside; 180° for any roll",
        15.0,
        max=180.0,
    )
    world_up: _deciding.choice("World Up", "Direction towards which the head is leveled", world_up.KINDS, "SCENE")
    world_up_object: _deciding.pointer(bpy.types.Object, "Object", "Object whose Z axis is up")
    release_angle: setting.angle(
        "Angle",
        "Angle to the animation below which all bones must be before a look-at that was switched off is released",
        0.5,
        max=180.0,
        min=0.001,
        soft_max=5.0,
    )
    release_speed: setting.angle(
        "Speed",
        "Angular speed per second below which all bones must be before a look-at that was switched off is released",
        2.0,
        max=3600.0,
        min=0.001,
        soft_max=20.0,
    )
    release_time: setting.number(
        "Time", "Time in seconds in which the remaining offset fades out after the release", 0.2, max=60.0, soft_max=1.0
    )
    chain: setting.collection(LookAtChainBone, "Chain", "Bones that turn towards the target, starting with the head")
    chain_index: _hidden.integer("Highlighted Bone")
    unkeyed: setting.collection(LookAtUnkeyed, "Unkeyed", options={"HIDDEN"})
    targets: setting.collection(LookAtTarget, "Additional Targets", "Additional objects to look at, numbered from 1")
    targets_index: _hidden.integer("Highlighted Target")
    active_target: _keyed.integer(
        "Active Target",
        "Number of the current target: 0 is the main target, 1 the first additional target; insert keys to switch",
        min=0,
        update=keyable("active_target"),
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
    eyes_closed: _keyed.switch(
        "Eyes Closed",
        "Close the eyelids; insert a key to close them and one to open them for a blink",
        update=keyable("eyes_closed"),
    )
    nod: _keyed.angle(
        "Nod",
        "Angle by which the head nods, every 0.6 seconds, for as long as it is above 0; insert keys",
        0.0,
        max=45.0,
        soft_max=15.0,
        update=keyable("nod"),
    )
    tilt: _keyed.angle(
        "Tilt",
        "Angle by which the head leans to its left shoulder; insert keys, which the head follows smoothly",
        0.0,
        max=45.0,
        min=-45.0,
        soft_min=-20.0,
        soft_max=20.0,
        update=keyable("tilt"),
    )
    gesture_yaw: _gesture(
        "gesture_yaw",
        "Head Aside",
        "Angle to the left by which the head turns beside what it looks at, while the eyes stay on it; insert keys, "
        "between which the head moves smoothly",
    )
    gesture_pitch: _gesture(
        "gesture_pitch",
        "Head Up",
        "Angle up by which the head turns beside what it looks at, while the eyes stay on it; insert keys, between "
        "which the head moves smoothly",
    )
    stance: _keyed.number(
        "Stance",
        "Part of the weight on the left leg, on the right leg if it is negative: the hips move there, at 1 as far as "
        "Weight Shift moves them for a head turned by 90°; insert keys, which the hips follow smoothly",
        0.0,
        max=1.0,
        min=-1.0,
        update=keyable("stance"),
    )
    use_mix: setting.switch(
        "Mix Targets", "Look between all targets according to their weights, instead of at the active target"
    )
    target_weight: _keyed.factor(
        "Weight",
        "Weight of the main target in the mix; insert keys to change it over time",
        1.0,
        update=keyable("target_weight"),
    )
    let_go_distance: setting.number(
        "Let Go Beyond",
        "Distance from the head beyond which the target is let go; it is looked at again within nine tenths of "
        "it. 0 for no limit",
        0.0,
        max=1e6,
        soft_max=100.0,
        subtype="DISTANCE",
    )
    let_go_angle: setting.angle(
        "Let Go Angle",
        "Angle from where the animated head faces beyond which the target is let go; it is looked at again within "
        "nine tenths of it. 0 for no limit",
        165.0,
        max=180.0,
    )
    let_go_behind: _deciding.pointer(
        bpy.types.Collection,
        "Let Go Behind",
        "Collection of objects behind which a target is let go; it is looked at again when it is in sight",
    )
    body: _own.pointer(body_settings.LookAtBody, "Body")
    eyes: _own.pointer(body_settings.LookAtEyes, "Eyes")
    # Not stored: settle time and damping ratio in an engine's words. Last, so that an override sets those first.
    k_p: _still.number(
        "k_p",
        "Proportional gain of the controller per second squared, (2π / settle time)². A custom damping keeps k_d",
        _K_P,
        max=gains.HIGHEST_K_P,
        min=gains.LOWEST_K_P,
        soft_min=4.0,
        soft_max=4000.0,
        get=gains.k_p,
        set=gains.set_k_p,
        precision=3,
    )
    k_d: _still.number(
        "k_d",
        "Derivative gain of the controller per second, 2 * damping ratio * √k_p. Sets a custom damping",
        gains.round_k_d(_K_P, 1.0),
        max=gains.HIGHEST_K_D,
        soft_max=200.0,
        get=gains.k_d,
        set=gains.set_k_d,
        precision=3,
    )


CLASSES = (LookAtTarget, LookAtChainBone, LookAtUnkeyed, LookAtSettings)


def register() -> None:
    body_settings.register()
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    declare(bpy.types.PoseBone, "lookat_pd", _own.pointer(LookAtSettings, "Look-at PD"))
    saved_settings.register()
    suspend.WATCHERS.append(is_target)


def unregister() -> None:
    suspend.WATCHERS.remove(is_target)
    saved_settings.unregister()
    withdraw(bpy.types.PoseBone, "lookat_pd")
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    body_settings.unregister()
