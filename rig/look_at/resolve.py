"""From a look-at's settings on a pose bone to what the solver needs, with every error worded for the animator."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import bpy
import numpy as np

from ...lookat_pd import gaze, pd, rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.pd.followers import Tuning
from ...lookat_pd.skeleton import Skeleton
from ..animation.editable import check_bones
from ..animation.stored_settings import stored
from ..detection import constrained, detect, read_once, rest, stance
from ..layers.controller_settings import damping_ratio
from ..sampling import plain_chain
from ..sampling import targets as looked_at
from ..sampling.targets import Target
from . import eye_origin, facing, mixing
from . import world_up as upward
from .body import layers
from .body.blink import Lid
from .body.body_rig import BodyRig
from .world_up import WorldUp

_COMFORTABLE = 2.0 / 3.0
"""Fraction of the ocular range in which eyes settle; the rest is used while the head has not turned yet."""
Schedule = tuple[tuple[float, int | None], ...]
"""When (frame) to look at which target (index), or at none."""


@dataclass(frozen=True)
class LookAt:
    """A look-at ready to be solved."""

    armature: bpy.types.Object
    bones: tuple[str, ...]
    """Names of the bones of the chain, head first."""
    chain: gaze.Chain
    tuning: Tuning
    targets: tuple[Target, ...]
    schedule: Schedule | None
    """None where the settings and their keys decide."""
    plain: bool
    """Whether forward kinematics from bone to bone predicts the pose, so that nothing needs to be verified."""
    body: BodyRig | None = None
    """The body response, None for none."""
    notes: tuple[str, ...] = ()
    """What is doubtful or unknown in the detection."""
    world_up: WorldUp = field(default_factory=WorldUp)
    """The direction to which the chain levels the head."""
    occluders: tuple[bpy.types.Object, ...] = ()
    """Objects behind which targets are let go."""

    @property
    def mixes(self) -> bool:
        """Whether all targets are looked at by their weights."""
        return self.schedule is None and self.armature.pose.bones[self.bone].lookat_pd.use_mix

    @property
    def watched(self) -> tuple[Target, ...]:
        """All points whose motion matters: the targets, then those that show which way is up."""
        return (*self.targets, *self.world_up.points)

    @property
    def surroundings(self) -> list[bpy.types.Object | None]:
        """All objects on whose motion the gaze depends, beyond the character."""
        return [*(target.object for target in self.watched), *self.occluders]

    @property
    def turned(self) -> tuple[str, ...]:
        """All bones that turn: the chain, and those of the body."""
        return self.bones if self.body is None else (*self.bones, *self.body.turned)

    @property
    def moved(self) -> tuple[str, ...]:
        """Bones whose location moves."""
        return () if self.body is None else self.body.moved

    @property
    def written(self) -> tuple[str, ...]:
        """The bone of each place that gets something added; one may turn and move."""
        return (*self.turned, *self.moved)

    @property
    def shapes(self) -> tuple[Lid, ...]:
        """Shape keys that close or turn the eyes."""
        return () if self.body is None else self.body.all_shapes

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
    settings = stored(bone, "lookat_pd")
    return settings is not None and (settings.exists or settings.target is not None)


def bones_with_look_at(armature: bpy.types.Object) -> list[str]:
    """Names of an armature's bones that have a look-at."""
    # Most of hundreds of bones have no settings at all.
    return [bone.name for bone in armature.pose.bones if bone.is_property_set("lookat_pd") and exists_on(bone)]


def find_head(armature: bpy.types.Object) -> str:
    """Name of the bone that aims, found from the rig."""
    return detect.find_head(stance.skeleton(armature), rest.hints(armature))


def face(item: bpy.types.Object) -> Target:
    """An object as a target; of a character the head, not the floor it stands on."""
    if item.type == "ARMATURE":
        try:
            return Target(item, find_head(item))
        except RigError:
            pass
    return Target(item)


def tuning(settings) -> Tuning:
    """The controller's tuning as a look-at's settings give it."""
    return Tuning(
        settle_time=settings.settle_time,
        damping_ratio=damping_ratio(settings),
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
    """Turn (101,) [rad] of the head over two settle times for a step of its goal by STEP."""
    return pd.track(
        np.full(101, STEP),
        0.02 * tuning.settle_time,
        tuning.settle_time,
        tuning.damping_ratio,
        x0=0.0,
        max_speed=tuning.max_speed or None,
    )[0]


@read_once.unchanged()
def resolve(
    armature: bpy.types.Object | None,
    bone: str,
    targets: Sequence[Target] | None = None,
    schedule: Schedule | None = None,
) -> LookAt:
    """The look-at on `bone`; targets and schedule replace the one in the settings. Raises RigError."""
    armature = check_bones(armature, [bone])
    settings = armature.pose.bones[bone].lookat_pd
    if targets is None:
        targets = looked_at.listed(settings)
        if all(target == Target() for target in targets):
            raise RigError("The look-at on '{bone}' has no target; choose an object for it to look at.", bone=bone)
        mixing.check(armature, bone)
    occluders = mixing.occluders(armature, bone) if schedule is None else ()
    skeleton = stance.skeleton(armature)
    links = _links(armature, skeleton, bone)
    bones = tuple(link.bone for link in links)
    for target in targets:
        if target != Target():
            looked_at.check(armature, bones, target)
    check_free(armature, bones)
    targets = eye_origin.all_met(targets, armature, settings)
    axes = facing.character(armature, bone, skeleton)
    up = upward.of(armature, bones, settings, axes[1])
    watched = (*targets, *up.points)
    simple = _is_plain(armature, bones) and not any(looked_at.hangs_on(target, armature) for target in watched)
    chain = _chain(armature, skeleton, links, settings)
    body, notes = layers.find(armature, bones, settings, axes)
    chain = eye_origin.aiming_from(chain, eye_origin.place(armature, bone, settings, body, targets))
    doubt = facing.doubt(armature, bone)
    notes = notes if doubt is None else (doubt, *notes)
    resolved = LookAt(armature, bones, chain, tuning(settings), targets, schedule, simple, body, notes, up, occluders)
    return retuned(resolved)


def retuned(look_at: LookAt) -> LookAt:
    """The same look-at, with what its settings say now of how it moves."""
    settings = look_at.armature.pose.bones[look_at.bone].lookat_pd
    body = look_at.body
    if body is not None:
        aim = look_at.chain.forward[0], look_at.chain.up[0]
        body = layers.tuned(body, look_at.armature, look_at.bones, settings, aim)
    with_eyes = body is not None and bool(body.eyes or body.looks)
    chain = replace(
        look_at.chain,
        level=settings.level_head,
        most_roll=settings.head_roll,
        stabilize=settings.stabilize,
        head_speed=settings.head_speed,
        **_left_to_others(settings, with_eyes),
    )
    return replace(look_at, tuning=tuning(settings), chain=chain, body=body)


def _left_to_others(settings, with_eyes: bool) -> dict[str, object]:
    """The division of a turn between chain and eyes from the settings of a look-at, as in `gaze.Chain`."""
    eyes = settings.eyes
    reach = (eyes.yaw_limit, eyes.pitch_up_limit, eyes.pitch_down_limit)
    return {
        "eyes_take": 1.0 - eyes.head_share if with_eyes else 0.0,
        "eyes_reach": tuple(_COMFORTABLE * limit for limit in reach),
        "torso_from": settings.body.torso_from,
        "torso_more": settings.body.torso_more,
    }


def named_links(settings) -> list:
    """The lines of a look-at's chain that name a bone; what a library override cannot take away is emptied."""
    return [item for item in settings.chain if item.bone]


def _links(armature: bpy.types.Object, skeleton: Skeleton, bone: str) -> list[detect.ChainDefault]:
    settings = armature.pose.bones[bone].lookat_pd
    items = named_links(settings)
    if not items:
        return detect.find_chain(skeleton, bone, rest.hints(armature))
    names = [item.bone for item in items]
    if names[0] != bone:
        raise RigError(
            "The chain of the look-at on '{bone}' starts with '{first}'; move '{bone}' to the top, "
            "or detect the chain again.",
            bone=bone,
            first=names[0],
        )
    for name in names:
        if name not in armature.pose.bones:
            raise no_link(bone, name)
        if names.count(name) > 1:
            raise RigError(
                "The chain of the look-at on '{bone}' contains '{name}' twice; remove one of the entries.",
                bone=bone,
                name=name,
            )
    compensating, links = True, []
    for item in items:
        compensating = compensating and (item.makes_up or not links)
        links.append(
            detect.ChainDefault(
                item.bone,
                item.share,
                item.settle_factor,
                item.yaw_limit,
                item.pitch_up_limit,
                item.pitch_down_limit,
                compensating,
            )
        )
    return links


def check_free(armature: bpy.types.Object, bones: Sequence[str]) -> None:
    """Raise RigError where a bone of a chain takes its rotation from something else, whatever is added to it."""
    moved = constrained.read(armature)
    follows = moved.follows
    for name in bones:
        if name in moved.outside:
            other, source = constrained.origin(armature, name)
            if not source:
                raise RigError(
                    "Bone '{bone}' copies its rotation from '{other}' and does not respond to an offset; mute that "
                    "constraint, or leave the bone out of the chain.",
                    bone=name,
                    other=other.name,
                )
            raise RigError(
                "'{rig}' follows '{other}'; add the look-at there, to bone '{bone}'.",
                rig=armature.name,
                other=other.name,
                bone=source,
            )
        if name in follows:
            raise RigError(
                "Bone '{bone}' copies its rotation from '{source}' and does not respond to an offset; "
                "add '{source}' to the chain instead.",
                bone=name,
                source=follows[name],
            )


def _is_plain(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether each bone, head first, is a descendant of the next, with no constraint in between."""
    line = plain_chain.line(armature, bones[0])
    places = [line.index(name) if name in line else -1 for name in bones]
    if -1 in places or places != sorted(places):
        return False
    inner = line[: places[-1]]
    return plain_chain.is_plain(armature, (*inner, bones[-1]), inheriting=inner)


def _head_length(skeleton: Skeleton, head: int) -> float:
    """The length of the head, at most half of the figure's: importers of files without bones make it as they please."""
    length = float(np.linalg.norm(skeleton.tails[head] - skeleton.heads[head]))
    figure = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0)))
    return min(length, 0.5 * figure) if figure else length


def _chain(
    armature: bpy.types.Object, skeleton: Skeleton, links: Sequence[detect.ChainDefault], settings
) -> gaze.Chain:
    rows = [skeleton.index(link.bone) for link in links]
    head = rows[0]
    forward, up = facing.aim(armature, links[0].bone, skeleton)
    back = rotation.inverse(skeleton.rotations[rows])
    sizes = [_head_length(skeleton, head)]
    if len(rows) > 1:
        sizes.append(float(np.linalg.norm(skeleton.heads[head] - skeleton.heads[rows[1]])))
    return gaze.Chain(
        shares=np.array([link.share for link in links]),
        settle_factors=np.array([link.settle_factor for link in links]),
        yaw_limits=np.array([link.yaw_limit for link in links]),
        pitch_up_limits=np.array([link.pitch_up_limit for link in links]),
        pitch_down_limits=np.array([link.pitch_down_limit for link in links]),
        compensates_lag=np.array([link.compensates_lag for link in links]),
        forward=rotation.rotate(back, forward),
        up=rotation.rotate(back, up),
        soft_edge=settings.soft_edge,
        near=0.5 * float(max(sizes)),
    )


def no_link(bone: str, name: str) -> RigError:
    """The error about a bone of a chain that does not exist."""
    return RigError(
        "The chain of the look-at on '{bone}' contains '{name}', which does not exist; remove it from the chain.",
        bone=bone,
        name=name,
    )
