"""Springs on a character of a library: what is edited in the shot is kept, and moves alike when opened again."""

import bpy
import numpy as np
import pytest

from .. import linked
from . import tails

SETTLE_TIME = 1.7


def library(folder, *, has_springs: bool) -> str:
    linked.empty_file()
    hero = tails.animal()
    if has_springs:
        tails.swing(hero, tails.TAIL, tails.HAIR)
    return linked.save_library(folder, hero)


def constraints(hero) -> list[list[str]]:
    return [[constraint.name for constraint in hero.pose.bones[bone].constraints] for bone in tails.TAIL]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "has_springs"), [*((kind, True) for kind in linked.KINDS), ("library of a library", False)]
)
def test_edited_settings_move_alike_when_opened(tmp_path, kind, has_springs) -> None:
    hero = linked.overridden(library(tmp_path, has_springs=has_springs), kind)
    bpy.context.scene.frame_end = tails.LAST
    if not has_springs:
        tails.swing(hero, tails.TAIL, tails.HAIR)
    before = tails.seen(hero)
    hero.pose.bones["tail.001"].lookat_pd_springs.settle_time = SETTLE_TIME
    bpy.context.view_layer.update()
    shown = tails.seen(hero)
    assert np.abs(shown - before).max() > 0.05
    for _ in range(2):
        linked.reopened(tmp_path)
        hero = linked.hero()
        assert hero.pose.bones["tail.001"].lookat_pd_springs.settle_time == pytest.approx(SETTLE_TIME)
        np.testing.assert_allclose(tails.seen(hero), shown, atol=1e-5)
        assert tails.live.status(bpy.context.scene, hero).state == "SOLVED"
        assert all(len(names) == 1 for names in constraints(hero))


def test_a_linked_character_beside_its_override_keeps_its_own(tmp_path) -> None:
    path = library(tmp_path, has_springs=True)
    linked.empty_file()
    collection = linked.link(path)
    bpy.context.scene.collection.children.link(collection)
    original = collection.all_objects["Hero"]
    before = constraints(original)
    linked.override_all(collection)
    bpy.context.view_layer.update()
    assert constraints(original) == before != [[]] * len(tails.TAIL)
