"""Drag a bone in the viewport, and the chain above it follows by inverse kinematics."""

from contextlib import suppress

import bpy
from bpy.app.handlers import persistent
from bpy.app.translations import pgettext_iface as iface_
from bpy.props import BoolProperty
from bpy_extras import view3d_utils
from mathutils import Vector

from ..lookat_pd.errors import LookAtError, RigError
from ..lookat_pd.ik import methods
from ..lookat_pd.message import Message
from ..rig.ik import drag as ik_drag
from ..rig.ik import handle as ik_handle
from ..rig.ik import setup as ik_setup
from ..rig.look_at import edit as look_at_edit
from ..translations import messages
from . import current, follow

_DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
_SIGNS = {name: str(n) for n, name in enumerate(_DIGITS)} | {f"NUMPAD_{n}": str(n) for n in range(10)}
_SIGNS |= {"MINUS": "-", "NUMPAD_MINUS": "-", "PERIOD": ".", "NUMPAD_PERIOD": "."}
_SHIFTS = ("LEFT_SHIFT", "RIGHT_SHIFT", "LEFT_CTRL", "RIGHT_CTRL")
_OF_THE_VIEW = ("MIDDLEMOUSE", "NDOF", "TRACKPAD", "TIMER", "WINDOW", "HOME", "INBETWEEN")
_MOVED = 3
"""Pixels beyond which letting the button go ends a drag."""
_UNDONE = "Undo changed the file during the drag; drag again."


def why_not(context: bpy.types.Context) -> str | None:
    """Why nothing can be dragged, as a sentence; None where it can."""
    reason = current.why_no_armature(context)
    if reason is not None:
        return reason
    if context.mode != "POSE":
        return "Switch to pose mode (Ctrl+Tab) to drag bones"
    if _running:
        return "An IK drag is already running; end it with Enter or Esc"
    return None


class LOOKAT_PD_OT_ik_drag(current.Explained, bpy.types.Operator):
    """Click a bone and drag it with the chain above it. Enter keeps the pose, Esc restores it"""

    bl_idname = "lookat_pd.ik_drag"
    bl_label = "Drag with IK"
    bl_options = {"UNDO", "BLOCKING"}
    why_not = staticmethod(why_not)

    use_active: BoolProperty(
        name="Active Bone", description="Start dragging the active bone without a click", default=False
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if context.window is None:
            return current.complain(self, "The IK drag needs a window; run it from the 3D viewport.")
        self._window, self._workspace = context.window, context.workspace
        self._session: ik_drag.DragSession | None = None
        self._handle: ik_handle.Handle | None = None
        self._selected = _selection(current.armature(context))
        self._armature = current.armature(context)
        self._pressed: tuple[int, int] | None = None
        self._complaint = ""
        place = follow.view_under(context.window, event.mouse_x, event.mouse_y)
        if self.use_active:
            try:
                self._take(context, current.bone(context), event, place)
            except LookAtError as error:
                return current.complain(self, error)
        _running.append(self)
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("PICK_AREA" if self._session is None else "SCROLL_XY")
        self._show()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self not in _running:
            self._end(context)
            return current.complain(self, _UNDONE)
        try:
            request = self._pick(context, event) if self._session is None else self._drag(context, event)
        except ReferenceError:
            self._end(context)
            return current.complain(self, _UNDONE)
        except LookAtError as error:
            self._restore()
            self._end(context)
            return current.complain(self, error)
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
        self._show()
        return {"PASS_THROUGH"} if request == "PASS" else {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender is going away or loads another file."""
        with suppress(ReferenceError):
            self._restore()
        self._end(context)

    # Which bone

    def _pick(self, context: bpy.types.Context, event: bpy.types.Event) -> str:
        """Wait for a click on a bone."""
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            return "RESTORE"
        place = follow.view_under(self._window, event.mouse_x, event.mouse_y)
        if event.type != "LEFTMOUSE" or event.value != "PRESS" or place is None:
            return "PASS" if place is None or event.type.startswith((*_OF_THE_VIEW, "WHEEL", "NUMPAD")) else ""
        area, region = _area_of(self._window, place[0]), place[0]
        at = event.mouse_x - region.x, event.mouse_y - region.y
        with context.temp_override(window=self._window, area=area, region=region):
            bpy.ops.view3d.select(location=at, deselect_all=False)
        bone = _under_click(self._armature, self._selected)
        if bone is None:
            self._complaint = iface_("There is no bone here")
            # The click may have chosen something else.
            context.view_layer.objects.active = self._armature
            _select(self._armature, self._selected)
            return ""
        self._complaint = ""
        try:
            self._take(context, bone, event, place)
        except LookAtError as error:
            self._complaint = messages.translate(str(error))
            _select(self._armature, self._selected)
            return ""
        self._pressed = event.mouse_x, event.mouse_y
        self._window.cursor_modal_set("SCROLL_XY")
        return ""

    def _take(self, context: bpy.types.Context, bone: bpy.types.PoseBone, event: bpy.types.Event, place) -> None:
        """Begin to drag a bone. Raises LookAtError."""
        settings = context.scene.lookat_pd_ik
        self._session = ik_drag.DragSession(
            context.scene,
            context.view_layer,
            self._armature,
            bone.name,
            length=settings.length,
            at_tip=settings.point == "TIP",
            keeps=settings.orientation != "FREE",
            tuning=ik_setup.tuning(settings),
            pole=settings.pole,
        )
        if place is None:
            place = _any_view(self._window)
        self._region, self._view = place
        normal = self._view.view_rotation @ _INTO_THE_SCREEN
        step = 10.0 ** ik_handle.magnitude(self._session.reach)
        self._handle = ik_handle.Handle(self._session.place, normal, step)
        self._lead(event)

    # Dragging

    def _drag(self, context: bpy.types.Context, event: bpy.types.Event) -> str:
        """What an event does to the drag: "KEEP", "RESTORE", "PASS" it on to Blender, or "" for nothing more."""
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
        if pressed and press(handle, session, kind, shift=event.shift):
            session.move(handle.place)
        return ""

    def _button(self, event: bpy.types.Event, *, pressed: bool) -> str:
        """A second click keeps, and so does letting go after a drag with the button held."""
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

    # How it ends

    def _keep(self, context: bpy.types.Context) -> set[str]:
        session = self._session
        try:
            keyed = session.keep()
        except LookAtError as error:
            _select(self._armature, self._selected)
            self._end(context)
            return current.complain(self, error)
        # What was chosen on the way is how the next drag and the bake begin.
        settings = context.scene.lookat_pd_ik
        settings.method = session.tuning.method.upper()
        if session.length_changed:
            settings.length = session.length
        self._end(context)
        if keyed:
            current.tell(
                self,
                Message(
                    "Keyed {bone_count} bones at frame {frame}.",
                    bone_count=len(session.chain.bones),
                    frame=context.scene.frame_current,
                ),
            )
        return {"FINISHED"}

    def _restore(self) -> None:
        if self._session is not None:
            self._session.restore()
        _select(self._armature, self._selected)

    def _end(self, context: bpy.types.Context) -> None:
        if self in _running:
            _running.remove(self)
        with suppress(ReferenceError):
            self._window.cursor_modal_restore()
            self._workspace.status_text_set(None)
        for area in _views(self._window):
            area.header_text_set(None)
            area.tag_redraw()

    # What is shown

    def _show(self) -> None:
        text, keys = self._header(), self._keys()
        for area in _views(self._window):
            area.header_text_set(text)

        def draw(header: bpy.types.Header, context: bpy.types.Context) -> None:
            for icons, what in keys:
                row = header.layout.row(align=True)
                for icon in icons[:-1]:
                    row.label(text="", icon=icon)
                row.label(text=what, icon=icons[-1], translate=False)
            header.layout.separator_spacer()

        self._workspace.status_text_set(draw)

    def _header(self) -> str:
        """How it goes, in the language of the interface."""
        session, handle = self._session, self._handle
        if session is None or handle is None:
            return self._complaint or iface_("Click a bone and drag it")
        error = 1000.0 * session.error * session.scene.unit_settings.scale_length
        texts = [
            session.bone,
            iface_(methods.METHODS[session.tuning.method].label),
            iface_("{} bones").format(session.length),
            iface_("{} iterations").format(session.iterations),
            iface_("error {:.2f} mm").format(error),
        ]
        if handle.axis:
            texts.append((iface_("locking {}") if handle.excluded else iface_("along {}")).format(handle.axis))
        if handle.number:
            texts.append(f"[{handle.number}]")
        return "   ".join(texts)

    def _keys(self) -> list[tuple[tuple[str, ...], str]]:
        """Icons of keys, and what they do."""
        if self._session is None:
            return [(("MOUSE_LMB",), iface_("Drag a Bone")), (("MOUSE_RMB", "EVENT_ESC"), iface_("Cancel"))]
        return [
            (("EVENT_X", "EVENT_Y", "EVENT_Z"), iface_("Axis")),
            (("EVENT_SHIFT",), iface_("Precise")),
            (("EVENT_CTRL",), iface_("Snap")),
            (("MOUSE_MMB_SCROLL",), iface_("Chain Length")),
            (("BLANK1",), iface_("{}: Solver").format(solver_keys())),
            (("MOUSE_LMB", "EVENT_RETURN"), iface_("Keep Pose")),
            (("MOUSE_RMB", "EVENT_ESC"), iface_("Restore")),
        ]


def press(handle: ik_handle.Handle, session: ik_drag.DragSession, kind: str, *, shift: bool = False) -> bool:
    """Do what a key does to the drag; whether it says where the bone goes. Digits of the number row and of the numpad
    are a number once an axis was chosen, and choose a solver until then."""
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
            session.use(method.id)
        return False
    elif kind in ("WHEELUPMOUSE", "PAGE_UP", "WHEELDOWNMOUSE", "PAGE_DOWN"):
        session.lengthen(1 if kind in ("WHEELUPMOUSE", "PAGE_UP") else -1)
        return False
    else:
        return False
    return True


def solver_keys() -> str:
    """The digits that choose a solver, as "0-5"."""
    keys = sorted(row.key for row in methods.METHODS.values())
    runs = "".join(keys) in "0123456789"
    return f"{keys[0]}-{keys[-1]}" if runs else ", ".join(keys)


_INTO_THE_SCREEN = Vector((0.0, 0.0, -1.0))


def _views(window: bpy.types.Window) -> list[bpy.types.Area]:
    with suppress(ReferenceError):
        return [area for area in window.screen.areas if area.type == "VIEW_3D"]
    return []


def _area_of(window: bpy.types.Window, region: bpy.types.Region) -> bpy.types.Area:
    return next(area for area in window.screen.areas if region in list(area.regions))


def _any_view(window: bpy.types.Window) -> tuple[bpy.types.Region, bpy.types.RegionView3D]:
    """A viewport of the window, where the mouse is over none."""
    for area in _views(window):
        region = next(item for item in area.regions if item.type == "WINDOW")
        return region, area.spaces.active.region_3d
    raise RigError("The IK drag needs a 3D viewport; open one.")


Selection = tuple[dict[str, bool], str]


def _selection(armature: bpy.types.Object) -> Selection:
    """Which bones are selected, and which is active."""
    active = armature.data.bones.active
    return {bone.name: look_at_edit.is_selected(bone) for bone in armature.pose.bones}, active.name if active else ""


def _select(armature: bpy.types.Object, selection: Selection) -> None:
    with suppress(ReferenceError):
        bones, active = selection
        for name, chosen in bones.items():
            bone = armature.pose.bones[name]
            # Blender 5 keeps it with the pose, 4.5 with the bone.
            place = bone if hasattr(bone, "select") else bone.bone
            if place.select != chosen:
                place.select = chosen
        armature.data.bones.active = armature.data.bones.get(active)


def _under_click(armature: bpy.types.Object, before: Selection) -> bpy.types.PoseBone | None:
    """The bone that a click has just selected; None where it hit none of this armature."""
    active = armature.data.bones.active
    if active is None or not look_at_edit.is_selected(armature.pose.bones[active.name]):
        return None
    chosen = _selection(armature)
    alone = sum(chosen[0].values()) == 1
    return armature.pose.bones[active.name] if alone or chosen != before else None


_running: list[LOOKAT_PD_OT_ik_drag] = []
"""The one that is going on, while it does."""


@persistent
def _let_go(*_: object) -> None:
    """An undo or another file is about to replace everything."""
    for operator in _running:
        if operator._session is not None:
            operator._session.release()
    _running.clear()


_HANDLERS = ("undo_pre", "redo_pre", "load_pre")


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_ik_drag)
    for name in _HANDLERS:
        getattr(bpy.app.handlers, name).append(_let_go)


def unregister() -> None:
    _let_go()
    for name in reversed(_HANDLERS):
        getattr(bpy.app.handlers, name).remove(_let_go)
    bpy.utils.unregister_class(LOOKAT_PD_OT_ik_drag)
