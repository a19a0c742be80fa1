"""The eyes and lids of a rig for a look-at: which bones, shape keys or controls they are, and how they are tuned."""

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.eyes import Eyes
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ....lookat_pd.skeleton import Skeleton
from ...detection import limbs
from ...detection.limbs import EyeBone, LidPoints
from . import blink, shape_eyes, shape_table
from .body_rig import BodyRequest, BodyRig, is_plain
from .shape_eyes import ShapeEye

_NO_EYE_BONE = Message("No eye bone was found, so only the head turns; choose one in the Eyes panel.")
_AT_EYE = 0.12
"""Largest distance of the pivot of a lid from the center of its eye, as a fraction of the distance of the eyes."""


def find_eyes(request: BodyRequest, body: BodyRig) -> BodyRig:
    """Eye bones, or shape keys that turn the eyes: those of the table, or where there is no bone."""
    chosen, notes = request.settings.eyes, request.notes
    by_shapes = chosen.turned_by == "SHAPE_KEYS" or (chosen.turned_by == "AUTO" and shape_table.turns_eyes(chosen))
    eyes: tuple[EyeBone, ...] = () if by_shapes else _eyes(request.armature, request.chain, chosen, notes)
    if not by_shapes and chosen.turned_by == "AUTO" and not (chosen.left or chosen.right):
        driving = shape_eyes.driving_controls(request.armature, eyes)
        if driving:
            notes.append(
                Message(
                    "Drivers turn the eyes, probably by control bones such as '{bone}'; use Detect Eye Controls in "
                    "the Eyes panel.",
                    bone=driving[0],
                )
            )
    if eyes or chosen.turned_by == "BONES":
        return replace(body, eyes=eyes)
    looks, lacking = _looks(request)
    if looks:
        # They need no bone.
        notes[:] = [note for note in notes if note != _NO_EYE_BONE]
        blink.note(shape_eyes.lids(looks), notes)
        shape_eyes.note_unseen(request.armature, (c.bone for c in shape_eyes.controls(looks)), notes)
    elif lacking:
        notes += lacking
    elif by_shapes:
        notes.append("No shape keys that turn the eyes were found, so only the head turns; add them in the Eyes panel.")
    return replace(body, looks=looks)


def _looks(request: BodyRequest) -> tuple[tuple[ShapeEye, ...], list[str]]:
    """The eyes that shape keys turn."""
    assert request.axes is not None
    head = request.chain[0]
    back = rotation.inverse(request.skeleton.rotations[request.skeleton.index(head)])
    forward, up = (rotation.rotate(back, axis) for axis in request.axes)
    return shape_eyes.find(request.armature, request.skeleton, head, (forward, up), request.settings.eyes)


def find_lids(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The lids of a body with eyes."""
    if not (body.eyes or body.looks):
        return body
    chosen, notes = request.settings.eyes.blink_key, request.notes
    middles = _middles(request, body)
    shapes, closers = shape_eyes.closing(request.armature, request.settings.eyes)
    if shapes or closers:
        blink.note(shapes, notes)
        shape_eyes.note_unseen(request.armature, (control.bone for control in closers), notes)
        return replace(body, closers=closers, shapes=shapes)
    lids = () if chosen else _lid_bones(request.armature, request.chain, request.skeleton, middles)
    points = () if chosen or lids else _lid_points(request.armature, request.chain, middles)
    shapes = () if lids or points else tuple(blink.find(request.armature, chosen))
    if not (lids or points or shapes):
        notes.append(
            "No eyelid bone or shape key was found, so the eyes do not blink; choose a shape key in the Eyes panel."
        )
    blink.note(shapes, notes)
    return replace(body, lids=lids, lid_points=points, shapes=shapes)


def find_following_lids(request: BodyRequest, body: BodyRig) -> BodyRig:
    """The same lids, also if they do not blink."""
    if not (body.eyes or body.looks):
        return body
    if not (body.lid_bones or body.shapes):
        quiet = replace(request, notes=[])
        body = find_lids(quiet, body)
        if body.lid_bones or body.shapes:
            request.notes += [note for note in quiet.notes if note not in request.notes]
        else:
            request.notes.append(
                "No eyelid bone or shape key was found, so the eyelids do not follow the eyes; choose a shape key in "
                "the Eyes panel."
            )
    return body


def _middles(request: BodyRequest, body: BodyRig) -> Array:
    """The centers (k, 3) of the eyes at rest, in armature space."""
    skeleton = request.skeleton
    if body.eyes:
        return np.array([skeleton.heads[skeleton.index(eye.bone)] for eye in body.eyes])
    head = skeleton.index(request.chain[0])
    centers = np.array([eye.center for eye in body.looks])
    return skeleton.heads[head] + rotation.rotate(skeleton.rotations[head], centers)


def tune_eyes(request: BodyRequest, body: BodyRig) -> BodyRig:
    if not (body.eyes or body.looks):
        return body
    eyes, aim = request.settings.eyes, request.aim
    assert aim is not None
    limits = eyes.yaw_limit, eyes.pitch_up_limit, eyes.pitch_down_limit
    if body.looks:
        limits = tuple(map(min, limits, shape_eyes.largest_turns(body.looks)))
    ocular = Eyes(
        forward=np.tile(aim[0], (len(body.looks), 1))
        if body.looks
        else _eye_axes(request.skeleton, request.chain, body.eyes, aim),
        head_forward=aim[0],
        head_up=aim[1],
        yaw_limit=limits[0],
        pitch_up_limit=limits[1],
        pitch_down_limit=limits[2],
        vergence=eyes.vergence,
        vergence_limit=eyes.vergence_limit,
        blink_from=eyes.blink_from,
        micro=eyes.micro,
        seed=eyes.seed,
    )
    # The typed value without the error of single precision: 75 milliseconds end at a step of the solver.
    return replace(body, ocular=ocular, head_delay=round(eyes.head_delay, 6))


def tune_lids(request: BodyRequest, body: BodyRig) -> BodyRig:
    return replace(body, blink_angle=request.settings.eyes.blink_angle)


def tune_following(request: BodyRequest, body: BodyRig) -> BodyRig:
    eyes = request.settings.eyes
    return replace(body, lid_follow=eyes.lid_follow, blink_angle=eyes.blink_angle)


def check_eye(armature: bpy.types.Object, bone: str) -> None:
    """Raise RigError if there is no such bone."""
    if bone not in armature.pose.bones:
        raise RigError(
            "Armature '{armature}' has no bone '{bone}' for an eye; choose another bone.",
            armature=armature.name,
            bone=bone,
            code="bone-missing",
        )


def _eyes(armature: bpy.types.Object, chain: Sequence[str], chosen, notes: list[str]) -> tuple[EyeBone, ...]:
    names = [name for name in (chosen.left, chosen.right) if name]
    for name in names:
        check_eye(armature, name)
        if name in chain:
            raise RigError(
                "Bone '{bone}' is in the chain of the look-at and cannot be an eye; choose another bone.", bone=name
            )
    eyes_of_rig = limbs.find_eyes(armature)
    if names:
        known = {eye.bone: eye for eye in eyes_of_rig}
        eyes_of_rig = [known.get(name, EyeBone(name)) for name in dict.fromkeys(names)]
    if not eyes_of_rig:
        notes.append(_NO_EYE_BONE)
    return tuple(eyes_of_rig)


def _lid_bones(armature: bpy.types.Object, chain: Sequence[str], skeleton: Skeleton, middles: Array) -> tuple[str, ...]:
    """Upper lids whose pivot is at the center of their eye, so that rotation closes them."""
    lids = limbs.find_lids(armature)
    if len(lids) != len(middles) or set(lids) & set(chain) or not is_plain(armature, lids, chain):
        return ()
    pivots = np.array([skeleton.heads[skeleton.index(lid)] for lid in lids])
    size = np.linalg.norm(np.ptp(middles, axis=0))
    return tuple(lids) if np.all(np.linalg.norm(pivots - middles, axis=1) < _AT_EYE * size) else ()


def _lid_points(armature: bpy.types.Object, chain: Sequence[str], middles: Array) -> tuple[LidPoints, ...]:
    """The controls along the lids, if there are as many lids as eyes."""
    found = limbs.find_lid_points(armature)
    if len(found) != len(middles) or any(set(points.upper) & set(chain) for points in found):
        return ()
    return tuple(found)


def _eye_axes(skeleton: Skeleton, chain: Sequence[str], eyes: Sequence[EyeBone], aim: tuple[Array, Array]) -> Array:
    """The gaze axis of each eye (k, 3) in its own frame: at rest that of the head."""
    ahead = rotation.rotate(skeleton.rotations[skeleton.index(chain[0])], aim[0])
    return np.array(
        [rotation.rotate(rotation.inverse(skeleton.rotations[skeleton.index(eye.bone)]), ahead) for eye in eyes]
    )
