"""Springs from a VRM file or from the VRM add-on, and into a VRM file."""

import bpy

from ..lookat_pd.errors import FileError, RigError
from ..lookat_pd.message import Message
from ..rig import whole_file
from ..rig.detection import vrm
from ..rig.settings import text
from ..rig.springs import vrm_add_on, vrm_data, vrm_springs, vrm_writing
from ..translations import messages
from . import polling, reporting, selection, springs
from .vrm_file import VRMFile


class LOOKAT_PD_OT_springs_from_vrm(VRMFile, polling.Explained, bpy.types.Operator):
    """Give this character the springs of its VRM file, with their colliders; those that the VRM add-on has are taken without asking for a file"""  # noqa: E501 - a tooltip

    bl_idname = "lookat_pd.springs_from_vrm"
    bl_label = "From VRM"
    bl_options = {"REGISTER", "UNDO"}
    why_not = staticmethod(springs.why_no_character)

    filter_glob: text(default="*.vrm;*.glb", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        armature = selection.armature(context)
        if armature is not None and vrm_add_on.springs_of(armature) is not None:
            return self.execute(context)
        return super().invoke(context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = selection.armature(context)
        assert armature is not None, "otherwise why_not gives the reason"
        said = self._said(armature)
        if not said.chains:
            raise FileError("'{name}' has no springs; choose another file.", name=self.path.name)
        taken = vrm_springs.take_over(context.scene, armature, said)
        for note in taken.notes:
            self.report({"WARNING"}, messages.translate(note))
        reporting.report_info(self, springs.added(len(taken.chains)))
        return {"FINISHED"}

    def _said(self, armature: bpy.types.Object) -> vrm_data.VrmSprings:
        """Raises LookAtError."""
        if self.filepath:
            return vrm_data.read(vrm.document(self.path))
        known = vrm_add_on.springs_of(armature)
        if known is None:
            raise RigError("Choose a VRM file; the VRM add-on has no springs for '{name}'.", name=armature.name)
        return known


class LOOKAT_PD_OT_springs_write_vrm(VRMFile, springs.OfSprings, bpy.types.Operator):
    """Write the springs of this character into its VRM file, as a new file beside it; all else of it stays"""

    bl_idname = "lookat_pd.springs_write_vrm"
    bl_label = "Write VRM"

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature, path = selection.armature(context), self.path
        assert armature is not None, "otherwise why_not gives the reason"
        content, written = vrm_writing.content(path, context.scene, armature)
        output = path.with_name(f"{path.stem}_springs.vrm")
        whole_file.check_writable(output)
        with whole_file.writing(output) as temporary:
            temporary.write_bytes(content)
        vrm_writing.note(armature, written)
        for note in written.notes:
            self.report({"WARNING"}, messages.translate(note))
        summary = Message(
            "Wrote {name}: {changed} changed, {added} added, {removed} removed.",
            name=output.name,
            changed=len(written.changed),
            added=len(written.added),
            removed=len(written.removed),
        )
        reporting.report_info(self, summary)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_springs_from_vrm, LOOKAT_PD_OT_springs_write_vrm)
)
