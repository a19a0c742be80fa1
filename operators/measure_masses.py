"""Measure what the skinned meshes weigh, bone by bone, with progress."""

import bpy

from ..rig.dynamics import masses, meshes
from ..translations import messages
from . import current, job


class LOOKAT_PD_OT_measure_masses(job.Job, bpy.types.Operator):
    """Measure the volume inside the skinned meshes, bone by bone, to show what they weigh"""

    bl_idname = "lookat_pd.measure_masses"
    bl_label = "Measure Meshes"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_armature(context))

    def progress(self, percent: str) -> str:
        return messages.translate(f"Measuring meshes: {percent} %   Esc: cancel")

    def start(self, context: bpy.types.Context) -> None:
        self._armature = current.armature(context)
        self.job = meshes.measure(context.scene, self._armature)

    def finish(self, context: bpy.types.Context, result: meshes.Measured) -> None:
        found = masses.of(context.scene, self._armature, result)
        current.tell(self, f"{len(found.bones)} bones weigh {found.total:.1f} kg.")


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_measure_masses)


def unregister() -> None:
    meshes.forget()
    bpy.utils.unregister_class(LOOKAT_PD_OT_measure_masses)
