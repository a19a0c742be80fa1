"""Solutions stored in a file with a digest of their inputs, so that opening the file solves nothing again.

The note is a digest of everything that the look-ats of a scene depend on. Where it is the same as when the file was
saved, the offsets in the layer's action are the solution.
"""

from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b

import bpy

from ..look_at import look_at_layer as offsets
from ..look_at import mixing, settings
from ..look_at.body import settings as body_settings
from ..look_at.body import shape_table
from ..look_at.look_at_layer import LookAtLayer
from ..look_at.solve import FRESH, LookAtSolve

_SOLVER = 1
"""Raised whenever the same inputs give another solution than in versions before."""


def digest(
    span: tuple[int, int, float],
    prints: Mapping[tuple[str, str], bytes],
    solves: Iterable[tuple[LookAtSolve, Collection[str]]],
) -> str:
    """A digest of what look-ats are solved from. prints: of all that their motions depend on.

    solves: each with the names of its settings that are keyed: their values change with the frame.
    """
    found = blake2b(digest_size=16)
    found.update(repr((_SOLVER, span, sorted(prints.items()))).encode())
    for solve, keyed in solves:
        armature, bone = solve.look_at.armature, solve.look_at.bone
        found.update(repr((armature.name_full, bone, solve.number, _settings(armature, bone, keyed))).encode())
    return found.hexdigest()


def _settings(armature: bpy.types.Object, bone: str, keyed: Collection[str]) -> tuple:
    """All settings of a look-at that are not keyed, with names where they point to something."""
    s = armature.pose.bones[bone].lookat_pd
    groups = {**body_settings.TUNING, **body_settings.BONES}
    others = tuple(getattr(getattr(s, group), name) for group in groups for name in _names(group))
    chain = settings.chain_values(s)
    targets = tuple((item.name_full if item else "", name) for item, name in _targets(s))
    still = tuple(getattr(s, name) for name in settings.TUNING if name not in keyed)
    shapes = shape_table.rows(s.eyes)
    others = (others, shapes) if shapes else others
    weights = tuple(mixing.weights(s)) if mixing.KEYED not in keyed else ()
    behind = s.let_go_behind.all_objects.keys() if s.let_go_behind is not None else []
    up = s.world_up, s.world_up_object.name_full if s.world_up_object is not None else ""
    return still, others, chain, targets, s.aim_axis, *s.facing, s.soft_edge, bool(s.eyes.drift), up, weights, behind


def _names(group: str) -> list[str]:
    return [*body_settings.TUNING.get(group, ()), *body_settings.BONES.get(group, ())]


def _targets(s) -> list[tuple[bpy.types.Object | None, str]]:
    return [(s.target, s.subtarget), *((item.object, item.bone) for item in s.targets)]


def store(solves: Iterable[LookAtSolve], found: str) -> None:
    """Note beside the offsets of these look-ats what they were solved from, and how much they change shape keys.

    found: the digest, "" for look-ats that are not solved.
    """
    solves = list(solves)
    for solve in solves:
        amounts = solve.track.shapes if found and solve.look_at.shapes and solve.track is not None else None
        LookAtLayer(solve.look_at.armature, solve.number).set_shapes(amounts)
    for armature in {solve.look_at.armature for solve in solves}:
        LookAtLayer(armature).set_note(found)


def restore(solves: Iterable[LookAtSolve], span: tuple[int, int, float], wanted: str) -> bool:
    """Take the offsets in the file for the solutions, if all of these were solved from `wanted`; whether they were."""
    solves = list(solves)
    if not solves or any(LookAtLayer(solve.look_at.armature).note != wanted for solve in solves):
        return False
    tracks = {}
    for solve in solves:
        look_at = solve.look_at
        track = offsets.read(look_at.armature, solve.number, look_at.turned, look_at.moved)
        if track is None or (track.first, len(track.offsets)) != (span[0], max(span[1] - span[0], 0) + 1):
            return False
        if look_at.shapes:
            amounts = LookAtLayer(look_at.armature, solve.number).shapes(len(track.offsets), len(look_at.shapes))
            if amounts is None:
                return False
            track.shapes = amounts
        tracks[solve] = track
    for solve, track in tracks.items():
        solve.track, solve.stale, solve.rough = track, FRESH, False
    return True
