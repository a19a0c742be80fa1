"""Drag a bone in the viewport, and the chain above it follows by inverse kinematics."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface_
from bpy_extras import view3d_utils
from mathutils import Vector

from ..lookat_pd.errors import LookAtError
from ..lookat_pd.ik import methods
from ..lookat_pd.message import Message
from ..lookat_pd.rotation import Array
from ..rig.animation import editable
from ..rig.guards import callbacks
from ..rig.ik import body_settings, clicked, control_drag
from ..rig.ik import handle as ik_handle
from ..rig.ik import setup as ik_setup
from ..rig.ik.drag_session import DragSession
from ..rig.settings import switch
from ..translations import messages
from . import ik_switch, polling, reporting, selection, viewports
from .bone_under_mouse import BoneUnderMouse
from .undo_guard import guarded

_DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
_SIGNS = {name: str(n) for n, name in enumerate(_DIGITS)} | {f"NUMPAD_{n}": str(n) for n in range(10)}
_SIGNS |= {"MINUS": "-", "NUMPAD_MINUS": "-", "PERIOD": ".", "NUMPAD_PERIOD": "."}
_SHIFTS = ("LEFT_SHIFT", "RIGHT_SHIFT", "LEFT_CTRL", "RIGHT_CTRL")
_OF_THE_VIEW = ("MIDDLEMOUSE", "NDOF", "TRACKPAD", "TIMER", "WINDOW", "HOME", "INBETWEEN")
_MOVED = 3
"""Distance in pixels beyond which releasing the button ends a drag."""
_SWITCHING = {"FK": "Switch to FK", "IK": "Switch to IK"}
"""What F does, by the state that is offered."""
_UNDONE = "Undo changed the file during the drag; drag again."


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be dragged, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    if context.mode != "POSE":
        return "Switch to pose mode (Ctrl+Tab) to drag bones"
    if _running:
        return "An IK drag is already running; end it with Enter or Esc"
    return None


class LOOKAT_PD_OT_ik_drag(polling.Explained, bpy.types.Operator):
    """Click a bone and drag it with the chain above it. Enter keeps the pose, Esc restores it"""

    bl_idname = "lookat_pd.ik_drag"
    bl_label = "Drag with IK"
    bl_options = {"UNDO", "BLOCKING"}
    why_not = staticmethod(why_not)

    use_active: switch("Active Bone", "Start dragging the active bone without a click")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if context.window is None:
            return reporting.report_error(self, "The IK drag needs a window; run it from the 3D viewport.")
        self._window, self._workspace = context.window, context.workspace
        self._session: DragSession | None = None
        self._handle: ik_handle.Handle | None = None
        self._layer, self._armature = context.view_layer, selection.armature(context)
        self._before = {item: selection.bones_selected(item) for item in _in_pose_mode(context, self._armature)}
        self._settings = context.scene.lookat_pd_ik
        self._compare, self._holds = self._settings.compare, self._settings.hold_effectors
        self._pressed: tuple[int, int] | None = None
        self._complaint = ""
        self._offer = "", ""
        self._switching: dict[str, Any] = {}
        self._shown: list[Callable[[], None]] = []
        self._hovered = BoneUnderMouse([*self._before])
        place = viewports.view_under(context.window, event.mouse_x, event.mouse_y)
        if self.use_active:
            self._take(context, selection.bone(context), event, place)
        _running.append(self)
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("PICK_AREA" if self._session is None else "SCROLL_XY")
        self._show()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self not in _running:
            self._end(context)
            return reporting.report_error(self, _UNDONE)
        try:
            request = self._pick(context, event) if self._session is None else self._drag(context, event)
        except ReferenceError:
            self._end(context)
            return reporting.report_error(self, _UNDONE)
        except BaseException:
            self._restore()
            self._end(context)
            raise
        if request == "KEEP":
            return self._keep(context)
        if request == "RESTORE":
            self._restore()
            self._end(context)
            return {"CANCELLED"}
        if request == "SWITCH":
            armature = self._armature
            self._restore()
            self._end(context)
            self._armature = self._layer.objects.active = armature
            return self._switch()
        self._show()
        return {"PASS_THROUGH"} if request == "PASS" else {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Called when Blender quits or loads another file."""
        with suppress(ReferenceError):
            self._restore()
        self._end(context)

    # Selecting the bone

    def _pick(self, context: bpy.types.Context, event: bpy.types.Event) -> str:
        """Wait for a click on a bone."""
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            return "RESTORE"
        if event.type == "F" and event.value == "PRESS" and self._offer[1]:
            return self._asked_to_switch(context)
        place = viewports.view_under(self._window, event.mouse_x, event.mouse_y)
        if event.type == "MOUSEMOVE":
            self._look(context, event, place)
        if event.type != "LEFTMOUSE" or event.value != "PRESS" or place is None:
            return "PASS" if place is None or event.type.startswith((*_OF_THE_VIEW, "WHEEL", "NUMPAD")) else ""
        area, region = viewports.area_of(self._window, place[0]), place[0]
        at = event.mouse_x - region.x, event.mouse_y - region.y
        name, armature = self._look(context, event, place), self._hovered.armature
        self._hovered.forget()
        if name:
            self._armature = self._layer.objects.active = armature
            bone = armature.pose.bones[name]
            for item, (bones, active) in self._before.items():
                chosen = {other: item == armature and other == name for other in bones}
                selection.select_bones(item, (chosen, name if item == armature else active))
        else:
            with context.temp_override(window=self._window, area=area, region=region):
                bpy.ops.view3d.select(location=at, deselect_all=False)
            bone = selection.under_click(self._armature, self._before[self._armature])
        if bone is None:
            bone = self._under_skin(context, at, place)
        if bone is None:
            self._complaint = iface_("There is no bone here")
            # The click may have selected something else.
            self._select_again()
            return ""
        self._complaint, name = "", bone.name
        try:
            self._take(context, bone, event, place)
        except LookAtError as error:
            self._complaint = messages.translate(str(error))
            self._offer = name, control_drag.offered_state(context.view_layer, self._armature, name)
            self._select_again()
            return ""
        self._pressed = event.mouse_x, event.mouse_y
        self._window.cursor_modal_set("SCROLL_XY")
        return ""

    def _look(self, context: bpy.types.Context, event: bpy.types.Event, place: Any) -> str:
        """The bone that is drawn under the mouse; "" for none."""
        if place is None:
            self._hovered.forget()
            return ""
        region, space = place[0], viewports.area_of(self._window, place[0]).spaces.active
        return self._hovered.look(context, place, (event.mouse_x - region.x, event.mouse_y - region.y), space)

    def _under_skin(self, context: bpy.types.Context, at: tuple[int, int], place) -> bpy.types.PoseBone | None:
        """The bone that moves the skin at a place of the region."""
        origin = view3d_utils.region_2d_to_origin_3d(*place, at)
        direction = view3d_utils.region_2d_to_vector_3d(*place, at)
        self._select_again()
        depsgraph, space = context.view_layer.depsgraph, viewports.area_of(self._window, place[0]).spaces.active
        name = clicked.bone_of_skin(context.scene, depsgraph, self._armature, space, origin, direction)
        return self._armature.pose.bones[name] if name else None

    def _take(self, context: bpy.types.Context, bone: bpy.types.PoseBone, event: bpy.types.Event, place) -> None:
        """Start dragging a bone. Raises LookAtError."""
        self._session = self._begun(context, bone.name)
        self._offer = bone.name, control_drag.offered_state(context.view_layer, self._armature, bone.name)
        if place is None:
            place = viewports.any_view(self._window)
        self._region, self._view = place
        normal = self._view.view_rotation @ _INTO_THE_SCREEN
        step = 10.0 ** ik_handle.magnitude(self._session.reachable_distance)
        self._handle = ik_handle.Handle(self._session.place, normal, step)
        self._lead(event)

    def _begun(self, context: bpy.types.Context, bone: str) -> DragSession:
        """The drag of a bone from the shown pose. Raises LookAtError."""
        settings = context.scene.lookat_pd_ik
        at_tip = settings.point == "TIP"
        return control_drag.begin(
            context.scene,
            context.view_layer,
            self._armature,
            bone,
            extent=lambda name: ik_setup.extent(self._armature, name, settings, at_tip=at_tip),
            at_tip=at_tip,
            keeps=settings.orientation != "FREE",
            tuning=ik_setup.tuning(settings),
            pole=settings.pole,
            body=body_settings.tuning(self._armature) if settings.hold_effectors else None,
        )

    # Dragging

    def _hold(self, context: bpy.types.Context) -> None:
        """Hold the other effectors, or no longer; the bone stays at the mouse."""
        settings, session, handle = context.scene.lookat_pd_ik, self._session, self._handle
        assert session is not None and handle is not None
        if not body_settings.has_effectors(self._armature):
            self._complaint = iface_("Add effectors to the list first: panel Several Effectors")
            return
        settings.hold_effectors, method = not settings.hold_effectors, session.tuning.method
        session.restore()
        try:
            self._session = self._begun(context, session.asked)
        except LookAtError as error:
            self._complaint = messages.translate(str(error))
            settings.hold_effectors = not settings.hold_effectors
            self._session = self._begun(context, session.asked)
        self._session.use(method)
        self._session.move(handle.place)

    def _drag(self, context: bpy.types.Context, event: bpy.types.Event) -> str:
        """Handle an event of the drag: "KEEP", "RESTORE", "PASS" for Blender to handle it, or ""."""
        pressed, handle, session = event.value == "PRESS", self._handle, self._session
        assert handle is not None and session is not None
        kind = event.type
        if kind == "ESC" or kind == "RIGHTMOUSE":
            return "RESTORE" if pressed else ""
        if kind in ("RET", "NUMPAD_ENTER"):
            return "KEEP" if pressed else ""
        if kind == "LEFTMOUSE":
            return self._button(event, pressed=pressed)
        if kind == "MOUSEMOVE" or kind in _SHIFTS:
            handle.be(precise=event.shift, snaps=event.ctrl)
            self._lead(event)
            session.move(handle.place)
            return ""
        if kind.startswith(_OF_THE_VIEW):
            return "PASS"
        if pressed:
            self._complaint = ""
        if pressed and kind == "V":
            control = control_drag.moved_item(session)
            if clicked.is_hidden(*control):
                self._shown.append(clicked.show(*control))
            return ""
        if pressed and kind == "F" and self._offer[1]:
            return self._asked_to_switch(context)
        if pressed and kind == "B":
            self._hold(context)
            return ""
        if pressed and kind == "C":
            settings = context.scene.lookat_pd_ik
            settings.compare = not settings.compare
            return ""
        if pressed and press(handle, session, kind, shift=event.shift):
            session.move(handle.place)
        return ""

    def _asked_to_switch(self, context: bpy.types.Context) -> str:
        """ "SWITCH", or "" with a complaint where the limb cannot be switched."""
        try:
            self._switching = ik_switch.arguments(context, self._armature, *self._offer)
        except LookAtError as error:
            self._complaint = messages.translate(str(error))
            return ""
        return "SWITCH"

    def _button(self, event: bpy.types.Event, *, pressed: bool) -> str:
        """A second click keeps the pose, and so does releasing the button after a drag."""
        if pressed:
            return "KEEP"
        start, self._pressed = self._pressed, None
        if start is None:
            return ""
        return "KEEP" if max(abs(event.mouse_x - start[0]), abs(event.mouse_y - start[1])) > _MOVED else ""

    def _lead(self, event: bpy.types.Event) -> None:
        at = event.mouse_x - self._region.x, event.mouse_y - self._region.y
        self._handle.move(
            view3d_utils.region_2d_to_origin_3d(self._region, self._view, at),
            view3d_utils.region_2d_to_vector_3d(self._region, self._view, at),
        )

    # The end

    def _keep(self, context: bpy.types.Context) -> set[str]:
        session = self._session
        try:
            keyed = session.keep()
        except LookAtError:
            self._armature = next(iter(self._before))
            self._select_again()
            self._end(context)
            raise
        # The next drag and the bake use what was chosen during this one.
        settings = context.scene.lookat_pd_ik
        settings.method = session.tuning.method
        if session.length_changed:
            settings.length = session.length
        self._end(context)
        if keyed and not session.bones:
            reporting.report_info(
                self,
                Message("Keyed '{target}' at frame {frame}.", target=session.bone, frame=context.scene.frame_current),
            )
        elif keyed:
            reporting.report_info(
                self,
                Message(
                    "Keyed {bones} at frame {frame}.",
                    bones=reporting.bones(len(session.bones)),
                    frame=context.scene.frame_current,
                ),
            )
        return {"FINISHED"}

    def _switch(self) -> set[str]:
        """Switch the limb instead of dragging it, with keys, once this operator has ended: in it, another one gets
        neither an undo step nor a redo panel."""
        bone = self._offer[0]
        chosen = {name: name == bone for name in self._armature.pose.bones.keys()}
        selection.select_bones(self._armature, (chosen, bone))
        switch = partial(_switch_limb, self._window, self._armature.name, bone, self._switching)
        callbacks.start_timer(switch, 0.0)
        return {"CANCELLED"}

    def _restore(self) -> None:
        self._settings.compare, self._settings.hold_effectors = self._compare, self._holds
        while self._shown:
            self._shown.pop()()
        if self._session is not None:
            self._session.restore()
        self._armature = next(iter(self._before))
        self._select_again()

    def _select_again(self) -> None:
        """Give the bones their selection back."""
        with suppress(ReferenceError):
            self._layer.objects.active = self._armature
        for item, before in self._before.items():
            selection.select_bones(item, before)

    def _end(self, context: bpy.types.Context) -> None:
        if self in _running:
            _running.remove(self)
        with suppress(ReferenceError):
            self._window.cursor_modal_restore()
            self._workspace.status_text_set(None)
        for area in viewports.views(self._window):
            area.header_text_set(None)
            area.tag_redraw()

    # Display

    def _show(self) -> None:
        text, keys = self._header(), self._keys()
        for area in viewports.views(self._window):
            area.header_text_set(text)
            area.tag_redraw()

        def draw(header: bpy.types.Header, context: bpy.types.Context) -> None:
            for icons, what in keys:
                row = header.layout.row(align=True)
                for icon in icons[:-1]:
                    row.label(text="", icon=icon)
                row.label(text=what, icon=icons[-1], translate=False)
            header.layout.separator_spacer()

        self._workspace.status_text_set(draw)

    def _header(self) -> str:
        """The state, in the language of the interface."""
        session, handle = self._session, self._handle
        if session is None or handle is None:
            if self._hovered.name and not self._complaint:
                return iface_("Click to drag {}").format(self._hovered.name)
            return self._complaint or iface_("Click a bone and drag it")
        error = reporting.millimetres(session.scene, session.error)
        name = session.bone
        if session.asked != name:
            name = iface_("{} (for {})").format(name, session.asked)
        solver = [
            iface_(session.tuning.solver.label),
            iface_("{} bones").format(session.length),
        ]
        if clicked.is_hidden(*control_drag.moved_item(session)):
            name = iface_("{}, hidden").format(name)
        if session.held:
            solver = [iface_("{} effectors held").format(session.held)]
        elif not session.length:
            solver = [iface_("the rig's own IK")]
        texts = [
            name,
            *solver,
            iface_("{} iterations").format(session.iterations),
            iface_("error {:.2f} mm").format(error),
            iface_("{:.1f} ms").format(1000.0 * session.seconds),
        ]
        if isinstance(session, control_drag.BodyDrag):
            held = reporting.millimetres(session.scene, session.held_error)
            texts.append(iface_("held within {:.2f} mm").format(held))
        if self._complaint:
            texts.append(self._complaint)
        if handle.axis:
            texts.append((iface_("locking {}") if handle.excluded else iface_("along {}")).format(handle.axis))
        if handle.number:
            texts.append(f"[{handle.number}]")
        return "   ".join(texts)

    def _keys(self) -> list[tuple[tuple[str, ...], str]]:
        """Icons of keys, and their functions."""
        offer = [(("EVENT_F",), iface_(_SWITCHING[self._offer[1]]))] if self._offer[1] else []
        if self._session is None:
            return [
                (("MOUSE_LMB",), iface_("Drag a Bone")),
                *offer,
                (("MOUSE_RMB", "EVENT_ESC"), iface_("Cancel")),
            ]
        solver = (
            (("MOUSE_MMB_SCROLL",), iface_("Chain Length")),
            (("BLANK1",), iface_("{}: Solver").format(solver_keys())),
            (("EVENT_C",), iface_("Compare Solvers")),
        )
        return [
            (("EVENT_X", "EVENT_Y", "EVENT_Z"), iface_("Axis")),
            (("EVENT_SHIFT",), iface_("Precise")),
            (("EVENT_CTRL",), iface_("Snap")),
            *(solver if self._session.length else ()),
            *(
                [(("EVENT_V",), iface_("Show Control"))]
                if clicked.is_hidden(*control_drag.moved_item(self._session))
                else ()
            ),
            *(
                [(("EVENT_B",), iface_("Hold Effectors"))]
                if body_settings.has_effectors(self._session.armature)
                else ()
            ),
            *offer,
            (("MOUSE_LMB", "EVENT_RETURN"), iface_("Keep Pose")),
            (("MOUSE_RMB", "EVENT_ESC"), iface_("Restore")),
        ]


def _in_pose_mode(context: bpy.types.Context, armature: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """An armature, and the others that are in pose mode with it and may be posed."""
    yield armature
    for item in context.view_layer.objects:
        posed = item != armature and item.type == "ARMATURE" and item.mode == "POSE" and item.visible_get()
        if posed and polling.refusal(editable.check_armature, item) is None:
            yield item


def _switch_limb(window: bpy.types.Window, armature: str, bone: str, settings: dict[str, Any]) -> None:
    """Switch the limb of a bone in a window. What fails in spite of the check before is shown in a pop-up: a report
    from here reaches the console only."""
    with suppress(ReferenceError, KeyError, IndexError):
        area = viewports.views(window)[0]
        region = next(item for item in area.regions if item.type == "WINDOW")
        limb = [bpy.data.objects[armature].pose.bones[bone]]
        with bpy.context.temp_override(window=window, area=area, region=region, selected_pose_bones=limb):
            try:
                bpy.ops.lookat_pd.ik_switch("INVOKE_DEFAULT", True, **settings)
            except RuntimeError as error:
                _pop_up(window, str(error).removeprefix("Error: ").strip())


def _pop_up(window: bpy.types.Window, text: str) -> None:
    """Show an error at the mouse."""

    def draw(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
        menu.layout.label(text=text, translate=False)

    window.id_data.popup_menu(draw, title=iface_(ik_switch.LOOKAT_PD_OT_ik_switch.bl_label, "Operator"), icon="ERROR")


def press(handle: ik_handle.Handle, session: DragSession, kind: str, *, shift: bool = False) -> bool:
    """Apply a key to the drag; returns whether it moves the bone. Digits of the number row and of the numpad are a
    number if an axis is set, otherwise they select a solver."""
    sign = _SIGNS.get(kind)
    if kind in ("X", "Y", "Z"):
        handle.constrain(kind, session.axes, excluded=shift)
    elif kind == "BACK_SPACE":
        handle.type("")
    elif sign is not None and handle.takes_numbers:
        handle.type(sign)
    elif sign is not None:
        method = methods.of_key(sign)
        if method is not None:
            session.use(method.identifier)
        return False
    elif kind in ("WHEELUPMOUSE", "PAGE_UP", "WHEELDOWNMOUSE", "PAGE_DOWN"):
        session.lengthen(1 if kind in ("WHEELUPMOUSE", "PAGE_UP") else -1)
        return False
    else:
        return False
    return True


def solver_keys() -> str:
    """The digits that select a solver, as "0-5"."""
    keys = sorted(row.key for row in methods.METHODS.values())
    runs = "".join(keys) in "0123456789"
    return f"{keys[0]}-{keys[-1]}" if runs else ", ".join(keys)


_INTO_THE_SCREEN = Vector((0.0, 0.0, -1.0))


_running: list[LOOKAT_PD_OT_ik_drag] = []
"""The running operator, if any."""


def hovered() -> Array:
    """The lines (s, 2, 3) in the world of the bone that a click would drag; none while a bone is dragged."""
    operator = _running[0] if _running else None
    return np.zeros((0, 2, 3)) if operator is None or operator._session is not None else operator._hovered.lines


def dragged() -> DragSession | None:
    """The running drag; None if there is none or no bone is taken yet."""
    return _running[0]._session if _running else None


def _let_go() -> None:
    """Release what is running: an undo or another file is about to replace all data."""
    for operator in _running:
        if operator._session is not None:
            operator._session.release()
    _running.clear()


register, unregister = guarded(LOOKAT_PD_OT_ik_drag, _let_go)
