"""Which of its targets a look-at looks at: the active one or a mix of all, unless it lets go of it."""

from collections.abc import Iterator, Mapping, Sequence

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.gaze import mixing
from ...lookat_pd.rotation import Array
from ..sampling import fingerprint
from ..sampling import targets as looked_at
from ..sampling.targets import Target
from .setting_paths import setting_path, weight_name

KEYED = "weights"
"""How weights are named among the settings that are keyed."""


def weights(settings) -> list[float]:
    """The weights of the targets of a look-at by number, now."""
    return [settings.target_weight, *(item.weight for item in settings.targets)]


def paths(settings, bone: str) -> Iterator[str]:
    """Data paths of the weights."""
    yield from (setting_path(bone, weight_name(number)) for number in range(1 + len(settings.targets)))


def sampled(settings, bone: str, properties: Mapping[str, Array]) -> Array | None:
    """The weights (n, F) of the targets by number, of sampled properties; None where they were not sampled."""
    wanted = list(paths(settings, bone))
    return np.array([properties[path] for path in wanted]) if all(path in properties for path in wanted) else None


def is_keyed(armature: bpy.types.Object, bone: str) -> bool:
    """Whether any weight changes with the frame."""
    settings = armature.pose.bones[bone].lookat_pd
    return not fingerprint.animated_paths(armature).isdisjoint(paths(settings, bone))


def check(armature: bpy.types.Object, bone: str) -> None:
    """Raise RigError where no target of a mix ever has a weight."""
    settings = armature.pose.bones[bone].lookat_pd
    if settings.use_mix and not is_keyed(armature, bone):
        there = looked_at.listed(settings)
        if not any(w > 0.0 for w, target in zip(weights(settings), there, strict=True) if target != Target()):
            raise RigError(
                "All targets of the look-at on '{bone}' have a weight of 0; set a weight above 0 in the Targets panel.",
                bone=bone,
            )


def occluders(armature: bpy.types.Object, bone: str) -> tuple[bpy.types.Object, ...]:
    """The objects behind which targets are let go. Raises RigError where the character is among them."""
    settings = armature.pose.bones[bone].lookat_pd
    if settings.let_go_behind is None:
        return ()
    looked = {target.object for target in looked_at.listed(settings)}
    items = [item for item in settings.let_go_behind.all_objects if item not in looked]
    for item in items:
        if looked_at.belongs_to(item, armature):
            raise RigError(
                "The occluder '{item}' is part of the character itself; remove it from the collection '{collection}'.",
                item=item.name,
                collection=settings.let_go_behind.name,
            )
    return tuple(items)


def mixed(places: Array, targets: Sequence[Target], shares: Array, head: Array) -> tuple[Array, Array]:
    """Places (m, F, 3), first those of the targets, with their mix as the first; and whether there is any (F,).

    shares: (n, F) weights of the targets; those that are nothing count as 0. head: (F, 3).
    """
    named = np.array([[target != Target()] for target in targets])
    point, there = mixing.mixed(places[: len(named)], shares * named, head)
    return np.concatenate((point[None], places[1:])), there


def point(settings, places: Sequence[Array | None], eye: Array) -> Array | None:
    """The mix (3,), now, of the places (3,) of the targets by number; None if none that has a place has a weight."""
    there = [(place, share) for place, share in zip(places, weights(settings), strict=False) if place is not None]
    if not any(share for _, share in there):
        return None
    seen, shares = (np.array(values)[:, None] for values in zip(*there, strict=True))
    return mixing.mixed(seen, shares, eye[None])[0][0]


def gone(settings, targets: Array, active: Array, worlds: Array, head: Array, aim: Array) -> Array:
    """Where (F,) a look-at lets go of its target, by its settings.

    targets: (n, F, 3) in armature space. active: (F,) number of the target, -1 for none. worlds: (F, 4, 4). head: (F,
    3) and aim (F, 3) direction of the aim axis, as animated.
    """
    away = targets[np.maximum(active, 0), np.arange(len(active))] - head
    result = np.zeros(len(active), dtype=bool)
    if settings.let_go_distance > 0.0:
        distance = np.linalg.norm((worlds[:, :3, :3] @ away[..., None])[..., 0], axis=-1)
        result |= mixing.let_go(distance, settings.let_go_distance, active)
    if settings.let_go_angle > 0.0:
        result |= mixing.let_go(rotation.angle_between(aim, away), settings.let_go_angle, active)
    return result
