"""k_p and k_d: other words for settle time and damping, in step with them both ways."""

import bpy
import numpy as np
import pytest

from extension import load

from ..scenes import aim, ball, figure

gains = load("rig.look_at.gains")


@pytest.fixture
def settings():
    return aim(figure(), ball((0.3, -2.0, 1.7)))


def test_they_are_those_of_settle_time_and_damping(settings) -> None:
    settings.settle_time, settings.damping = 0.5, "RESPONSIVE"
    omega = 2.0 * np.pi / 0.5
    assert settings.k_p == pytest.approx(omega**2, rel=1e-6)
    assert settings.k_d == pytest.approx(np.sqrt(2.0 * omega**2), rel=1e-6)


@pytest.mark.parametrize("order", [("k_p", "k_d"), ("k_d", "k_p")])
def test_a_pair_from_an_engine_is_kept_in_either_order(settings, order) -> None:
    for k_p, k_d in ((100.0, 15.0), (37.125, 9.3), (1234.56, 44.4), (100.0, 15.0)):
        for name in order:
            setattr(settings, name, {"k_p": k_p, "k_d": k_d}[name])
        if settings.damping == "CUSTOM":
            assert (np.float32(settings.k_p), np.float32(settings.k_d)) == (np.float32(k_p), np.float32(k_d))
    assert settings.settle_time == pytest.approx(2.0 * np.pi / 10.0, rel=1e-6)
    assert settings.damping == "CUSTOM" and settings.damping_ratio == pytest.approx(0.75, rel=1e-6)


def test_choices_of_damping_keep_their_ratio(settings) -> None:
    settings.k_p = 64.0
    assert settings.damping == "CRITICAL" and settings.k_d == 16.0


@pytest.mark.parametrize("damping", ["CRITICAL", "RESPONSIVE", "CUSTOM"])
def test_reading_and_setting_them_a_thousand_times_changes_nothing(settings, damping) -> None:
    settings.settle_time, settings.damping, settings.damping_ratio = 0.37, damping, 0.613
    before = settings.settle_time, settings.damping, settings.damping_ratio
    for _ in range(1000):
        settings.k_p, settings.k_d = settings.k_p, settings.k_d
    assert (settings.settle_time, settings.damping, settings.damping_ratio) == before


@pytest.mark.parametrize("k_p", [-5.0, 0.0, 1e9])
def test_gains_out_of_range_stay_within_that_of_the_settle_time(settings, k_p) -> None:
    settings.k_p = k_p
    assert np.float32(0.01) <= settings.settle_time <= 60.0
    settings.k_d = 1e9
    assert settings.damping_ratio <= 20.0


def test_not_a_number_changes_nothing(settings) -> None:
    before = settings.settle_time, settings.damping_ratio
    for name in ("k_p", "k_d"):
        setattr(settings, name, float("nan"))
    assert (settings.settle_time, settings.damping_ratio) == before


@pytest.mark.every_blender
def test_an_override_keeps_them(tmp_path) -> None:
    """A library override stores its settle time and damping, and gets them back with the gains that it shows."""
    hero = figure("Hero")
    aim(hero, ball((0.3, -2.0, 1.7)))
    library = str(tmp_path / "hero.blend")
    bpy.data.libraries.write(library, {hero}, fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_, into):
        into.objects = ["Hero"]
    linked = bpy.data.objects["Hero", library]
    bpy.context.scene.collection.objects.link(linked)
    settings = linked.override_create(remap_local_usages=True).pose.bones["head"].lookat_pd
    settings.k_p, settings.k_d = 37.125, 9.3
    before = settings.settle_time, settings.damping, settings.damping_ratio
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    owner = next(item for item in bpy.data.objects if item.override_library)
    found = owner.pose.bones["head"].lookat_pd
    assert (found.settle_time, found.damping, found.damping_ratio) == before
    assert (found.k_p, found.k_d) == (37.125, pytest.approx(9.3))
