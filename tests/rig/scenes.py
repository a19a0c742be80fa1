"""Small characters with an animation, something to look at, a bake, and what can be seen of it afterwards."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from extension import load

actions = load("rig.animation.actions")
bake = load("rig.look_at.look_at_bake")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
eye_origin = load("rig.look_at.eye_origin")
eye_place, rest = load("rig.detection.eye_place"), load("rig.detection.rest")
facing = load("rig.look_at.facing")
sample = load("rig.sampling.sampler")
shear = load("rig.sampling.shear")
rotation = load("lookat_pd.rotation")
channels = load("rig.animation.channels")
bake_options = load("rig.animation.bake_options")
finish = load("lookat_pd.progress").drain

# Name, parent, head, tail: a figure of 1.8 m that faces -Y.
FIGURE = (
    ("root", None, (0, 0, 0), (0, 0.3, 0)),
    ("hips", "root", (0, 0, 1.0), (0, 0.02, 1.15)),
    ("spine", "hips", (0, 0.02, 1.15), (0, 0, 1.3)),
    ("chest", "spine", (0, 0, 1.3), (0, 0.02, 1.5)),
    ("neck", "chest", (0, 0.02, 1.5), (0, -0.02, 1.6)),
    ("head", "neck", (0, -0.02, 1.6), (0, 0, 1.8)),
    ("upper_arm.L", "chest", (0.15, 0, 1.45), (0.45, 0, 1.45)),
    ("hand.L", "upper_arm.L", (0.45, 0, 1.45), (0.6, 0, 1.45)),
    ("upper_arm.R", "chest", (-0.15, 0, 1.45), (-0.45, 0, 1.45)),
    ("hand.R", "upper_arm.R", (-0.45, 0, 1.45), (-0.6, 0, 1.45)),
    ("thigh.L", "hips", (0.1, 0, 1.0), (0.1, -0.02, 0.5)),
    ("thigh.R", "hips", (-0.1, 0, 1.0), (-0.1, -0.02, 0.5)),
    ("foot.L", "thigh.L", (0.1, 0, 0.1), (0.1, -0.15, 0)),
    ("foot.R", "thigh.R", (-0.1, 0, 0.1), (-0.1, -0.15, 0)),
)
CHAIN = ("head", "neck", "chest", "spine", "hips")
EULER = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
MODES = ("QUATERNION", "AXIS_ANGLE", *EULER)
MOVING, LAST = 20, 60
"""The character moves until one frame and stands still to the other."""
STILL = (57, 58, 59, 60)
"""Whole frames at which every controller of a look-at made by `aim` has arrived."""


def figure(name: str = "Hero", rows: Sequence = FIGURE) -> bpy.types.Object:
    """A character at rest in the scene, active."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, parent, head, tail in rows:
        edit = data.edit_bones.new(bone)
        edit.head, edit.tail = head, tail
        edit.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def select(armature: bpy.types.Object, *names: str) -> None:
    """Select these bones and no others: Blender 5 stores that in the pose bone, 4.5 in the bone."""
    for bone in armature.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names


def set_rotation(bone: bpy.types.PoseBone, angles: Sequence[float]) -> str:
    """Pose a bone in its own rotation mode; the property that holds it."""
    turn = Euler(angles)
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = turn.to_quaternion()
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = turn.to_quaternion().to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_quaternion().to_euler(bone.rotation_mode)
    return channels.channel(bone.rotation_mode)[0]


def animate(
    armature: bpy.types.Object,
    frames: Iterable[int] = (1, 6, 13, MOVING, LAST),
    *,
    modes: Sequence[str] = ("QUATERNION",),
    bones: Sequence[str] = (*CHAIN, "upper_arm.L"),
    size: float = 0.15,
    seed: int = 0,
) -> bpy.types.Action:
    """An action in which bones sway, then stand still; rotation modes are dealt out in turn."""
    random = np.random.default_rng(seed)
    armature.animation_data_create()
    action, slot = actions.new_action("Sway", armature)
    armature.animation_data.action = action
    armature.animation_data.action_slot = slot
    for n, name in enumerate(bones):
        bone = armature.pose.bones[name]
        bone.rotation_mode = modes[n % len(modes)]
        angles = np.zeros(3)
        for frame in frames:
            angles = random.uniform(-size, size, 3) if frame <= MOVING else angles
            bone.keyframe_insert(set_rotation(bone, angles), frame=frame)
    return action


def ball(place: Sequence[float] = (0.8, -2.0, 1.9), name: str = "Ball") -> bpy.types.Object:
    """An empty, by default in front of the character, a little up and aside."""
    item = bpy.data.objects.new(name, None)
    item.location = place
    bpy.context.scene.collection.objects.link(item)
    return item


def box(place: Sequence[float], size: Sequence[float], name: str = "Box") -> bpy.types.Object:
    """A box of this size around a place."""
    corners = [[0.5 * sign * length for sign, length in zip(signs, size, strict=True)] for signs in _CORNERS]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    item = bpy.data.objects.new(name, mesh)
    item.location = place
    bpy.context.scene.collection.objects.link(item)
    return item


_CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def child(item: bpy.types.Object, parent: bpy.types.Object, bone: str = "") -> bpy.types.Object:
    item.parent = parent
    if bone:
        item.parent_type, item.parent_bone = "BONE", bone
    return item


def aim(armature: bpy.types.Object, target: bpy.types.Object | None, bone: str = "head", **settings: Any) -> Any:
    """Give a bone a quick look-at through the add-on; its settings."""
    look_at_edit.add(bpy.context.scene, armature, bone, target)
    found = armature.pose.bones[bone].lookat_pd
    for name, value in {"settle_time": 0.2, **settings}.items():
        setattr(found, name, value)
    return found


def run_bake(
    *armatures: bpy.types.Object, first: int = 1, last: int = LAST, into: str = "NEW", scene: Any = None
) -> list:
    """Bake all look-ats of some armatures that are not muted; the results."""
    wanted = [
        look_at.resolve(item, bone)
        for item in armatures
        for bone in look_at.bones_with_look_at(item)
        if not item.pose.bones[bone].lookat_pd.mute
    ]
    return finish(bake.bake(scene or bpy.context.scene, wanted, bake_options.BakeOptions(first, last, into)))


# What can be seen


def goto(frame: float, scene: bpy.types.Scene | None = None) -> Any:
    """The evaluated scene at a frame, which may be a fraction."""
    scene = scene or bpy.context.scene
    whole = int(np.floor(frame))
    scene.frame_set(whole, subframe=frame - whole)
    return bpy.context.evaluated_depsgraph_get()


def place_of(target: bpy.types.Object, bone: str = "") -> Callable[[Any], Vector]:
    """Where a target is in a world that is evaluated."""

    def place(depsgraph: Any) -> Vector:
        seen = target.evaluated_get(depsgraph)
        return seen.matrix_world @ seen.pose.bones[bone].head if bone else seen.matrix_world.translation

    return place


def eye(armature: bpy.types.Object, bone: str, seen: bpy.types.Object) -> np.ndarray:
    """Where the look of a bone starts (3,) in the world. seen: the evaluated armature."""
    settings = armature.pose.bones[bone].lookat_pd
    eyes, matrix = eye_origin.place(armature, bone, settings), seen.pose.bones[bone].matrix
    axes = np.array(matrix.to_3x3())[None]
    # What is scaled unevenly faces elsewhere, and so are its eyes.
    aim = facing.aim(armature, bone, rest.skeleton(armature))[0]
    axis = np.array(armature.data.bones[bone].matrix_local)[:3, :3].T @ aim
    turn = Quaternion(shear.aimed(rotation.from_matrix(axes), axes, axis)[0])
    size = float(np.linalg.norm(axes[0], axis=0).mean())
    return np.array(seen.matrix_world @ (matrix.translation + turn @ Vector(size * eyes)))


def eyes_of(armature: bpy.types.Object, bone: str = "head") -> Callable[[Any], Vector]:
    """Where the eyes of a character are in a world that is evaluated."""
    eyes = Vector(eye_place.between_eyes(armature, bone))

    def place(depsgraph: Any) -> Vector:
        seen = armature.evaluated_get(depsgraph)
        return seen.matrix_world @ seen.pose.bones[bone].matrix @ eyes

    return place


def error(
    armature: bpy.types.Object,
    place: Callable[[Any], Vector],
    frames: Iterable[float] = STILL,
    *,
    bone: str = "head",
    forward: Sequence[float] = (0, -1, 0),
    looks: str = "",
) -> float:
    """Largest angle [deg] between where the face points from between the eyes, as Blender evaluates it, and where the
    target is.

    forward: where the character faces at rest, in the armature's space. looks: the bone with the look-at, if another
    one than the bone that is measured, which it turns.
    """
    axis = armature.data.bones[bone].matrix_local.to_3x3().inverted() @ Vector(forward)
    worst = 0.0
    for frame in frames:
        depsgraph = goto(frame)
        seen = armature.evaluated_get(depsgraph)
        # Seen in the armature's own space: an object scaled unevenly bends angles, but not where things are.
        matrix = seen.pose.bones[bone].matrix
        way = seen.matrix_world.inverted() @ place(depsgraph) - seen.matrix_world.inverted() @ Vector(
            eye(armature, looks or bone, seen)
        )
        worst = max(worst, float(np.degrees((matrix.to_3x3() @ axis).angle(way))))
    return worst


def poses(armature: bpy.types.Object, frames: Iterable[float], bones: Sequence[str] = ()) -> np.ndarray:
    """Evaluated matrices (frames, bones, 4, 4) in the armature's space."""
    found = []
    for frame in frames:
        seen = armature.evaluated_get(goto(frame))
        found.append([np.array(bone.matrix) for bone in seen.pose.bones if not bones or bone.name in bones])
    return np.array(found)


def animated(armature: bpy.types.Object, frames: Iterable[float], bones: Sequence[str] = ()) -> np.ndarray:
    """The same of the animation alone, without what look-ats add to it."""
    awake = [bone.lookat_pd for bone in armature.pose.bones if look_at.exists_on(bone) and not bone.lookat_pd.mute]
    for settings in awake:
        settings.mute = True
    found = poses(armature, frames, bones)
    for settings in awake:
        settings.mute = False
    return found


def basis(armature: bpy.types.Object, frames: Iterable[float], bone: str) -> np.ndarray:
    """Local quaternions (frames, 4) of an evaluated bone, in one hemisphere."""
    found = []
    for frame in frames:
        here = armature.evaluated_get(goto(frame)).pose.bones[bone].matrix_basis.to_quaternion()
        found.append(-here if found and here.dot(found[-1]) < 0.0 else here)
    return np.array(found)


# What a file holds, as plain data

_SKIP = {"rna_type", "is_valid", "is_evaluated", "is_active", "original", "id_data"}


@cache
def _properties(kind: type, count: int) -> tuple[tuple[str, str, bool], ...]:
    """Name, type and whether it is an array of a struct's own properties; `count` tells when more are registered."""
    found = []
    for prop in kind.bl_rna.properties:
        if prop.identifier not in _SKIP and prop.type != "COLLECTION":
            found.append((prop.identifier, prop.type, getattr(prop, "is_array", False)))
    return tuple(found)


def plain(struct: Any, skip: Iterable[str] = ()) -> dict[str, Any]:
    """The values of a struct's own properties: no collections, pointers by name."""
    result = {}
    kind = type(struct)
    for name, value_type, is_array in _properties(kind, len(kind.bl_rna.properties)):
        if name in skip:
            continue
        value = getattr(struct, name)
        if value_type == "POINTER":
            result[name] = getattr(value, "name", None) if value is not None else None
        elif is_array and not isinstance(value, str):
            result[name] = repr([list(row) if hasattr(row, "__len__") else row for row in value])
        else:
            result[name] = repr(value)
    return result


def curve(item: Any) -> dict[str, Any]:
    """Everything about an F-curve."""
    return {
        "curve": plain(item, ("is_valid", "select")),
        "keys": _keys(item.keyframe_points),
        "modifiers": [plain(modifier) for modifier in item.modifiers],
    }


def _keys(points: Any) -> dict[str, str]:
    """What `plain` gives of each key, by property: there may be very many."""
    found = {}
    for name, kind, is_array in _properties(bpy.types.Keyframe, len(bpy.types.Keyframe.bl_rna.properties)):
        size = bpy.types.Keyframe.bl_rna.properties[name].array_length if is_array else 1
        values = np.empty(len(points) * size, {"FLOAT": np.float32, "BOOLEAN": bool}.get(kind, np.int32))
        points.foreach_get(name, values)
        found[name] = repr(values.tolist())
    return found


def curves(action: bpy.types.Action) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Everything about every F-curve of an action, by slot, data path and index."""
    return {
        (slot.identifier, item.data_path, item.array_index): curve(item)
        for slot in action.slots
        if (bag := actions.channelbag(action, slot)) is not None
        for item in bag.fcurves
    }


_POINTS = {"co": 2, "handle_left": 2, "handle_right": 2, "handle_left_type": 1, "handle_right_type": 1}
_POINTS |= {"interpolation": 1, "easing": 1, "type": 1, "back": 1, "amplitude": 1, "period": 1}
_REAL = {"co", "handle_left", "handle_right", "back", "amplitude", "period"}


def fingerprint(action: bpy.types.Action) -> dict[tuple[str, str, int], Any]:
    """The same for actions with very many keys, as bytes."""
    found = {}
    for slot in action.slots:
        bag = actions.channelbag(action, slot)
        for item in bag.fcurves if bag is not None else ():
            points = []
            for name, size in _POINTS.items():
                buffer = np.empty(len(item.keyframe_points) * size, np.float32 if name in _REAL else np.int32)
                item.keyframe_points.foreach_get(name, buffer)
                points.append(buffer.tobytes())
            settings = plain(item, ("is_valid", "select"))
            found[slot.identifier, item.data_path, item.array_index] = settings, len(item.modifiers), points
    return found


def _action(item: bpy.types.Action) -> dict[str, Any]:
    groups = [
        (group.name, len(group.channels))
        for slot in item.slots
        if (bag := actions.channelbag(item, slot)) is not None
        for group in bag.groups
    ]
    return {"itself": plain(item), "slots": [plain(slot) for slot in item.slots], "groups": groups, **curves(item)}


def animation(item: Any) -> dict[str, Any] | None:
    """Everything about what drives a datablock."""
    data = item.animation_data
    if data is None:
        return None
    return {
        "data": plain(data),
        "drivers": [(curve(driver), driver.driver.expression) for driver in data.drivers],
        "tracks": [(plain(track), [plain(strip) for strip in track.strips]) for track in data.nla_tracks],
    }


def _bone(bone: bpy.types.PoseBone) -> dict[str, Any]:
    settings = bone.lookat_pd
    return {
        "bone": plain(bone),
        "constraints": [plain(constraint) for constraint in bone.constraints],
        "look_at": plain(settings),
        "chain": [plain(link) for link in settings.chain],
        "targets": [plain(item) for item in settings.targets],
    }


def _object(item: bpy.types.Object) -> dict[str, Any]:
    return {
        "object": plain(item),
        "selected": item.select_get() if item.name in bpy.context.view_layer.objects else None,
        "animation": animation(item),
        "constraints": [plain(constraint) for constraint in item.constraints],
        "bones": {bone.name: _bone(bone) for bone in item.pose.bones} if item.pose else {},
    }


def _scene(scene: bpy.types.Scene) -> dict[str, Any]:
    return {
        "frame": (scene.frame_current, scene.frame_subframe),
        "objects": sorted(item.name for item in scene.objects),
        "layers": [layer.name for layer in scene.view_layers],
        "properties": sorted(scene.keys()),
        "animation": animation(scene),
    }


def actions_of_the_animator() -> list[str]:
    """Names of all actions but those that show look-ats."""
    return [name for name in bpy.data.actions.keys() if "Look-at PD" not in name]


def forget_solutions() -> None:
    """Let neither the extension nor the file know of any solved look-at."""
    live = load("rig.layers.live")
    live._forget()
    for action in bpy.data.actions:
        action.pop("lookat_pd_solved_from", None)
    live.touch()


def snapshot() -> dict[str, Any]:
    """All of the file that a bake could touch, as plain data that can be compared."""
    properties = [prop for prop in bpy.data.bl_rna.properties if prop.type == "COLLECTION"]
    collections = [prop.identifier for prop in properties if prop.identifier not in ("all_ids", "colorspace")]
    active = bpy.context.view_layer.objects.active
    return {
        "blocks": {
            name: sorted((item.name_full, item.users, item.use_fake_user) for item in getattr(bpy.data, name))
            for name in collections
        },
        "actions": {item.name_full: _action(item) for item in bpy.data.actions},
        "objects": {item.name_full: _object(item) for item in bpy.data.objects},
        "scenes": {item.name: _scene(item) for item in bpy.data.scenes},
        "here": (bpy.context.scene.name, active and active.name, bpy.context.mode),
    }


def differences(before: Any, after: Any, place: str = "") -> list[str]:
    """Where two snapshots differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for key in dict.fromkeys((*before, *after)):
            missing = object()
            found += differences(before.get(key, missing), after.get(key, missing), f"{place}/{key}")
        return found
    if before == after:
        return []
    old, new = str(before), str(after)
    differ = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    shown = slice(max(differ - 50, 0), differ + 150)
    return [f"{place}: {old[shown]} -> {new[shown]}"]


@dataclass(frozen=True)
class Scene:
    """A character with a look-at, ready to be baked. place: where its target is."""

    armature: bpy.types.Object
    target: bpy.types.Object
    place: Callable[[Any], Vector]


def swaying(**options: Any) -> Scene:
    """A character that sways and then stands still, and looks at a ball."""
    armature, target = figure(), ball()
    animate(armature, **options)
    aim(armature, target)
    return Scene(armature, target, place_of(target))


def keyed(item: Any, path: str, values: Iterable[tuple[int, Any]]) -> None:
    """Key a property of an object."""
    for frame, value in values:
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)


def settings_keyed(armature: bpy.types.Object, bone: str, setting: str, values: Iterable[tuple[int, Any]]) -> None:
    """Key a setting of a look-at."""
    for frame, value in values:
        setattr(armature.pose.bones[bone].lookat_pd, setting, value)
        armature.keyframe_insert(f"{look_at_edit.settings_path(bone)}.{setting}", frame=frame)


def quick_matrix(location: Sequence[float], angles: Sequence[float], scale: Sequence[float]) -> Matrix:
    return Matrix.LocRotScale(Vector(location), Euler(angles), Vector(scale))
