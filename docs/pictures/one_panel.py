"""One panel each beside the character, for the pages that are about it."""

from collections.abc import Sequence

import bpy
from scene import look_at_ball, rest, rig, settings, solve, view
from windowed.hands import SIDEBAR, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

import extension

LIVE = ("rig.layers.live",)
WHOLE = {"centre": (0.15, 0.0, 1.0), "distance": 3.4, "direction": (0.42, -1.0, 0.12)}
HEAD = {"centre": (0.1, 0.0, 1.62), "distance": 1.5, "direction": (0.3, -1.0, 0.05)}
_WIDTH = 860
"""Pixels of the window that are kept, from its right: the panel, and the character beside it."""


def _shown(hands: Hands, name: str, panels: Sequence[str], place: dict, height: int) -> Waiting:
    """Keep a picture of panels, open, and of the character beside them."""
    with opened(*panels):
        yield from hands.sidebar()
        yield from view(hands, **place)
        yield from rest(hands)
        area, region = hands.area("VIEW_3D"), hands.region(SIDEBAR)
        height = min(height, region.height)
        hands.keep(name, area.x + area.width - _WIDTH, region.y + region.height - height, _WIDTH, height)


def _choose(*names: str) -> None:
    """Select bones; the first one is active."""
    armature = rig()
    for bone in armature.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    armature.data.bones.active = armature.data.bones[names[0]]


def _joined() -> None:
    joined, idle = bpy.context.scene.lookat_pd_transition, rig().animation_data.action
    joined.source = joined.destination = idle.name
    joined.source_frame, joined.destination_frame = 64, 20


def _whole_body(hands: Hands) -> Waiting:
    yield from look_at_ball(hands)
    extension.load("rig.look_at.body.layers").switch_on(settings())
    yield from solve(hands)


@script(needs=LIVE)
def body_panel(hands: Hands) -> Waiting:
    yield from _whole_body(hands)
    yield from _shown(hands, "body_panel", ["sidebar_body"], WHOLE, 760)


@script(needs=LIVE)
def eyes_panel(hands: Hands) -> Waiting:
    yield from _whole_body(hands)
    yield from _shown(hands, "eyes_panel", ["sidebar_eyes"], HEAD, 760)


@script(needs=LIVE)
def targets_panel(hands: Hands) -> Waiting:
    """Ball and bird in turn."""
    yield from look_at_ball(hands)
    looks, target = extension.load("rig.look_at.directing.looks"), extension.load("rig.sampling.targets").Target
    number = looks.add(rig(), "head", target(bpy.data.objects["Bird"]))
    looks.write_keys(bpy.context.scene, rig(), "head", [(1, 0), (92, number), (140, None), (186, 0)])
    yield from solve(hands)
    yield from _shown(hands, "targets_panel", ["sidebar_targets"], WHOLE, 420)


@script(needs=LIVE)
def baked_panel(hands: Hands) -> Waiting:
    """After a bake, with the way back."""
    yield from look_at_ball(hands)
    with hands.override():
        bpy.ops.lookat_pd.bake()
    yield from hands.idle()
    yield from view(hands, **WHOLE)
    yield from rest(hands)
    area, region = hands.area("VIEW_3D"), hands.region(SIDEBAR)
    hands.keep("baked_panel", area.x + area.width - _WIDTH, region.y + region.height - 420, _WIDTH, 420)


@script(needs=("panels.pd_follow",))
def pd_follow_panel(hands: Hands) -> Waiting:
    """A camera that follows the ball."""
    bpy.ops.object.mode_set(mode="OBJECT")
    camera = bpy.context.scene.camera
    for item in bpy.context.view_layer.objects:
        item.select_set(item == camera)
    bpy.context.view_layer.objects.active = camera
    with hands.override():
        bpy.ops.lookat_pd.pd_follow_add(target="Ball")
    yield 0.5
    place = {"centre": (0.6, -1.0, 1.3), "distance": 7.0, "direction": (1.0, -0.9, 0.35)}
    yield from _shown(hands, "pd_follow_panel", ["pd_follow"], place, 620)


@script(needs=("panels.transitions",))
def cut_panel(hands: Hands) -> Waiting:
    _joined()
    yield from _shown(hands, "cut_panel", ["transitions", "transitions_cut"], WHOLE, 620)


@script(needs=("panels.transitions",))
def loops_panel(hands: Hands) -> Waiting:
    _joined()
    yield from _shown(hands, "loops_panel", ["transitions_pops"], WHOLE, 520)


@script(needs=("panels.transitions_visual",))
def visual_panel(hands: Hands) -> Waiting:
    yield from _shown(hands, "visual_panel", ["transitions_visual"], WHOLE, 520)


@script(needs=("panels.ik",))
def contacts_panel(hands: Hands) -> Waiting:
    _choose("foot_ik.L")
    yield from _shown(hands, "contacts_panel", ["ik_contacts"], WHOLE, 620)


@script(needs=("panels.dynamics",))
def reach_panel(hands: Hands) -> Waiting:
    rig().pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
    _choose("hand_fk.L")
    yield from _shown(hands, "reach_panel", ["dynamics_reach"], WHOLE, 620)


@script(needs=("panels.hit",))
def hit_panel(hands: Hands) -> Waiting:
    _choose("chest")
    yield from _shown(hands, "hit_panel", ["dynamics_hit"], WHOLE, 520)
