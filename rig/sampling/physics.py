"""What has to be evaluated in the animator's scene: simulations, and what reads the scene itself.

The temporary scene of a sampler has neither the obstacles and caches of a simulation nor the scene's camera. `NEEDS` is
the table of what cannot be evaluated without; `needs` looks it up for all that an object depends on.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import bpy

from . import shapes

_SIMULATED = frozenset(
    ("CLOTH", "SOFT_BODY", "PARTICLE_SYSTEM", "PARTICLE_INSTANCE", "EXPLODE", "FLUID", "DYNAMIC_PAINT")
)
_SIMULATION_NODES = frozenset(("GeometryNodeSimulationOutput", "GeometryNodeBake"))
_VIEW_NODES = frozenset(("GeometryNodeInputActiveCamera", "GeometryNodeViewportTransform"))
_CAMERA_CONSTRAINTS = frozenset(("CAMERA_SOLVER", "FOLLOW_TRACK", "OBJECT_SOLVER"))
_READS_SCENE = re.compile(r"\b(bpy|depsgraph)\b")
"""What the expression of a driver names that reads the scene that is shown."""


@dataclass(frozen=True)
class Need:
    """Something that has to be evaluated in the animator's scene."""

    item: bpy.types.ID
    is_physics: bool
    """Whether it is a simulation, whose frames depend on those before."""
    start: int | None = None
    """Frame from which it has to be played, None where a baked cache, or the frame alone, says what it is."""


def needs(scene: bpy.types.Scene, items: Iterable[bpy.types.ID]) -> list[Need]:
    """What of these, which are all that something depends on, has to be evaluated in the animator's scene."""
    return [need for item in items for test in NEEDS for need in test(scene, item)]


def uses(item: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[shapes.Used]:
    """What moves an object, or changes its shape, by physics."""
    if _is_body(item, scene):
        yield scene
        yield from scene.rigidbody_world.collection.objects
        if scene.rigidbody_world.constraints is not None:
            yield from scene.rigidbody_world.constraints.objects
    if _is_body(item, scene) or any(modifier.type in _SIMULATED for modifier in item.modifiers):
        for other in scene.objects:
            if _acts(other):
                yield other
                yield shapes.Shape(other)


def parts(item: bpy.types.Object, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """The physical settings of an object that do not change with the frame."""
    for name in ("rigid_body", "rigid_body_constraint", "field", "collision"):
        value = getattr(item, name)
        if value is not None and (name != "field" or value.type != "NONE"):
            yield name
            yield from shapes.settings(value, name, animated)


def world_parts(scene: bpy.types.Scene, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """The settings of the rigid bodies of a scene."""
    if scene.rigidbody_world is not None:
        yield scene.use_gravity
        yield from shapes.settings(scene.rigidbody_world, "rigidbody_world", animated)


def _is_body(item: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether rigid body physics moves an object."""
    world = scene.rigidbody_world
    if item.rigid_body is None or item.rigid_body.type != "ACTIVE" or world is None or not world.enabled:
        return False
    return world.collection is not None and item.name in world.collection.objects


def _acts(item: bpy.types.Object) -> bool:
    """Whether an object acts on simulations."""
    return item.collision is not None or (item.field is not None and item.field.type != "NONE")


# The table


def _bodies(scene: bpy.types.Scene, item: bpy.types.ID) -> Iterator[Need]:
    if isinstance(item, bpy.types.Object) and _is_body(item, scene):
        yield Need(item, True, _start(scene.rigidbody_world.point_cache))


def _modified(scene: bpy.types.Scene, item: bpy.types.ID) -> Iterator[Need]:
    if not isinstance(item, bpy.types.Object):
        return
    for modifier in item.modifiers:
        if modifier.type not in _SIMULATED or not modifier.show_viewport:
            continue
        if modifier.type == "PARTICLE_SYSTEM":
            yield Need(item, True, _start(modifier.particle_system.point_cache))
        elif modifier.type == "FLUID":
            # Its frames are read from files, or stay as they are until it is baked.
            replayed = modifier.domain_settings is not None and modifier.domain_settings.cache_type == "REPLAY"
            yield Need(item, True, modifier.domain_settings.cache_frame_start if replayed else None)
        else:
            cache = getattr(modifier, "point_cache", None)
            yield Need(item, True, None if cache is None else _start(cache))


def _nodes(scene: bpy.types.Scene, item: bpy.types.ID) -> Iterator[Need]:
    if isinstance(item, bpy.types.NodeTree):
        kinds = {node.bl_idname for node in item.nodes if not node.mute}
        if kinds & _SIMULATION_NODES:
            start = scene.simulation_frame_start if scene.use_custom_simulation_range else scene.frame_start
            # Whether it is baked is not known to scripts; to play it in order is right for both.
            yield Need(item, True, start)
        elif kinds & _VIEW_NODES:
            yield Need(item, False)


def _constrained(scene: bpy.types.Scene, item: bpy.types.ID) -> Iterator[Need]:
    if isinstance(item, bpy.types.Object):
        bones = item.pose.bones if item.pose is not None else ()
        for stack in (item.constraints, *(bone.constraints for bone in bones)):
            if any(one.type in _CAMERA_CONSTRAINTS and not one.mute for one in stack):
                yield Need(item, False)


def _driven(scene: bpy.types.Scene, item: bpy.types.ID) -> Iterator[Need]:
    data = getattr(item, "animation_data", None)
    for curve in data.drivers if data is not None else ():
        expression = curve.driver.expression if curve.driver.type == "SCRIPTED" else ""
        if _READS_SCENE.search(expression) or any(map(_reads_context, curve.driver.variables)):
            yield Need(item, False)


def _reads_context(variable: bpy.types.DriverVariable) -> bool:
    """Whether a variable reads of the scene that is shown what a temporary scene does not have."""
    if variable.type != "CONTEXT_PROP":
        return False
    target = variable.targets[0]
    return target.context_property != "ACTIVE_SCENE" or not target.data_path.startswith("[")


def _start(cache: bpy.types.PointCache) -> int | None:
    """The frame from which a simulation has to be played, None if its cache is baked."""
    return None if cache.is_baked or cache.use_external else cache.frame_start


NEEDS: tuple[Callable[[bpy.types.Scene, bpy.types.ID], Iterator[Need]], ...] = (
    _bodies,
    _modified,
    _nodes,
    _constrained,
    _driven,
)
"""What needs the animator's scene, each by its kind of data."""
