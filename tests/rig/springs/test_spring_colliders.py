"""What springs collide with in a file: empties, bones, the floor; what is told."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .tails import LAST, TAIL, animal, bends, live, seen, swing

collider_settings = load("rig.springs.collider_settings")
errors = load("lookat_pd.errors")


def ball(place: tuple[float, float, float], shape: str = "SPHERE", size: float = 0.1) -> bpy.types.Object:
    """An empty that is a collider."""
    item = bpy.data.objects.new("Collider", None)
    bpy.context.scene.collection.objects.link(item)
    item.location, item.empty_display_size = place, size
    own = item.lookat_pd_collider
    own.shape, own.exists = shape, True
    bpy.context.view_layer.update()
    return item


def tips(found: np.ndarray, length: float = 0.15) -> np.ndarray:
    """(F, b, 3) where bones with these matrices end."""
    return found[..., :3, 3] + length * found[..., :3, 1]


def status(armature: bpy.types.Object):
    return live.status(bpy.context.scene, armature, "", "SPRINGS")


def test_a_tail_does_not_go_into_a_ball_and_frames_are_the_same_however_reached() -> None:
    armature = animal()
    swing(armature, radius=0.02)
    free = seen(armature)
    deep = np.linalg.norm(tips(free)[:, -1] - tips(free)[0, -1], axis=-1)
    center = tips(free)[int(np.argmax(deep)), -1]
    ball(tuple(center))
    found = seen(armature)
    assert status(armature).state == "SOLVED"
    assert np.linalg.norm(tips(free)[:, -1] - center, axis=-1).min() < 0.05
    assert np.linalg.norm(tips(found)[:, -1] - center, axis=-1).min() > 0.12 * 0.97
    for frame in (25, 7, 40):
        assert np.array_equal(seen(armature, frames=[frame])[0], found[frame - 1])


def test_a_ball_that_is_moved_or_resized_is_followed() -> None:
    armature = animal()
    swing(armature, radius=0.02)
    plain = seen(armature)
    item = ball((5.0, 5.0, 5.0))
    assert np.array_equal(seen(armature), plain)
    item.location = tuple(tips(plain)[-1, -1])
    bpy.context.view_layer.update()
    pushed = seen(armature)
    assert np.abs(pushed - plain).max() > 0.02
    item.lookat_pd_collider.shape = "CAPSULE"
    item.location.z -= 0.4
    short = seen(armature)
    item.lookat_pd_collider.length = 2.0
    assert np.abs(seen(armature) - short).max() > 0.02
    item.lookat_pd_collider.exists = False
    assert np.array_equal(seen(armature), plain)


def test_the_floor_and_a_bone_as_colliders() -> None:
    armature = animal()
    armature.location.z = -0.9
    (chain,) = swing(armature, gravity=1.0, radius=0.02, settle_time=2.0)
    low = (tips(seen(armature))[..., 2] - 0.9).min()
    assert low < -0.1
    chain.settings.floor = True
    assert (tips(seen(armature))[LAST // 2 :, :, 2] - 0.9).min() > 0.02 * 0.97
    chain.settings.floor = False
    own = armature.pose.bones["head"].lookat_pd_collider
    own.radius, own.exists = 0.1, True
    seen(armature)
    assert status(armature).state == "SOLVED"


def test_a_chain_that_is_a_collider_of_itself_is_refused() -> None:
    armature = animal()
    swing(armature)
    armature.pose.bones[TAIL[2]].lookat_pd_collider.exists = True
    seen(armature)
    assert "collider of its own chain" in str(status(armature).error)


def test_what_cannot_be_kept_out_is_told() -> None:
    armature = animal()
    swing(armature, radius=0.02, limit=np.radians(10.0))
    plane = ball((0.0, 0.0, 3.0), "PLANE")
    scenes.keyed(plane, "location", [(1, (0.0, 0.0, -1.0)), (20, (0.0, 0.0, 3.0))])
    seen(armature)
    assert any("deep in" in str(note) for note in status(armature).notes)
    assert any("beyond its limit at frame" in str(note) for note in status(armature).notes)


def body(armature: bpy.types.Object, radius: float = 0.12) -> bpy.types.Object:
    """A pipe around the hips' bone, which deforms it."""
    bone = armature.data.bones["hips"]
    turn = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    ring = radius * np.stack((np.cos(turn), 0.0 * turn, np.sin(turn)), axis=-1)
    along = np.linspace(0.1, 0.9, 4)[:, None, None] * [0.0, bone.length, 0.0]
    matrix = np.array(bone.matrix_local)
    points = (ring + along).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(points.tolist(), [], [])
    item = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(item)
    item.modifiers.new("Armature", "ARMATURE").object = armature
    for name in ("hips", TAIL[0]):
        group = item.vertex_groups.new(name=name)
        group.add(list(range(len(points))), 1.0 if name == "hips" else 0.2, "REPLACE")
    return item


def test_bones_become_as_thick_as_the_mesh_around_them() -> None:
    armature = animal()
    mesh_colliders = load("rig.springs.mesh_colliders")
    with pytest.raises(errors.RigError, match="parent its mesh"):
        mesh_colliders.make(armature)
    body(armature)
    assert mesh_colliders.make(armature) == ["hips"]
    own = armature.pose.bones["hips"].lookat_pd_collider
    assert own.exists
    assert own.radius == pytest.approx(0.12, rel=0.01)


def test_no_bone_swings_further_than_its_limit() -> None:
    armature = animal()
    plain = bends(seen(armature))
    (chain,) = swing(armature)
    free = np.abs(bends(seen(armature)) - plain)
    chain.settings.limit = np.radians(5.0)
    found = np.diff(bends(seen(armature)) - plain, axis=1, prepend=0.0)
    assert np.abs(np.diff(free, axis=1)).max() > np.radians(6.0)
    assert np.abs(found).max() < np.radians(5.05)


def test_a_tail_that_becomes_thinner_comes_nearer_to_the_floor_with_its_tip() -> None:
    armature = animal()
    armature.location.z = -0.9
    (chain,) = swing(armature, gravity=1.0, radius=0.04, settle_time=2.0, floor=True)
    thick = tips(seen(armature))[-1, -1, 2] - 0.9
    chain.settings.tip_radius = 0.25
    thin = tips(seen(armature))[-1, -1, 2] - 0.9
    assert thick == pytest.approx(0.04, abs=1e-3)
    assert thin == pytest.approx(0.01, abs=1e-3)
    # Without the floor, on which the tip lies either way.
    chain.settings.floor = False
    heavy = tips(seen(armature))[-1, -1, 2]
    chain.settings.tip_gravity = 0.0
    assert tips(seen(armature))[-1, -1, 2] > heavy + 0.02
