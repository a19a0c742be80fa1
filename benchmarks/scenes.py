"""Scenes to measure in: chain characters with an animation, a heavy skinned mesh, a generated Rigify rig."""

from dataclasses import dataclass
from time import perf_counter

import bpy
import numpy as np
from mathutils import Euler

from standalone import load

actions = load("rig.animation.actions")
keys = load("rig.animation.keys")
links = load("rig.detection.chain_defaults")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")

BONES = 10
"""Bones of a chain character: head, two necks, two chests, four spines and hips, all of them in the look-at's chain."""
FPS = 24
_PARTS = (links.HEAD, *2 * [links.NECK], *2 * [links.CHEST], *4 * [links.SPINE], links.HIPS)
_HEIGHT = 0.18
_KEY_EVERY = 6


@dataclass(frozen=True)
class Character:
    """An armature with an action of its own and what it looks at."""

    armature: bpy.types.Object
    action: bpy.types.Action
    target: bpy.types.Object
    bones: tuple[str, ...]
    """The chain's names, head first."""

    @property
    def look_at(self):
        """The look-at, ready to be baked."""
        return look_at.resolve(self.armature, self.bones[0])


def empty_file() -> bpy.types.Scene:
    """The scene of an empty factory file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = FPS
    return bpy.context.scene


def played(scene: bpy.types.Scene, frames: int) -> float:
    """Seconds of a frame when frames 1 to `frames` are played."""
    scene.frame_set(1)
    begin = perf_counter()
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
    return (perf_counter() - begin) / frames


def chain_character(
    scene: bpy.types.Scene, frames: int, number: int = 0, limbs: int = 0, *, body: bool = False
) -> Character:
    """A chain of bones that sways for that many frames and has a look-at on a target that moves past.

    limbs: how many more bones, as animated as those of the chain, hang on it. body: eyes, arms and legs too.
    """
    data = bpy.data.armatures.new(f"Chain {number}")
    armature = bpy.data.objects.new(f"Chain {number}", data)
    scene.collection.objects.link(armature)
    armature.location.x = 2.0 * number
    names = _grow(armature, limbs)
    if body:
        _grow_body(armature, names)
    target = bpy.data.objects.new(f"Target {number}", None)
    scene.collection.objects.link(target)
    _fly(target, (armature.location.x, -2.0, 1.8), frames)
    action = _sway(armature, frames, seed=number)
    look_at_edit.add(scene, armature, names[0], target)
    _use_all(armature.pose.bones[names[0]].lookat_pd, names)
    return Character(armature, action, target, names)


def _grow(armature: bpy.types.Object, limbs: int) -> tuple[str, ...]:
    """Bones one on top of the other, from the hips up, and others that hang on them; the chain's names, head first."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    chain: list[bpy.types.EditBone] = []
    for n, part in enumerate(reversed(_PARTS)):
        bone = bones.new(f"{part}.{n:02d}")
        bone.head, bone.tail = (0.0, 0.01 * (n % 2), n * _HEIGHT), (0.0, 0.01 * ((n + 1) % 2), (n + 1) * _HEIGHT)
        bone.parent, bone.use_connect = (chain[-1], True) if chain else (None, False)
        chain.append(bone)
    names = tuple(bone.name for bone in reversed(chain))
    for n in range(limbs):
        bone = bones.new(f"limb.{n:02d}")
        bone.parent = chain[n % len(chain)]
        bone.head, bone.tail = (0.1, 0.0, bone.parent.head.z), (0.1, 0.1, bone.parent.head.z)
    bpy.ops.object.mode_set(mode="OBJECT")
    return names


_BODY = (
    ("eye", "head", (0.03, -0.08, 1.7), (0.03, -0.1, 1.7)),
    ("upper_arm", "chest", (0.17, 0.0, 1.2), (0.22, 0.03, 0.9)),
    ("forearm", "upper_arm", (0.22, 0.03, 0.9), (0.26, -0.04, 0.65)),
    ("hand", "forearm", (0.26, -0.04, 0.65), (0.27, -0.05, 0.55)),
    ("thigh", "hips", (0.1, 0.0, 0.0), (0.11, -0.03, -0.45)),
    ("shin", "thigh", (0.11, -0.03, -0.45), (0.12, 0.02, -0.88)),
    ("foot", "shin", (0.12, 0.02, -0.88), (0.12, -0.15, -0.95)),
)
"""Limbs of the left side: name, part of the body or limb that is its parent, head, tail."""


def _grow_body(armature: bpy.types.Object, names: tuple[str, ...]) -> None:
    """Eyes, arms and legs on a chain of these bones, head first."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, parent, head, tail in _BODY:
            bone = bones.new(f"{name}.{side}")
            on_chain = next((other for other in names if other.startswith(parent)), None)
            bone.parent = bones[on_chain or f"{parent}.{side}"]
            bone.head, bone.tail = ((sign * x, y, z) for x, y, z in (head, tail))
    bpy.ops.object.mode_set(mode="OBJECT")


def _use_all(settings, names: tuple[str, ...]) -> None:
    look_at_edit.write_chain(settings, links.share_out(list(zip(names, _PARTS, strict=True))))


def _sway(armature: bpy.types.Object, frames: int, seed: int) -> bpy.types.Action:
    """An action with a quaternion key on each bone every few frames."""
    random = np.random.default_rng(seed)
    action, slot = actions.new_action(f"Sway {seed}", armature)
    data = armature.animation_data_create()
    data.action, data.action_slot = action, slot
    bag = actions.channelbag(action, slot, ensure=True)
    times = _key_times(frames)
    for name in armature.pose.bones.keys():
        turns = [Euler(angles).to_quaternion() for angles in random.normal(0.0, 0.05, (len(times), 3))]
        path = actions.rotation_path(name, "QUATERNION")
        for n, values in enumerate(np.array(turns).T):
            _smooth(times, values).write(bag.fcurves.new(path, index=n))
    return action


def _smooth(times: np.ndarray, values: np.ndarray):
    """Bezier keys, as animators set them."""
    result = keys.Keys.dense(times, values)
    result.attributes["interpolation"][:] = keys.BEZIER
    return result


def _key_times(frames: int) -> np.ndarray:
    """Frames with a key, the first and the last among them."""
    return np.append(np.arange(1, frames, _KEY_EVERY), frames)


def _fly(target: bpy.types.Object, center: tuple[float, float, float], frames: int) -> None:
    """To and fro in front of the face, once in a hundred frames."""
    action = bpy.data.actions.new(f"{target.name} flight")
    slot = action.slots.new(id_type="OBJECT", name=target.name)
    data = target.animation_data_create()
    data.action, data.action_slot = action, slot
    bag = actions.channelbag(action, slot, ensure=True)
    times = _key_times(frames)
    swing = 1.5 * np.sin(times * 2.0 * np.pi / 100.0)
    for n, values in enumerate((center[0] + swing, np.full(len(times), center[1]), center[2] + 0.2 * swing)):
        _smooth(times, values).write(bag.fcurves.new("location", index=n))


def skin(scene: bpy.types.Scene, character: Character, rows: int, columns: int) -> bpy.types.Object:
    """A tube of rows by columns vertices around the character, each bound to the two bones nearest to it."""
    height = BONES * _HEIGHT
    z, around = np.linspace(0.0, height, rows), np.linspace(0.0, 2.0 * np.pi, columns, endpoint=False)
    vertices = np.empty((rows, columns, 3))
    vertices[..., 0], vertices[..., 1], vertices[..., 2] = 0.2 * np.cos(around), 0.2 * np.sin(around), z[:, None]
    corners = np.arange(rows * columns).reshape(rows, columns)
    beside = np.roll(corners, -1, axis=1)
    faces = np.stack((corners[:-1], beside[:-1], beside[1:], corners[1:]), axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata(vertices.reshape(-1, 3).tolist(), [], faces.tolist())
    body = bpy.data.objects.new("Skin", mesh)
    scene.collection.objects.link(body)
    body.parent = character.armature
    groups = [body.vertex_groups.new(name=name) for name in reversed(character.bones)]
    for row, place in zip(corners, np.clip(z / _HEIGHT - 0.5, 0.0, BONES - 1.001), strict=True):
        below, blend = int(place), float(place % 1.0)
        groups[below].add(row.tolist(), 1.0 - blend, "REPLACE")
        groups[below + 1].add(row.tolist(), blend, "REPLACE")
    modifier = body.modifiers.new("Armature", "ARMATURE")
    modifier.object = character.armature
    return body


def rigify_human(scene: bpy.types.Scene) -> Character:
    """The demo's generated Rigify rig with its performance of 250 frames and a look-at on the demo's ball."""
    demo = load("assets.demo.human").build_scene(scene)
    head = look_at.find_head(demo.rig)
    look_at_edit.add(scene, demo.rig, head, demo.ball)
    bones = look_at.resolve(demo.rig, head).bones
    return Character(demo.rig, demo.action, demo.ball, bones)
