"""People with face boards: controls beside the head that turn and close the eyes by drivers."""

from typing import Any

import bpy
import numpy as np

from extension import load

from ... import scenes
from . import bodies, faces

shape_table = load("rig.look_at.body.shape_table")

ROW = shape_table.ShapeRow
FULL, REACH = 0.02, 40.0
"""Location [m] of a control at which it turns an eye by an angle [deg]."""
ON, LAST = 12, 60
FRAMES = range(1, LAST + 1)
TABLE = [
    ROW("", eye, direction, np.radians(REACH), f"CTRL_{eye[0]}_eye", axis, sign * FULL)
    for eye in ("LEFT", "RIGHT")
    for direction, axis, sign in (("LEFT", "X", 1.0), ("RIGHT", "X", -1.0), ("UP", "Y", 1.0), ("DOWN", "Y", -1.0))
]
LIDS = [ROW("", eye, "CLOSE", 0.0, f"CTRL_{eye[0]}_eye_blink", "Y", -FULL) for eye in ("LEFT", "RIGHT")]


CONTROLS = tuple(
    (name, "root", place, tuple(np.add(place, (0.0, 0.0, 0.03))))
    for side, sign in (("L", 1.0), ("R", -1.0))
    for name, place in (
        (f"CTRL_{side}_eye", (0.3 + 0.05 * sign, 0.0, 1.7)),
        (f"CTRL_{side}_eye_blink", (0.3 + 0.05 * sign, 0.0, 1.8)),
    )
)


def drive(
    curve: bpy.types.FCurve, armature: bpy.types.Object, bone: str, axis: int, expression: str, kind="TRANSFORMS"
):
    """Let a driver read the location of a bone on an axis as `at`. kind: of its variable."""
    variable = curve.driver.variables.new()
    variable.name, variable.type = "at", kind
    target = variable.targets[0]
    target.id = armature
    if kind == "TRANSFORMS":
        target.bone_target, target.transform_space = bone, "LOCAL_SPACE"
        target.transform_type = f"LOC_{'XYZ'[axis]}"
    else:
        target.data_path = f'pose.bones["{bone}"].location[{axis}]'
    curve.driver.expression = expression


def board(rows=(*TABLE, *LIDS), kind="TRANSFORMS", *, mode="XYZ", at="at") -> tuple[bpy.types.Object, Any]:
    """A person with a face board beside the head: a control turns each eye by drivers, another one closes its lid.

    kind: of the variables of the drivers. mode: rotation mode of the eyes. at: what the drivers make of the location.
    """
    armature = scenes.figure("Board", [*bodies.PERSON, *CONTROLS])
    for side in "LR":
        eye = armature.pose.bones[f"eye.{side}"]
        eye.rotation_mode = mode
        # The eye points to -Y: about its own X it looks up, about its own Z to the side.
        for index, axis in ((0, 1), (2, 0)):
            expression = f"{np.radians(REACH) / FULL} * {at}"
            drive(eye.driver_add("rotation_euler", index), armature, f"CTRL_{side}_eye", axis, expression, kind)
    return armature, shown(armature, rows)


def shape_board() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A person without eye bones whose face board drives the shape keys that turn and close the eyes; and the mesh."""
    armature = scenes.figure("Board", [*faces.EYELESS, *CONTROLS])
    item = faces.face(armature, faces.ARKIT)
    for name in ("eyeBlinkLeft", "eyeBlinkRight"):
        item.shape_key_add(name=name, from_mix=False).value = 0.0
    keys = item.data.shape_keys
    # The left eye looks in to the right.
    for side, inwards in (("Left", -1.0), ("Right", 1.0)):
        control = f"CTRL_{side[0]}_eye"
        for where, axis, sign in (("In", 0, inwards), ("Out", 0, -inwards), ("Up", 1, 1.0), ("Down", 1, -1.0)):
            curve = keys.key_blocks[f"eyeLook{where}{side}"].driver_add("value")
            drive(curve, armature, control, axis, f"{sign / FULL} * at")
        curve = keys.key_blocks[f"eyeBlink{side}"].driver_add("value")
        drive(curve, armature, f"{control}_blink", 1, f"{-1.0 / FULL} * at")
    shown(armature, ())
    return armature, item


def shown(armature: bpy.types.Object, rows) -> Any:
    """Its look-at at a ball with a table, which begins within the scene; the settings."""
    found = bodies.look(armature, scenes.ball((0.5, -1.5, 1.9)))
    found.eyes.head_share, found.eyes.blink_from = 0.3, np.radians(15.0)
    shape_table.write(found.eyes, rows)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], LAST
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True)])
    return found


def gaze_error(armature: bpy.types.Object, frame: int) -> float:
    """The largest angle [deg] between where the eyes look and the ball."""
    scenes.goto(frame)
    ball, worst = bpy.data.objects["Ball"].matrix_world.translation, 0.0
    for name in bodies.EYES:
        eye = armature.matrix_world @ armature.pose.bones[name].matrix
        worst = max(worst, np.degrees(eye.col[1].to_3d().angle(ball - eye.translation)))
    return worst
