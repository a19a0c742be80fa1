"""Taking over the springs of a VRM file or of the VRM add-on, with what they collide with."""

from dataclasses import dataclass

import bpy
from mathutils import Matrix, Vector

from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ..animation import editable
from . import chains, colliders, find_chains, springs_edit, vrm_frames, vrm_known, vrm_tuning
from .chains import SpringChain
from .vrm_data import VrmChain, VrmCollider, VrmSprings

_PULLS = Message(
    "Gravity of the joints of '{name}' points to different sides in the VRM file; the nearest that they can have "
    "together is taken."
).template


@dataclass(frozen=True)
class Taken:
    """What has been taken over."""

    chains: tuple[SpringChain, ...]
    notes: tuple[Message, ...]


def take_over(scene: bpy.types.Scene, armature: bpy.types.Object, said: VrmSprings) -> Taken:
    """Give an armature the springs of a file. Raises RigError, and then changes nothing.

    Springs that its bones have already are replaced.
    """
    editable.check_changeable(armature)
    bones = armature.data.bones
    absent = [joint.bone for chain in said.chains for joint in chain.joints if joint.bone not in bones]
    fitting = _fitting(armature, said)
    if said.chains and not fitting:
        raise RigError(
            "The springs of the VRM file name no bone of '{armature}', such as '{name}'; choose the file of the "
            "character.",
            armature=armature.name,
            name=absent[0] if absent else "",
        )
    lines = [[joint.bone for joint in chain.joints] for chain in fitting]
    for line in lines:
        for bone in line:
            SpringChain(armature, bone).check_bone()
    taken = {bone for line in lines for bone in line}
    for chain in list(chains.on(armature)):
        if taken.intersection(chain.bones):
            springs_edit.remove(chain)
    presets = [find_chains.preset_of(armature, line[0]) for line in lines]
    made = springs_edit.add(armature, lines, presets)
    for chain, own in zip(made, fitting, strict=True):
        vrm_tuning.use(scene, chain, own)
    for item in list(scene.objects):
        if vrm_known.MADE in item and item.parent == armature:
            bpy.data.objects.remove(item)
    there = [collider for collider in vrm_frames.in_bones(armature, said) if collider.bone in bones]
    for collider in there:
        _take(scene, armature, collider)
    vrm_known.note_taken(armature, [bone for line in lines for bone in line], there)
    missing = VrmSprings((), missing=(*said.missing, *dict.fromkeys(absent)), others=said.others)
    turned = [Message(_PULLS, name=own.joints[0].bone) for own in fitting if not vrm_tuning.is_pull_kept(scene, own)]
    return Taken(tuple(made), (*missing.notes, *turned))


def _fitting(armature: bpy.types.Object, said: VrmSprings) -> list[VrmChain]:
    """Chains of bones that are there, each bone in the first one that has it."""
    taken: set[str] = set()
    found = []
    for chain in said.chains:
        joints = [joint for joint in chain.joints if joint.bone in armature.data.bones and joint.bone not in taken]
        # What hangs on a bone that is not there is a chain all the same.
        if joints:
            taken.update(joint.bone for joint in joints)
            found.append(VrmChain(tuple(joints), chain.center, chain.groups))
    return found


def _take(scene: bpy.types.Scene, armature: bpy.types.Object, collider: VrmCollider) -> None:
    """Have a collider of a file: one that is here already, as after writing it, otherwise a new empty."""
    for known in colliders.on(scene):
        now = vrm_known.as_in_file(armature, known)
        if now is not None and now.is_like(collider):
            known.settings.groups = ", ".join(collider.groups)
            return
    item = springs_edit.add_collider(scene, collider.shape)
    item.name = f"{collider.bone} Collider"
    place(item, armature, collider)
    item[vrm_known.MADE] = True
    vrm_known.mark(item, collider)
    item.lookat_pd_collider.groups = ", ".join(collider.groups)
    item.lookat_pd_collider.friction = 0.0


def place(item: bpy.types.Object, armature: bpy.types.Object, collider: VrmCollider) -> None:
    """Put an empty where a collider is, on its bone."""
    begin, end = Vector(collider.begin), Vector(collider.end)
    item.parent, item.parent_type, item.parent_bone = armature, "BONE", collider.bone
    # What hangs on a bone hangs on its tail.
    item.matrix_parent_inverse = Matrix.Translation((0.0, -armature.data.bones[collider.bone].length, 0.0))
    along = end - begin
    middle = 0.5 * (begin + end) if collider.shape == "CAPSULE" else begin
    turn = along.to_track_quat("Z", "Y") if along.length > 1e-9 else Matrix.Identity(3).to_quaternion()
    item.matrix_basis = Matrix.LocRotScale(middle, turn, None)
    item.empty_display_size = max(collider.radius, 1e-4) if collider.shape != "PLANE" else 0.1
    if collider.shape == "CAPSULE":
        item.lookat_pd_collider.length = along.length
