"""In-betweens with weight and reaches, from the panel: what it says, undo, Esc, and the masses in the viewport."""

import bpy
import numpy as np
from character import armature, select
from mathutils import Vector
from rigify_human import build_scene
from windowed.hands import SIDEBAR, VIEWPORT, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

from extension import load

PANEL = ("panels.dynamics",)
BONES = ("upper_arm.L", "hand.L", "chest")


def _settings():
    return bpy.context.window_manager.windows[0].scene.lookat_pd_dynamics


def _choose(*names: str) -> None:
    """Select bones, the last one active."""
    for bone in armature().pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name in names
    armature().data.bones.active = armature().data.bones[names[-1]]


def _begin(hands: Hands) -> Waiting:
    """Pose mode, seen from the front, an arm that is keyed and selected."""
    select(armature())
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_axis(type="FRONT")
    view = hands.area("VIEW_3D").spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, 0.0, 1.1), 5.0
    random = np.random.default_rng(1)
    for frame in (1, 12, 20, 40):
        for name in BONES[:2]:
            bone = armature().pose.bones[name]
            bone.rotation_quaternion = (1.0, *random.uniform(-0.3, 0.3, 3))
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    _choose(*BONES)
    yield 0.3
    bpy.ops.ed.undo_push(message="Begin")


def _channels() -> np.ndarray:
    """Rotations of the arm that is keyed, as they stand."""
    return np.array([armature().pose.bones[name].rotation_quaternion for name in BONES[:2]])


@script(needs=PANEL)
def keys_interpolated_from_the_panel(hands: Hands) -> Waiting:
    """The button makes a new action that hits the keys; the original is compared; one undo takes it back."""
    yield from _begin(hands)
    scene = bpy.context.window_manager.windows[0].scene
    with opened("dynamics"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Ready")
        hands.look("panel")
        before = {}
        for frame in (1, 9, 12, 20, 40):
            scene.frame_set(frame)
            before[frame] = _channels()
        yield from hands.click((yield from hands.find("lookat_pd.interpolate_keys")))
        yield from hands.idle()
        assert armature().animation_data.action.name == "Sway dynamics", armature().animation_data.action
        for frame in (1, 12, 20, 40):
            scene.frame_set(frame)
            assert abs(_channels() - before[frame]).max() < 1e-5, frame
        scene.frame_set(9)
        assert abs(_channels() - before[9]).max() > 1e-3
        yield from hands.click((yield from hands.find("lookat_pd.dynamics_compare")))
        yield 0.3
        assert armature().animation_data.action.name == "Sway"
        yield from hands.undo()
        yield from hands.undo()
        assert armature().animation_data.action.name == "Sway"
        assert "Sway dynamics" not in bpy.data.actions


@script(needs=PANEL)
def reach_from_the_panel(hands: Hands) -> Waiting:
    """The hand arrives; the panel shows cost and path afterwards."""
    yield from _begin(hands)
    scene = bpy.context.window_manager.windows[0].scene
    ball = bpy.data.objects["Ball"]
    ball.animation_data_clear()
    ball.location = (0.3, -0.2, 1.25)
    _settings().target, _settings().passes, _settings().point = ball, 8, "TIP"
    _choose("hand.L")
    scene.frame_set(1)
    with opened("dynamics_reach"):
        yield from hands.sidebar()
        yield 0.5
        yield from hands.click((yield from hands.find("lookat_pd.reach")))
        yield from hands.idle()
        assert armature().animation_data.action.name == "Sway reach", armature().animation_data.action
        scene.frame_set(25)
        seen = armature().evaluated_get(bpy.context.window_manager.windows[0].view_layer.depsgraph)
        assert np.linalg.norm(np.subtract(seen.pose.bones["hand.L"].tail, ball.location)) < 1e-3
        yield 0.5
        hands.look("reached")
        yield from hands.wheel(hands.inside(SIDEBAR), -30)
        yield 0.5
        hands.look("plots")


@script(needs=("panels.dynamics_plots",))
def both_hands_of_the_human(hands: Hands) -> Waiting:
    """Both palms come to the sides of a box; a second reach shows the first one in grey; the plots are cleared, and
    the animation before is drawn as a ghost."""
    with opened("dynamics_reach"):
        # Before the rig is there: the panels of Rigify need Rigify's own settings.
        yield from hands.sidebar()
        yield 0.5
        demo = build_scene()
        hands.window.scene = scene = demo.scene
        human = bpy.data.objects["Human"]
        for side in "LR":
            human.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = 1.0
            bone = human.pose.bones[f"forearm_fk.{side}"]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (0.9, 0.0, 0.0)
            for frame in (1, 60):
                bone.keyframe_insert("rotation_euler", frame=frame)
        scene.frame_set(20)
        mesh = bpy.data.meshes.new("Box")
        mesh.from_pydata(
            [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], [], [(0, 1, 3, 2), (4, 6, 7, 5)]
        )
        box = bpy.data.objects.new("Box", mesh)
        box.scale, box.location = (0.15, 0.1, 0.08), (0.0, -0.3, 1.2)
        scene.collection.objects.link(box)
        with hands.override():
            for item in scene.objects:
                item.select_set(False)
            hands.window.view_layer.objects.active = human
            human.select_set(True)
            bpy.ops.object.mode_set(mode="POSE")
            bpy.ops.pose.select_all(action="DESELECT")
        human.data.bones.active = human.data.bones["hand_fk.L"]
        settings = scene.lookat_pd_dynamics
        settings.target, settings.both_hands = box, True
        bpy.ops.ed.undo_push(message="Ready")
        reaching = load("rig.dynamics.reaching")
        yield 0.5
        with hands.override():
            bpy.ops.view3d.view_axis(type="FRONT")
            bpy.ops.object.mode_set(mode="OBJECT")
            bpy.ops.view3d.view_selected()
            bpy.ops.object.mode_set(mode="POSE")
        yield 0.5
        hands.look("settings")
        yield from hands.wheel(hands.inside(SIDEBAR), -6)
        for duration in (0.6, 1.0):
            settings.duration = duration
            yield 0.3
            yield from hands.click((yield from hands.find("lookat_pd.reach")))
            yield from hands.idle()
        assert len(reaching.kept.of(human)) == 2
        scene.frame_set(44)
        yield 0.5
        seen = human.evaluated_get(hands.window.view_layer.depsgraph)
        palms = load("rig.detection.palms")
        for bone, other, x in (("hand_fk.L", "hand_fk.R", 0.17), ("hand_fk.R", "hand_fk.L", -0.17)):
            middle = Vector(palms.find(human, bone, other).middle)
            place = human.matrix_world @ seen.pose.bones[bone].matrix @ middle
            assert np.linalg.norm(np.subtract(place, (x, -0.3, 1.2))) < 1e-3, (bone, place)
        yield from hands.wheel(hands.inside(SIDEBAR), -60)
        yield 0.5
        hands.look("compared")
        yield from hands.click((yield from hands.find("lookat_pd.clear_plots")))
        yield 0.5
        assert reaching.kept.of(human) == ()
        with hands.override():
            bpy.ops.lookat_pd.compare("INVOKE_DEFAULT")
        yield from hands.idle()
        assert load("rig.look_at.compare").ghost(human) is not None
        hands.look("ghost")


@script(needs=PANEL)
def reach_stopped_by_esc(hands: Hands) -> Waiting:
    """The first Esc takes the best so far, two leave the file as it was."""
    yield from _begin(hands)
    settings = _settings()
    settings.goal, settings.point, settings.passes, settings.method = "CURSOR", "TIP", 1000, "OPTIMAL"
    settings.duration, settings.length = 4.0, 3
    bpy.context.window_manager.windows[0].scene.cursor.location = (0.3, -0.3, 1.3)
    _choose("hand.L")
    count = len(bpy.data.actions)
    for times, name in ((2, "Sway"), (1, "Sway reach")):
        with hands.override():
            bpy.ops.lookat_pd.reach("INVOKE_DEFAULT")
        yield 0.5
        if "LOOKAT_PD_OT_reach" not in [item.bl_idname for item in hands.window.modal_operators]:
            assert armature().animation_data.action.name == "Sway reach", "done before Esc could be pressed"
            return
        for _ in range(times):
            yield from hands.key("ESC")
        yield from hands.idle()
        assert not hands.at_work
        assert armature().animation_data.action.name == name, armature().animation_data.action
        assert len(bpy.data.actions) == count + (name != "Sway")
        assert len(bpy.data.scenes) == 1


@script(needs=PANEL)
def masses_in_the_viewport(hands: Hands) -> Waiting:
    """Ellipsoids come and go with their switch; the panel tells what the body weighs."""
    yield from _begin(hands)
    with opened("dynamics_body", "dynamics_bone"):
        yield from hands.sidebar()
        yield 0.5
        without = _viewport(hands)
        _show_masses(hands, True)
        yield 0.5
        hands.look("masses")
        assert _differing(without, _viewport(hands)) > 500
        _show_masses(hands, False)
        yield 0.5
        assert _differing(without, _viewport(hands)) < 50


def _show_masses(hands: Hands, show: bool) -> None:
    _settings().show_masses = show
    hands.area("VIEW_3D").tag_redraw()


def _viewport(hands: Hands) -> np.ndarray:
    """Pixels of the middle of the viewport."""
    region = hands.region(VIEWPORT)
    return hands.pixels(region.x + region.width // 4, region.y + region.height // 4, 300, 300)


def _differing(a: np.ndarray, b: np.ndarray) -> int:
    return int((np.abs(a.astype(int) - b.astype(int)).max(axis=-1) > 20).sum())
