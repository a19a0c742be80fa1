"""Report a problem: what developers need goes to the clipboard, and the form of the repository is opened."""

from urllib.parse import urlencode

import bpy

from ..rig import faults, project
from ..rig.settings import switch
from . import problem_report, reporting

FORM, JAPANESE_FORM = "problem.yml", "problem.ja.yml"
"""Forms in `.github/ISSUE_TEMPLATE`, whose fields are those of `problem_report.fields`."""


def address() -> str:
    """The form in the language of the interface, with the fields filled in that hold nothing of the file."""
    form = JAPANESE_FORM if (bpy.app.translations.locale or "").startswith("ja") else FORM
    return f"{project.REPOSITORY}/issues/new?{urlencode({'template': form, **problem_report.fields()})}"


class LOOKAT_PD_OT_report_problem(bpy.types.Operator):
    """Copy what developers need, without names and paths, and open the form; you send it, nothing is sent by itself"""

    bl_idname = "lookat_pd.report_problem"
    bl_label = "Report a Problem"
    bl_options = {"REGISTER"}

    open_form: switch("Open Form", "Open the form in the browser", True, options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.window_manager.clipboard = problem_report.text(context.scene)
        if self.open_form:
            bpy.ops.wm.url_open(url=address())
        faults.dismiss()
        reporting.report_info(self, "The details are on the clipboard; paste them into the form.")
        return {"FINISHED"}


class LOOKAT_PD_OT_dismiss_problem(bpy.types.Operator):
    """Hide this message; Report a Problem still knows of the error"""

    bl_idname = "lookat_pd.dismiss_problem"
    bl_label = "Dismiss"
    bl_options = {"REGISTER", "INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        faults.dismiss()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_report_problem, LOOKAT_PD_OT_dismiss_problem))
