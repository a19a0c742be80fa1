"""Mass properties of the bones of an armature, from capsules or measured meshes."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.dynamics import mass
from ...lookat_pd.dynamics.mass import MassProperties
from ...lookat_pd.dynamics.segments import fractions
from ...lookat_pd.errors import LookAtError, RigError
from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from ..animation.stored_settings import read
from ..detection import body_segments, limbs, rest
from ..detection import vocabulary as words
from ..detection.anatomy import Anatomy
from ..detection.body_segments import Segment
from ..detection.bone_ends import with_ends

_NO_FLESH = (words.HELPER | words.CONTROL) - words.WORN
_HUMAN_MASS, _HUMAN_STATURE = 70.0, 1.75
"""Mass [kg] of a human of a given height [m]; masses scale with the cube of the height."""
_BONE = np.array([0.0, 1.0, 0.0])
"""Along a bone, in its own frame."""
_SMALLEST, _TALLEST = 0.3, 8.0
"""Heights [m] of a human figure; outside of them, the scene has other units than metres."""
_CENTIMETRE, _TALLEST_LEG, _LEGS = 0.01, 4.5, 4
"""A unit [m]; height [m] of the shoulders that no animal on so many legs has."""
_LEAST = 1e-4
"""Part of its mass with which a bone that is nothing but a load counts where loads do not count."""
_HEAVY_BODY, _HEAVY_BONE = 300.0, 60.0
"""Masses [kg] of a body, and of a bone of a human, that are probably a mistake."""


@dataclass(frozen=True)
class Masses:
    """The masses of the bones of a rig."""

    bones: tuple[str, ...]
    """Names of b bones, parents first."""
    properties: MassProperties
    """(b,) mass properties of each bone in its own frame, in metres."""
    usual: Array
    """(b,) masses [kg] without those that single bones are given, such as that of a load."""
    bearing: Array
    """(b,) [kg], the usual mass of a bone or, if it is nothing but a load, of the bone that bears it."""
    human: bool
    """Whether the mass distribution is that of a human."""

    @property
    def total(self) -> float:
        """[kg]."""
        return float(np.sum(self.properties.mass))

    @property
    def heaviest(self) -> tuple[str, float]:
        """A bone and its mass [kg]."""
        row = int(np.argmax(self.properties.mass))
        return self.bones[row], float(self.properties.mass[row])

    def assumed(self, weight: float) -> MassProperties | None:
        """The properties (b,) for which joints apply their torques if loads show by `weight`, from 0 to 1; None if
        these are the actual ones. A load shows by its ratio to what bears it, to the power of the weight."""
        own = self.properties.mass
        borne = np.maximum(self.bearing + own - self.usual, _LEAST * self.bearing)
        wanted = self.usual - self.bearing + borne * (self.bearing / np.maximum(borne, _LEAST)) ** weight
        factor = np.where(own > 0.0, wanted / np.where(own > 0.0, own, 1.0), 1.0)
        factor = np.maximum(factor, _LEAST)
        return None if np.allclose(factor, 1.0, rtol=0.0, atol=_LEAST) else _times(self.properties, factor)


def warning(armature: bpy.types.Object, body: Masses) -> Message | None:
    """What is probably wrong with masses that the animator has not set, as a sentence."""
    bone, most = body.heaviest
    if not read(armature, "lookat_pd_body").total_mass and body.total > _HEAVY_BODY:
        return Message(
            "'{armature}' weighs {total:,.0f} kg; set its total mass, its scale or the unit scale of the scene.",
            armature=armature.name,
            total=body.total,
        )
    is_given = bool(read(armature.pose.bones[bone], "lookat_pd_body").mass)
    if most > _HEAVY_BONE and not is_given and (body.human or _is_human(armature)):
        return Message(
            "Bone '{bone}' weighs {mass:,.0f} kg; set its mass, or the total mass of the body.", bone=bone, mass=most
        )
    return None


def _is_human(armature: bpy.types.Object) -> bool:
    """Whether the proportions are those of a human, however the mass is distributed."""
    skeleton = with_ends(rest.skeleton(armature))
    anatomy = Anatomy(skeleton, vertical=rest.vertical(armature))
    return body_segments.human(anatomy, heavy_rows(armature, skeleton)) is not None


def metres(scene: bpy.types.Scene, armature: bpy.types.Object) -> float:
    """The length [m] of a unit of the armature's space: that of the scene, or that at which a human of a height that no
    figure has is of common height, or a hundredth of it for an animal that is as tall as a house. Raises RigError."""
    if read(armature, "lookat_pd_body").scale == "SCENE":
        return scene_metres(scene, armature)
    skeleton = with_ends(rest.skeleton(armature))
    anatomy = Anatomy(skeleton, vertical=rest.vertical(armature))
    return _metres(scene, armature, anatomy, body_segments.human(anatomy, heavy_rows(armature, skeleton)))


def _metres(
    scene: bpy.types.Scene, armature: bpy.types.Object, anatomy: Anatomy, segments: dict[int, Segment] | None
) -> float:
    """The same of a rig with this body. segments: those of a human, None for others."""
    unit = scene_metres(scene, armature)
    if read(armature, "lookat_pd_body").scale == "SCENE":
        return unit
    if segments is None:
        return unit * (_CENTIMETRE if _is_in_centimetres(armature, anatomy.skeleton, unit) else 1.0)
    height = body_segments.stature(anatomy, segments)
    return unit if _SMALLEST <= height * unit <= _TALLEST else _HUMAN_STATURE / height


def _is_in_centimetres(armature: bpy.types.Object, skeleton: Skeleton, unit: float) -> bool:
    """Whether an animal on four legs is so tall at its shoulders that its file must be in centimetres."""
    if np.ptp(skeleton.heads, axis=0).max() * unit < _TALLEST:
        return False
    with suppress(LookAtError):
        limbs_found = [line for lines in limbs.limb_lines(armature) for line in lines]
        if len(limbs_found) >= _LEGS:
            lines = [[skeleton.index(name) for name in line] for line in limbs_found]
            legs = max(float(np.linalg.norm(skeleton.heads[line[0]] - skeleton.tails[line[-1]])) for line in lines)
            return legs * unit > _TALLEST_LEG
    return False


def scene_metres(scene: bpy.types.Scene, armature: bpy.types.Object) -> float:
    """The length [m] of a unit of the armature's space in the world. Raises RigError."""
    size = float(abs(np.linalg.det(np.array(armature.matrix_world)[:3, :3])) ** (1.0 / 3.0))
    if not 1e-12 < size < 1e12:
        raise RigError(
            "Object '{armature}' has a scale of 0; set a scale above 0 for it and its parents.", armature=armature.name
        )
    return size * scene.unit_settings.scale_length


def of(
    scene: bpy.types.Scene, armature: bpy.types.Object, measured: Mapping[str, MassProperties] | None = None
) -> Masses:
    """The mass properties from the settings of the armature and its bones. Raises LookAtError.

    measured: mass properties at the density of water, in metres, of the bones that deform meshes; None for capsules.
    """
    skeleton = with_ends(rest.skeleton(armature))
    rows = heavy_rows(armature, skeleton)
    anatomy = Anatomy(skeleton, vertical=rest.vertical(armature))
    segments, settings = body_segments.human(anatomy, rows), read(armature, "lookat_pd_body")
    unit = _metres(scene, armature, anatomy, segments)
    if measured is None:
        shapes = capsules(skeleton, rows, unit, settings.radius)
    else:
        rows = [row for row in rows if skeleton.names[row] in measured]
        parts = [measured[skeleton.names[row]] for row in rows]
        if not parts:
            raise RigError("No mesh of '{armature}' encloses a volume; use capsules.", armature=armature.name)
        shapes = MassProperties(*(np.array(column) for column in zip(*parts, strict=True)))
        segments = body_segments.human(anatomy, rows)
    segments = segments if settings.spread != "VOLUME" else None
    if settings.spread == "HUMAN" and segments is None:
        raise RigError(
            "The arms and legs of '{armature}' were not found; distribute the mass by volume.",
            armature=armature.name,
        )
    bones = [read(armature.pose.bones[skeleton.names[row]], "lookat_pd_body") for row in rows]
    if segments is not None:
        kept = [row in segments or bone.mass > 0.0 for row, bone in zip(rows, bones, strict=True)]
        rows, bones, shapes = _only(kept, rows), _only(kept, bones), _chosen(shapes, kept)
        shapes = _as_human(shapes, [segments.get(row) for row in rows], settings.build)
    shapes = _times(shapes, np.full(len(rows), settings.density / mass.WATER))
    is_body = np.array([_is_body(armature, skeleton.names[row]) for row in rows])
    usual = _times(shapes, 1.0 * is_body)
    shapes = _times(shapes, np.array([bone.density for bone in bones]))
    total = settings.total_mass
    if not total and segments is not None:
        total = _HUMAN_MASS * (body_segments.stature(anatomy, segments) * unit / _HUMAN_STATURE) ** 3
        total *= settings.density / mass.WATER
    if total:
        shapes = mass.scaled_to(shapes, total)
        usual = mass.scaled_to(usual, total) if np.any(usual.mass) else usual
    own = np.array([bone.mass for bone in bones])
    bare = capsules(skeleton, rows, unit, settings.radius)
    shapes = _own(shapes, bare, own)
    return Masses(
        tuple(skeleton.names[row] for row in rows),
        shapes,
        usual.mass,
        _bearing(skeleton, rows, usual.mass),
        segments is not None,
    )


def heavy_rows(armature: bpy.types.Object, skeleton: Skeleton) -> list[int]:
    """Indices of the bones with mass: deforming ones without roots and helpers, and those with a mass setting; parents
    first."""
    anatomy = Anatomy(skeleton)
    bones = armature.data.bones
    skinned = _skinned(armature)
    deforming = [n for n, name in enumerate(skeleton.names) if bones[name].use_deform]
    chosen = [n for n in deforming if skeleton.names[n] in skinned] or deforming or list(range(len(skeleton)))
    bodily = [n for n in chosen if not (_is_ground(anatomy, n) or anatomy.names[n].has(_NO_FLESH))]
    own = [read(armature.pose.bones[name], "lookat_pd_body") for name in skeleton.names]
    weighed = [n for n, settings in enumerate(own) if settings.mass > 0.0]
    return sorted({*(bodily or chosen), *weighed}, key=lambda n: (len(skeleton.ancestors(n)), n))


def _bearing(skeleton: Skeleton, rows: Sequence[int], usual: Array) -> Array:
    """The usual masses (b,) [kg], and for bones without one that of the nearest bone above with one."""
    known = {row: weight for row, weight in zip(rows, usual.tolist(), strict=True) if weight > 0.0}
    others = float(np.mean([*known.values()])) if known else 1.0
    above = ((row, *skeleton.ancestors(row)) for row in rows)
    return np.array([next((known[r] for r in line if r in known), others) for line in above])


def _is_body(armature: bpy.types.Object, bone: str) -> bool:
    """Whether a bone has mass without a mass of its own."""
    bones = armature.data.bones
    return bones[bone].use_deform or not any(other.use_deform for other in bones)


def _is_ground(anatomy: Anatomy, bone: int) -> bool:
    return anatomy.skeleton.parents[bone] < 0 and anatomy.names[bone].has(words.ROOT)


def _skinned(armature: bpy.types.Object) -> set[str]:
    """Names of the bones that deform meshes."""
    names: set[str] = set()
    for item in skins(armature):
        names.update([item.parent_bone] if hangs_on_bone(item, armature) else item.vertex_groups.keys())
    return names


def skins(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that are deformed by the armature or are children of its bones."""
    meshes = (item for item in bpy.data.objects if item.type == "MESH")
    return [item for item in meshes if item.find_armature() == armature or hangs_on_bone(item, armature)]


def hangs_on_bone(item: bpy.types.Object, armature: bpy.types.Object) -> bool:
    """Whether an object is the child of a single bone."""
    return item.parent == armature and item.parent_type == "BONE" and item.find_armature() is None


def capsules(skeleton: Skeleton, rows: Sequence[int], unit: float, radius: float) -> MassProperties:
    along = rotation.rotate(rotation.inverse(skeleton.rotations[rows]), skeleton.tails[rows] - skeleton.heads[rows])
    lengths = unit * np.linalg.norm(along, axis=-1)
    # A bone without length, which scripts can create, has no mass; a joint that needs one raises an error.
    there = lengths > 1e-9
    thick = radius * np.where(there, lengths, 1.0)
    solid = mass.capsule(np.where(there, lengths, 1.0) - np.minimum(2.0 * thick, np.where(there, lengths, 1.0)), thick)
    solid.center[:, 1] += thick
    turn = rotation.shortest_arc(_BONE, np.where(there[:, None], along, _BONE))
    axes = rotation.to_matrix(turn)
    inertia = axes @ solid.inertia @ np.swapaxes(axes, -1, -2)
    return _times(MassProperties(solid.mass, rotation.rotate(turn, solid.center), inertia), np.where(there, 1.0, 0.0))


def _as_human(shapes: MassProperties, found: Sequence[body_segments.Segment | None], build: str) -> MassProperties:
    """The bones of each segment, with the total mass of a human's, for a body of 1 kg."""
    parts = fractions(build.lower())
    whole: dict[body_segments.Segment | None, float] = {}
    for segment, weight in zip(found, shapes.mass, strict=True):
        whole[segment] = whole.get(segment, 0.0) + float(weight)
    factors = [0.0 if segment is None else parts[segment[0]] / max(whole[segment], 1e-300) for segment in found]
    return _times(shapes, np.array(factors))


def _own(shapes: MassProperties, bare: MassProperties, own: Array) -> MassProperties:
    """The properties with the masses (b,) from the settings of bones, if above 0; capsules for bones without any."""
    shaped = shapes.mass > 0.0
    center = np.where(((own > 0.0) & ~shaped)[:, None], bare.center, shapes.center)
    inertia = np.where(shaped[:, None, None], shapes.inertia, bare.inertia)
    weight = np.where(shaped, shapes.mass, bare.mass)
    given = (own > 0.0) & (weight > 0.0)
    factor = np.where(given, own / np.where(given, weight, 1.0), 1.0)
    masses = np.where(given, own, shapes.mass)
    return MassProperties(masses, center, inertia * factor[:, None, None])


def _times(shapes: MassProperties, factor: Array) -> MassProperties:
    return MassProperties(shapes.mass * factor, shapes.center, shapes.inertia * factor[:, None, None])


def _only(kept: Sequence[bool], items: Sequence) -> list:
    return [item for item, keep in zip(items, kept, strict=True) if keep]


def _chosen(shapes: MassProperties, kept: Sequence[bool]) -> MassProperties:
    return MassProperties(*(column[np.array(kept, dtype=bool)] for column in shapes))
