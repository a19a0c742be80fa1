"""What the motion of a rig or a target depends on, and fingerprints that detect whether it has been edited.

Samples are valid as long as nothing they were taken from changes. Blender reports that data of a type was changed, not
which; fingerprints find that. They leave out animated channels, which change from frame to frame, and what look-ats
add.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, KeysView, Mapping, Sequence, Sized
from contextlib import contextmanager
from hashlib import blake2b
from itertools import chain, islice
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from ..animation import actions
from ..animation.channels import TRANSFORM_SIZES
from ..animation.data_paths import bone_path, split_key
from . import own_data, physics, shapes

KINDS = frozenset(("ACTION", "OBJECT", "ARMATURE", "SCENE", "COLLECTION"))
"""Kinds of data whose change may always change a motion; others do where one of them is within reach."""
_BLOCK = 32
"""Curves or bones that are read at once, at least."""
_GO = 0.01
"""Seconds of one go of what is found gradually."""
_DELTAS = ("delta_location", "delta_rotation_quaternion", "delta_rotation_euler", "delta_scale")
_KEYS = (("co", np.float32, 2), ("handle_left", np.float32, 2), ("handle_right", np.float32, 2))
_SKIPPED = {
    "rna_type",
    "name",
    "name_full",
    "show_expanded",
    "error_location",
    "error_rotation",
    "is_valid",
    "active",
    "lookat_pd",
    "users",
    "session_uid",
    "tag",
    "use_fake_user",
    "use_extra_user",
    "is_evaluated",
    "is_missing",
    "is_runtime_data",
    "is_editable",
    "is_embedded_data",
    "is_library_indirect",
    "is_override_data",
    "select",
    "use_nodes",
}
_SIMPLE = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
_BONE_SETTINGS = ("use_inherit_rotation", "use_local_location", "use_relative_parent", "use_connect")
_SETTINGS = "lookat_pd_shot["
"""Beginning of the data paths of what only settings of look-ats follow, from the data of an armature."""
_READ_BY_CONSTRAINTS = ("pole_target", "action", "cache_file", "clip", "camera", "depth_object", "space_object")
_leading: dict[type, tuple[bool, list[str]]] = {}
_names: dict[str, list[tuple[str, str]]] = {}
Read = dict[tuple[str, int, int], Sequence[bpy.types.ID | shapes.Shape | None]]
"""What data was found to use, by its kind, its session identifier and that of the scene."""
_read: Read | None = None


def changed_kinds(scene: bpy.types.Scene, kinds: Iterable[str]) -> set[str]:
    """Kinds of data of which Blender knows a change since the scene was last evaluated, in any of its view layers."""
    graphs = [layer.depsgraph for layer in scene.view_layers]
    # Each frame asks this: to look a method up takes longer than to call it.
    changed = [set(filter(graph.id_type_updated, kinds)) for graph in graphs if graph is not None]
    # A view layer that was evaluated since then has nothing new: all that the others report is known.
    return set().union(*changed) if changed and all(changed) else set() if changed else set(kinds)


def reported(scene: bpy.types.Scene) -> Iterator[bpy.types.ID]:
    """What Blender knows to be changed since the scene was last evaluated, each as it was evaluated then: what it was
    evaluated from may be deleted by now. `tag` is the same for both."""
    graphs = (layer.depsgraph for layer in scene.view_layers)
    return (update.id for graph in graphs if graph is not None for update in graph.updates)


def tag(item: bpy.types.ID) -> tuple[str, str]:
    """By what data is known that Blender reports to be changed; equal for data of one name from several libraries."""
    return item.id_type, item.name


def dependencies(scene: bpy.types.Scene, items: Iterable[bpy.types.ID | None]) -> dict[tuple[str, str], bpy.types.ID]:
    """Everything that the motion of these objects depends on, themselves included, by kind and full name."""
    items_by_key: dict[tuple[str, str], bpy.types.ID] = {}
    shaped: set[tuple[str, str]] = set()
    waiting: list[bpy.types.ID | shapes.Shape] = [item for item in items if item is not None]
    while waiting:
        item = waiting.pop()
        if isinstance(item, shapes.Shape):
            simplified = scene if scene.render.use_simplify else None
            item, known, uses = item.object, shaped, (simplified, *shapes.uses(item.object))
        else:
            known, uses = items_by_key, _known_uses(item, scene)
        key = identity(item)
        if key not in known:
            if known is shaped:
                shaped.add(key)
            else:
                items_by_key[key] = item
            waiting.extend(used for used in uses if used is not None)
    return items_by_key


@contextmanager
def reading_once(known: Read | None = None) -> Iterator[None]:
    """Read only once what data uses, as long as nobody else changes the file: control rigs have thousands of
    constraints. known: what was read before, to which what is read now is added."""
    global _read
    before = _read
    if known is not None:
        _read = known
    elif _read is None:
        _read = {}
    try:
        yield
    finally:
        _read = before


def whole(item: bpy.types.ID) -> list[bpy.types.ID]:
    """An item with what is embedded in it and changes by itself: the nodes of materials, lights and the like."""
    nodes = None if isinstance(item, bpy.types.Scene | bpy.types.NodeTree) else getattr(item, "node_tree", None)
    return [item] if nodes is None else [item, nodes]


def identity(item: bpy.types.ID) -> tuple[str, str]:
    if isinstance(item, bpy.types.NodeTree) and item.is_embedded_data:
        # Those of all materials have one name.
        return item.id_type, f"{item.name_full} {item.session_uid}"
    return item.id_type, item.name_full


def fingerprint(item: bpy.types.ID) -> bytes:
    """A digest of all that an item gives to a motion and that does not change with the frame.

    Without the keys that only settings of look-ats follow (`settings_keys`).
    """
    digest = blake2b(digest_size=16)
    animated = _animated(item)
    for part in _parts(item, animated):
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.digest()


class GradualFingerprint:
    """The fingerprint of one item, found in several goes between which nothing of Blender is held."""

    def __init__(self) -> None:
        self._digest = blake2b(digest_size=16)
        self._animated: Mapping[str, set[int]] | None = None
        self._done = 0

    def go_on(self, item: bpy.types.ID, until: float) -> bytes | None:
        """Work until a time [s], but a little at least; the fingerprint once it is complete.

        One of an item that was changed meanwhile is of nothing that ever was.
        """
        if self._animated is None:
            self._animated = _animated(item)
        for piece in islice(_pieces(item, self._animated), self._done, None):
            for part in piece:
                self._digest.update(part if isinstance(part, bytes) else repr(part).encode())
            self._done += 1
            if perf_counter() > until:
                return None
        return self._digest.digest()


def gradually(item: bpy.types.ID) -> Generator[float, None, bytes]:
    """The fingerprint of an item, as a generator of the fraction done, which is not known."""
    work = GradualFingerprint()
    while (found := work.go_on(item, perf_counter() + _GO)) is None:
        yield 0.0
    return found


def structure(item: bpy.types.ID) -> bytes:
    """A digest of how an item moves others, whatever plays and however it is posed."""
    digest = blake2b(digest_size=16)
    if not isinstance(item, bpy.types.Action):
        for part in _parts(item, _animated(item), posed=False):
            digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.digest()


def settings_keys(data: bpy.types.ID) -> bytes:
    """A digest of the keys that only settings of look-ats follow, in the current action or the NLA of armature data."""
    digest = blake2b(digest_size=16)
    for part in _settings_keys(data):
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.digest()


def _settings_keys(data: bpy.types.ID) -> Iterator[object]:
    animation = getattr(data, "animation_data", None)
    for action, slot in _playing(animation) if animation is not None else ():
        bag = actions.channelbag(action, slot)
        for curve in bag.fcurves if bag is not None else ():
            if curve.data_path.startswith(_SETTINGS):
                yield from _curve(curve)


def animates(armature: bpy.types.Object, path: str) -> bool:
    """Whether keys, in the current action or the NLA, or a driver move a property of an armature."""
    return path in _animated(armature)


def is_driven(armature: bpy.types.Object, path: str) -> bool:
    """Whether a driver moves a property of an armature."""
    return armature.animation_data is not None and armature.animation_data.drivers.find(path) is not None


def keyed_paths(item: bpy.types.ID) -> Collection[str]:
    """Data paths of the properties of any item that keys move, in the current action or the NLA."""
    return _keyed(item).keys()


def animated_paths(armature: bpy.types.Object) -> KeysView[str]:
    """Data paths of the properties of an armature that keys, in the current action or the NLA, or drivers move."""
    return _animated(armature).keys()


def _known_uses(item: bpy.types.ID, scene: bpy.types.Scene) -> Iterable[bpy.types.ID | shapes.Shape | None]:
    if _read is None or item.is_embedded_data:
        return _uses(item, scene)
    key = item.id_type, item.session_uid, scene.session_uid
    found = _read.get(key)
    if found is None:
        found = _read[key] = tuple(_uses(item, scene))
    return found


def _uses(item: bpy.types.ID, scene: bpy.types.Scene) -> Iterator[bpy.types.ID | None]:
    data = getattr(item, "animation_data", None)
    if data is not None:
        yield data.action
        yield from (strip.action for strip in _playing_strips(data))
        yield from dict.fromkeys(_read_by_drivers(data, scene))
    if not isinstance(item, bpy.types.Object):
        yield None if isinstance(item, bpy.types.Armature) else getattr(item, "shape_keys", None)
        if isinstance(item, bpy.types.NodeTree):
            yield from shapes.tree_uses(item)
        return
    yield item.parent
    if shapes.is_parent_by_shape(item):
        yield from (item.parent.data, shapes.Shape(item.parent))
    if isinstance(item.data, bpy.types.Armature | bpy.types.Curve | bpy.types.Lattice):
        yield item.data
    yield from physics.uses(item, scene)
    # A control rig has thousands of constraints and drivers that read a few things.
    yield from dict.fromkeys(_read_by_constraints(item))


def _read_by_drivers(data: bpy.types.AnimData, scene: bpy.types.Scene) -> Iterator[bpy.types.ID | None]:
    for variable in (variable for driver in data.drivers for variable in driver.driver.variables):
        for target in variable.targets:
            yield from (target.id, _owner_of(target))
        if variable.type == "CONTEXT_PROP":
            yield scene


def _read_by_constraints(item: bpy.types.Object) -> Iterator[bpy.types.ID | shapes.Shape | None]:
    for stack in _stacks(item):
        for constraint in stack:
            if own_data.is_live_constraint(constraint):
                continue
            has_target, others = _pointers(constraint)
            for holder in (constraint, *getattr(constraint, "targets", ())) if has_target else ():
                target = getattr(holder, "target", None)
                yield target
                if shapes.followed(constraint, target, getattr(holder, "subtarget", "")):
                    # The surface, or a vertex group of it.
                    yield from (target.data, shapes.Shape(target))
            for name in others:
                yield getattr(constraint, name)


def _pointers(constraint: bpy.types.Constraint) -> tuple[bool, list[str]]:
    """Whether a constraint has targets, and the names of its other settings that lead to other data."""
    kind = type(constraint)
    if kind not in _leading:
        known = kind.bl_rna.properties.keys()
        others = [name for name in _READ_BY_CONSTRAINTS if name in known]
        _leading[kind] = ("target" in known or "targets" in known), others
    return _leading[kind]


def _owner_of(target: bpy.types.DriverTarget) -> bpy.types.ID | None:
    """The data that has the property which a driver reads, where the path leads there through other data."""
    path, key = split_key(target.data_path)
    path = path if key else path.rpartition(".")[0]
    if target.id is None or not path:
        return None
    try:
        return target.id.path_resolve(path, False).id_data
    except (ValueError, AttributeError):
        # It leads nowhere.
        return None


def _stacks(item: bpy.types.Object) -> Iterator[Any]:
    yield item.constraints
    yield from (bone.constraints for bone in item.pose.bones) if item.pose else ()


def playing_actions(item: bpy.types.ID) -> Iterator[bpy.types.Action]:
    """The actions that move an item, in the current action or the NLA."""
    data = getattr(item, "animation_data", None)
    return (action for action, _ in _playing(data)) if data is not None else iter(())


def playing_tracks(data: bpy.types.AnimData) -> list[bpy.types.NlaTrack]:
    """The NLA tracks that play: a character may have hundreds of clips on muted ones."""
    if not data.use_nla:
        return []
    solo = any(track.is_solo for track in data.nla_tracks)
    return [track for track in data.nla_tracks if not track.mute and (track.is_solo or not solo)]


def _playing_strips(data: bpy.types.AnimData) -> Iterator[bpy.types.NlaStrip]:
    waiting = [strip for track in playing_tracks(data) for strip in track.strips]
    while waiting:
        strip = waiting.pop()
        if not strip.mute:
            waiting.extend(strip.strips)
            yield strip


def _playing(data: bpy.types.AnimData) -> Iterator[tuple[bpy.types.Action, bpy.types.ActionSlot]]:
    """The actions of an item, with their slots, that move it: the current one, and those of strips not muted."""
    if data.action is not None and data.action_slot is not None:
        yield data.action, data.action_slot
    for strip in _playing_strips(data):
        if strip.action is not None and strip.action_slot is not None:
            yield strip.action, strip.action_slot


def _animated(item: bpy.types.ID) -> dict[str, set[int]]:
    """Data paths of an item's own properties that change with the frame, and which of their numbers do."""
    data = getattr(item, "animation_data", None)
    paths = _keyed(item)
    for driver in data.drivers if data is not None else ():
        paths.setdefault(driver.data_path, set()).add(driver.array_index)
    return paths


def _keyed(item: bpy.types.ID) -> dict[str, set[int]]:
    """The same of what keys move."""
    data = getattr(item, "animation_data", None)
    paths: dict[str, set[int]] = {}
    for action, slot in _playing(data) if data is not None else ():
        bag = actions.channelbag(action, slot)
        for curve in bag.fcurves if bag is not None else ():
            if actions.plays(curve):
                paths.setdefault(curve.data_path, set()).add(curve.array_index)
    return paths


def _still(values: Any, moving: set[int]) -> tuple[float, ...]:
    """Numbers without those that change with the frame."""
    return tuple(0.0 if n in moving else value for n, value in enumerate(values))


def _parts(item: bpy.types.ID, animated: Mapping[str, set[int]], *, posed: bool = True) -> Iterator[object]:
    """posed: with what plays, and the transforms of objects and bones."""
    return chain.from_iterable(_pieces(item, animated, posed=posed))


def _pieces(item: bpy.types.ID, animated: Mapping[str, set[int]], *, posed: bool = True) -> Iterator[Iterable[object]]:
    """The parts in pieces, nothing of which is read before it is asked for: of large items some curves each."""
    if isinstance(item, bpy.types.Action):
        yield from _action(item)
    elif isinstance(item, bpy.types.Object):
        yield _common(item, animated, posed=posed)
        yield from _object(item, animated, posed=posed)
    else:
        yield _common(item, animated, posed=posed)
        yield _data(item, animated)


def _common(item: bpy.types.ID, animated: Mapping[str, set[int]], *, posed: bool) -> Iterator[object]:
    if posed:
        yield from _playback(item)
    yield from _drivers(item)
    yield from _custom(item, "", animated)


def _data(item: bpy.types.ID, animated: Mapping[str, set[int]]) -> Iterator[object]:
    if isinstance(item, bpy.types.Armature):
        yield from _armature(item)
        for n, shot in enumerate(getattr(item, "lookat_pd_shot", ())):
            # Settings of look-ats follow these, with keys or without.
            yield from _simple(shot, f"lookat_pd_shot[{n}].", animated)
            for k, target in enumerate(shot.targets):
                yield from _simple(target, f"lookat_pd_shot[{n}].targets[{k}].", animated)
    elif isinstance(item, bpy.types.Scene):
        yield _scene(item)
        yield from physics.world_parts(item, animated)
    else:
        yield from _simple(item, "", animated)
        yield from _points(item)
        yield from _shape_data(item, animated)


def _action(action: bpy.types.Action) -> Iterator[Iterable[object]]:
    # Springs have no seam on a cycle.
    yield (action.use_cyclic, action.frame_start, action.frame_end) if action.use_frame_range else ()
    for layer in action.layers:
        for strip in layer.strips:
            for bag in getattr(strip, "channelbags", ()):
                yield (bag.slot_handle,)
                for block in _blocks(bag.fcurves):
                    yield _curves(bag.fcurves, block)


def _blocks(items: Sized) -> Iterator[range]:
    """The numbers of many items, in pieces that are skipped quickly where they were read before."""
    return (range(n, min(n + _BLOCK, len(items))) for n in range(0, len(items), _BLOCK))


def _curves(curves: Any, block: range) -> Iterator[object]:
    for curve in (curves[n] for n in block):
        if not curve.data_path.startswith(_SETTINGS):
            yield from _curve(curve)


def _curve(curve: bpy.types.FCurve) -> Iterator[object]:
    yield curve.data_path, curve.array_index, actions.plays(curve), curve.extrapolation
    points = curve.keyframe_points
    for name, kind, size in _KEYS:
        values = np.empty(size * len(points), dtype=kind)
        points.foreach_get(name, values)
        yield values.tobytes()
    if len(curve.sampled_points):
        values = np.empty(2 * len(curve.sampled_points), dtype=np.float32)
        curve.sampled_points.foreach_get("co", values)
        yield values.tobytes()
    kinds = np.empty(len(points), dtype=np.int32)
    points.foreach_get("interpolation", kinds)
    yield kinds.tobytes()
    if kinds.size and kinds.max() > 2:
        yield [(p.easing, p.back, p.amplitude, p.period) for p in points]
    for modifier in curve.modifiers:
        yield from _simple(modifier, "", {})
        yield [tuple(p.co) for p in getattr(modifier, "control_points", ()) if hasattr(p, "co")]
        yield list(getattr(modifier, "coefficients", ()))


def _playback(item: bpy.types.ID) -> Iterator[object]:
    data = getattr(item, "animation_data", None)
    if data is None:
        return
    yield data.action.name_full if data.action else "", data.action_slot_handle, data.use_nla
    yield data.action_blend_type, data.action_extrapolation, data.action_influence, data.use_tweak_mode
    yield [len(track.strips) for track in playing_tracks(data)]
    for strip in _playing_strips(data):
        yield strip.action.name_full if strip.action else "", strip.action_slot_handle
        yield from _simple(strip, "", {})
        for curve in strip.fcurves:
            yield from _curve(curve)


def _drivers(item: bpy.types.ID) -> Iterator[object]:
    data = getattr(item, "animation_data", None)
    for driver in data.drivers if data is not None else ():
        yield driver.data_path, driver.array_index, driver.mute, driver.driver.type, driver.driver.expression
        for variable in driver.driver.variables:
            yield variable.name, variable.type
            for target in variable.targets:
                yield target.id.name_full if target.id else "", target.data_path, target.bone_target
                yield target.transform_type, target.transform_space, target.rotation_mode
                if "lookat_pd" in target.data_path and "lookat_pd" not in driver.data_path:
                    # Something else follows a setting too.
                    yield from _settings_keys(getattr(target.id, "data", None) or target.id)


def _object(item: bpy.types.Object, animated: Mapping[str, set[int]], *, posed: bool) -> Iterator[Iterable[object]]:
    yield _own(item, animated, posed=posed)
    if item.pose is None:
        return
    bones = item.pose.bones
    yield (bones.keys(),)
    if posed:
        yield _transforms(bones, animated)
    for block in _blocks(bones):
        yield chain.from_iterable(_bone(bones[n], animated) for n in block)
    yield ([bone.rotation_mode for bone in bones],)


def _own(item: bpy.types.Object, animated: Mapping[str, set[int]], *, posed: bool) -> Iterator[object]:
    yield item.type, item.rotation_mode, item.parent.name_full if item.parent else "", item.parent_type
    yield item.parent_bone, tuple(v for row in item.matrix_parent_inverse for v in row)
    for name in (*TRANSFORM_SIZES, *_DELTAS) if posed else ():
        yield _still(getattr(item, name), animated.get(name, set()))
    yield tuple(item.parent_vertices)
    yield from shapes.parts(item, animated)
    yield from physics.parts(item, animated)
    yield from _constraints(item.constraints, "", animated)


def _bone(bone: bpy.types.PoseBone, animated: Mapping[str, set[int]]) -> Iterator[object]:
    path = bone_path(bone.name)
    if len(bone.constraints):
        yield from _constraints(bone.constraints, f"{path}.", animated)
    yield from _custom(bone, path, animated)


def _transforms(bones: Any, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """The channels of bones that do not change with the frame."""
    rows = {bone_path(bone): n for n, bone in enumerate(bones.keys())}
    moving: dict[str, list[tuple[int, int]]] = {}
    for path, indices in animated.items():
        head, _, name = path.rpartition(".")
        if head in rows:
            moving.setdefault(name, []).extend((rows[head], index) for index in indices)
    for name, size in TRANSFORM_SIZES.items():
        values = np.empty((len(bones), size), dtype=np.float32)
        bones.foreach_get(name, values.ravel())
        for row, index in moving.get(name, ()):
            values[row, index] = 0.0
        yield values.tobytes()


def _constraints(stack: Any, path: str, animated: Mapping[str, set[int]]) -> Iterator[object]:
    for constraint in stack:
        if not own_data.is_live_constraint(constraint):
            here = f'{path}constraints["{bpy.utils.escape_identifier(constraint.name)}"].'
            yield from _simple(constraint, here, animated)
            for n, target in enumerate(getattr(constraint, "targets", ())):
                yield from _simple(target, f"{here}targets[{n}].", animated)


def _simple(item: Any, path: str, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """Numbers, texts, choices and names of pointers of any item."""
    kind = item.bl_rna.identifier
    if kind not in _names:
        properties = [p for p in item.bl_rna.properties if p.identifier not in _SKIPPED]
        _names[kind] = [(p.identifier, p.type) for p in properties if p.type in _SIMPLE or p.type == "POINTER"]
    values = []
    for name, type_ in _names[kind]:
        moves = animated.get(path + name)
        if moves is not None and (type_ != "FLOAT" or not hasattr(getattr(item, name), "__len__")):
            continue
        value: Any = getattr(item, name)
        if moves is not None:
            value = _still(value, moves)
        if type_ == "POINTER":
            value = value.name_full if isinstance(value, bpy.types.ID) else None
        elif not isinstance(value, bool | int | float | str):
            value = tuple(tuple(v) if hasattr(v, "__len__") else v for v in value)
        values.append(value)
    yield values


def _custom(item: Any, path: str, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """Custom properties: drivers read them."""
    for key in item.keys():
        if key.startswith("lookat_pd") or f'{path}["{bpy.utils.escape_identifier(key)}"]' in animated:
            continue
        value = item[key]
        if isinstance(value, bool | int | float | str):
            yield key, value
        elif hasattr(value, "to_list"):
            yield key, value.to_list()


def _armature(armature: bpy.types.Armature) -> Iterator[object]:
    bones = armature.bones
    yield armature.pose_position, bones.keys(), [bone.parent.name if bone.parent else "" for bone in bones]
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    lengths = np.empty(len(bones), dtype=np.float32)
    bones.foreach_get("length", lengths)
    yield matrices.tobytes() + lengths.tobytes()
    for name in _BONE_SETTINGS:
        values = np.empty(len(bones), dtype=bool)
        bones.foreach_get(name, values)
        yield values.tobytes()
    yield [bone.inherit_scale for bone in bones]


def _scene(scene: bpy.types.Scene) -> tuple[object, ...]:
    render = scene.render
    times = render.fps, render.fps_base, render.frame_map_old, render.frame_map_new
    return (*times, render.use_simplify, render.simplify_subdivision, tuple(scene.gravity))


def _shape_data(item: bpy.types.ID, animated: Mapping[str, set[int]]) -> Iterator[object]:
    """Shape keys, nodes and files that decide the shapes of objects."""
    if isinstance(item, bpy.types.Key):
        yield from shapes.key_parts(item, animated)
    elif isinstance(item, bpy.types.NodeTree):
        yield from shapes.tree_parts(item, animated)
    elif isinstance(item, bpy.types.CacheFile):
        yield from shapes.file_parts(item)
    for nodes in whole(item)[1:]:
        # Drivers read the values of materials.
        yield from shapes.tree_parts(nodes, _animated(nodes))


def _points(item: bpy.types.ID) -> Iterator[object]:
    """Control points of a curve or lattice that others follow; vertices of a mesh."""
    for spline in getattr(item, "splines", ()):
        for points in (spline.points, spline.bezier_points):
            for point in points:
                yield tuple(point.co), getattr(point, "tilt", 0.0)
                if hasattr(point, "handle_left"):
                    yield tuple(point.handle_left), tuple(point.handle_right)
    if isinstance(item, bpy.types.Lattice):
        yield [tuple(point.co_deform) for point in item.points]
    if isinstance(item, bpy.types.Mesh):
        places = np.empty(3 * len(item.vertices), dtype=np.float32)
        item.vertices.foreach_get("co", places)
        yield places.tobytes()
