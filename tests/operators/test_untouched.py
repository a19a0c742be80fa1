"""The extension enabled and unused leaves nothing in a file: no settings made by reading, no entry in an override."""

import inspect
from types import MethodType

import bpy
import pytest

from extension import load

from ..rig import linked, scenes

stored_settings = load("rig.animation.stored_settings")
masses = load("rig.dynamics.masses")
body_settings = load("rig.ik.body_settings")
body_joints = load("rig.detection.body_joints")
resolve = load("rig.look_at.resolve")
facing = load("rig.look_at.facing")
describe = load("rig.look_at.describe")

COMPARING_MAKES = bpy.app.version < (5, 0)
"""Blender 4.5 makes the settings of both sides when it compares an override with its original."""
NEEDS_A_WINDOW = (ZeroDivisionError, AttributeError)
"""What drawing raises that asks for the region."""


class Layout:
    """Takes whatever a panel draws."""

    def __getattr__(self, name):
        return lambda *_, **__: Layout()


class Drawn:
    """A panel or menu without an instance of Blender's."""

    def __init__(self, cls) -> None:
        self.cls, self.layout = cls, Layout()

    def __getattr__(self, name):
        value = getattr(self.cls, name)
        is_method = inspect.isfunction(inspect.getattr_static(self.cls, name))
        return MethodType(value, self) if is_method else value


def registered(base):
    """The classes of the extension that are registered."""
    for cls in base.__subclasses__():
        yield from registered(cls)
        if cls.__module__.startswith(load().__name__) and getattr(cls, "is_registered", False):
            yield cls


def ask_operators() -> None:
    for cls in registered(bpy.types.Operator):
        if hasattr(cls, "poll"):
            cls.poll(bpy.context)


def draw_panels() -> int:
    """How many were drawn to their end."""
    drawn = 0
    for cls in (*registered(bpy.types.Panel), *registered(bpy.types.Menu)):
        if hasattr(cls, "poll") and not cls.poll(bpy.context):
            continue
        try:
            Drawn(cls).draw(bpy.context)
        except NEEDS_A_WINDOW:
            continue
        drawn += 1
    return drawn


def look_around(armature) -> None:
    """What reads the settings of all bones, beside panels."""
    ask_operators()
    for bone in armature.pose.bones:
        scenes.select(armature, bone.name)
        armature.data.bones.active = armature.data.bones[bone.name]
        ask_operators()
    masses.of(bpy.context.scene, armature)
    body_joints.posture(armature, ["thigh.L", "foot.L"])
    body_settings.has_effectors(armature)
    facing.doubt(armature, "head")
    describe.rig(armature)
    assert resolve.bones_with_look_at(armature) == []
    for frame in (2, 30):
        scenes.goto(frame)


def stored(*items) -> list[tuple[str, str]]:
    """The settings that objects and their bones have."""
    owners = [owner for item in items for owner in (item, *item.pose.bones)]
    return [(o.name, n) for o in owners for n in stored_settings.DECLARED[type(o)] if o.is_property_set(n)]


def activate(armature) -> None:
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)


def entries() -> list[str]:
    """What the overrides of the file have of the extension's."""
    items = (*bpy.data.objects, *bpy.data.armatures)
    paths = [row.rna_path for item in items if item.override_library for row in item.override_library.properties]
    return [path for path in paths if "lookat_pd" in path]


def test_a_local_character_gets_no_settings() -> None:
    hero = scenes.figure()
    scenes.animate(hero)
    activate(hero)
    bpy.ops.object.mode_set(mode="POSE")
    look_around(hero)
    assert stored(hero) == []


@pytest.mark.every_blender
@pytest.mark.parametrize("kind", linked.KINDS)
def test_an_override_gets_no_settings_and_no_entries(tmp_path, capfd, kind) -> None:
    hero = linked.overridden(linked.save_library(tmp_path, scenes.figure()), kind)
    activate(hero)
    bpy.ops.object.mode_set(mode="POSE")
    look_around(hero)
    assert COMPARING_MAKES or stored(hero, hero.override_library.reference) == []
    # To be shown, settings must be there.
    assert draw_panels() > 10
    bpy.context.view_layer.update()
    for _ in range(2):
        linked.reopened(tmp_path)
        assert entries() == []
    assert COMPARING_MAKES or stored(linked.hero(), linked.hero().override_library.reference) == []
    assert "ERROR" not in "".join(capfd.readouterr())


def test_a_character_that_is_only_linked_is_left_alone(tmp_path) -> None:
    library = linked.save_library(tmp_path, scenes.figure())
    linked.empty_file()
    hero = linked.link(library, "objects", "Hero")
    bpy.context.scene.collection.objects.link(hero)
    bpy.context.view_layer.update()
    activate(hero)
    ask_operators()
    assert stored(hero) == []


def test_a_file_with_entries_of_an_earlier_version_is_clean_when_saved_again(tmp_path, capfd) -> None:
    hero = linked.overridden(linked.save_library(tmp_path, scenes.figure()), "hierarchy")
    stored_settings.unregister()
    try:
        made = [bone.lookat_pd.exists for bone in hero.pose.bones]
        path = linked.save(tmp_path / "shot.blend")
    finally:
        stored_settings.register()
    assert COMPARING_MAKES or len(entries()) == len(made)
    bpy.ops.wm.open_mainfile(filepath=path)
    linked.reopened(tmp_path)
    assert entries() == []
    capfd.readouterr()
    linked.reopened(tmp_path)
    assert "ERROR" not in "".join(capfd.readouterr())
