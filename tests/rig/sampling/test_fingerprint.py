"""Fingerprints: the same for as long as a motion is the same, another one as soon as it may be another."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from ..scenes import ball, keyed, swaying

actions = load("rig.animation.actions")
attach = load("rig.look_at.constraint_sync")
inputs = load("rig.sampling.fingerprint")
offsets = load("rig.look_at.look_at_layer")
Track = load("rig.layers.track").Track


def everything(scene: scenes.Scene) -> dict:
    """Fingerprints of all that the character and its target depend on."""
    found = inputs.dependencies(bpy.context.scene, [scene.armature, scene.target])
    return {identity: inputs.fingerprint(item) for identity, item in found.items()}


@pytest.fixture
def scene() -> scenes.Scene:
    """A character with something of every kind that a motion may depend on."""
    bpy.context.scene.frame_end = 10
    found = swaying(modes=scenes.MODES)
    pole = ball((1, 1, 1), "Pole")
    found.target.parent = pole
    path = bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE"))
    spline = path.data.splines.new("BEZIER")
    spline.bezier_points.add(1)
    bpy.context.scene.collection.objects.link(path)
    follow = pole.constraints.new("FOLLOW_PATH")
    follow.target = path
    keyed(found.target, "location", [(1, (2, -1, 1)), (30, (0.8, -2, 1.9))])
    limit = found.armature.pose.bones["neck"].constraints.new("LIMIT_ROTATION")
    limit.name, limit.use_limit_y, limit.owner_space = "Limit", True, "LOCAL"
    found.armature.pose.bones["chest"]["mood"] = 0.5
    driver = found.armature.pose.bones["spine"].driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id = "mood", found.armature
    variable.targets[0].data_path = 'pose.bones["chest"]["mood"]'
    driver.expression = "mood * 0.1"
    parents = found.armature.pose.bones["neck"].constraints.new("ARMATURE")
    for bone in ("hips", "chest"):
        target = parents.targets.new()
        target.target, target.subtarget = found.armature, bone
    path = f'pose.bones["neck"].constraints["{parents.name}"].targets[1].weight'
    switch = found.armature.driver_add(path).driver
    variable = switch.variables.new()
    variable.name, variable.targets[0].id = "parent", found.armature
    variable.targets[0].data_path = 'pose.bones["chest"]["parent"]'
    switch.expression = "parent"
    for frame, value in ((1, 0.0), (30, 1.0)):
        found.armature.pose.bones["chest"]["parent"] = value
        found.armature.keyframe_insert('pose.bones["chest"]["parent"]', frame=frame)
    track = found.armature.animation_data.nla_tracks.new()
    strip = track.strips.new("Under", 1, bpy.data.actions.new("Under"))
    strip.name = "Under"
    bpy.context.view_layer.update()
    return found


def test_reach_holds_all_that_the_motion_depends_on(scene) -> None:
    found = {name for _, name in inputs.dependencies(bpy.context.scene, [scene.armature, scene.target])}
    assert {"Hero", "Ball", "Pole", "Path", "Sway", "Under", "BallAction"} <= found


def test_circles_of_dependency_come_to_an_end() -> None:
    one, other = ball(name="One"), ball(name="Other")
    for a, b in ((one, other), (other, one)):
        a.constraints.new("COPY_LOCATION").target = b
    assert len(inputs.dependencies(bpy.context.scene, [one, None])) == 2


def test_the_same_at_every_frame(scene) -> None:
    """Whatever plays by itself is left out."""
    truth = everything(scene)
    for frame in (1, 7, 30, 12.5, -4, 90):
        scenes.goto(frame)
        assert everything(scene) == truth, frame


def test_the_same_after_opening_the_file_again(scene, tmp_path) -> None:
    # Of a curve all settings count, and so its session number.
    truth = {identity: found for identity, found in everything(scene).items() if identity[0] != "CURVE"}
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    again = scenes.Scene(bpy.data.objects["Hero"], bpy.data.objects["Ball"], scene.place)
    assert {identity: found for identity, found in everything(again).items() if identity[0] != "CURVE"} == truth


def point(scene: scenes.Scene):
    data = scene.armature.animation_data
    return scenes.actions.channelbag(data.action, data.action_slot).fcurves[0].keyframe_points[1]


def curve(scene: scenes.Scene):
    data = scene.armature.animation_data
    return scenes.actions.channelbag(data.action, data.action_slot).fcurves[0]


Edit = Callable[[scenes.Scene], object]
NOTHING: dict[str, Edit] = {
    "selection": lambda s: s.target.select_set(not s.target.select_get()),
    "offsets": lambda s: offsets.show(s.armature, Track.pose(1, scenes.CHAIN, np.full((5, 4), 0.5))),
    "constraints of look-ats": lambda s: offsets.remove(s.armature),
    "settings of the look-at": lambda s: setattr(s.armature.pose.bones["head"].lookat_pd, "settle_time", 0.9),
    "display": lambda s: setattr(s.armature, "show_in_front", True),
    "active curve": lambda s: setattr(curve(s), "select", not curve(s).select),
    "colour": lambda s: setattr(s.armature, "color", (1, 0, 0, 1)),
    "playhead": lambda s: bpy.context.scene.frame_set(33),
    "unfolded constraint": lambda s: setattr(
        s.armature.pose.bones["neck"].constraints["Limit"], "show_expanded", False
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_the_same_after_what_moves_nothing(scene, name) -> None:
    truth = everything(scene)
    NOTHING[name](scene)
    bpy.context.view_layer.update()
    assert everything(scene) == truth


def new_modifier(scene: scenes.Scene) -> None:
    curve(scene).modifiers.new("NOISE")


def edit_rest(scene: scenes.Scene) -> None:
    bpy.context.view_layer.objects.active = scene.armature
    bpy.ops.object.mode_set(mode="EDIT")
    scene.armature.data.edit_bones["neck"].roll += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")


def strip_of(scene: scenes.Scene):
    return next(t for t in scene.armature.animation_data.nla_tracks if len(t.strips)).strips[0]


SOMETHING: dict[str, Edit] = {
    "key": lambda s: setattr(point(s), "co", (point(s).co[0], point(s).co[1] + 0.1)),
    "handle": lambda s: setattr(point(s), "handle_left", (3.0, 0.5)),
    "interpolation": lambda s: setattr(point(s), "interpolation", "LINEAR"),
    "easing": lambda s: setattr(point(s), "interpolation", "BOUNCE"),
    "extrapolation": lambda s: setattr(curve(s), "extrapolation", "LINEAR"),
    "muted curve": lambda s: setattr(curve(s), "mute", True),
    "modifier": new_modifier,
    "removed key": lambda s: curve(s).keyframe_points.remove(point(s)),
    "other action": lambda s: setattr(s.armature.animation_data, "action", bpy.data.actions.new("Other")),
    "no action": lambda s: setattr(s.armature.animation_data, "action", None),
    "no NLA": lambda s: setattr(s.armature.animation_data, "use_nla", False),
    "muted track": lambda s: setattr(s.armature.animation_data.nla_tracks[0], "mute", True),
    "strip": lambda s: setattr(strip_of(s), "blend_type", "ADD"),
    "strip's scale": lambda s: setattr(strip_of(s), "scale", 2.0),
    "action's influence": lambda s: setattr(s.armature.animation_data, "action_influence", 0.5),
    "unkeyed pose": lambda s: setattr(s.armature.pose.bones["hand.R"], "location", (1, 0, 0)),
    "unkeyed rotation": lambda s: setattr(s.armature.pose.bones["foot.L"], "rotation_quaternion", (1, 1, 0, 0)),
    "scaled bone": lambda s: setattr(s.armature.pose.bones["chest"], "scale", (1, 2, 1)),
    "rotation mode": lambda s: setattr(s.armature.pose.bones["thigh.L"], "rotation_mode", "XYZ"),
    "constraint": lambda s: setattr(s.armature.pose.bones["neck"].constraints["Limit"], "max_y", 0.3),
    "constraint's influence": lambda s: setattr(s.armature.pose.bones["neck"].constraints["Limit"], "influence", 0.3),
    "weight of a parent": lambda s: setattr(
        s.armature.pose.bones["neck"].constraints["Armature"].targets[0], "weight", 0.3
    ),
    "new constraint": lambda s: s.armature.pose.bones["neck"].constraints.new("COPY_SCALE"),
    "custom property": lambda s: s.armature.pose.bones["chest"].__setitem__("mood", 0.9),
    "driver": lambda s: setattr(s.armature.animation_data.drivers[0].driver, "expression", "mood"),
    "rest pose": edit_rest,
    "inheritance": lambda s: setattr(s.armature.data.bones["head"], "use_inherit_rotation", False),
    "inherited scale": lambda s: setattr(s.armature.data.bones["head"], "inherit_scale", "NONE"),
    "pose position": lambda s: setattr(s.armature.data, "pose_position", "REST"),
    "object": lambda s: setattr(s.armature, "location", (1, 2, 3)),
    "delta": lambda s: setattr(s.armature, "delta_location", (1, 2, 3)),
    "target's parent": lambda s: setattr(bpy.data.objects["Pole"], "scale", (1, 2, 1)),
    "no parent": lambda s: setattr(s.target, "parent", None),
    "target's rotation": lambda s: setattr(s.target, "rotation_euler", (1, 2, 1)),
    "path": lambda s: setattr(bpy.data.curves["Path"].splines[0].bezier_points[0], "co", (1, 2, 3)),
    "path's length": lambda s: setattr(bpy.data.curves["Path"], "path_duration", 50),
    "target's key": lambda s: s.target.keyframe_insert("location", frame=50),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOMETHING)
def test_another_after_what_may_move_something(scene, name) -> None:
    truth = everything(scene)
    SOMETHING[name](scene)
    bpy.context.view_layer.update()
    assert everything(scene) != truth


STRUCTURE = (
    "rotation mode",
    "constraint",
    "constraint's influence",
    "weight of a parent",
    "new constraint",
    "custom property",
    "driver",
    "rest pose",
    "inheritance",
    "inherited scale",
    "pose position",
    "no parent",
)
PLAYED = (
    "key",
    "interpolation",
    "removed key",
    "no NLA",
    "strip",
    "unkeyed pose",
    "unkeyed rotation",
    "scaled bone",
    "object",
    "target's rotation",
    "target's key",
)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*STRUCTURE, *PLAYED])
def test_the_structure_is_another_only_after_what_may_change_how_bones_move_each_other(scene, name) -> None:
    def structures() -> list[bytes]:
        return [inputs.structure(item) for item in (scene.armature, scene.armature.data, scene.target)]

    truth = structures()
    SOMETHING[name](scene)
    bpy.context.view_layer.update()
    assert (structures() != truth) == (name in STRUCTURE)


def test_the_same_where_a_curve_has_another_user(scene) -> None:
    truth = everything(scene)
    bpy.data.objects.new("Copy", bpy.data.curves["Path"])
    assert everything(scene) == truth


def test_unkeyed_component_of_a_property_that_is_keyed_in_part() -> None:
    scene = swaying()
    scene.target.keyframe_insert("location", index=0, frame=1)
    truth = everything(scene)
    scene.target.location.z += 1
    assert everything(scene) != truth


@pytest.mark.parametrize("setting", ["use", "influence"])
def test_says_which_settings_are_keyed(setting) -> None:
    scene = swaying()
    path = f'pose.bones["head"].lookat_pd.{setting}'
    assert not inputs.animates(scene.armature, path)
    scenes.settings_keyed(scene.armature, "head", setting, [(1, True)])
    assert inputs.animates(scene.armature, path)
    curve = next(c for c in scenes.actions.channelbag(*_played(scene)).fcurves if c.data_path == path)
    curve.mute = True
    assert not inputs.animates(scene.armature, path)


def test_muted_track_animates_nothing() -> None:
    scene = swaying()
    scenes.settings_keyed(scene.armature, "head", "use", [(1, True)])
    data = scene.armature.animation_data
    track = data.nla_tracks.new()
    track.strips.new("Sway", 1, data.action)
    data.action, track.mute = None, True
    assert not inputs.animates(scene.armature, 'pose.bones["head"].lookat_pd.use')


def _played(scene: scenes.Scene) -> tuple:
    data = scene.armature.animation_data
    return data.action, data.action_slot


def many_clips(armature: bpy.types.Object, clips: int, curves: int) -> list[bpy.types.Action]:
    """Clips on muted NLA tracks, as a game character has them."""
    made = []
    for n in range(clips):
        action = bpy.data.actions.new(f"Clip {n}")
        slot = action.slots.new(id_type="OBJECT", name=armature.name)
        bag = actions.channelbag(action, slot, ensure=True)
        for k in range(curves):
            curve = bag.fcurves.new(f'pose.bones["idle {k}"].location', index=0)
            curve.keyframe_points.add(2)
        track = armature.animation_data.nla_tracks.new()
        track.name = action.name
        strip = track.strips.new(action.name, 1, action)
        strip.action_slot = slot
        track.mute = True
        made.append(action)
    return made


def test_what_does_not_play_is_not_read(scene, monkeypatch) -> None:
    """10,000 idle curves cost nothing, and changes of them are none."""
    read = []
    curve = inputs._curve
    monkeypatch.setattr(inputs, "_curve", lambda one: read.append(one) or curve(one))
    everything(scene)
    alone = len(read)
    clips = many_clips(scene.armature, 20, 500)
    read.clear()
    before = everything(scene)
    assert len(read) == alone
    assert not any(identity[1].startswith("Clip") for identity in before)
    for bag in clips[3].layers[0].strips[0].channelbags:
        bag.fcurves[0].keyframe_points[0].co.y = 5.0
    assert everything(scene) == before
    track = scene.armature.animation_data.nla_tracks["Clip 3"]
    track.mute = False
    playing = everything(scene)
    assert playing != before and ("ACTION", "Clip 3") in playing
    bag.fcurves[0].keyframe_points[0].co.y = 6.0
    assert everything(scene) != playing
    track.mute = True
    assert everything(scene) == before
    scene.armature.animation_data.nla_tracks["Clip 4"].mute = False
    scene.armature.animation_data.nla_tracks["Clip 3"].is_solo = True
    alone_played = everything(scene)
    assert ("ACTION", "Clip 4") not in alone_played


def test_strips_of_one_track_or_of_two_are_not_the_same(scene) -> None:
    clips = many_clips(scene.armature, 2, 1)
    tracks = scene.armature.animation_data.nla_tracks
    for track in tracks:
        track.mute = False
    before = everything(scene)
    tracks.remove(tracks["Clip 1"])
    strip = tracks["Clip 0"].strips.new("Clip 1", 200, clips[1])
    strip.action_slot = clips[1].slots[0]
    assert everything(scene) != before
