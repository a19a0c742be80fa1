"""Bad input: one clear sentence that names the thing and the remedy, and a file that is as it was."""

import math
import re
from collections.abc import Callable

import bpy
import pytest

from extension import load

from .. import scenes
from ..scenes import CHAIN, aim, animate, ball, error, figure, place_of, run_bake, swaying

actions = load("rig.animation.actions")
bake = load("rig.look_at.look_at_bake")
detect = load("rig.detection.detect")
rest = load("rig.detection.rest")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
sample = load("rig.sampling.sampler")
errors = load("lookat_pd.errors")
targets = load("rig.sampling.targets")

# Words of which a message has one at least: what to do.
REMEDIES = re.compile(
    r"\b(select|choose|create|fix|enter|move|replace|remove|make|add|set|put|give|take|delete|mend|bake|leave|switch|end|remove|reload|change|unmute|keep)\b"
)


def complaint(action: Callable[[], object]) -> str:
    """The message with which an action is refused, having changed nothing."""
    before = scenes.snapshot()
    with pytest.raises(errors.LookAtError) as refusal:
        action()
    assert not scenes.differences(before, scenes.snapshot())
    message = str(refusal.value)
    assert REMEDIES.search(message), message
    assert (message[0].isupper() or message[0] == "'") and message.endswith("."), message
    assert "\n" not in message and message.count(". ") == 0, message
    return message


def settings_of(armature: bpy.types.Object, bone: str = "head"):
    return armature.pose.bones[bone].lookat_pd


def curves_of(armature: bpy.types.Object, part: str) -> list:
    data = armature.animation_data
    return [curve for curve in actions.channelbag(data.action, data.action_slot).fcurves if part in curve.data_path]


# Each takes a swaying character that looks at a ball, spoils it, and says what the message must contain.

Spoil = Callable[[scenes.Scene], tuple[str, ...]]
SPOILED: dict[str, Spoil] = {}


def spoil(function: Spoil) -> Spoil:
    SPOILED[function.__name__] = function
    return function


@spoil
def no_target(scene) -> tuple[str, ...]:
    settings_of(scene.armature).target = None
    return "'head'", "target"


@spoil
def target_deleted(scene) -> tuple[str, ...]:
    settings_of(scene.armature).exists = True
    bpy.data.objects.remove(scene.target)
    return "'head'", "target"


@spoil
def target_in_no_scene(scene) -> tuple[str, ...]:
    """Deleted in the viewport: the look-at's pointer keeps it in the file."""
    bpy.context.scene.collection.objects.unlink(scene.target)
    return "'Ball'", "scene"


@spoil
def target_is_itself(scene) -> tuple[str, ...]:
    settings_of(scene.armature).target = scene.armature
    return "'Hero'", "itself"


@spoil
def target_bone_unknown(scene) -> tuple[str, ...]:
    settings_of(scene.armature).target = scene.armature
    settings_of(scene.armature).subtarget = "nose"
    return "'Hero'", "'nose'"


@spoil
def target_bone_of_no_armature(scene) -> tuple[str, ...]:
    settings_of(scene.armature).subtarget = "nose"
    return "'Ball'", "'nose'"


@spoil
def target_in_the_chain(scene) -> tuple[str, ...]:
    settings_of(scene.armature).target = scene.armature
    settings_of(scene.armature).subtarget = "chest"
    return "'Hero:chest'", "chain"


@spoil
def target_on_the_head(scene) -> tuple[str, ...]:
    scenes.child(scene.target, scene.armature, "head")
    return "'Ball'", "chain"


@spoil
def target_on_something_on_the_head(scene) -> tuple[str, ...]:
    """A lamp on a hat on the head."""
    scenes.child(scene.target, scenes.child(ball(name="Hat"), scene.armature, "head"))
    return "'Ball'", "chain"


@spoil
def target_constrained_to_the_head(scene) -> tuple[str, ...]:
    constraint = scene.target.constraints.new("CHILD_OF")
    constraint.target, constraint.subtarget = scene.armature, "head"
    return "'Ball'", "chain"


@spoil
def chain_with_unknown_bone(scene) -> tuple[str, ...]:
    settings_of(scene.armature).chain[2].bone = "tentacle"
    return "'head'", "'tentacle'"


@spoil
def chain_with_the_same_bone_twice(scene) -> tuple[str, ...]:
    settings_of(scene.armature).chain[2].bone = "neck"
    return "'neck'", "twice"


@spoil
def chain_that_begins_elsewhere(scene) -> tuple[str, ...]:
    settings_of(scene.armature).chain.move(0, 1)
    return "'head'", "'neck'"


@spoil
def value_that_is_not_a_number(scene) -> tuple[str, ...]:
    curve = curves_of(scene.armature, '"neck"].rotation')[1]
    curve.keyframe_points[2].co.y = math.nan
    curve.keyframe_points[2].interpolation = "LINEAR"
    return "'neck'", "not a number", "frame"


@spoil
def infinite_location(scene) -> tuple[str, ...]:
    scenes.keyed(scene.armature.pose.bones["hips"], "location", [(1, (0, 0, 0)), (5, (0, 0, 0))])
    curves_of(scene.armature, '"hips"].location')[1].keyframe_points[1].co.y = math.inf
    return "not a number", "frame"


@spoil
def target_that_is_nowhere(scene) -> tuple[str, ...]:
    scene.target.location.x = math.nan
    return "'Ball'", "position"


@spoil
def object_without_size(scene) -> tuple[str, ...]:
    scene.armature.scale = (1, 0, 1)
    return "'Hero'", "a scale of 0"


@spoil
def bone_without_size(scene) -> tuple[str, ...]:
    scene.armature.pose.bones["neck"].scale = (0, 0, 0)
    return "a scale of 0", "frame"


@spoil
def bone_mirrored(scene) -> tuple[str, ...]:
    scene.armature.pose.bones["head"].scale = (-1, 1, 1)
    return "'head'", "negative scale"


@spoil
def rotation_driven(scene) -> tuple[str, ...]:
    scene.armature.pose.bones["neck"].driver_add("rotation_quaternion", 1).driver.expression = "0.1"
    return "'neck'", "driver"


@spoil
def rotation_copied(scene) -> tuple[str, ...]:
    constraint = scene.armature.pose.bones["neck"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = scene.armature, "hand.R"
    return "'neck'", "'hand.R'", "chain"


@spoil
def bone_that_does_not_answer(scene) -> tuple[str, ...]:
    constraint = scene.armature.pose.bones["neck"].constraints.new("COPY_ROTATION")
    constraint.target = scene.target
    return "'neck'", "chain"


@spoil
def no_slot(scene) -> tuple[str, ...]:
    scene.armature.animation_data.action_slot = None
    return "'Sway'", "'Hero'", "slot"


@spoil
def tweak_mode(scene) -> tuple[str, ...]:
    data = scene.armature.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    strip = data.nla_tracks.new().strips.new("Sway", 1, action)
    strip.action_slot = slot
    data.nla_tracks[0].select = strip.select = True
    data.nla_tracks.active = data.nla_tracks[0]
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    return "'Hero'", "tweak mode"


@spoil
def action_blended(scene) -> tuple[str, ...]:
    scene.armature.animation_data.action_blend_type = "ADD"
    return "'Sway'", "'Hero'", "Replace"


@spoil
def rest_position(scene) -> tuple[str, ...]:
    scene.armature.data.pose_position = "REST"
    return "'Hero'", "rest position"


@spoil
def edit_mode(scene) -> tuple[str, ...]:
    bpy.context.view_layer.objects.active = scene.armature
    bpy.ops.object.mode_set(mode="EDIT")
    return "'Hero'", "edit mode"


@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILED)
def test_refuses(name) -> None:
    scene = swaying()
    words = SPOILED[name](scene)
    bpy.context.view_layer.update()
    message = complaint(lambda: run_bake(scene.armature))
    assert all(word in message for word in words), message


CURRENT: dict[str, Spoil] = {}


def spoil_current(function: Spoil) -> Spoil:
    CURRENT[function.__name__] = function
    return function


@spoil_current
def no_action(scene) -> tuple[str, ...]:
    scene.armature.animation_data.action = None
    return "'Hero'", "action"


@spoil_current
def muted_curve(scene) -> tuple[str, ...]:
    curves_of(scene.armature, '"chest"].rotation')[0].mute = True
    return "'chest'", "muted"


@spoil_current
def cycles(scene) -> tuple[str, ...]:
    curves_of(scene.armature, '"chest"].rotation')[0].modifiers.new("CYCLES")
    return "'chest'", "modifier"


@spoil_current
def action_that_moves_another(scene) -> tuple[str, ...]:
    other = figure("Twin")
    data = other.animation_data_create()
    data.action = scene.armature.animation_data.action
    data.action_slot = scene.armature.animation_data.action_slot
    return "'Sway'", "'Twin'"


@pytest.mark.parametrize("name", CURRENT)
def test_refuses_the_current_action(name) -> None:
    scene = swaying()
    words = CURRENT[name](scene)
    message = complaint(lambda: run_bake(scene.armature, into="CURRENT"))
    assert all(word in message for word in words), message


def test_refuses_a_layer_on_a_switched_off_nla_or_a_solo_track() -> None:
    scene = swaying()
    data = scene.armature.animation_data
    track = data.nla_tracks.new()
    track.is_solo = True
    assert "solo" in complaint(lambda: run_bake(scene.armature, into="LAYER"))
    track.is_solo = False
    data.use_nla = False
    assert "is disabled" in complaint(lambda: run_bake(scene.armature, into="LAYER"))


@pytest.mark.parametrize(("first", "last"), [(10, 1), (5, 5)])
def test_refuses_the_range(first, last) -> None:
    scene = swaying()
    assert str(first) in complaint(lambda: run_bake(scene.armature, first=first, last=last))


def test_refuses_an_unknown_place_to_bake_into() -> None:
    scene = swaying()
    assert "'LIBRARY'" in complaint(lambda: run_bake(scene.armature, into="LIBRARY"))


def test_refuses_what_is_no_armature() -> None:
    cup = ball(name="Cup")
    assert "armature" in complaint(lambda: look_at.resolve(None, "head"))
    assert "'Cup'" in complaint(lambda: look_at.resolve(cup, "head"))


def test_refuses_an_armature_without_bones() -> None:
    empty = bpy.data.objects.new("Empty Rig", bpy.data.armatures.new("Empty Rig"))
    bpy.context.scene.collection.objects.link(empty)
    assert "'Empty Rig'" in complaint(lambda: look_at_edit.add(bpy.context.scene, empty, "head", None))
    assert "'Empty Rig'" in complaint(lambda: look_at.resolve(empty, "head"))


def test_refuses_a_bone_that_does_not_exist() -> None:
    armature = figure()
    assert "'nose'" in complaint(lambda: look_at_edit.add(bpy.context.scene, armature, "nose", None))
    assert "'nose'" in complaint(lambda: look_at.resolve(armature, "nose"))


def test_refuses_a_second_look_at_on_one_bone() -> None:
    scene = swaying()
    assert "'head'" in complaint(lambda: look_at_edit.add(bpy.context.scene, scene.armature, "head", scene.target))


@pytest.mark.parametrize("spoiled", [target_on_the_head, target_on_something_on_the_head])
def test_adding_refuses_what_the_bake_would(spoiled) -> None:
    armature, target = figure(), ball()
    spoiled(scenes.Scene(armature, target, place_of(target)))
    assert "'Ball'" in complaint(lambda: look_at_edit.add(bpy.context.scene, armature, "head", target))


@pytest.mark.parametrize("point", [(math.nan, 0, 0), (0, math.inf, 0)])
def test_refuses_a_point_that_is_nowhere(point) -> None:
    scene = swaying()
    assert "point" in complaint(lambda: look_at.resolve(scene.armature, "head", [targets.Target(point=point)]))


def test_settle_time_cannot_be_zero_or_less() -> None:
    settings = settings_of(swaying().armature)
    for value in (0.0, -1.0):
        settings.settle_time = value
        assert settings.settle_time > 0.0


# What looks bad but must work


def test_a_negative_scale_on_every_axis_of_a_bone_is_not_a_mirror() -> None:
    """A bone turned inside out still has a direction; it is baked without complaint and without a wrong number."""
    scene = swaying()
    scene.armature.pose.bones["hand.L"].scale = (-1, -1, -1)
    run_bake(scene.armature)
    assert error(scene.armature, scene.place) < 0.1


@pytest.mark.parametrize("size", [6e-5, 1e-3, 1e3])
def test_rigs_of_any_size(size) -> None:
    """Bones of 6e-05 on an object scaled up, as some importers leave them, and giants."""
    rows = [(name, parent, *(tuple(size * x for x in end) for end in ends)) for name, parent, *ends in scenes.FIGURE]
    armature, target = figure(rows=rows), ball()
    armature.scale = (1 / size,) * 3
    animate(armature)
    aim(armature, target)
    run_bake(armature)
    assert error(armature, place_of(target), (1, *scenes.STILL)) < 0.1


def linked(tmp_path, *, override: bool) -> bpy.types.Object:
    """The character in a file of its own, linked into an empty one."""
    figure()
    path = str(tmp_path / "hero.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Hero"]
    hero = bpy.data.objects["Hero"]
    if override:
        hero = hero.override_create(remap_local_usages=True)
    bpy.context.scene.collection.objects.link(hero)
    return hero


def test_refuses_a_linked_armature(tmp_path) -> None:
    hero = linked(tmp_path, override=False)
    assert "override" in complaint(lambda: look_at_edit.add(bpy.context.scene, hero, "head", None))
    assert "override" in complaint(lambda: look_at.resolve(hero, "head"))


def test_a_chain_that_an_override_has_from_its_library_can_be_shortened(tmp_path) -> None:
    hero = figure()
    aim(hero, ball())
    path = str(tmp_path / "hero.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Hero"]
    hero = into.objects[0].override_create(remap_local_usages=True)
    bpy.context.scene.collection.objects.link(hero)
    settings = hero.pose.bones["head"].lookat_pd
    settings.target = ball(name="Other")
    links = detect.find_chain(rest.skeleton(hero), "head", rest.hints(hero))
    look_at_edit.write_chain(settings, links[:2])
    assert look_at.resolve(hero, "head").bones == tuple(link.bone for link in links[:2])
    bpy.context.view_layer.update()
    assert error(hero, place_of(settings.target), (1,)) < 0.1


@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_library_override_works(tmp_path, into) -> None:
    hero, target = linked(tmp_path, override=True), ball()
    animate(hero)
    aim(hero, target)
    run_bake(hero, into=into)
    assert error(hero, place_of(target), (1, *scenes.STILL)) < 0.1


def test_bones_of_a_library_override_that_have_no_keys_are_remembered(tmp_path) -> None:
    hero, target = linked(tmp_path, override=True), ball()
    hero.pose.bones["head"].rotation_mode = "XYZ"
    hero.pose.bones["head"].rotation_euler.x = 0.25
    aim(hero, target)
    for _ in range(2):
        run_bake(hero)
        scenes.goto(30)
        assert hero.pose.bones["head"].rotation_euler.x != 0.25
        hero.animation_data.action = None
        settings_of(hero).mute = False
    look_at_edit.remove(hero, "head")
    assert hero.pose.bones["head"].rotation_euler.x == 0.25


def test_what_the_body_of_a_library_override_does_survives_saving(tmp_path) -> None:
    hero, target = linked(tmp_path, override=True), ball()
    aim(hero, target)
    settings_of(hero).eyes.use = settings_of(hero).body.use_arm_recoil = True
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    hero = next(item for item in bpy.data.objects if item.type == "ARMATURE" and item.override_library)
    settings = settings_of(hero)
    assert (settings.eyes.use, settings.eyes.use_blink, settings.body.use_arm_recoil) == (True, False, True)


def test_look_at_on_a_library_override_survives_saving(tmp_path) -> None:
    hero, target = linked(tmp_path, override=True), ball()
    animate(hero)
    aim(hero, target, settle_time=0.3)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    hero = next(item for item in bpy.data.objects if item.type == "ARMATURE" and item.override_library)
    settings = settings_of(hero)
    assert settings.target == bpy.data.objects["Ball"]
    assert settings.settle_time == pytest.approx(0.3)
    assert [link.bone for link in settings.chain] == list(CHAIN)
    run_bake(hero)
    assert error(hero, place_of(bpy.data.objects["Ball"]), (1, *scenes.STILL)) < 0.1


def test_linked_action_is_baked_into_a_new_one_but_not_changed(tmp_path) -> None:
    animate(figure())
    path = str(tmp_path / "clips.blend")
    bpy.data.libraries.write(path, {bpy.data.actions["Sway"]}, fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.actions = ["Sway"]
    armature, target = figure(), ball()
    data = armature.animation_data_create()
    data.action = bpy.data.actions["Sway"]
    data.action_slot = data.action.slots[0]
    aim(armature, target)
    assert "'Sway'" in complaint(lambda: run_bake(armature, into="CURRENT"))
    result = run_bake(armature)[0]
    assert result.action.library is None
    assert error(armature, place_of(target), (1, *scenes.STILL)) < 0.1
    data.action = bpy.data.actions["Sway", path]
    data.action_slot = data.action.slots[0]
    armature.pose.bones["head"].lookat_pd.mute = False
    run_bake(armature, into="LAYER")
    assert error(armature, place_of(target), (1, *scenes.STILL)) < 0.1


def test_names_with_quotes_and_other_scripts() -> None:
    """Bones and objects may be called anything."""
    odd = {"head": 'kopf "1"', "neck": "шея\\", "chest": "胸[0]"}
    rows = [(odd.get(name, name), odd.get(parent, parent), *ends) for name, parent, *ends in scenes.FIGURE]
    armature, target = figure('He"ro', rows), ball()
    chain = [odd.get(name, name) for name in CHAIN]
    animate(armature, bones=chain)
    settings = aim(armature, target, odd["head"])
    settings.chain.clear()
    for name in chain:
        settings.chain.add().bone = name
    scenes.settings_keyed(armature, odd["head"], "use", [(1, True), (30, False), (31, True)])
    assert error(armature, place_of(target), (1, *scenes.STILL), bone=odd["head"]) < 0.1
    for into in ("NEW", "LAYER"):
        settings.mute = False
        run_bake(armature, into=into)
        assert error(armature, place_of(target), (1, *scenes.STILL), bone=odd["head"]) < 0.1
    look_at_edit.remove(armature, odd["head"])
    assert not look_at.exists_on(armature.pose.bones[odd["head"]])


def test_override_of_a_character_that_already_looks(tmp_path) -> None:
    """The look-at comes with the library: it can be tuned, baked, given another chain and removed in the shot."""
    hero = figure()
    look_at_edit.add(bpy.context.scene, hero, "head", None)
    path = str(tmp_path / "hero.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Hero"]
    hero = bpy.data.objects["Hero"].override_create(remap_local_usages=True)
    bpy.context.scene.collection.objects.link(hero)
    animate(hero)
    target = ball()
    settings_of(hero).target, settings_of(hero).settle_time = target, 0.2
    run_bake(hero)
    assert error(hero, place_of(target), (1, *scenes.STILL)) < 0.1
    settings_of(hero).chain[1].share = 0.5
    look_at_edit.fill_chain(hero, "head")
    assert [link.bone for link in settings_of(hero).chain] == list(CHAIN)
    assert settings_of(hero).chain[1].share == pytest.approx(0.25, abs=0.05)
    look_at_edit.remove(hero, "head")
    assert not look_at.exists_on(hero.pose.bones["head"])
