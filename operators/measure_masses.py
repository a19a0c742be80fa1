"""Measure the mass of the skinned meshes for each bone, with a progress display."""

import bpy

from ..lookat_pd.message import Message
from ..rig.dynamics import masses, meshes
from ..translations import messages
from . import job, polling, reporting, selection


class LOOKAT_PD_OT_measure_masses(job.ModalJob, bpy.types.Operator):
    """Measure the volume inside the skinned meshes for each bone to display the masses"""

    bl_idname = "lookat_pd.measure_masses"
    bl_label = "Measure Meshes"
    bl_options = {"REGISTER"}
    why_not = staticmethod(polling.why_no_armature)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Measuring meshes: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        self._armature = selection.armature(context)
        self.job = meshes.measure(context.scene, self._armature)

    def finish(self, context: bpy.types.Context, result: meshes.Measured) -> None:
        body = masses.of(context.scene, self._armature, result)
        reporting.report_info(
            self,
            Message("Total mass: {total:.1f} kg, number of bones: {bones}.", bones=len(body.bones), total=body.total),
        )


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_measure_masses)


def unregister() -> None:
    meshes.forget()
    bpy.utils.unregister_class(LOOKAT_PD_OT_measure_masses)
