"""Lids that several controls move: those of a generated Rigify human."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from ... import scenes
from . import bodies

edit = load("rig.look_at.edit")
look_at = load("rig.look_at.resolve")

ON, LAST = 8, 40
FRAMES = range(1, LAST + 1)
LIDS = [
    (f"lid.T.{side}.{upper:03}", f"lid.B.{side}.{lower:03}")
    for side in "LR"
    for upper, lower in ((1, 3), (2, 2), (3, 1))
]


def looking(place: tuple[float, float, float], **shown: Any) -> tuple[bpy.types.Object, Any]:
    """The human at rest, who looks at a ball from a frame on with everything on, and the settings."""
    armature = kept.human()
    armature.animation_data_clear()
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
        if bone.lookat_pd.target is not None:
            edit.remove(bone)
    settings = bodies.look(armature, scenes.ball(place), **shown)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], LAST
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True)])
    return armature, settings


def in_head(armature: bpy.types.Object, poses: np.ndarray, *names: str) -> list[np.ndarray]:
    """Matrices (F, 4, 4) of bones in the frame of the deforming head, whose Z axis points back, X to the left."""
    head, *others = (poses[:, n] for n in bodies.bones(armature, "ORG-face", *names))
    return [np.linalg.inv(head) @ other for other in others]


@pytest.mark.thorough
def test_a_blink_closes_every_pair_of_points_and_opens_it_again() -> None:
    armature, settings = looking((3.0, -1.0, 1.8))
    settings.eyes.use_lids = False
    poses = scenes.poses(armature, FRAMES)
    for upper, lower in LIDS:
        high, low = in_head(armature, poses, f"DEF-{upper}", f"DEF-{lower}")
        gap = np.linalg.norm(high[:, 1:3, 3] - low[:, 1:3, 3], axis=-1)
        assert gap.min() < 0.2 * gap[0], upper
        assert np.all(np.abs(gap[: ON - 1] - gap[0]) < 1e-6)
        assert gap[-1] == pytest.approx(gap[0], abs=1e-3)
    assert look_at.resolve(armature, "head").body.notes == ()


@pytest.mark.thorough
@pytest.mark.parametrize(("height", "amount"), [(1.4, 0.5), (1.4, 0.9), (2.3, 0.9), (1.4, 0.2)])
def test_the_middle_of_the_lid_turns_by_the_amount_of_the_eye(height: float, amount: float) -> None:
    """Although the rig itself moves the lids with the eyes."""
    armature, settings = looking((0.0, -1.0, height))
    settings.eyes.head_share, settings.eyes.use_blink, settings.eyes.lid_follow = 0.0, False, amount
    poses = scenes.poses(armature, [1, LAST])
    eye, lid = in_head(armature, poses, "ORG-eye.L", "MCH-lid.T.L.002")

    def pitch(bone: np.ndarray) -> float:
        """Angle of the bone's Y axis above that of the head between the two frames [rad]."""
        up, back = bone[:, 1, 1], bone[:, 2, 1]
        angle = np.unwrap(np.arctan2(up, -back))
        return float(angle[1] - angle[0])

    assert abs(pitch(eye)) > np.radians(8.0)
    assert pitch(lid) / pitch(eye) == pytest.approx(amount, abs=0.08)


@pytest.mark.thorough
def test_a_bake_keys_the_controls_of_the_lids_as_they_were_shown() -> None:
    armature, _ = looking((3.0, -1.0, 1.6))
    shown = scenes.poses(armature, FRAMES)
    scenes.run_bake(armature, last=LAST)
    assert bodies.differences(scenes.poses(armature, FRAMES), shown)[0] < 1e-5
    keyed = {path for _, path, _ in scenes.curves(armature.animation_data.action)}
    assert {f'pose.bones["{upper}"].location' for upper, _ in LIDS} <= keyed


def test_a_control_of_a_lid_that_does_not_move_leaves_the_lids_to_shape_keys() -> None:
    armature, _ = looking((3.0, -1.0, 1.8))
    armature.pose.bones["lid.T.R.002"].lock_location[1] = True
    body = look_at.resolve(armature, "head").body
    assert body.lid_points == () and any("eyes do not blink" in note for note in body.notes)
