"""Conversations: keys with which characters look at whoever speaks."""

from collections.abc import Iterable, Sequence

import bpy
import numpy as np
import pytest
from mathutils import Vector

from extension import load

from ... import scenes
from ..test_bake_rigs import RIGIFY, rig, rigify  # noqa: F401
from ..test_copy import EYES

conversation = load("rig.look_at.directing.conversation")
directing = load("rig.look_at.directing.looks")
targets = load("rig.sampling.targets")
errors = load("lookat_pd.errors")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
Manner = load("lookat_pd.conversation").Manner
Options = conversation.Options
Target = load("rig.sampling.targets").Target

NAMES = ("Anna", "Bo", "Cleo")
PLACES = ((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, -1.5, 0.0))
STARE = Manner(glances=0.0)
AMOUNTS = ("glances", *load("rig.look_at.directing.conversation_settings").AMOUNTS)
SETTINGS = load("rig.look_at.directing.setting_keys").CONVERSED


@pytest.fixture
def people() -> list[bpy.types.Object]:
    """Three characters about a table, and 10 s at 24 frames a second."""
    return make()


def make() -> list[bpy.types.Object]:
    found = [scenes.figure(name) for name in NAMES]
    for item, place in zip(found, PLACES, strict=True):
        item.location = place
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 240
    return found


def converse(people: Sequence[bpy.types.Object], *turns: tuple[int, str], **options) -> None:
    said = [(frame, bpy.data.objects[name]) for frame, name in turns]
    conversation.converse(bpy.context.scene, said, people, Options(**options))


def of(armature: bpy.types.Object):
    return armature.pose.bones["head"].lookat_pd


def seen(armature: bpy.types.Object, frame: int) -> str | None:
    """Whom somebody looks at, as Blender plays it."""
    bpy.context.scene.frame_set(frame)
    return shown(armature)


def shown(armature: bpy.types.Object) -> str | None:
    """The same at the frame that is shown."""
    number = directing.active(of(armature))
    return None if number is None else targets.listed(of(armature))[number].object.name


def looked_at(people: Sequence[bpy.types.Object], frames: Iterable[int] = range(1, 241, 2)) -> list[list[str | None]]:
    """Whom each of them looks at, frame by frame."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([shown(item) for item in people])
    return found


def markers(*names: tuple[int, str]) -> None:
    for frame, name in names:
        bpy.context.scene.timeline_markers.new(name, frame=frame)


@pytest.mark.every_blender
def test_everyone_looks_at_the_speaker(people) -> None:
    anna, bo, cleo = people
    converse(people, (1, "Anna"), (100, "Bo"), (180, "Cleo"), manner=STARE)
    assert [seen(item, 80) for item in (bo, cleo)] == ["Anna", "Anna"]
    assert [seen(item, 160) for item in (anna, cleo)] == ["Bo", "Bo"]
    assert [seen(item, 230) for item in (anna, bo)] == ["Cleo", "Cleo"]
    assert seen(cleo, 200) == "Bo"


@pytest.mark.thorough
def test_reactions_are_in_seconds(people) -> None:
    anna, _, cleo = people
    bpy.context.scene.render.fps = 120
    converse(people, (1, "Anna"), (121, "Bo"), manner=Manner(reaction=(0.5, 0.6), glances=0.0))
    # Who does not react to the new turn has foreseen it.
    turned = [frame for frame, _, _ in keys_of(cleo)["active_target"]][-1]
    assert 60 <= turned - 121 <= 72 or turned <= 121
    assert seen(cleo, 121 + 73) == seen(anna, 121 + 73) == "Bo"


@pytest.mark.thorough
def test_who_has_no_look_at_gets_one_and_waits_until_then(people) -> None:
    converse(people, (50, "Anna"), (120, "Bo"), manner=STARE)
    for item in people:
        assert look_at.bones_with_look_at(item) == ["head"]
        assert seen(item, 1) is None and seen(item, 49) is None
        assert seen(item, 80) is not None


@pytest.mark.thorough
def test_before_the_first_word_all_stays(people) -> None:
    scenes.aim(people[2], scenes.ball())
    converse(people, (50, "Anna"), manner=STARE)
    assert [seen(people[2], frame) for frame in (1, 49, 80)] == ["Ball", "Ball", "Anna"]


@pytest.mark.thorough
@pytest.mark.parametrize("first", [1, 10, 40])
def test_who_is_about_to_talk_looks_already(people, first) -> None:
    """Within two seconds of the first frame, but for those who look at something else; made again, it is the same."""
    scenes.aim(people[2], scenes.ball())
    keys = []
    for _ in range(2):
        converse(people, (first, "Anna"), (120, "Bo"), manner=STARE)
        assert seen(people[0], 1) in ("Bo", "Cleo") and seen(people[1], 1) == "Anna"
        assert seen(people[2], 1) == ("Anna" if first == 1 else "Ball")
        keys.append([keys_of(item) for item in people])
    assert keys[0] == keys[1]


def test_they_look_each_other_between_the_eyes() -> None:
    anna, bo = scenes.figure("Anna"), scenes.figure("Bo", (*scenes.FIGURE, *EYES))
    bo.location.y = -1.5
    converse([anna, bo], (1, "Anna"), (50, "Bo"))
    assert (of(bo).target, of(bo).subtarget) == (anna, "head")
    seen = look_at.resolve(anna, "head").targets[0]
    place = bo.data.bones[seen.bone].matrix_local @ Vector(seen.point)
    eyes = [bo.data.bones[name].head_local for name in ("eye.L", "eye.R")]
    assert seen.object == bo and (place - 0.5 * (eyes[0] + eyes[1])).length < 1e-5


def test_those_who_look_from_bone_to_bone_look_in_an_eye() -> None:
    """As in files of earlier versions: the origin of the head is at the neck."""
    anna, bo = scenes.figure("Anna"), scenes.figure("Bo", (*scenes.FIGURE, *EYES))
    bo.location.y = -1.5
    scenes.aim(anna, None, aim_from="BONE")
    converse([anna, bo], (1, "Anna"), (50, "Bo"))
    assert bo in [target.object for target in targets.listed(of(anna))]
    assert [target.bone for target in targets.listed(of(anna)) if target.object == bo] == ["eye.L"]
    assert (of(bo).target, of(bo).subtarget) == (anna, "head")


@pytest.mark.slow
def test_the_same_again_to_the_last_key(people) -> None:
    turns = ((1, "Anna"), (90, "Bo"), (150, "Anna"))
    converse(people, *turns, manner=Manner(5))
    before = looked_at(people)
    converse(people, *turns, manner=Manner(5), replace=True)
    assert looked_at(people) == before
    converse(people, *turns, manner=Manner(6), replace=True)
    assert looked_at(people) != before


@pytest.mark.slow
def test_a_second_conversation_takes_over_from_its_first_word(people) -> None:
    converse(people, (1, "Anna"), (60, "Bo"))
    frames = range(1, 90, 2)
    before = looked_at(people, frames)
    converse(people, (100, "Cleo"), replace=True)
    assert looked_at(people, frames) == before
    assert seen(people[0], 130) == seen(people[1], 130) == "Cleo"


def test_the_heads_turn_to_each_other() -> None:
    """With the look-ats live, who listens faces the speaker, wherever that one looks."""
    anna, bo = scenes.figure("Anna"), scenes.figure("Bo")
    anna.location, bo.location = (-1.0, 0.0, 0.0), (0.3, -1.0, 0.0)
    bpy.context.scene.frame_end = 100
    converse([anna, bo], (1, "Anna"), (50, "Bo"), manner=STARE)
    for item in (anna, bo):
        of(item).settle_time = 0.2
    bpy.context.view_layer.update()
    live.update(bpy.context.scene)
    assert scenes.error(anna, scenes.eyes_of(bo), [100]) < 0.2


def test_markers_name_the_speakers(people) -> None:
    markers((1, "Anna"), (60, "Bo: no, never"), (90, "Anna : why?"))
    turns = conversation.from_markers(bpy.context.scene, people)
    assert [(frame, item.name) for frame, item in turns] == [(1, "Anna"), (60, "Bo"), (90, "Anna")]


def test_markers_that_name_nobody(people) -> None:
    with pytest.raises(errors.RigError, match="no markers"):
        conversation.from_markers(bpy.context.scene, people)
    markers((1, "Anna"), (60, "Dora"), (70, "F_70"))
    with pytest.raises(errors.RigError, match="'Dora', 'F_70'"):
        conversation.from_markers(bpy.context.scene, people)


def refuse(people: Sequence[bpy.types.Object], match: str, *turns: tuple[int, str], **options) -> None:
    """What cannot be is said, and changes nothing."""
    before = scenes.snapshot()
    with pytest.raises(errors.LookAtError, match=match):
        converse(people, *turns, **options)
    assert not scenes.differences(before, scenes.snapshot())


def test_one_alone(people) -> None:
    refuse(people[:1], "at least two", (1, "Anna"))
    refuse([people[0], people[0]], "at least two", (1, "Anna"))


def test_who_speaks_takes_part(people) -> None:
    refuse(people[:2], "'Cleo' has a turn but is not a participant", (1, "Anna"), (50, "Cleo"))


def test_nobody_speaks(people) -> None:
    refuse(people, "has no turns")


def test_turns_in_order_and_before_the_end(people) -> None:
    refuse(people, "in order of time", (50, "Anna"), (20, "Bo"))
    refuse(people, "starts to speak at frame 300", (1, "Anna"), (300, "Bo"))


def curve(armature: bpy.types.Object, setting: str) -> bpy.types.FCurve:
    return load("rig.look_at.directing.shot_keys").home(armature, "head", setting).curve


def keys_of(armature: bpy.types.Object) -> dict[str, list[tuple[float, float, str]]]:
    found = {name: curve(armature, name) for name in SETTINGS}
    return {
        name: [(*point.co, point.type) for point in one.keyframe_points]
        for name, one in found.items()
        if one is not None
    }


def test_made_again_it_replaces_its_own_keys(people) -> None:
    converse(people, (1, "Anna"), (100, "Bo"))
    assert {kind for keys in keys_of(people[0]).values() for _, _, kind in keys} == {"GENERATED"}
    converse(people, (1, "Anna"), (60, "Bo"), manner=Manner(3))
    once = [keys_of(item) for item in people]
    converse(people, (1, "Anna"), (60, "Bo"), manner=Manner(3))
    assert [keys_of(item) for item in people] == once


@pytest.mark.slow
def test_a_conversation_belongs_to_the_shot(people) -> None:
    """Other clips change no look, and editing it later changes no clip."""
    scenes.animate(people[0])
    converse(people, (1, "Anna"), (100, "Bo"))
    before, frames = keys_of(people[0]), range(1, 241, 13)
    seen_before = looked_at(people, frames)
    clip = scenes.curves(scenes.animate(people[0], seed=1))
    assert keys_of(people[0]) == before and looked_at(people, frames) == seen_before
    converse(people, (1, "Anna"), (60, "Bo"))
    assert keys_of(people[0]) != before
    assert not scenes.differences(clip, scenes.curves(people[0].animation_data.action))


@pytest.mark.slow
def test_keys_of_the_animator_win_until_the_next_turn(people) -> None:
    _, bo, cleo = people
    turns = ((1, "Anna"), (60, "Bo"), (120, "Cleo"))
    converse(people, *turns, manner=STARE)
    directing.look(bpy.context.scene, bo, "head", directing.add(bo, "head", Target(cleo, "head")), 70)
    for seed in (0, 3):
        converse(people, *turns, manner=Manner(seed, glances=0.0))
        assert [seen(bo, frame) for frame in (70, 90, 119)] == ["Cleo"] * 3
        assert (70.0, "KEYFRAME") in [(key[0], key[2]) for key in keys_of(bo)["active_target"]]
    converse(people, *turns, manner=STARE, replace=True)
    assert seen(bo, 65) == seen(bo, 90) == "Anna"


@pytest.mark.slow
def test_a_key_of_the_animator_is_looked_at_without_glances(people) -> None:
    anna, bo, _ = people
    turns = ((1, "Anna"), (100, "Bo"), (200, "Anna"))
    for seed in range(4):
        converse(people, *turns, manner=Manner(seed))
        directing.look(bpy.context.scene, bo, "head", 0, 30)
        converse(people, *turns, manner=Manner(seed))
        for frame in (30, 60, 99):
            bpy.context.scene.frame_set(frame)
            assert of(bo).glance_yaw == of(bo).glance_pitch == 0.0
    assert any(value for _, value, _ in keys_of(anna)["glance_yaw"])


def test_they_glance_blink_nod_and_tilt(people) -> None:
    bpy.context.scene.frame_end = 720
    converse(people, *((24 * 4 * n + 1, NAMES[n % 3]) for n in range(7)))
    for item in people:
        keys = keys_of(item)
        assert len({value for name in ("glance_yaw", "glance_pitch") for _, value, _ in keys[name]}) > 2
        assert 6 <= sum(value > 0.5 for _, value, _ in keys["eyes_closed"]) <= 14
        assert any(value > 0.0 for _, value, _ in keys["nod"])
        assert 2 <= sum(value != 0.0 for _, value, _ in keys["tilt"]) <= 10
        assert len(keys["gesture_pitch"]) > 16 and len(keys["gesture_yaw"]) > 16
    assert len({value for item in people for _, value, _ in keys_of(item)["stance"]}) > 3
    converse(people, (1, "Anna"), (200, "Bo"), manner=Manner(**dict.fromkeys(AMOUNTS, 0.0)), replace=True)
    assert not any(value for name in SETTINGS[2:] for _, value, _ in keys_of(people[0]).get(name, ()))


@pytest.mark.slow
def test_a_turn_can_be_about_an_object(people) -> None:
    ball = scenes.ball()
    said = [(1, people[0]), (100, people[1], ball)]
    conversation.converse(bpy.context.scene, said, people, Options(STARE))
    assert [seen(item, 200) for item in people] == ["Ball"] * 3


def glanced(armature: bpy.types.Object, middle: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """Sizes [deg] of all that is keyed beside a place [rad] beside a target."""
    frames = sorted({frame for name in ("glance_yaw", "glance_pitch") for frame, _, _ in keys_of(armature)[name]})
    curves = [curve(armature, name) for name in ("glance_yaw", "glance_pitch")]
    return np.degrees(
        [np.hypot(*(one.evaluate(frame) - m for one, m in zip(curves, middle, strict=True))) for frame in frames]
    )


@pytest.mark.parametrize("apart", [0.5, 1.2, 3.0])
def test_eyes_scan_the_face_and_leave_it_however_near_it_is(apart) -> None:
    """Who has eyes scans a face of its size as seen from there; a glance away goes past the head."""
    anna, bo = scenes.figure("Anna", (*scenes.FIGURE, *EYES)), scenes.figure("Bo")
    bo.location.y, bpy.context.scene.frame_end = -apart, 768
    converse([anna, bo], *((1 + 96 * n, ("Anna", "Bo")[n % 2]) for n in range(8)), eyes=True)
    scanned, head = (glanced(item) for item in (anna, bo))
    height = np.ptp([bone.head_local for bone in bo.data.bones], axis=0).max()
    mouth = np.degrees(np.arctan(0.04 * height / apart))
    inside = scanned[scanned <= 1.2 * mouth]
    assert len(inside) > 10 and inside.max() > 0.9 * mouth
    # A head of 0.11 m scans nothing, and all else is away from the face.
    assert head.min() == 0.0
    eyes = [np.array(anna.data.bones[name].head_local) for name in ("eye.L", "eye.R")]
    width = float(np.linalg.norm(eyes[0] - eyes[1]))
    nose = -0.5 * np.arctan(min(0.04 * height, width) / apart)
    head = glanced(bo, (0.0, nose))[head > 0.0]
    assert len(head) and head.min() > 9.5
    away = glanced(anna, (0.0, -0.5 * np.radians(mouth)))[scanned > 1.2 * mouth]
    assert len(away) > 2 and away.min() > max(9.9, 1.5 * mouth)


@pytest.mark.slow
def test_as_baked_the_gaze_is_within_the_face_as_planned(empty_file) -> None:
    """Of the time in which the plan has it there, as the eyes show it: but for saccades and blinks all."""
    people = [scenes.figure(name, (*scenes.FIGURE, *EYES)) for name in NAMES[:2]]
    people[1].location, people[1].rotation_euler.z = (0.0, -1.2, 0.0), np.pi
    bpy.context.scene.frame_end = 480
    said = [(1 + 96 * n, people[n % 2]) for n in range(5)]
    planned = conversation.converse(bpy.context.scene, said, people, Options(eyes=True))
    seen = [scenes.poses(item, range(1, 481)) for item in people]
    bones = [list(item.pose.bones.keys()) for item in people]
    eyes = [[names.index(name) for name in ("eye.L", "eye.R")] for names in bones]
    world = [np.array(item.matrix_world) @ poses for item, poses in zip(people, seen, strict=True)]
    middle = [poses[:, rows][..., :3, 3].mean(axis=1) for poses, rows in zip(world, eyes, strict=True)]
    for n, looks in enumerate(planned.looks):
        rest = np.array(people[n].data.bones["eye.L"].matrix_local)[:3, :3]
        aim = world[n][:, eyes[n][0], :3, :3] @ rest.T @ (0.0, -1.0, 0.0)
        to = middle[1 - n] - middle[n]
        off = np.degrees(np.arccos(np.clip((aim * to).sum(1) / np.linalg.norm(to, axis=1), -1.0, 1.0)))
        starts = [look.time * 24 for look in looks]
        away = np.array([look.away for look in looks])[np.searchsorted(starts, np.arange(1, 481) + 0.5, "right") - 1]
        assert np.mean((off > 8.0) == away) > 0.93


def test_eyes_and_body_are_enabled_where_the_rig_has_them() -> None:
    anna, bo = scenes.figure("Anna"), scenes.figure("Bo", (*scenes.FIGURE, *EYES))
    bo.location.y = -1.5
    converse([anna, bo], (1, "Anna"), (50, "Bo"), eyes=True, body=True)
    assert of(bo).eyes.use and of(bo).eyes.use_blink and of(bo).body.use_weight_shift and of(bo).body.use_breathing
    for item in (anna, bo):
        look_at.resolve(item, "head")


def test_a_muted_look_at(people) -> None:
    scenes.aim(people[1], scenes.ball()).mute = True
    refuse(people, "'Bo' is muted", (1, "Anna"))


def test_something_that_is_no_character(people) -> None:
    refuse([*people, scenes.ball()], "'Ball' is not an armature", (1, "Anna"))


def test_a_character_without_bones(people) -> None:
    stick = scenes.figure("Stick", ())
    refuse([*people, stick], "'Stick' has no bones", (1, "Anna"))


def test_a_character_whose_parent_is_another(people) -> None:
    """Who sits on somebody's head cannot be looked at by him."""
    scenes.child(people[1], people[0], "head")
    refuse(people, "moves with the chain", (1, "Anna"))


def test_a_character_from_a_library(people, tmp_path) -> None:
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {people[2]}, fake_user=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Cleo"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    refuse([people[0], wanted.objects[0]], "linked from a library", (1, "Anna"))
    bpy.context.view_layer.objects.active = wanted.objects[0]
    mine = wanted.objects[0].override_create(remap_local_usages=True)
    conversation.converse(bpy.context.scene, [(1, people[0])], [people[0], mine], Options(STARE))
    assert seen(mine, 60) == "Anna"


# Real characters


def talk_with_a_figure(armature: bpy.types.Object) -> bpy.types.Object:
    """The figure stands a few steps before the character; the character speaks first, then the figure."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 120
    other = scenes.figure("Bo")
    other.location, other.rotation_euler.z = (0.6, -2.5, 0.0), np.pi
    conversation.converse(scene, [(1, armature), (60, other)], [armature, other], Options(STARE))
    return other


@pytest.mark.slow
def test_every_rig_can_talk(rig) -> None:  # noqa: F811
    """Both look-ats can be solved, and the figure looks at a place of the face that the rig has."""
    other = talk_with_a_figure(rig)
    bone = look_at.bones_with_look_at(rig)[0]
    partner = look_at.resolve(rig, bone).targets[0]
    assert (partner.object, partner.bone) == (other, "head")
    seen = look_at.resolve(other, "head").targets[0]
    assert seen.object == rig
    head, eye = (np.array(rig.data.bones[name].head_local) for name in (bone, seen.bone))
    height = np.ptp([bone.head_local for bone in rig.data.bones], axis=0).max()
    assert np.linalg.norm(eye - head) < 0.25 * height


@pytest.mark.slow
def test_a_rigify_human_listens(rigify) -> None:  # noqa: F811
    rigify.animation_data_clear()
    other = talk_with_a_figure(rigify)
    live.update(bpy.context.scene)
    assert scenes.error(rigify, scenes.eyes_of(other), [120]) < RIGIFY
