"""The target that adding a look-at makes: it goes with the look-at while nobody has touched it."""

import bpy
import pytest

from extension import load

from .. import scenes

edit = load("rig.look_at.edit")


@pytest.fixture
def hero() -> bpy.types.Object:
    hero = scenes.figure()
    add(hero)
    return hero


def add(hero: bpy.types.Object, bone: str = "head", target: bpy.types.Object | None = None) -> None:
    edit.add(bpy.context.scene, hero, bone, target, make_target=True)


def names() -> set[str]:
    return {item.name for item in bpy.context.scene.objects}


@pytest.mark.every_blender
def test_adding_and_removing_leaves_nothing_and_gives_the_same_name_again(hero, tmp_path) -> None:
    assert names() == {"Hero", "Hero Target"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    hero = bpy.data.objects["Hero"]
    for _ in range(2):
        scenes.goto(5)
        edit.remove(hero, "head")
        scenes.goto(1)
        assert names() == {"Hero"} and "Hero Target" not in bpy.data.objects
        add(hero)
        assert names() == {"Hero", "Hero Target"}


def _moved(target: bpy.types.Object) -> None:
    target.location.x += 0.1


def _keyed(target: bpy.types.Object) -> None:
    target.keyframe_insert("location", frame=1)


def _renamed(target: bpy.types.Object) -> None:
    target.name = "Friend"


def _turned(target: bpy.types.Object) -> None:
    target.rotation_euler.z = 1.0


def _drawn_larger(target: bpy.types.Object) -> None:
    target.empty_display_size *= 2.0


def _parented(target: bpy.types.Object) -> None:
    target.parent = scenes.ball(name="Parent")


def _parent(target: bpy.types.Object) -> None:
    scenes.ball(name="Child").parent = target


def _constrained(target: bpy.types.Object) -> None:
    target.constraints.new("COPY_LOCATION")


def _used_by_a_constraint(target: bpy.types.Object) -> None:
    scenes.ball(name="Other").constraints.new("COPY_LOCATION").target = target


def _looked_at_by_another(target: bpy.types.Object) -> None:
    add(scenes.figure("Guest"), target=target)


def _read_by_a_driver(target: bpy.types.Object) -> None:
    driver = scenes.ball(name="Other").driver_add("location", 0).driver
    driver.variables.new().targets[0].id = target


def _with_a_property(target: bpy.types.Object) -> None:
    target["mine"] = 1.0


def _in_another_collection(target: bpy.types.Object) -> None:
    other = bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(other)
    other.objects.link(target)


def _kept(target: bpy.types.Object) -> None:
    target.use_fake_user = True


CHANGES = (
    _moved,
    _keyed,
    _renamed,
    _turned,
    _drawn_larger,
    _parented,
    _parent,
    _constrained,
    _used_by_a_constraint,
    _looked_at_by_another,
    _read_by_a_driver,
    _with_a_property,
    _in_another_collection,
    _kept,
)


@pytest.mark.parametrize("change", CHANGES)
def test_what_somebody_has_changed_or_uses_stays(hero, change) -> None:
    target = bpy.data.objects["Hero Target"]
    change(target)
    edit.remove(hero, "head")
    assert target.name in names()


def test_a_target_of_the_animator_stays() -> None:
    hero, ball = scenes.figure(), scenes.ball()
    add(hero, target=ball)
    edit.remove(hero, "head")
    assert ball.name in names()
