"""What acts on springs besides the animation: force fields, centers, groups of colliders; settings of each bone."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from extension import load

from .. import linked, scenes
from .tails import FRAMES, LAST, TAIL, animal, bends, seen, swing

fields = load("rig.springs.fields")
springs_edit = load("rig.springs.springs_edit")
along_chain = load("rig.springs.along_chain")
live = load("rig.layers.live")
springs_kind = load("rig.springs.springs_kind")


def wind(strength: float = 2.0, **settings: object) -> bpy.types.Object:
    """A field that blows along X."""
    bpy.ops.object.effector_add(type="WIND", rotation=(0.0, 0.5 * np.pi, 0.0))
    item = bpy.context.object
    item.name, item.field.strength, item.field.flow = "Wind", strength, 0.0
    for name, value in settings.items():
        setattr(item.field, name, value)
    return item


def still() -> bpy.types.Object:
    armature = animal()
    armature.animation_data_clear()
    armature.pose.bones["hips"].rotation_euler = (0.0, 0.0, 0.0)
    return armature


def test_a_wind_field_pushes_as_the_same_wind_of_the_settings() -> None:
    armature = still()
    (chain,) = swing(armature, TAIL, drag=0.0, turbulence=0.0)
    chain.settings.wind = (2.0, 0.0, 0.0)
    wanted = seen(armature)
    field = wind(0.0)
    chain.settings.wind = (0.0, 0.0, 0.0)
    assert np.abs(bends(seen(armature))).max() < 1e-5
    field.field.strength = 2.0
    np.testing.assert_allclose(seen(armature), wanted, atol=1e-5)
    assert np.abs(bends(wanted)).max() > 0.02
    chain.settings.fields = False
    assert np.abs(bends(seen(armature))).max() < 1e-5


def flown(wanted: Callable[[], bpy.types.Object]) -> tuple[float, bpy.types.Object]:
    """How far a field takes a particle along X in a second, at the frame rate to which these are tuned."""
    scene = bpy.context.scene
    scene.render.fps, scene.gravity, scene.frame_end = 25, (0.0, 0.0, 0.0), 40
    bpy.ops.mesh.primitive_plane_add(size=0.1)
    plane = bpy.context.object
    bpy.ops.object.particle_system_add()
    settings = plane.particle_systems[0].settings
    settings.count, settings.frame_end, settings.lifetime, settings.normal_factor = 1, 1.0, 500.0, 0.0
    item, places = wanted(), []
    for frame in range(1, 27):
        scene.frame_set(frame)
        found = plane.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles[0]
        places.append(found.location.x)
    return places[-1] - places[0], item


def test_a_wind_field_pushes_as_it_pushes_particles() -> None:
    way, item = flown(lambda: wind(3.0))
    (known,) = fields.on(bpy.context.scene)
    push = known.strengths(np.array([1.0]))[0]
    assert not known.left_out and known.object == item
    # Steps of Blender begin with the acceleration.
    assert way == pytest.approx(0.5 * push * 1.0**2, rel=0.05)


def in_collection() -> bpy.types.LayerCollection:
    """A wind in a collection of its own."""
    item, layer = wind(3.0), bpy.context.view_layer
    own = bpy.data.collections.new("Weather")
    bpy.context.scene.collection.children.link(own)
    own.objects.link(item)
    for other in item.users_collection:
        if other != own:
            other.objects.unlink(item)
    return layer.layer_collection.children[own.name]


def excluded() -> None:
    in_collection().exclude = True


def disabled() -> None:
    in_collection().collection.hide_viewport = True


def closed_eyes() -> None:
    in_collection().hide_viewport = True
    bpy.data.objects["Wind"].hide_set(True)


def without_location() -> None:
    wind(3.0, apply_to_location=False)


@pytest.mark.parametrize(("hidden", "acts"), [(excluded, 0), (disabled, 0), (closed_eyes, 1), (without_location, 0)])
def test_a_field_acts_where_it_acts_on_particles(hidden, acts) -> None:
    way, _ = flown(hidden)
    known = [field for field in fields.on(bpy.context.scene) if not field.left_out]
    assert (abs(way) > 0.5) == bool(known) == bool(acts)


@pytest.mark.parametrize(
    "settings",
    [
        {"type": "FORCE"},
        {"type": "TURBULENCE"},
        {"noise": 0.5},
        {"falloff_power": 1.0},
        {"use_max_distance": True},
    ],
)
def test_fields_that_cannot_be_known_are_left_out_with_a_sentence(settings) -> None:
    armature = still()
    swing(armature, TAIL)
    kind = settings.get("type", "WIND")
    wind(**{name: value for name, value in settings.items() if name != "type"}).field.type = kind
    armature.pose.bones[TAIL[0]].lookat_pd_springs.influence = 0.9
    assert np.abs(bends(seen(armature))).max() < 1e-5
    status = live.status(bpy.context.scene, armature, "", springs_kind.NAME)
    assert any("'Wind' has no effect on springs" in str(text) for text in status.notes)


def test_a_flow_that_is_keyed_is_not_taken_for_that_of_the_frame_that_is_shown() -> None:
    item = wind(flow=3.0)
    item.field.keyframe_insert("strength", frame=1)
    assert not fields.on(bpy.context.scene)[0].left_out
    item.field.keyframe_insert("flow", frame=1)
    assert "are keyed" in fields.on(bpy.context.scene)[0].left_out


def test_a_wind_along_the_normals_of_a_mesh_is_left_out() -> None:
    bpy.ops.mesh.primitive_plane_add()
    plane = bpy.context.object
    bpy.ops.object.forcefield_toggle()
    plane.field.type, plane.field.shape = "WIND", "SURFACE"
    (known,) = fields.on(bpy.context.scene)
    assert "depends on the place" in known.left_out


def test_a_keyed_strength_is_that_of_each_frame() -> None:
    item = wind()
    for frame, value in ((1, 0.0), (11, 10.0)):
        item.field.strength = value
        item.field.keyframe_insert("strength", frame=frame)
    (known,) = fields.on(bpy.context.scene)
    strengths = known.strengths(np.array([1.0, 6.0, 11.0]))
    assert strengths[0] == 0.0 and strengths[1] == pytest.approx(5.0, abs=0.1) and strengths[2] == pytest.approx(10.0)


def test_a_center_bone_takes_its_own_turn_away() -> None:
    armature = animal()
    (chain,) = swing(armature, TAIL)
    assert np.abs(np.diff(bends(seen(armature)), axis=1)).max() > 0.05
    chain.settings.center, chain.settings.inertia = "hips", 0.0
    assert np.abs(np.diff(bends(seen(armature)), axis=1)).max() < 1e-4


def test_a_center_that_is_no_bone_is_one_sentence() -> None:
    armature = animal()
    (chain,) = swing(armature, TAIL)
    chain.settings.center, chain.settings.inertia = "wing", 0.5
    seen(armature, frames=[1])
    assert "is no bone of" in str(live.status(bpy.context.scene, armature, "", springs_kind.NAME).error)


def test_chains_collide_with_the_groups_that_they_name() -> None:
    armature = still()
    (chain,) = swing(armature, TAIL, gravity=3.0, collide=True, radius=0.02)
    item = springs_edit.add_collider(bpy.context.scene, "PLANE")
    item.location, item.lookat_pd_collider.groups = (0.0, 0.0, 0.95), "floor, body"
    lowest = [seen(armature)[-1, -1, 2, 3]]
    for groups in ("hair", "hair,body"):
        chain.settings.collider_groups = groups
        lowest.append(seen(armature)[-1, -1, 2, 3])
    assert lowest[0] == pytest.approx(lowest[2], abs=1e-4) and lowest[1] < lowest[0] - 0.02


def test_settings_change_along_a_chain_and_have_factors_of_their_own() -> None:
    armature = animal()
    (chain,) = swing(armature, TAIL, settle_time=0.4, tip_factor=2.0, drag=2.0, tip_drag=3.0, falloff=1.0)
    even = [own.settle_time for own in along_chain.of(chain)]
    np.testing.assert_allclose(even, 0.4 * 2.0 ** (np.arange(4) / 3), rtol=1e-5)
    np.testing.assert_allclose([own.drag for own in along_chain.of(chain)], [2.0, 10 / 3, 14 / 3, 6.0], rtol=1e-5)
    chain.settings.falloff = 4.0
    late = [own.settle_time for own in along_chain.of(chain)]
    assert late[1] < even[1] and late[-1] == pytest.approx(even[-1])
    before = seen(armature)
    chain.settings.bones[2].settle_factor, chain.settings.bones[2].drag_factor = 0.25, 0.0
    third = list(along_chain.of(chain))[2]
    assert third.settle_time == pytest.approx(0.25 * late[2]) and third.drag == 0.0
    assert np.abs(seen(armature) - before).max() > 1e-3


def test_one_way_bones_swing_live() -> None:
    armature = animal()
    (chain,) = swing(armature, TAIL, settle_time=0.3, damping_ratio=0.3, drag=10.0)
    coupled = seen(armature)
    chain.settings.one_way = True
    found = seen(armature)
    assert np.abs(found - coupled).max() > 0.01 and np.isfinite(found).all()
    cold = scenes.poses(armature, [LAST // 2], TAIL)
    np.testing.assert_array_equal(cold[0], found[LAST // 2 - 1])


def test_a_center_is_known_as_soon_as_less_than_all_is_felt() -> None:
    armature = animal()
    (chain,) = swing(armature, TAIL, center="hips")
    assert np.abs(np.diff(bends(seen(armature)), axis=1)).max() > 0.05
    chain.settings.inertia = 0.0
    assert np.abs(np.diff(bends(seen(armature)), axis=1)).max() < 1e-4


def swung(side: float) -> np.ndarray:
    """Places of the tail's bones in the world, on an armature whose scale along X has this sign and that is carried
    about, as its mirror image is for the other sign."""
    linked.empty_file()
    armature, carrier = animal(), bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    armature.parent, armature.scale.x = carrier, side
    scenes.keyed(carrier, "location", [(4, (0.0, 0.0, 0.0)), (14, (0.5 * side, 0.2, 0.1))])
    scenes.keyed(carrier, "rotation_euler", [(4, (0.0, 0.0, 0.0)), (12, (0.0, 0.0, side))])
    swing(armature, gravity=0.3)
    found = []
    for frame in FRAMES:
        scenes.goto(frame)
        found.append([armature.matrix_world @ armature.pose.bones[bone].tail for bone in TAIL])
    return np.array(found)


def test_a_mirrored_armature_swings_as_its_mirror_image() -> None:
    np.testing.assert_allclose(swung(-1.0) * [-1.0, 1.0, 1.0], swung(1.0), atol=1e-5)
