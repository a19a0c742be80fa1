"""What somebody may be at when panels are drawn: functions that fill an empty file."""

from collections.abc import Callable

import bpy

import kept

from ..rig import scenes


def _nobody() -> None:
    scenes.figure()
    bpy.context.view_layer.objects.active = None


def _figure() -> bpy.types.Object:
    rig = scenes.figure()
    bpy.context.view_layer.objects.active = rig
    return rig


def _animated() -> bpy.types.Object:
    rig = _figure()
    scenes.animate(rig)
    return rig


def _without_target() -> None:
    scenes.aim(_animated(), None)


def _looking() -> bpy.types.Object:
    rig = _animated()
    scenes.aim(rig, scenes.ball())
    return rig


def _human() -> None:
    bpy.context.view_layer.objects.active = kept.human()
    bpy.ops.lookat_pd.add(target="Ball")


def _hand() -> None:
    _human()
    rig = bpy.context.active_object
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones["hand_fk.L"]
    scenes.select(rig, "hand_fk.L")


def _none_selected() -> None:
    rig = _looking()
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(rig)


def _edited() -> None:
    _looking()
    bpy.ops.object.mode_set(mode="EDIT")


def _hidden_target() -> None:
    _looking()
    bpy.data.objects["Ball"].hide_set(True)


def _muted() -> None:
    _looking().pose.bones["head"].lookat_pd.mute = True


def _baked() -> None:
    scenes.run_bake(_looking())


def _added_twice() -> None:
    _baked()
    bpy.context.active_object.pose.bones["head"].lookat_pd.mute = False


def _live_again() -> None:
    _baked()
    bpy.ops.lookat_pd.edit_live()


def _target_selected() -> None:
    _baked()
    bpy.context.view_layer.objects.active = bpy.data.objects["Ball"]


def _no_way_back() -> None:
    _baked()
    bpy.data.actions.remove(bpy.data.actions["Sway"])


def _destination() -> None:
    rig = _looking()
    bpy.context.scene.lookat_pd_transition.destination = rig.animation_data.action.name
    rig.animation_data.action = None


STATES: dict[str, Callable[[], object]] = {
    "nobody": _nobody,
    "figure": _figure,
    "animated": _animated,
    "without target": _without_target,
    "looking": _looking,
    "human": _human,
    "hand": _hand,
    "none selected": _none_selected,
    "edited": _edited,
    "hidden target": _hidden_target,
    "muted": _muted,
    "baked": _baked,
    "added twice": _added_twice,
    "live again": _live_again,
    "target selected": _target_selected,
    "no way back": _no_way_back,
    "destination": _destination,
}
