"""Keys of settings of a look-at with constant interpolation: `use`, `active_target`, glances, blinks and what heads
and hips do.

They are F-curves of the shot (`shot_keys`), in a group named after the bone, and hold each value until the next key.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ....lookat_pd.errors import RigError
from ....lookat_pd.rotation import Array
from ...animation import actions, editable
from ...animation.keys import CONSTANT, GENERATED, Keys
from . import shot_home, shot_items, shot_keys

SWITCHES = ("use", "active_target")
GESTURES = ("gesture_yaw", "gesture_pitch")
CONVERSED = (*SWITCHES, "glance_yaw", "glance_pitch", "eyes_closed", "nod", "tilt", *GESTURES, "stance")
"""Those that a conversation keys."""


def check(armature: bpy.types.Object, bone: str) -> None:
    """Raise RigError if the settings of a look-at cannot be keyed."""
    shot_items.check(armature)
    if not shot_keys.in_clip(armature, bone):
        return
    editable.check_tweak_mode(armature)
    shot_keys.check_action(armature.animation_data.action)


def name_channels(armature: bpy.types.Object, bone: str) -> None:
    """Let animation editors show channels as `Active (head)`: they show the name of the group of properties.

    Items of lists get no names, since library overrides tell them apart by these.
    """
    settings = armature.pose.bones[bone].lookat_pd
    if settings.name != bone:
        settings.name = bone


def key(armature: bpy.types.Object, bone: str, setting: str, frame: float) -> None:
    """Key the current value of a setting, in the group of the bone. setting: its name, or its path as an item's."""
    home = shot_keys.make(armature, bone, setting)
    if home.owner == armature:
        name_channels(armature, bone)
        armature.keyframe_insert(home.path, frame=frame, group=bone)
    else:
        home.owner.keyframe_insert(home.path, frame=frame, group=shot_items.group(armature, bone))


def insert(armature: bpy.types.Object, bone: str, setting: str, frame: float) -> None:
    """Key the current value of a setting, constant until the next key."""
    key(armature, bone, setting, frame)
    curve = _curve(armature, bone, setting)
    for point in curve.keyframe_points:
        point.interpolation = "CONSTANT"
        if point.co.x == frame:
            # What a conversation has keyed here becomes the animator's own.
            point.type = "KEYFRAME"
    curve.update()


def put(armature: bpy.types.Object, bone: str, setting: str, keys: Sequence[tuple[float, float]], begin: float) -> None:
    """Key a setting: frames in order, and the values from them on.

    If there is no earlier key, the current value is keyed at the frame `begin`.
    """
    first = keys[0][0]
    if begin < first and not any(frame < first for frame in frames(armature, bone, setting)):
        keys = [(begin, value(armature, bone, setting, begin)), *keys]
    home = shot_keys.make(armature, bone, setting)
    for frame, number in keys:
        home.set(number)
        insert(armature, bone, setting, frame)


def generate(
    armature: bpy.types.Object,
    bone: str,
    setting: str,
    wanted: Sequence[tuple[float, float]],
    span: tuple[float, float],
    begin: float,
    turns: Sequence[float],
) -> None:
    """Key a setting by keys of type *Generated*, which replace those within `span`, first and last frame.

    wanted: frames in order, and the values from them on. Keys of other types are kept and hold until the next of the
    `turns`. If there is no earlier key, the current value is keyed at the frame `begin`.
    """
    shot_items.own(armature, bone)
    before, curve = value(armature, bone, setting, begin), _curve(armature, bone, setting)
    if curve is None and not wanted:
        return
    if curve is None:
        key(armature, bone, setting, begin)
        kept = Keys.dense(np.empty(0), np.empty(0))
    else:
        if shot_keys.home(armature, bone, setting).owner == armature:
            name_channels(armature, bone)
        kept = Keys.read(curve)
        within = (kept.frames >= span[0]) & (kept.frames <= span[1])
        kept = kept[~(within & (kept.attributes["type"] == GENERATED))]
    new = _giving_way(wanted, kept.frames, turns)
    first = new[0][0] if new else np.inf
    if begin < first < np.inf and not np.any(kept.frames < first):
        new = [(begin, before), *new]
    frames, values = np.array(new, dtype=float).reshape(-1, 2).T
    made = Keys.dense(frames, values)
    made.attributes["interpolation"] = CONSTANT
    both = made + kept
    if not len(both):
        clear(armature, bone, -np.inf, np.inf, begin, (setting,))
        return
    both[np.argsort(both.frames, kind="stable")].write(_curve(armature, bone, setting))
    _curve(armature, bone, setting).id_data.update_tag()


def own_frames(armature: bpy.types.Object, bone: str, names: Sequence[str]) -> list[float]:
    """Frames of the keys of settings that are not generated."""
    all_keys = [Keys.read(_curve(armature, bone, name)) for name in names]
    return sorted({float(f) for keys in all_keys for f in keys.frames[keys.attributes["type"] != GENERATED]})


def _giving_way(wanted: Sequence[tuple[float, float]], own: Array, turns: Sequence[float]) -> list[tuple[float, float]]:
    """Generated keys without those that an own key replaces until the next turn begins."""
    result = list(wanted)
    for frame in own:
        until = min((turn for turn in turns if turn > frame), default=np.inf)
        passed = [key for key in result if key[0] <= until]
        replaced = [key for key in result if frame <= key[0] < until]
        result = [key for key in result if key not in replaced]
        if np.isfinite(until) and passed and passed[-1][0] < until and wanted and frame >= wanted[0][0]:
            # From the turn on the conversation goes on as it would have.
            result = sorted([*result, (until, passed[-1][1])])
    return result


def value(armature: bpy.types.Object, bone: str, setting: str, frame: float) -> float:
    """The value of a setting at a frame by its keys, or its current value."""
    curve = _curve(armature, bone, setting)
    if curve is None or not len(curve.keyframe_points):
        return _like(armature, bone, setting, shot_keys.home(armature, bone, setting).value)
    return _like(armature, bone, setting, curve.evaluate(frame))


def _like(armature: bpy.types.Object, bone: str, setting: str, number: float) -> float:
    """A number as the setting has it: whole, or an angle."""
    kind = armature.pose.bones[bone].lookat_pd.bl_rna.properties[setting].type
    return float(number) if kind == "FLOAT" else int(number)


def frames(armature: bpy.types.Object, bone: str, setting: str) -> list[float]:
    """Frames of the keys of a setting."""
    curve = _curve(armature, bone, setting)
    return [] if curve is None else [point.co.x for point in curve.keyframe_points]


def clear(
    armature: bpy.types.Object,
    bone: str,
    first: float,
    last: float,
    begin: float,
    settings: Sequence[str] = SWITCHES,
) -> None:
    """Delete the keys of these settings from one frame to another.

    A setting without any key left keeps its value at the frame `begin`.
    """
    shot_items.own(armature, bone)
    for setting in settings:
        curve = _curve(armature, bone, setting)
        if curve is None:
            continue
        before = value(armature, bone, setting, begin)
        for point in reversed(curve.keyframe_points):
            if first <= point.co.x <= last:
                curve.keyframe_points.remove(point)
        curve.update()
        if not len(curve.keyframe_points):
            home = shot_keys.home(armature, bone, setting)
            home.remove_curve()
            home.set(before)
    shot_keys.tidy(armature)


def show(armature: bpy.types.Object, bone: str, frame: float, names: Sequence[str] = SWITCHES) -> None:
    """Set the settings to their keyed values at a frame: writing keys has left those of the last key."""
    settings = armature.pose.bones[bone].lookat_pd
    for setting in names:
        home, now = shot_keys.home(armature, bone, setting), value(armature, bone, setting, frame)
        home.set(now)
        if home.owner != armature:
            # Until the next evaluation.
            setattr(settings, setting, now)


def renumber(armature: bpy.types.Object, bone: str, moved: Callable[[int], int | None]) -> None:
    """Renumber the keys of `active_target` of the shot, and those in the current action and in those of NLA strips.

    moved: gives the new number of an old one, None for a removed target. Its keys are deleted, so the previous target
    continues; before the first key it is the main target. Raises RigError.
    """
    clip = shot_home.in_object(armature, bone, "active_target")
    for action, _ in _everywhere(clip.owner, clip.path):
        if not action.is_editable:
            raise RigError(
                "Action '{action}', which keys the targets, is linked from a library; make a copy of the action.",
                action=action.name,
            )
    shot_items.own(armature, bone)
    homes = shot_keys.homes(armature, bone, "active_target")
    curves = [animated for home in homes for animated in _everywhere(home.owner, home.path)]
    for _, curve in curves:
        points = curve.keyframe_points
        numbers = [moved(int(point.co.y)) for point in points]
        for n in reversed(range(len(numbers))):
            number = numbers[n]
            if number is None and any(earlier is not None for earlier in numbers[:n]):
                points.remove(points[n])
            else:
                points[n].co_ui = points[n].co.x, number or 0
        curve.update()
    for home in homes:
        home.set(moved(home.value) or 0)


def _everywhere(item: bpy.types.ID, path: str) -> Iterator[tuple[bpy.types.Action, Any]]:
    """The F-curves of a property in all actions of an armature or its data, each once."""
    for action, slot in dict.fromkeys((action, slot) for action, slot, _ in shot_home.playing(item)):
        curve = actions.curves_at(action, slot, path, 1)[0]
        if curve is not None:
            yield action, curve


def _curve(armature: bpy.types.Object, bone: str, setting: str) -> Any:
    return shot_keys.home(armature, bone, setting).curve
