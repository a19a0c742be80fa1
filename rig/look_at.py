"""From a look-at's settings on a pose bone to what the solver needs, with every complaint worded for the animator."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import bpy
import numpy as np
from mathutils import Vector

from ..lookat_pd import gaze, pd, rotation
from ..lookat_pd.errors import RigError
from ..lookat_pd.follow import Tuning
from ..lookat_pd.skeleton import Skeleton
from . import actions, detect, rest
from .sample import Target
from .settings import AIM_AXES, DAMPING_RATIOS

_HOLDERS = (bpy.types.Scene, bpy.types.Collection, bpy.types.WindowManager, bpy.types.Screen, bpy.types.WorkSpace)
"""What uses an object without being moved by it."""

Schedule = tuple[tuple[float, int | None], ...]
"""When (frame) to look at which target (index), or at none."""


@dataclass(frozen=True)
class LookAt:
    """A look-at ready to be solved. bones: names, head first. schedule: None where the `use` setting decides.

    plain: each bone simply carries the next, so forward kinematics predicts the pose and nothing needs to be verified.
    """

    armature: bpy.types.Object
    bones: tuple[str, ...]
    chain: gaze.Chain
    tuning: Tuning
    targets: tuple[Target, ...]
    schedule: Schedule | None
    plain: bool

    @property
    def bone(self) -> str:
        return self.bones[0]

    @property
    def aim_axis(self) -> tuple[float, float, float]:
        """Unit vector in the bone's own frame."""
        x, y, z = self.chain.forward[0]
        return float(x), float(y), float(z)


def exists_on(bone: bpy.types.PoseBone) -> bool:
    """Whether a pose bone has a look-at: added by the operator, or by a script that set a target."""
    return bone.lookat_pd.exists or bone.lookat_pd.target is not None


def bones_with_look_at(armature: bpy.types.Object) -> list[str]:
    """Names of an armature's bones that have a look-at."""
    return [bone.name for bone in armature.pose.bones if exists_on(bone)]


def check_armature(armature: bpy.types.Object | None) -> bpy.types.Object:
    """Raise RigError unless this is an armature whose pose can be changed."""
    if armature is None:
        raise RigError("There is no armature; select one and try again.")
    if armature.type != "ARMATURE":
        raise RigError(f"'{armature.name}' is not an armature; select the character's armature.")
    if armature.library is not None:
        raise RigError(
            f"'{armature.name}' is linked from a library; make a library override of it (Object > Library Override) "
            "first."
        )
    if not armature.pose or not len(armature.pose.bones):
        raise RigError(f"Armature '{armature.name}' has no bones; add some, or reload the library it comes from.")
    return armature


def find_head(armature: bpy.types.Object) -> str:
    """Name of the bone that aims, found from the rig."""
    return detect.find_head(rest.skeleton(armature), rest.clues(armature))


def add(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bone: str,
    target: bpy.types.Object | None,
    *,
    make_target: bool = False,
) -> None:
    """Give a bone a look-at with the detected chain. Raises RigError, and then changes nothing.

    make_target: without a target, put an empty in front of the face.
    """
    check_armature(armature)
    if bone not in armature.pose.bones:
        raise RigError(f"Armature '{armature.name}' has no bone '{bone}'; choose one that exists.")
    owner = armature.pose.bones[bone]
    if exists_on(owner):
        raise RigError(f"Bone '{bone}' has a look-at already; change its settings, or remove it first.")
    links = detect.find_chain(rest.skeleton(armature), bone, rest.clues(armature))
    if target is not None and target.type != "ARMATURE":
        check_target(armature, [link.bone for link in links], Target(target))
    settings = owner.lookat_pd
    settings.exists = True
    _write_chain(settings, links)
    if target is None and make_target:
        target = _new_target(scene, armature, bone)
    settings.target = target
    if target is not None and target.type == "ARMATURE" and target != armature:
        # Another character: look at its face, not at the floor it stands on.
        settings.subtarget = _head_or_nothing(target)


def remove(armature: bpy.types.Object, bone: str) -> None:
    """Take a look-at away with its settings and their keys, as if it had never been there."""
    actions.remove_curves(armature, f"{settings_path(bone)}.")
    settings = armature.pose.bones[bone].lookat_pd
    # One by one: unsetting the group as a whole would leave scripts that hold it with a dead pointer.
    for name in settings.bl_rna.properties.keys():
        if name not in ("rna_type", "name"):
            settings.property_unset(name)


def settings_path(bone: str) -> str:
    """Data path from the armature object to a bone's look-at (Blender cannot work it out for settings on bones)."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].lookat_pd'


def key_state(armature: bpy.types.Object, bone: str, setting: str, frame: int) -> str:
    """Whether a setting is "KEYED" at this frame, "ANIMATED" elsewhere, or neither ("NONE")."""
    frames = actions.key_frames(armature, f"{settings_path(bone)}.{setting}")
    return "NONE" if frames is None else "KEYED" if frame in frames else "ANIMATED"


def toggle_key(armature: bpy.types.Object, bone: str, setting: str, frame: int) -> None:
    """Key `use` or `influence` at a frame, or delete the key that is there. Raises RigError."""
    action = armature.animation_data.action if armature.animation_data else None
    if action is not None and not action.is_editable:
        raise RigError(f"Action '{action.name}' is linked from a library; make a copy of it to key the look-at.")
    path = f"{settings_path(bone)}.{setting}"
    if key_state(armature, bone, setting, frame) == "KEYED":
        armature.keyframe_delete(path, frame=frame)
    else:
        armature.keyframe_insert(path, frame=frame)


def activate(armature: bpy.types.Object, bone: str) -> None:
    """Make a bone the active one, so that panels show it."""
    armature.data.bones.active = armature.data.bones[bone]


def is_selected(bone: bpy.types.PoseBone) -> bool:
    """Whether a pose bone is selected; the property moved in Blender 5."""
    return bone.select if hasattr(bone, "select") else bone.bone.select


def belongs_to(item: bpy.types.Object, armature: bpy.types.Object) -> bool:
    """Whether an object is the armature or part of its character: a child, or deformed by it."""
    while item is not None:
        if item == armature or item.find_armature() == armature:
            return True
        item = item.parent
    return False


def _head_or_nothing(armature: bpy.types.Object) -> str:
    try:
        return find_head(armature)
    except RigError:
        return ""


def _new_target(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> bpy.types.Object:
    """An empty in front of the face, a character's height away."""
    skeleton = rest.skeleton(armature)
    forward, _ = detect.find_axes(skeleton, rest.clues(armature))
    size = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0))) or 1.0
    local = skeleton.rotations[skeleton.index(bone)]
    pose = armature.pose.bones[bone].matrix
    here = rotation.from_matrix(np.array(pose)[:3, :3])
    ahead = rotation.rotate(rotation.multiply(here, rotation.inverse(local)), forward)
    place = np.array(pose.translation) + size * ahead
    empty = bpy.data.objects.new(f"{armature.name} Target", None)
    empty.empty_display_type = "SPHERE"
    scale = float(np.mean(np.abs(armature.matrix_world.to_scale())))
    empty.empty_display_size = 0.04 * size * scale
    empty.location = armature.matrix_world @ Vector(place)
    scene.collection.objects.link(empty)
    return empty


def fill_chain(armature: bpy.types.Object, bone: str) -> None:
    """Write the detected chain into the settings of a look-at, replacing what is there."""
    links = detect.find_chain(rest.skeleton(armature), bone, rest.clues(armature))
    _write_chain(armature.pose.bones[bone].lookat_pd, links)


def _write_chain(settings, links: Sequence[detect.Link]) -> None:
    settings.chain_index = 0
    # Items that a library override has from its library can be changed, not removed.
    for n, link in enumerate(links):
        item = settings.chain[n] if n < len(settings.chain) else settings.chain.add()
        item.bone, item.share, item.settle_factor = link.bone, link.share, link.settle_factor
        item.yaw_limit, item.makes_up = link.yaw_limit, link.makes_up
        item.pitch_up_limit, item.pitch_down_limit = link.pitch_up_limit, link.pitch_down_limit
    for n in range(len(settings.chain) - 1, len(links) - 1, -1):
        settings.chain.remove(n)


def tuning(settings) -> Tuning:
    """The controller's tuning as a look-at's settings give it."""
    return Tuning(
        settle_time=settings.settle_time,
        damping_ratio=DAMPING_RATIOS.get(settings.damping, settings.damping_ratio),
        integrator=settings.integrator.lower(),
        method=settings.method.lower(),
        max_speed=settings.max_speed,
        feed_forward=settings.feed_forward,
        release_angle=settings.release_angle,
        release_speed=settings.release_speed,
        release_time=settings.release_time,
    )


STEP = np.radians(60.0)


@lru_cache(maxsize=64)
def step_response(tuning: Tuning) -> np.ndarray:
    """Turn (101,) [rad] of the head over two settle times when it is told to turn by STEP."""
    return pd.track(
        np.full(101, STEP),
        0.02 * tuning.settle_time,
        tuning.settle_time,
        tuning.damping_ratio,
        x0=0.0,
        max_speed=tuning.max_speed or None,
    )[0]


def resolve(
    armature: bpy.types.Object | None,
    bone: str,
    targets: Sequence[Target] | None = None,
    schedule: Schedule | None = None,
) -> LookAt:
    """The look-at on `bone`; targets and schedule replace the one in the settings. Raises RigError."""
    armature = check_armature(armature)
    if bone not in armature.pose.bones:
        raise RigError(f"Armature '{armature.name}' has no bone '{bone}'; choose one that exists.")
    if armature.mode == "EDIT":
        raise RigError(f"Armature '{armature.name}' is in edit mode; leave it (Tab) and try again.")
    if armature.data.pose_position == "REST":
        raise RigError(f"Armature '{armature.name}' is shown in rest position; switch it to pose position.")
    settings = armature.pose.bones[bone].lookat_pd
    if targets is None:
        targets = [Target(settings.target, settings.subtarget)]
        if settings.target is None:
            raise RigError(f"The look-at on '{bone}' has no target; choose an object for it to look at.")
    skeleton = rest.skeleton(armature)
    links = _links(armature, skeleton, bone)
    bones = tuple(link.bone for link in links)
    for target in targets:
        check_target(armature, bones, target)
    _check_free(armature, bones)
    plain = is_plain(armature, bones) and not any(_hangs_on(target, armature) for target in targets)
    chain = _chain(armature, skeleton, links, settings)
    return LookAt(armature, bones, chain, tuning(settings), tuple(targets), schedule, plain)


def _links(armature: bpy.types.Object, skeleton: Skeleton, bone: str) -> list[detect.Link]:
    settings = armature.pose.bones[bone].lookat_pd
    if not len(settings.chain):
        return detect.find_chain(skeleton, bone, rest.clues(armature))
    names = [item.bone for item in settings.chain]
    if names[0] != bone:
        raise RigError(
            f"The chain of the look-at on '{bone}' begins with '{names[0]}'; put '{bone}' first, or detect the chain "
            "again."
        )
    for name in names:
        if name not in armature.pose.bones:
            raise RigError(f"The chain of the look-at on '{bone}' names '{name}', which does not exist; remove it.")
        if names.count(name) > 1:
            raise RigError(f"The chain of the look-at on '{bone}' holds '{name}' twice; remove one of them.")
    making_up, links = True, []
    for item in settings.chain:
        making_up = making_up and (item.makes_up or not links)
        links.append(
            detect.Link(
                item.bone,
                item.share,
                item.settle_factor,
                item.yaw_limit,
                item.pitch_up_limit,
                item.pitch_down_limit,
                making_up,
            )
        )
    return links


def check_target(armature: bpy.types.Object, bones: Sequence[str], target: Target) -> None:
    """Raise RigError where there is nothing to look at, or where looking would move what is looked at."""
    if target.point is not None:
        if not np.all(np.isfinite(target.point)):
            raise RigError(f"The point to look at, {target.point}, is not finite; give three numbers.")
        return
    item = target.object
    if item is None:
        raise RigError("There is nothing to look at; choose an object or a point.")
    if not item.users_scene and not item.library:
        raise RigError(f"The target '{item.name}' is in no scene any more; choose another target.")
    if target.bone:
        if item.type != "ARMATURE" or target.bone not in item.pose.bones:
            raise RigError(f"The target '{item.name}' has no bone '{target.bone}'; choose another bone.")
    elif item == armature:
        raise RigError(f"The target is the armature '{item.name}' itself; choose one of its bones or another object.")
    if _rides_on(item, target.bone, armature, bones):
        raise RigError(
            f"The target '{target.label}' moves with the chain that looks at it; choose a target outside it."
        )


def _rides_on(item: bpy.types.Object, bone: str, armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether an object, or a bone of it, is carried by the chain itself or by the head: by parents or constraints."""
    head = armature.pose.bones[bones[0]]
    seen: set[tuple[bpy.types.Object, str]] = set()
    waiting = [(item, bone)]
    while waiting:
        here = item, bone = waiting.pop()
        if item is None or here in seen:
            continue
        seen.add(here)
        place = item.pose.bones.get(bone) if item.pose and bone else None
        if place is not None and item == armature:
            if bone in bones or head in place.parent_recursive:
                return True
            continue
        waiting.append((item.parent, item.parent_bone if item.parent_type == "BONE" else ""))
        for constraint in item.constraints:
            if not constraint.mute and constraint.influence > 0.0:
                for found in (constraint, *getattr(constraint, "targets", ())):
                    waiting.append((getattr(found, "target", None), getattr(found, "subtarget", "")))
    return False


def _check_free(armature: bpy.types.Object, bones: Sequence[str]) -> None:
    follows = rest.clues(armature).follows
    for name in bones:
        if name in follows:
            raise RigError(
                f"Bone '{name}' copies its rotation from '{follows[name]}', so an offset has no effect; "
                f"put '{follows[name]}' into the chain instead."
            )


def is_plain(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether the bones carry each other as parents do, with no constraint in between."""
    line = [armature.pose.bones[bones[0]], *armature.pose.bones[bones[0]].parent_recursive]
    names = [bone.name for bone in line]
    places = [names.index(name) if name in names else -1 for name in bones]
    if -1 in places or places != sorted(places):
        return False
    for bone in line[: places[-1] + 1]:
        if any(not constraint.mute for constraint in bone.constraints):
            return False
        if bone.name != bones[-1] and not bone.bone.use_inherit_rotation:
            return False
    return True


def _hangs_on(target: Target, armature: bpy.types.Object) -> bool:
    """Whether the target may move with the armature's own bones: as child, by constraints, drivers or modifiers."""
    if target.object is None or target.object == armature:
        return target.object is not None
    users = bpy.data.user_map()
    seen: set[bpy.types.ID] = set()
    waiting: list[bpy.types.ID] = [armature]
    while waiting:
        item = waiting.pop()
        if item == target.object:
            return True
        if item not in seen:
            seen.add(item)
            waiting.extend(user for user in users.get(item, ()) if not isinstance(user, _HOLDERS))
    return False


def _chain(armature: bpy.types.Object, skeleton: Skeleton, links: Sequence[detect.Link], settings) -> gaze.Chain:
    rows = [skeleton.index(link.bone) for link in links]
    forward, up = detect.find_axes(skeleton, rest.clues(armature))
    head = rows[0]
    if settings.aim_axis != "AUTO":
        forward = rotation.rotate(skeleton.rotations[head], np.array(AIM_AXES[settings.aim_axis]))
        if abs(np.dot(forward, up)) > 0.99:
            # The axis points up or down at rest: then the character's front is up for the look-at.
            up = detect.find_axes(skeleton, rest.clues(armature))[0]
    back = rotation.inverse(skeleton.rotations[rows])
    sizes = [np.linalg.norm(skeleton.tails[head] - skeleton.heads[head])]
    if len(rows) > 1:
        sizes.append(np.linalg.norm(skeleton.heads[head] - skeleton.heads[rows[1]]))
    return gaze.Chain(
        shares=np.array([link.share for link in links]),
        settle_factors=np.array([link.settle_factor for link in links]),
        yaw_limits=np.array([link.yaw_limit for link in links]),
        pitch_up_limits=np.array([link.pitch_up_limit for link in links]),
        pitch_down_limits=np.array([link.pitch_down_limit for link in links]),
        makes_up=np.array([link.makes_up for link in links]),
        forward=rotation.rotate(back, forward),
        up=rotation.rotate(back, up),
        soft_edge=settings.soft_edge,
        near=0.5 * float(max(sizes)),
    )
