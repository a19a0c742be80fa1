"""What operators say in the status bar and the Info editor, in the language of the interface."""

import bpy

from ..lookat_pd.message import Message
from ..rig.look_at.body import face_controls
from ..translations import messages


def report_error(operator: bpy.types.Operator, text: Exception | str) -> set[str]:
    """Report an error and cancel the operator."""
    operator.report({"ERROR"}, messages.translate(str(text)))
    return {"CANCELLED"}


def report_info(operator: bpy.types.Operator, text: str) -> None:
    """Report the result."""
    operator.report({"INFO"}, messages.translate(text))


def millimetres(scene: bpy.types.Scene, distance: float) -> float:
    """A distance of a scene [units] in mm."""
    return 1000.0 * distance * scene.unit_settings.scale_length


def bones(count: int) -> Message:
    """So many bones, as a sentence names them."""
    return Message("1 bone" if count == 1 else "{count} bones", count=count)


def take_over_eyes(operator: bpy.types.Operator, scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> None:
    """Let the control bones of a face turn the eyes of the look-at on a bone, where nothing else can; report them."""
    measured = face_controls.take_over(scene, armature, bone)
    if measured is not None:
        report_controls(operator, measured)


def report_controls(operator: bpy.types.Operator, measured: face_controls.Measured) -> None:
    """Report which control bones turn and close the eyes, and which do not."""
    for note in measured.notes:
        operator.report({"WARNING"}, messages.translate(note))
    if measured.rows:
        report_info(operator, measured.summary)
