"""A human with controls that Rigify did not make: deforming bones copy FK controls and, as far as a property says,
bones that inverse kinematics poses. Arms are in IK and legs in FK where nothing is keyed.

Arms copy transforms, and their property is 1 for IK. Legs copy rotations, and theirs is 1 for FK. The hand's IK control
is the target itself; the foot's moves it as a child.
"""

import bpy
import numpy as np
from mathutils import Vector

from extension import load

actions = load("rig.animation.actions")

LAST = 24
SWITCHES = {"hand": ("CTL_Props", "arm_ik.{}"), "foot": ("CTL_Foot_IK.{}", "leg_fk.{}")}
ARM, LEG = ("UpperArm", "LowerArm", "Hand"), ("UpperLeg", "LowerLeg", "Foot")
_TRUNK = (
    ("Hips", "Root", (0, 0, 1.0), (0, 0.02, 1.15)),
    ("Spine", "Hips", (0, 0.02, 1.15), (0, 0, 1.3)),
    ("Chest", "Spine", (0, 0, 1.3), (0, 0.02, 1.5)),
    ("Neck", "Chest", (0, 0.02, 1.5), (0, -0.02, 1.6)),
    ("Head", "Neck", (0, -0.02, 1.6), (0, 0, 1.8)),
)
_SIDE = (
    ("Shoulder", "Chest", (0.04, 0, 1.46), (0.15, 0, 1.45)),
    ("UpperArm", "Shoulder", (0.15, 0, 1.45), (0.42, 0.03, 1.43)),
    ("LowerArm", "UpperArm", (0.42, 0.03, 1.43), (0.68, 0, 1.42)),
    ("Hand", "LowerArm", (0.68, 0, 1.42), (0.82, 0, 1.41)),
    ("UpperLeg", "Hips", (0.1, 0, 1.0), (0.1, -0.03, 0.54)),
    ("LowerLeg", "UpperLeg", (0.1, -0.03, 0.54), (0.1, 0.02, 0.1)),
    ("Foot", "LowerLeg", (0.1, 0.02, 0.1), (0.1, -0.12, 0.03)),
    ("Toes", "Foot", (0.1, -0.12, 0.03), (0.1, -0.18, 0.03)),
)


def human(name: str = "Made") -> bpy.types.Object:
    """The armature, active in the scene, without an action."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    _bone(armature, "Root", None, (0, 0, 0), (0, 0.3, 0), controls=True)
    _bone(armature, "CTL_Props", "Root", (0, 0.5, 1.8), (0, 0.5, 1.9), controls=True)
    for part, parent, head, tail in _TRUNK:
        _bone(armature, part, parent, head, tail)
        above = parent if parent == "Root" else f"CTL_{parent}"
        _bone(armature, f"CTL_{part}", above, head, tail, controls=True)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        _side(armature, side, np.array((sign, 1.0, 1.0)))
    bpy.ops.object.mode_set(mode="OBJECT")
    data.use_mirror_x = False
    _sort(armature)
    for part, *_ in _TRUNK:
        _copies(armature, part, f"CTL_{part}", "COPY_TRANSFORMS")
    for side in "LR":
        _copies(armature, f"Shoulder.{side}", f"CTL_Shoulder.{side}", "COPY_TRANSFORMS")
        _copies(armature, f"Toes.{side}", f"CTL_Toes.{side}", "COPY_ROTATION")
        armature.pose.bones["CTL_Props"][f"arm_ik.{side}"] = 1.0
        armature.pose.bones[f"CTL_Foot_IK.{side}"][f"leg_fk.{side}"] = 1.0
        _limb(armature, side, ARM, "COPY_TRANSFORMS", f"CTL_Hand_IK.{side}", "CTL_Elbow", ("hand", "value"))
        _limb(armature, side, LEG, "COPY_ROTATION", f"MCH_Foot.{side}", "CTL_Knee", ("foot", "1.0 - value"))
    bpy.context.view_layer.update()
    return armature


def animated() -> bpy.types.Object:
    """The same with keys of IK and FK controls and of the trunk."""
    armature = human()
    armature.animation_data_create()
    action, slot = actions.new_action("Sway", armature)
    armature.animation_data.action, armature.animation_data.action_slot = action, slot
    random = np.random.default_rng(4)
    turned = ["CTL_Hips", "CTL_Spine", "CTL_Chest", "CTL_Head"]
    turned += [f"FK_{part}.{side}" for side in "LR" for part in (*ARM, *LEG)]
    moved = [f"CTL_{part}_IK.{side}" for side in "LR" for part in ("Hand", "Foot")]
    for frame in (1, 9, 17, LAST):
        for name in (*turned, *moved):
            bone = armature.pose.bones[name]
            bone.rotation_mode = "XYZ" if name in turned else "QUATERNION"
            if name in turned:
                bone.rotation_euler = random.uniform(-0.15, 0.15, 3)
                if "LowerLeg" in name or "LowerArm" in name:
                    bent = 0.3 + random.uniform(0.0, 0.3)
                    bone.rotation_euler = (-bent if "LowerLeg" in name else bent, 0.0, 0.0)
                bone.keyframe_insert("rotation_euler", frame=frame)
            else:
                bone.location = random.uniform(-0.08, 0.08, 3) - np.array((0.0, 0.1, 0.0))
                bone.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    scene.frame_set(1)
    return armature


def animated_scene() -> None:
    """For `kept.scene`."""
    animated()


def hide_controls(armature: bpy.types.Object, *collections: str) -> None:
    """Hide collections of bones: Controls, FK, Mechanism or Deform."""
    for name in collections:
        armature.data.collections[name].is_visible = False


def _bone(armature, name: str, parent: str | None, head, tail, *, controls: bool = False) -> bpy.types.EditBone:
    bone = armature.data.edit_bones.new(name)
    bone.head, bone.tail, bone.use_deform = head, tail, not controls
    bone.parent = armature.data.edit_bones[parent] if parent else None
    return bone


def _side(armature: bpy.types.Object, side: str, sign: np.ndarray) -> None:
    rows = {part: (parent, sign * head, sign * tail) for part, parent, head, tail in _SIDE}
    for part, (parent, head, tail) in rows.items():
        above = parent if parent in ("Chest", "Hips") else f"{parent}.{side}"
        forward = Vector((0.0, -1.0, 0.0)) if part not in ("Foot", "Toes") else Vector((0.0, 0.0, 1.0))
        fk = "CTL_" if part in ("Shoulder", "Toes") else "FK_"
        if parent in ("Chest", "Hips"):
            control_above = f"CTL_{parent}"
        else:
            control_above = f"CTL_Shoulder.{side}" if parent == "Shoulder" else f"FK_{parent}.{side}"
        if part == "Toes":
            control_above = f"Foot.{side}"
        for name, over in ((f"{part}.{side}", above), (f"{fk}{part}.{side}", control_above)):
            _bone(armature, name, over, head, tail, controls="_" in name).align_roll(forward)
        if part in (*ARM[:2], *LEG[:2]):
            over = control_above if part in ("UpperArm", "UpperLeg") else f"IK_{parent}.{side}"
            _bone(armature, f"IK_{part}.{side}", over, head, tail, controls=True).align_roll(forward)
    _, head, tail = rows["Hand"]
    _bone(armature, f"CTL_Hand_IK.{side}", "Root", head, tail, controls=True).align_roll(Vector((0.0, -1.0, 0.0)))
    _, head, tail = rows["Foot"]
    flat = head * (1, 1, 0)
    _bone(armature, f"CTL_Foot_IK.{side}", "Root", flat, flat + np.array((0.0, -0.2, 0.0)), controls=True)
    _bone(armature, f"MCH_Foot.{side}", f"CTL_Foot_IK.{side}", head, tail, controls=True).align_roll(
        Vector((0.0, 0.0, 1.0))
    )
    for name, part, away in (("CTL_Elbow", "LowerArm", 0.5), ("CTL_Knee", "LowerLeg", -0.5)):
        place = rows[part][1] + np.array((0.0, away, 0.0))
        _bone(armature, f"{name}.{side}", "Root", place, place + np.array((0.0, 0.2 * away, 0.0)), controls=True)


def _limb(armature, side: str, parts, kind: str, goal: str, pole: str, switch: tuple[str, str]) -> None:
    end, expression = switch
    bones = armature.pose.bones
    solver = bones[f"IK_{parts[1]}.{side}"].constraints.new("IK")
    solver.target, solver.subtarget, solver.chain_count = armature, goal, 2
    solver.pole_target, solver.pole_subtarget = armature, f"{pole}.{side}"
    solver.pole_angle = _pole_angle(armature, f"IK_{parts[0]}.{side}", f"IK_{parts[1]}.{side}", f"{pole}.{side}")
    holder, name = (word.format(side) for word in SWITCHES[end])
    for part in parts:
        _copies(armature, f"{part}.{side}", f"FK_{part}.{side}", kind)
        source = goal if part == parts[-1] else f"IK_{part}.{side}"
        constraint = _copies(armature, f"{part}.{side}", source, kind)
        driver = constraint.driver_add("influence").driver
        driver.type, driver.expression = "SCRIPTED", expression
        variable = driver.variables.new()
        variable.name = "value"
        variable.targets[0].id, variable.targets[0].data_path = armature, f'pose.bones["{holder}"]["{name}"]'
        if expression == "value":
            driver.type = "AVERAGE"


def _copies(armature, bone: str, source: str, kind: str) -> bpy.types.Constraint:
    constraint = armature.pose.bones[bone].constraints.new(kind)
    constraint.name = source.split("_", 1)[0]
    constraint.target, constraint.subtarget = armature, source
    return constraint


def _pole_angle(armature, base: str, end: str, pole: str) -> float:
    """The angle with which a pole leaves the rest pose as it is."""
    bones = armature.data.bones
    first, last, place = bones[base], bones[end], bones[pole].head_local
    along = first.tail_local - first.head_local
    wanted = (last.tail_local - first.head_local).cross(place - first.head_local).cross(along)
    axis = first.matrix_local.to_3x3().col[0]
    angle = axis.angle(wanted)
    return -angle if axis.cross(wanted).dot(along) > 0.0 else angle


def _sort(armature: bpy.types.Object) -> None:
    """Put the bones into collections, of which the deforming bones alone are hidden."""
    data = armature.data
    for name in ("Controls", "FK", "Mechanism", "Deform"):
        data.collections.new(name)
    for bone in data.bones:
        kind = "Deform" if bone.use_deform else "Controls"
        kind = "FK" if bone.name.startswith("FK_") else kind
        kind = "Mechanism" if bone.name.startswith(("IK_", "MCH_")) else kind
        data.collections[kind].assign(bone)
    data.collections["Mechanism"].is_visible = data.collections["Deform"].is_visible = False


def posed() -> bpy.types.Object:
    """A human whose arms and legs inverse kinematics poses itself, with keys of its influence: arms are in IK and legs
    in FK at the begin. Hands take the rotation of their IK controls, feet keep their own."""
    armature = animated()
    bones = armature.pose.bones
    for side in "LR":
        for part in (*ARM, *LEG):
            bone = bones[f"{part}.{side}"]
            for constraint in list(bone.constraints):
                constraint.driver_remove("influence")
                bone.constraints.remove(constraint)
    bpy.ops.object.mode_set(mode="EDIT")
    edit = armature.data.edit_bones
    for name in [bone.name for bone in edit if bone.name.startswith(("FK_", "IK_"))]:
        edit.remove(edit[name])
    edit.remove(edit["CTL_Props"])
    bpy.ops.object.mode_set(mode="OBJECT")
    random = np.random.default_rng(5)
    for side in "LR":
        _solves(armature, f"LowerArm.{side}", f"CTL_Hand_IK.{side}", f"CTL_Elbow.{side}", 1.0)
        _solves(armature, f"LowerLeg.{side}", f"MCH_Foot.{side}", f"CTL_Knee.{side}", 0.0)
        bones[f"Hand.{side}"].constraints.new("COPY_ROTATION").name = "Turn"
        turn = bones[f"Hand.{side}"].constraints["Turn"]
        turn.target, turn.subtarget = armature, f"CTL_Hand_IK.{side}"
        for part in (*ARM, *LEG):
            bone = bones[f"{part}.{side}"]
            bone.rotation_mode = "XYZ"
            for frame in (1, 9, 17, LAST):
                bone.rotation_euler = random.uniform(-0.2, 0.2, 3)
                if part in ("LowerArm", "LowerLeg"):
                    bone.rotation_euler[0] = random.uniform(0.3, 0.6) * (1.0 if part == "LowerArm" else -1.0)
                bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    return armature


def posed_scene() -> None:
    """For `kept.scene`."""
    posed()


def _solves(armature, bone: str, goal: str, pole: str, influence: float) -> None:
    owner = armature.pose.bones[bone]
    constraint = owner.constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = armature, goal, 2
    constraint.pole_target, constraint.pole_subtarget = armature, pole
    constraint.pole_angle = _pole_angle(armature, owner.parent.name, bone, pole)
    constraint.influence = influence
    constraint.keyframe_insert("influence", frame=1)


def reaching_for(armature: bpy.types.Object, kind: str) -> bpy.types.Object:
    """Let the left arm of a `posed` human reach for something else than a control of its armature; returns the object.

    kind: an "object", a "bone" of another armature, or the "tip" of the hand, which is posed together with the arm.
    """
    bones = armature.pose.bones
    goal, hand = bones["CTL_Hand_IK.L"], bones["Hand.L"]
    solver, turn = bones["LowerArm.L"].constraints["IK"], hand.constraints["Turn"]
    if kind == "tip":
        hand.constraints.remove(turn)
        bones["LowerArm.L"].constraints.remove(solver)
        solver = hand.constraints.new("IK")
        solver.target, solver.subtarget, solver.chain_count = armature, goal.name, 3
        bpy.context.view_layer.update()
        return armature
    data = bpy.data.armatures.new("Props") if kind == "bone" else None
    item = bpy.data.objects.new("Props", data)
    bpy.context.scene.collection.objects.link(item)
    if data is not None:
        bpy.context.view_layer.objects.active = item
        bpy.ops.object.mode_set(mode="EDIT")
        edit = data.edit_bones.new("Grip")
        edit.head, edit.tail = goal.head, goal.tail
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.view_layer.objects.active = armature
    else:
        item.matrix_world = armature.matrix_world @ goal.matrix
    for constraint in (solver, turn):
        constraint.target, constraint.subtarget = item, "Grip" if data is not None else ""
    bpy.context.view_layer.update()
    return item
