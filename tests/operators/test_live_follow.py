"""The follow operator: when it refuses, what keys and mouse do, what it says. The window's part: tests/window."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from extension import load

from .test_bake import hero  # noqa: F401 - a fixture

operator = load("operators.live_follow")
rig_follow = load("rig.look_at.live_follow.live_follow_session")
RigError = load("lookat_pd.errors").RigError


@pytest.fixture
def session(hero):  # noqa: F811
    following = rig_follow.LiveFollowSession(bpy.context.scene, bpy.context.view_layer, hero, "head")
    yield following
    following.release()


@pytest.fixture
def control(session):
    return operator.Control(session, use_mouse=True, into="NEW")


class Window:
    """A window with one viewport of 400 by 300 at (10, 20), its sidebar 80 wide, looking along -Z from 10 m up."""

    def __init__(self, *, perspective: bool = True) -> None:
        def region(kind: str, x: int, width: int) -> SimpleNamespace:
            return SimpleNamespace(type=kind, x=x, y=20, width=width, height=300)

        view = Matrix.Translation((0, 0, 10)).inverted()
        lens = Matrix(((1.5, 0, 0, 0), (0, 2, 0, 0), (0, 0, -1, -0.2), (0, 0, -1, 0)))
        flat = Matrix(((0.15, 0, 0, 0), (0, 0.2, 0, 0), (0, 0, -0.01, 0), (0, 0, 0, 1)))
        self.view = SimpleNamespace(
            is_perspective=perspective,
            view_matrix=view,
            view_distance=10.0,
            view_perspective="PERSP" if perspective else "ORTHO",
            perspective_matrix=(lens if perspective else flat) @ view,
        )
        space = SimpleNamespace(region_quadviews=[], region_3d=self.view)
        area = SimpleNamespace(
            type="VIEW_3D",
            x=10,
            y=20,
            width=400,
            height=300,
            regions=[region("UI", 330, 80), region("HEADER", 10, 1), region("WINDOW", 10, 400)],
            spaces=SimpleNamespace(active=space),
        )
        other = SimpleNamespace(type="PROPERTIES", x=410, y=20, width=100, height=300, regions=[], spaces=None)
        self.screen = SimpleNamespace(areas=[other, area])


INSIDE, OUTSIDE = (100, 200), (350, 200)  # over the sidebar


def event(kind: str, value: str = "PRESS", at: tuple[int, int] = INSIDE, **held: bool) -> SimpleNamespace:
    keys = {"ctrl": False, "shift": False, "alt": False, "oskey": False, **held}
    return SimpleNamespace(type=kind, value=value, mouse_x=at[0], mouse_y=at[1], **keys)


@pytest.mark.parametrize(
    ("happens", "wanted"),
    [
        (event("RET"), "KEEP"),
        (event("NUMPAD_ENTER"), "KEEP"),
        (event("LEFTMOUSE"), "KEEP"),
        (event("ESC"), "RESTORE"),
        (event("RIGHTMOUSE"), "RESTORE"),
        (event("RET", "RELEASE"), ""),
        (event("RET", at=OUTSIDE), "KEEP"),
        (event("ESC", at=OUTSIDE), "RESTORE"),
        (event("LEFTMOUSE", at=OUTSIDE), "PASS"),
        (event("RIGHTMOUSE", at=OUTSIDE), "PASS"),
        (event("R", at=OUTSIDE), "PASS"),
        (event("R"), "SHOW"),
        (event("M"), "SHOW"),
        (event("R", ctrl=True), ""),
        (event("G"), ""),
        (event("Z", ctrl=True), ""),
        (event("MIDDLEMOUSE"), "PASS"),
        (event("NUMPAD_1"), "PASS"),
        (event("MOUSEMOVE", "NOTHING"), "PASS"),
        (event("WHEELUPMOUSE"), ""),
        (event("WHEELUPMOUSE", ctrl=True), "PASS"),
        (event("WHEELUPMOUSE", at=OUTSIDE), "PASS"),
        (event("WINDOW_DEACTIVATE", "NOTHING"), "PASS"),
    ],
    ids=lambda item: item if isinstance(item, str) else f"{item.type}-{item.value}-{item.mouse_x}",
)
def test_keys_while_the_mouse_leads(control, happens, wanted) -> None:
    assert control.handle(happens, Window()) == wanted


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("RET", "KEEP"), ("ESC", "RESTORE"), ("LEFTMOUSE", "PASS"), ("RIGHTMOUSE", "PASS"), ("G", "PASS"), ("M", "SHOW")],
)
def test_keys_while_the_target_is_dragged(session, kind, wanted) -> None:
    control = operator.Control(session, use_mouse=False, into="NEW")
    assert control.handle(event(kind), Window()) == wanted
    control.handle(event("MOUSEMOVE", "NOTHING"), Window())
    assert (control.goal is None) == (kind != "M" or not control.use_mouse)


@pytest.mark.parametrize("perspective", [True, False])
def test_the_mouse_moves_the_goal_in_the_plane_of_the_target(control, perspective) -> None:
    window, seen = Window(perspective=perspective), []
    for x, y in ((100, 200), (200, 100), (100, 200)):
        control.handle(event("MOUSEMOVE", "NOTHING", (x, y)), window)
        seen.append(np.array(control.goal))
        on_screen = window.view.perspective_matrix @ Vector((*control.goal, 1.0))
        at = np.array(on_screen.xy) / on_screen.w
        assert np.allclose(at, (2 * (x - 10) / 400 - 1, 2 * (y - 20) / 300 - 1), atol=1e-3)
    assert np.allclose([goal[2] for goal in seen], control.session.place[2], atol=1e-4)
    assert np.allclose(seen[0], seen[2], atol=1e-4)


@pytest.mark.parametrize("perspective", [True, False])
def test_the_wheel_moves_the_goal_along_the_line_of_sight(control, perspective) -> None:
    window = Window(perspective=perspective)
    control.handle(event("MOUSEMOVE", "NOTHING"), window)
    begin = np.array(control.goal)
    for _ in range(3):
        control.handle(event("WHEELUPMOUSE"), window)
    assert control.goal[2] < begin[2] - 0.5
    control.handle(event("MOUSEMOVE", "NOTHING"), window)  # the mouse has not moved: neither does the goal
    far = np.array(control.goal)
    for _ in range(3):
        control.handle(event("WHEELDOWNMOUSE"), window)
    assert np.allclose(control.goal, begin, atol=1e-4) and far[2] < begin[2] - 0.5


def test_the_clock_drives_it_and_stands_still_while_blender_is_busy(control) -> None:
    for now in (10.0, 10.02, 10.021, 10.04, 40.0):
        control.tick(now)
    assert control.elapsed == pytest.approx(0.04 + 0.25)


def test_switching_to_the_target_forgets_where_the_mouse_was(control) -> None:
    control.handle(event("MOUSEMOVE", "NOTHING"), Window())
    control.handle(event("M"), Window())
    assert control.goal is None and not control.use_mouse


def test_it_says_how_it_goes(control) -> None:
    control.tick(1.0)
    control.tick(1.2)
    assert control.state().startswith("Live Follow 0.2 s   Off target by ")
    assert "Record" in [text for _, text in control.keys()]
    control.handle(event("R"), Window())
    for now in np.arange(1.2, 2.3, 0.02):
        control.tick(now)
    assert "Recording 26 frames" in control.state()
    assert {"Stop Recording", "Key Recording"} <= {text for _, text in control.keys()}
    control.handle(event("R"), Window())
    assert "Recording" not in control.state()


def test_what_cannot_be_keyed_is_not_recorded(control) -> None:
    control.session.armature.animation_data.action_slot = None
    control.handle(event("R"), Window())
    assert not control.session.is_recording and "no slot" in control.state()
    control.handle(event("R"), Window())


@pytest.mark.every_blender
@pytest.mark.parametrize(
    ("record", "auto", "words"),
    [
        (False, False, "Kept the pose at frame 3; the look-at on 'head' is muted"),
        (False, True, "Keyed the pose at frame 3; the look-at on 'head' is muted"),
        (True, False, "Recorded frames 3 to 15 into a new action; the look-at on 'head' is muted"),
    ],
)
def test_says_what_was_kept(control, record, auto, words) -> None:
    session = control.session
    session.scene.frame_set(3)
    session.scene.tool_settings.use_keyframe_insert_auto = auto
    if record:
        control.toggle_record()
    for _ in range(30):
        session.tick(1 / 60, (1.0, -1.0, 1.4))
    assert operator.keep(session, "NEW").startswith(words)
    assert not session.is_open


# Where it refuses


def reason() -> str | None:
    return operator.why_not(bpy.context)


def test_says_why_it_is_grey(hero) -> None:  # noqa: F811
    settings = hero.pose.bones["head"].lookat_pd
    assert reason() is None and bpy.ops.lookat_pd.follow.poll()
    settings.mute = True
    assert reason() == "The look-at is muted; unmute it first"
    settings.mute, settings.target = False, None
    assert reason() == "Choose a target to look at"
    bpy.ops.object.mode_set(mode="EDIT")
    assert reason() == "Leave edit mode"
    assert not bpy.ops.lookat_pd.follow.poll()


def test_one_at_a_time(session, monkeypatch) -> None:
    monkeypatch.setattr(operator, "_sessions", [session])
    assert reason().startswith("Live Follow is already running")


def test_an_undo_or_another_file_lets_go(session) -> None:
    operator._sessions.append(session)
    operator._let_go()
    assert not session.is_open and not operator._sessions and not load("rig.sampling.suspend").is_live_suspended()
