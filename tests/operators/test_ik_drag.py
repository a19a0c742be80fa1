"""The drag operator where there is no window: when it refuses, and what its keys do. The rest: tests/window."""

import importlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from extension import load

from ..rig import scenes
from ..rig.sampling.test_shown_surface import viewport
from .test_ik_bake import hero  # noqa: F401 - a fixture

ik_drag, selection = load("operators.ik_drag"), load("operators.selection")
bone_under_mouse = load("operators.bone_under_mouse")
viewports = load("operators.viewports")
drag = load("rig.ik.drag")
handle = load("rig.ik.handle")
settings = load("rig.ik.settings")
setup = load("rig.ik.setup")
method_ghosts = load("rig.ik.method_ghosts")
preview = load("rig.ik.preview")
program = load("cli.program")
methods = load("lookat_pd.ik.methods")


def test_needs_pose_mode(hero) -> None:  # noqa: F811
    assert bpy.ops.lookat_pd.ik_drag.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.lookat_pd.ik_drag.poll()
    with pytest.raises(RuntimeError, match="pose mode"):
        bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT")


@pytest.mark.every_blender
def test_pins_are_set_and_taken_away(hero) -> None:  # noqa: F811
    scenes.select(hero, "arm", "hips")
    assert bpy.ops.lookat_pd.ik_pin() == {"FINISHED"}
    assert [bone.name for bone in hero.pose.bones if bone.lookat_pd_ik_pin] == ["hips", "arm"]
    assert bpy.ops.lookat_pd.ik_pin() == {"FINISHED"}
    assert not any(bone.lookat_pd_ik_pin for bone in hero.pose.bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.lookat_pd.ik_pin.poll()


_ROW = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
_KEYS = {"row": _ROW, "numpad": tuple(f"NUMPAD_{n}" for n in range(10))}


@pytest.fixture(params=list(_KEYS))
def digits(request) -> tuple[str, ...]:
    """Blender's names of the ten digits, of the number row or of the numpad."""
    return _KEYS[request.param]


@pytest.fixture
def dragged(hero):  # noqa: F811
    """The hand, held by the mouse somewhere off its place: handle and session."""
    settings = bpy.context.scene.lookat_pd_ik
    session = drag.ChainDrag(
        bpy.context.scene,
        bpy.context.view_layer,
        hero,
        "hand",
        length=2,
        at_tip=False,
        keeps=False,
        tuning=setup.tuning(settings),
    )
    held = handle.Handle(session.place, (0.0, 1.0, 0.0), 0.1)
    held.move((0.7, -5.0, 1.2), (0.0, 1.0, 0.0))
    held.move((0.6, -5.0, 1.3), (0.0, 1.0, 0.0))
    session.move(held.place)
    yield held, session
    session.restore()


def press(dragged, kind: str) -> None:
    """A key as the operator takes it: where it says where the hand goes, the hand goes there."""
    held, session = dragged
    if ik_drag.press(held, session, kind):
        session.move(held.place)


def test_each_digit_chooses_its_solver(dragged, digits) -> None:
    held, session = dragged
    place = held.place.copy()
    for row in reversed(methods.METHODS.values()):
        press(dragged, digits[int(row.key)])
        assert session.tuning.method == row.identifier
        assert np.array_equal(held.place, place) and session.error < 1e-3


def test_the_default_solver_can_be_chosen_again(dragged, digits) -> None:
    session = dragged[1]
    default = session.tuning.method
    press(dragged, digits[0])
    assert session.tuning.method != default
    press(dragged, digits[int(methods.default().key)])
    assert session.tuning.method == default == "NEAREST_POSE"


def test_without_an_axis_no_sign_moves_the_hand(dragged, digits) -> None:
    held, session = dragged
    place, method = held.place.copy(), session.tuning.method
    seen = hand(session)
    others = [digits[n] for n in range(10) if methods.of_key(str(n)) is None]
    for kind in ("MINUS", "NUMPAD_MINUS", "PERIOD", "NUMPAD_PERIOD", *others, "BACK_SPACE"):
        press(dragged, kind)
        assert np.array_equal(held.place, place) and not held.number, kind
        assert np.abs(hand(session) - seen).max() < 1e-6, kind
    assert session.tuning.method == method
    press(dragged, digits[4])
    assert session.tuning.method == "FABRIK" and np.array_equal(held.place, place)


def test_along_an_axis_digits_are_a_number(dragged, digits) -> None:
    held, session = dragged
    start, method = held.start.copy(), session.tuning.method
    for kind in ("X", "NUMPAD_PERIOD", digits[1], digits[5], "NUMPAD_MINUS"):
        press(dragged, kind)
    assert held.number == "-.15" and session.tuning.method == method
    assert np.abs(hand(session) - start - (-0.15, 0.0, 0.0)).max() < 2e-3
    # Free again, digits choose solvers again.
    press(dragged, "X")
    press(dragged, "X")
    assert not held.axis
    place = held.place.copy()
    press(dragged, digits[1])
    assert session.tuning.method == "PARTICLE" and np.array_equal(held.place, place)


def test_compared_solvers_are_where_the_hand_would_be(dragged, digits) -> None:
    """Each ghost ends where a drag with its solver brings the hand, and the drag itself is not changed."""
    _, session = dragged
    options = bpy.context.scene.lookat_pd_ik
    assert method_ghosts.chosen(options) == ()
    options.compare = True
    names = method_ghosts.chosen(options)
    assert names == ("ccd", "particle", "jacobian_euler", "jacobian_quaternion")
    pose = [bone.matrix_basis.copy() for bone in session.armature.pose.bones]
    ghosts = session.ghosts(names)
    assert session.ghosts(names) is ghosts
    assert [bone.matrix_basis for bone in session.armature.pose.bones] == pose
    for ghost in ghosts:
        press(dragged, digits[int(methods.METHODS[ghost.method].key)])
        joints = [session.armature.pose.bones[name].head for name in session.chain.joints]
        assert np.abs(ghost.points[:-1] - joints).max() < 1e-5
        assert np.abs(ghost.points[-1] - hand(session)).max() < 1e-5
        assert abs(ghost.error - session.error) < 1e-5 and ghost.iterations == session.iterations
        assert ghost.error == pytest.approx(ghost.share * session.reachable_distance) and ghost.seconds > 0.0


@pytest.mark.every_blender
def test_ghosts_follow_the_mouse(dragged) -> None:
    _, session = dragged
    before = session.ghosts(("ccd",))[0].points
    above = session.place + np.array((0.0, 0.0, 0.1))
    session.move(above)
    after = session.ghosts(("ccd",))[0]
    assert np.abs(after.points[-1] - before[-1]).max() > 0.01
    assert np.abs(after.points[-1] - above).max() < after.error + 1e-6


def test_at_most_four_solvers_are_compared(dragged) -> None:
    options = bpy.context.scene.lookat_pd_ik
    options.compare, options.compared = True, [True] * len(methods.METHODS)
    assert method_ghosts.chosen(options) == ("ccd", "particle", "jacobian_euler", "jacobian_quaternion")


def test_solvers_are_compared_at_the_frame(hero) -> None:  # noqa: F811
    options = bpy.context.scene.lookat_pd_ik
    options.target, options.compare = bpy.data.objects["Ball"], True
    bpy.context.view_layer.update()
    found = preview.convergence(bpy.context.scene, hero, "hand").ghosts(method_ghosts.chosen(options))
    assert len(found) == 4
    for ghost in found:
        assert np.linalg.norm(ghost.points[-1] - np.array(options.target.location)) < ghost.error + 1e-6
        assert ghost.share < 1e-3


def hand(session) -> np.ndarray:
    """Where the hand is in the world."""
    bpy.context.view_layer.update()
    return np.array(session.armature.matrix_world @ session.armature.pose.bones["hand"].head)


@pytest.fixture
def another(monkeypatch: pytest.MonkeyPatch):
    """One more method in the table, and the settings registered with it."""
    row = replace(methods.METHODS["ccd"], id="all_at_once", label="All at Once", description="As a test", key="7")

    def again() -> None:
        settings.unregister()
        importlib.reload(settings)
        settings.register()

    with monkeypatch.context() as patch:
        patch.setitem(methods.METHODS, row.id, row)
        again()
        yield row
    again()


def test_a_row_of_the_table_is_found_everywhere(another, dragged, digits) -> None:
    """Solver, menu, key, header, status bar, command line."""
    found = bpy.context.scene.lookat_pd_ik.bl_rna.properties["method"].enum_items["ALL_AT_ONCE"]
    assert (found.name, found.description) == ("All at Once", "As a test")
    bpy.context.scene.lookat_pd_ik.method = "ALL_AT_ONCE"
    assert setup.tuning(bpy.context.scene.lookat_pd_ik).method == "ALL_AT_ONCE"
    held, session = dragged
    press(dragged, digits[7])
    assert session.tuning.method == "ALL_AT_ONCE" and session.error < 1e-3
    shown = SimpleNamespace(_session=session, _handle=held, _complaint="", _offer=("", ""))
    assert "All at Once" in ik_drag.LOOKAT_PD_OT_ik_drag._header(shown)
    keys = [text for _, text in ik_drag.LOOKAT_PD_OT_ik_drag._keys(shown)]
    assert "0-7: Solver" in keys
    options = program.parser("test").parse_args(
        ["ik", "a.blend", "--bone", "hand", "--point=0,0,0", "--output", "b.blend", "--method", "all-at-once"]
    )
    assert options.method == "ALL_AT_ONCE"


def test_methods_are_documented() -> None:
    """The page for animators tells each solver and its key, the page of the command line its word."""
    docs = Path(__file__).parent.parent.parent / "docs"
    names = "ik/dragging.md", "ik/solvers.md", "command-line.md"
    drag, solvers, shell = ((docs / name).read_text("utf-8") for name in names)
    keys = next(line for line in drag.splitlines() if line.startswith("| 0, 1"))
    rows = sorted(methods.METHODS.values(), key=lambda row: row.key)
    names = ", ".join(row.label.replace(", ", " ") for row in rows)
    assert keys == f"| {', '.join(row.key for row in rows)} | without an axis: {names} |"
    assert all(f"**{row.label}**" in solvers and f"`{row.word}`" in shell for row in rows)
    assert f"`{methods.default().word}` (default)" in shell


class Picking:
    """The operator while it waits for a click, in a viewport that looks at the figure from the front."""

    def __init__(self, armature: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
        operator = ik_drag.LOOKAT_PD_OT_ik_drag
        for name in ("_pick", "_look", "_take", "_begun", "_lead", "_select_again", "_restore"):
            setattr(self, name, getattr(operator, name).__get__(self))
        self._window, self._armature, self._session, self._complaint = bpy.context.window, armature, None, ""
        self._offer, self._layer, self._shown = ("", ""), bpy.context.view_layer, []
        self._settings, self._compare, self._holds = bpy.context.scene.lookat_pd_ik, False, False
        self._before = {item: selection.bones_selected(item) for item in ik_drag._in_pose_mode(bpy.context, armature)}
        self._hovered = bone_under_mouse.BoneUnderMouse([*self._before])
        look = Matrix(((1, 0, 0, 0), (0, 0, 1, -1.2), (0, -1, 0, -5.0), (0, 0, 0, 1)))
        project = Matrix(((0.6, 0, 0, 0), (0, 0.8, 0, 0), (0, 0, -0.02, -0.2), (0, 0, 0, 1)))
        view = SimpleNamespace(
            view_matrix=look,
            window_matrix=project,
            perspective_matrix=project @ look,
            is_perspective=False,
            view_rotation=look.to_3x3().inverted().to_quaternion(),
            view_perspective="ORTHO",
        )
        self.region = SimpleNamespace(x=100, y=50, width=800, height=600)
        self.space = viewport()
        self.space.overlay.show_overlays = self.space.overlay.show_bones = True
        self.space.shading.type, self.space.shading.show_xray = "SOLID", False
        self.space.overlay.show_xray_bone = False
        area = SimpleNamespace(spaces=SimpleNamespace(active=self.space))
        self.place = self.region, view
        self.over: object = self.place
        monkeypatch.setattr(ik_drag.viewports, "view_under", lambda *_: self.over)
        monkeypatch.setattr(ik_drag.viewports, "area_of", lambda *_: area)
        # There is no cursor without a window.
        self._window = SimpleNamespace(cursor_modal_set=lambda _: None)

    def event(self, kind: str, bone: str, armature: bpy.types.Object | None = None) -> SimpleNamespace:
        """An event of the mouse over the middle of a bone."""
        rig = armature or self._armature
        item = rig.pose.bones[bone]
        clip = self.place[1].perspective_matrix @ (rig.matrix_world @ (0.5 * (item.head + item.tail))).to_4d()
        at = (0.5 * clip.x + 0.5) * self.region.width, (0.5 * clip.y + 0.5) * self.region.height
        x, y = round(self.region.x + at[0]), round(self.region.y + at[1])
        return SimpleNamespace(type=kind, value="PRESS", mouse_x=x, mouse_y=y, shift=False, ctrl=False)


@pytest.mark.parametrize("active", ["hand", "arm"])
def test_what_is_under_the_mouse_is_highlighted_and_taken(hero, active: str, monkeypatch) -> None:  # noqa: F811
    """Whatever is active: Blender's own selection would go on to the next bone."""
    scenes.select(hero, active)
    hero.data.bones.active = hero.data.bones[active]
    operator = Picking(hero, monkeypatch)
    monkeypatch.setattr(ik_drag, "_running", [operator])
    assert operator._pick(bpy.context, operator.event("MOUSEMOVE", "hand")) == ""
    assert operator._hovered.name == "hand" and len(ik_drag.hovered()) == 1
    operator.over = None
    operator._pick(bpy.context, operator.event("MOUSEMOVE", "hand"))
    assert not operator._hovered.name and not len(ik_drag.hovered())
    operator.over = operator.place
    operator._pick(bpy.context, operator.event("LEFTMOUSE", "hand"))
    assert operator._session is not None and operator._session.asked == "hand"
    assert not operator._complaint and not len(ik_drag.hovered())
    assert selection.bones_selected(hero) == ({bone.name: bone.name == "hand" for bone in hero.pose.bones}, "hand")
    operator._session.restore()


def test_a_bone_of_another_character_in_pose_mode_is_taken_and_esc_gives_all_back(hero, monkeypatch) -> None:  # noqa: F811
    bpy.ops.object.mode_set(mode="OBJECT")
    other = hero.copy()
    other.data = hero.data.copy()
    other.location.x = 0.4
    bpy.context.scene.collection.objects.link(other)
    other.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(hero, "arm")
    hero.data.bones.active = hero.data.bones["arm"]
    before = [selection.bones_selected(item) for item in (hero, other)]
    operator = Picking(hero, monkeypatch)
    monkeypatch.setattr(ik_drag, "_running", [operator])
    operator._pick(bpy.context, operator.event("MOUSEMOVE", "hand", other))
    assert operator._hovered.name == "hand" and operator._hovered.armature == other
    operator._pick(bpy.context, operator.event("LEFTMOUSE", "hand", other))
    assert operator._session.armature == other and bpy.context.view_layer.objects.active == other
    assert not any(selection.bones_selected(hero)[0].values())
    operator._restore()
    assert [selection.bones_selected(item) for item in (hero, other)] == before
    assert bpy.context.view_layer.objects.active == hero


def test_a_bone_behind_the_skin_is_not_taken(hero, monkeypatch) -> None:  # noqa: F811
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_plane_add(size=4.0, location=(0.0, -1.0, 1.2), rotation=(np.pi / 2.0, 0.0, 0.0))
    wall = bpy.context.object
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.mode_set(mode="POSE")
    operator = Picking(hero, monkeypatch)
    operator._pick(bpy.context, operator.event("MOUSEMOVE", "hand"))
    assert not operator._hovered.name
    for owner, name in ((hero, "show_in_front"), (operator.space.overlay, "show_xray_bone")):
        setattr(owner, name, True)
        operator._pick(bpy.context, operator.event("MOUSEMOVE", "hand"))
        assert operator._hovered.name == "hand"
        setattr(owner, name, False)
    wall.display_type = "WIRE"
    operator._pick(bpy.context, operator.event("MOUSEMOVE", "hand"))
    assert operator._hovered.name == "hand"


def test_without_a_view_under_the_mouse_the_last_quarter_is_taken_with_its_own_view() -> None:
    """Blender lists quarters from the top left one on; the last one is what the viewport was."""
    regions = [SimpleNamespace(type=kind) for kind in ("HEADER", "WINDOW", "WINDOW", "WINDOW", "WINDOW")]
    quarters = [object() for _ in range(4)]
    for views, taken in ((quarters, quarters[3]), ([], "the only one")):
        space = SimpleNamespace(region_quadviews=views, region_3d=taken)
        shown = regions if views else regions[:2]
        area = SimpleNamespace(type="VIEW_3D", regions=shown, spaces=SimpleNamespace(active=space))
        window = SimpleNamespace(screen=SimpleNamespace(areas=[area]))
        assert viewports.any_view(window) == (shown[-1], taken)
