"""Which settings of a look-at may change with the frame, and their data paths."""

from ..animation import data_paths

KEYABLE = (
    "use",
    "influence",
    "active_target",
    "glance_yaw",
    "glance_pitch",
    "eyes_closed",
    "nod",
    "tilt",
    "gesture_yaw",
    "gesture_pitch",
    "stance",
)
"""Settings that may change with the frame; so may the weights of targets (`mixing.paths`)."""


def settings_path(bone: str) -> str:
    """Data path from the armature object to a bone's look-at (Blender cannot work it out for settings on bones)."""
    return f"{data_paths.bone_path(bone)}.lookat_pd"


def weight_name(number: int) -> str:
    """Path of the weight of a target within the settings of the look-at."""
    return "target_weight" if number == 0 else f"targets[{number - 1}].weight"


def setting_path(bone: str, name: str) -> str:
    return f"{settings_path(bone)}.{name}"
