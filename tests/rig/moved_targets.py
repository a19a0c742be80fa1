"""Targets that are moved in all ways that Blender has, and an edit of what moves each of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from .scenes import LAST, ball, box, figure, keyed

Edit = Callable[[], None]
"""Changes what moves a target, without a key."""


def on_vertices(item: bpy.types.Object, *vertices: int) -> bpy.types.Object:
    """An empty on one or three vertices of an object."""
    target = ball((0.0, 0.0, 0.0), "On Vertices")
    target.parent, target.parent_type = item, "VERTEX" if len(vertices) == 1 else "VERTEX_3"
    target.parent_vertices = tuple(vertices) if len(vertices) == 3 else (vertices[0], 0, 0)
    return target


def ahead(name: str = "Box") -> bpy.types.Object:
    """A box in front of the character."""
    return box((0.2, -2.0, 1.7), (0.4, 0.4, 0.4), name)


def setting(item: Any, name: str, value: Any) -> Edit:
    return lambda: setattr(item, name, value)


def moved(item: bpy.types.Object, offset: float) -> Edit:
    return lambda: setattr(item.location, "x", item.location.x + offset)


# Shapes


def displaced() -> tuple[bpy.types.Object, Edit]:
    item = ahead()
    modifier = item.modifiers.new("Displace", "DISPLACE")
    modifier.mid_level, modifier.direction, modifier.strength = 0.0, "X", 0.2
    return on_vertices(item, 0), setting(modifier, "strength", 1.0)


def displaced_by_keys() -> tuple[bpy.types.Object, Edit]:
    target, _ = displaced()
    modifier = target.parent.modifiers[0]
    modifier.strength = 0.0
    modifier.keyframe_insert("strength", frame=1)
    modifier.strength = -1.2
    modifier.keyframe_insert("strength", frame=40)
    return target, setting(modifier, "mid_level", -1.0)


def shaped() -> tuple[bpy.types.Object, Edit]:
    item = ahead()
    item.shape_key_add(name="Basis")
    shape = item.shape_key_add(name="Aside")
    for point in shape.data:
        point.co.x -= 1.5
    return on_vertices(item, 0, 3, 5), setting(shape, "value", 0.8)


def reshaped() -> tuple[bpy.types.Object, Edit]:
    target, _ = shaped()
    shape = target.parent.data.shape_keys.key_blocks["Aside"]
    shape.value = 1.0

    def edit() -> None:
        for point in shape.data:
            point.co.x += 2.0
        target.parent.data.update_tag()

    return target, edit


def hooked() -> tuple[bpy.types.Object, Edit]:
    item, hook = ahead(), ball((0.2, -2.0, 1.7), "Hook")
    bpy.context.view_layer.update()
    modifier = item.modifiers.new("Hook", "HOOK")
    modifier.object, modifier.matrix_inverse = hook, hook.matrix_world.inverted()
    modifier.vertex_indices_set(range(8))
    return on_vertices(item, 2), moved(hook, -1.0)


def latticed() -> tuple[bpy.types.Object, Edit]:
    item = ahead()
    data = bpy.data.lattices.new("Lattice")
    lattice = bpy.data.objects.new("Lattice", data)
    bpy.context.scene.collection.objects.link(lattice)
    lattice.location, lattice.scale = item.location, (1.0, 1.0, 1.0)
    item.modifiers.new("Lattice", "LATTICE").object = lattice

    def edit() -> None:
        for point in data.points:
            point.co_deform.x -= 1.0
        data.update_tag()

    return on_vertices(item, 1), edit


def skinned() -> tuple[bpy.types.Object, Edit]:
    item, other = ahead(), figure("Other")
    other.location = (0.5, -2.5, 0.0)
    item.modifiers.new("Armature", "ARMATURE").object = other
    item.vertex_groups.new(name="root").add(range(8), 1.0, "REPLACE")
    root = other.pose.bones["root"]
    return on_vertices(item, 4), lambda: setattr(root, "location", (1.0, 0.3, 0.0))


def grouped() -> tuple[bpy.types.Object, Edit]:
    """Copies the place of a vertex group of a displaced mesh."""
    other, edit = displaced()
    item = other.parent
    item.vertex_groups.new(name="Part").add([0, 1], 1.0, "REPLACE")
    target = ball()
    constraint = target.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = item, "Part"
    return target, edit


def on_surface() -> tuple[bpy.types.Object, Edit]:
    item = box((0.0, -2.5, 1.7), (4.0, 0.2, 2.0), "Wall")
    modifier = item.modifiers.new("Displace", "DISPLACE")
    modifier.mid_level, modifier.direction, modifier.strength = 0.0, "Z", 0.0
    target = ball((0.6, -1.8, 4.5))
    target.constraints.new("SHRINKWRAP").target = item
    return target, setting(modifier, "strength", -1.2)


def on_path() -> tuple[bpy.types.Object, Edit]:
    bpy.ops.curve.primitive_bezier_circle_add(radius=2.0, location=(0.0, -1.0, 1.7))
    curve, hook = bpy.context.active_object, ball((0.0, 0.0, 0.0), "Hook")
    bpy.context.view_layer.update()
    modifier = curve.modifiers.new("Hook", "HOOK")
    modifier.object, modifier.use_apply_on_spline = hook, True
    modifier.vertex_indices_set(range(3 * len(curve.data.splines[0].bezier_points)))
    target = ball((0.0, 0.0, 0.0))
    path = target.constraints.new("FOLLOW_PATH")
    path.target, path.use_fixed_location, path.offset_factor = curve, True, 0.6
    return target, moved(hook, 1.0)


def carried_by_path() -> tuple[bpy.types.Object, Edit]:
    """A child of a curve that carries its children along."""
    bpy.ops.curve.primitive_bezier_circle_add(radius=2.0, location=(0.0, -1.0, 1.7))
    curve = bpy.context.active_object
    curve.data.use_path, curve.data.eval_time, curve.data.path_duration = True, 60.0, 100
    target = ball((0.0, 0.0, 0.0))
    target.parent = curve

    def edit() -> None:
        for point in curve.data.splines[0].bezier_points:
            for part in ("co", "handle_left", "handle_right"):
                getattr(point, part).x += 1.0
        curve.data.update_tag()

    return target, edit


def _tree(name: str) -> tuple[bpy.types.NodeTree, Any, Any]:
    """A node group for geometry, its input, and a node that moves that to its output."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    begin, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    move = tree.nodes.new("GeometryNodeSetPosition")
    tree.links.new(begin.outputs[0], move.inputs["Geometry"])
    tree.links.new(move.outputs[0], end.inputs[0])
    return tree, begin, move


def by_nodes() -> tuple[bpy.types.Object, Edit]:
    item = ahead()
    tree, _, move = _tree("Move")
    item.modifiers.new("Nodes", "NODES").node_group = tree
    offset = move.inputs["Offset"]
    return on_vertices(item, 0), setting(offset, "default_value", (-1.0, 0.0, 0.0))


def by_nodes_that_read_an_object() -> tuple[bpy.types.Object, Edit]:
    item, read = ahead(), ball((0.3, 0.0, 0.0), "Read")
    tree, _, move = _tree("Read")
    info = tree.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = read
    tree.links.new(info.outputs["Location"], move.inputs["Offset"])
    item.modifiers.new("Nodes", "NODES").node_group = tree
    return on_vertices(item, 0), moved(read, -1.2)


def by_nodes_over_time() -> tuple[bpy.types.Object, Edit]:
    item = ahead()
    tree, _, move = _tree("Time")
    time, times = tree.nodes.new("GeometryNodeInputSceneTime"), tree.nodes.new("ShaderNodeMath")
    times.operation, times.inputs[1].default_value = "MULTIPLY", 0.2
    combined = tree.nodes.new("ShaderNodeCombineXYZ")
    tree.links.new(time.outputs["Seconds"], times.inputs[0])
    tree.links.new(times.outputs[0], combined.inputs[0])
    tree.links.new(combined.outputs[0], move.inputs["Offset"])
    item.modifiers.new("Nodes", "NODES").node_group = tree
    return on_vertices(item, 0), setting(times.inputs[1], "default_value", -0.4)


def by_simulation_nodes() -> tuple[bpy.types.Object, Edit]:
    """Each frame moves the box a little further than the one before."""
    item = ahead()
    tree, begin, move = _tree("Simulation")
    first, last = tree.nodes.new("GeometryNodeSimulationInput"), tree.nodes.new("GeometryNodeSimulationOutput")
    first.pair_with_output(last)
    tree.links.new(begin.outputs[0], first.inputs["Geometry"])
    tree.links.new(first.outputs["Geometry"], move.inputs["Geometry"])
    tree.links.new(move.outputs[0], last.inputs["Geometry"])
    end = next(node for node in tree.nodes if node.type == "GROUP_OUTPUT")
    tree.links.new(last.outputs["Geometry"], end.inputs[0])
    offset = move.inputs["Offset"]
    offset.default_value = (0.02, 0.0, 0.0)
    item.modifiers.new("Nodes", "NODES").node_group = tree
    return on_vertices(item, 0), setting(offset, "default_value", (-0.02, 0.0, 0.0))


def by_alembic() -> tuple[bpy.types.Object, Edit]:
    """On a mesh that Alembic deforms and moves."""
    item = ahead()
    modifier = item.modifiers.new("Displace", "DISPLACE")
    modifier.mid_level, modifier.direction = 0.0, "X"
    for frame, strength in ((1, 0.0), (30, -0.8)):
        modifier.strength = strength
        modifier.keyframe_insert("strength", frame=frame)
    keyed(item, "location", [(1, (0.2, -2.0, 1.7)), (30, (0.8, -2.0, 1.5))])
    item.select_set(True)
    file = str(Path(bpy.app.tempdir) / "moved.abc")
    bpy.ops.wm.alembic_export(filepath=file, start=1, end=LAST, selected=True)
    bpy.data.objects.remove(item)
    bpy.ops.wm.alembic_import(filepath=file)
    found = next(one for one in bpy.context.scene.objects if one.type == "MESH")
    return on_vertices(found, 0), setting(found.modifiers[0], "show_viewport", False)


def simplified() -> tuple[bpy.types.Object, Edit]:
    """On a mesh that is subdivided, as far as the scene does not simplify it."""
    item = box((1.0, -3.0, 1.7), (3.0, 3.0, 3.0))
    item.modifiers.new("Subdivision", "SUBSURF").levels = 3
    bpy.context.scene.render.use_simplify, bpy.context.scene.render.simplify_subdivision = True, 0
    return on_vertices(item, 0), setting(bpy.context.scene.render, "use_simplify", False)


SHAPES = (
    by_alembic,
    simplified,
    displaced,
    displaced_by_keys,
    shaped,
    reshaped,
    hooked,
    latticed,
    skinned,
    grouped,
    on_surface,
    on_path,
    carried_by_path,
    by_nodes,
    by_nodes_that_read_an_object,
    by_nodes_over_time,
)


# Physics


def bake(cache: bpy.types.PointCache, item: bpy.types.Object | None = None) -> None:
    with bpy.context.temp_override(scene=bpy.context.scene, point_cache=cache, active_object=item):
        bpy.ops.ptcache.bake(bake=True)


def falling() -> tuple[bpy.types.Object, Edit]:
    """A rigid ball that falls on a slope; the slope is raised."""
    bpy.ops.mesh.primitive_ico_sphere_add(radius=0.1, location=(1.2, -2.0, 3.0))
    item = bpy.context.active_object
    bpy.ops.rigidbody.object_add()
    item.rigid_body.linear_damping = 0.3
    bpy.ops.mesh.primitive_plane_add(size=20.0, rotation=(0.0, 0.15, 0.0))
    floor = bpy.context.active_object
    bpy.ops.rigidbody.object_add()
    floor.rigid_body.type = "PASSIVE"
    bpy.context.scene.rigidbody_world.point_cache.frame_end = LAST
    return item, lambda: setattr(floor.location, "z", 1.2)


def falling_baked() -> tuple[bpy.types.Object, Edit]:
    item, edit = falling()
    cache = bpy.context.scene.rigidbody_world.point_cache
    bake(cache)

    def bake_again() -> None:
        with bpy.context.temp_override(scene=bpy.context.scene, point_cache=cache):
            bpy.ops.ptcache.free_bake()
        edit()
        bake(cache)

    return item, bake_again


def falling_hidden() -> tuple[bpy.types.Object, Edit]:
    """An empty that follows the ball; both are hidden."""
    item, edit = falling()
    target = ball()
    target.constraints.new("COPY_LOCATION").target = item
    target.hide_viewport = True
    return target, edit


def carried_by_falling() -> tuple[bpy.types.Object, Edit]:
    item, edit = falling()
    target = ball((0.0, 0.0, 0.3))
    target.parent = item
    return target, edit


def cloth() -> tuple[bpy.types.Object, Edit]:
    """A corner of a cloth that falls over a ball."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=1.0, location=(0.0, -2.0, 2.0))
    item = bpy.context.active_object
    modifier = item.modifiers.new("Cloth", "CLOTH")
    modifier.settings.quality, modifier.point_cache.frame_end = 2, LAST
    pin = item.vertex_groups.new(name="Pin")
    pin.add(range(7), 1.0, "REPLACE")
    modifier.settings.vertex_group_mass = "Pin"
    bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=8, radius=0.3, location=(0.1, -2.0, 1.5))
    obstacle = bpy.context.active_object
    obstacle.modifiers.new("Collision", "COLLISION")
    return on_vertices(item, 48), moved(obstacle, -0.4)


def soft_body() -> tuple[bpy.types.Object, Edit]:
    item = box((0.2, -2.0, 2.0), (0.4, 0.4, 0.4), "Jelly")
    modifier = item.modifiers.new("Softbody", "SOFT_BODY")
    modifier.settings.use_goal, modifier.point_cache.frame_end = True, LAST
    modifier.settings.goal_default = 0.3
    return on_vertices(item, 0), setting(modifier.settings, "goal_default", 0.9)


def particles() -> tuple[bpy.types.Object, Edit]:
    """A box that is carried by a particle, as a modifier shows it."""
    emitter = box((0.2, -2.0, 1.7), (0.1, 0.1, 0.1), "Emitter")
    emitter.modifiers.new("Particles", "PARTICLE_SYSTEM")
    found = emitter.particle_systems[0].settings
    found.count, found.frame_start, found.frame_end, found.lifetime = 1, 1, 1, 500
    emitter.particle_systems[0].point_cache.frame_end = LAST
    found.effector_weights.gravity, found.normal_factor = 0.0, 0.3
    item = ahead("Carried")
    item.location = (0.0, 0.0, 0.0)
    modifier = item.modifiers.new("Instance", "PARTICLE_INSTANCE")
    modifier.object, modifier.show_unborn = emitter, True
    return on_vertices(item, 0), setting(found, "normal_factor", 0.8)


PHYSICS = (
    falling,
    falling_baked,
    falling_hidden,
    carried_by_falling,
    cloth,
    soft_body,
    particles,
    by_simulation_nodes,
)


# Drivers


def driven(target: bpy.types.Object, reads: bpy.types.ID, path: str, kind: str) -> None:
    """Let the place of an object follow a property."""
    curve = target.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.name = "dial"
    variable.targets[0].id_type, variable.targets[0].id = kind, reads
    variable.targets[0].data_path, curve.driver.expression = path, "dial"


def _dial(kind: str) -> tuple[Any, bpy.types.ID, str]:
    """What has a number, the data of that, and the path from there."""
    if kind == "MATERIAL":
        found: Any = bpy.data.materials.new("Dial")
    elif kind == "SCENE":
        found = bpy.context.scene
    elif kind == "CONSTRAINT":
        owner = ball((0, 0, 0), "Dial")
        limit = owner.constraints.new("LIMIT_LOCATION")
        return limit, owner, 'constraints["Limit Location"].min_x'
    elif kind == "KEY":
        owner = box((0, 0, 0), (1, 1, 1), "Dial")
        owner.shape_key_add(name="Basis")
        shape = owner.shape_key_add(name="Shape")
        shape.slider_min, shape.slider_max = -5.0, 5.0
        return shape, owner.data.shape_keys, 'key_blocks["Shape"].value'
    elif kind == "LIGHT":
        found = bpy.data.lights.new("Dial", "POINT")
        return found, found, "energy"
    elif kind == "THROUGH":
        owner = box((0, 0, 0), (1, 1, 1), "Dial")
        owner.data["dial"] = 0.0
        return owner.data, owner, 'data["dial"]'
    else:
        found = ball((0, 0, 0), "Dial")
    found["dial"] = 0.0
    return found, found, '["dial"]'


DIALS = ("OBJECT", "CONSTRAINT", "KEY", "MATERIAL", "SCENE", "LIGHT", "THROUGH")


def turn(kind: str, found: Any, value: float) -> None:
    """Set the number of a dial."""
    if kind in ("CONSTRAINT", "KEY", "LIGHT"):
        setattr(found, {"CONSTRAINT": "min_x", "KEY": "value", "LIGHT": "energy"}[kind], value)
    else:
        found["dial"] = value
        found.update_tag()


def dial(kind: str) -> tuple[Any, bpy.types.ID, str, str]:
    """What has a number, the data that a driver reads it of, the path, and the kind of that data."""
    found, owner, path = _dial(kind)
    id_type = {"KEY": "KEY", "MATERIAL": "MATERIAL", "SCENE": "SCENE", "LIGHT": "LIGHT"}
    return found, owner, path, id_type.get(kind, "OBJECT")


def flown(item: bpy.types.Object) -> None:
    """Let an object move by keys."""
    keyed(item, "location", [(1, (2, -1, 1)), (30, (-0.9, -2, 1.4)), (45, (0.8, -2, 1.9))])
