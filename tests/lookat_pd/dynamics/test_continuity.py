"""One law of motion, continuous in every setting: what a disturbance changes tends to nothing as it does."""

import inspect
from collections.abc import Callable, Container
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import pytest

from lookat_pd import dynamics, ik, rotation
from lookat_pd.dynamics import Body, Interpolation, interpolate
from lookat_pd.dynamics.bend_ranges import BendRanges
from lookat_pd.dynamics.simulation import Disturbances
from lookat_pd.rotation import Array

from . import trees

trees.mujoco()
TIMES = np.array([0.0, 0.25, 0.55])
RATE = 60.0
NEARLY = 1e-3
"""Angle [rad] by which motions under a disturbance and a millionth of it more may differ."""
TINY = 1e-6
CHOICES = {"passive", "inertia", "hinges"}
"""Settings that have nothing in between: the two sides of each are scenes and combinations here."""
NO_DISTURBANCES = ("remainder", "time to settle", "motion of the root", "wide limits")
"""Changes that a quick test is about only where nothing disturbs."""
KEPT = {"free"}
"""Of the disturbances: what hinges make of other settings."""


class Scene(NamedTuple):
    body: Body
    keys: Array
    given: dict[str, Any]


def chain() -> Scene:
    turns = np.zeros((3, 3, 3))
    turns[1], turns[2, :, 2], turns[2, 0, 0] = [0.0, 0.0, 0.9], -0.4, 0.5
    return Scene(trees.rods([0.3, 0.3, 0.2], [2.0, 1.5, 0.5]), rotation.exp(turns), {})


def tree() -> Scene:
    keys = rotation.exp(np.random.default_rng(3).normal(scale=0.4, size=(3, 5, 3)))
    return Scene(trees.body(5, 3, spread=0.3), keys, {"gravity": (0.0, 0.0, -9.81)})


def swung() -> Scene:
    """On a moving root."""
    t = np.arange(int(TIMES[-1] * RATE) + 1) / RATE
    place, turn = np.zeros((len(t), 3)), np.zeros((len(t), 3))
    place[:, 0], turn[:, 1] = 0.3 * np.sin(5.0 * t), 0.5 * np.sin(4.0 * t)
    return chain()._replace(given={"root": (place, rotation.exp(turn))})


def hinges() -> Scene:
    random = np.random.default_rng(5)
    axes, start = rotation.normalize(random.normal(size=(3, 3))), trees.pose(3, 5)
    angles = np.array([0.0, 0.8, -0.3])[:, None] * np.ones(3)
    keys = rotation.multiply(start, rotation.exp(angles[..., None] * axes))
    return Scene(trees.body(3, 5, spread=0.3), keys, {"hinges": axes, "gravity": (0.0, 0.0, -9.81)})


SCENES: dict[Callable[[], Scene], tuple[str, ...]] = {
    chain: ("nothing", "all but a tail", "weak with a tail"),
    tree: ("nothing", "weak with a tail"),
    swung: ("nothing", "all but a tail"),
    hinges: ("nothing", "weak with a tail"),
}
"""Scenes, and the combinations of disturbances that a quick test is about."""


def interpolated(scene: Scene, given: dict[str, Any]) -> Interpolation:
    settings_of = {"residual": 0.01, **scene.given, **given}
    return interpolate(scene.body, scene.keys, TIMES, 1.0 / RATE, **settings_of)


def moved(scene: Scene, given: dict[str, Any]) -> Array:
    return interpolated(scene, given).rotations


def apart(one: Array, other: Array) -> float:
    return float(rotation.distance(one, other).max())


def settings(scene: Scene) -> dict[str, dict[str, Any]]:
    """Combinations of disturbances that are met."""
    n = len(scene.body)
    heavier = np.asarray(scene.body.masses) * np.where(np.arange(n) == n - 1, 0.4, 1.0)
    inertias = np.asarray(scene.body.inertias) * (heavier / np.asarray(scene.body.masses))[:, None, None]
    reference = Body(scene.body.parents, scene.body.offsets, heavier, scene.body.centers, inertias)
    last = np.arange(n) == n - 1
    peak = float(np.linalg.norm(interpolated(scene, {}).torques, axis=-1).max())
    return {
        "nothing": {},
        "friction": {"damping": 0.2},
        "reference": {"inertia": "reference", "reference": reference},
        "weak": {"torque_limit": 0.6 * peak},
        "all but a tail": {"inertia": "reference", "reference": reference, "damping": 0.1, "torque_limit": 0.6 * peak},
        "weak with a tail": {"passive": last, "damping": 0.1 * np.ones(n), "torque_limit": 0.6 * peak},
    }


def hardly_heavier(body: Body) -> Body:
    """A body with nearly the same masses, none of them changed in proportion."""
    masses = np.asarray(body.masses) * (1.0 + TINY * np.arange(len(body)))
    inertias = np.asarray(body.inertias) * (masses / np.asarray(body.masses))[:, None, None]
    return Body(body.parents, body.offsets, masses, body.centers, inertias)


def hardly_moved(root: tuple[Array, Array] | None) -> tuple[Array, Array]:
    """Nearly the same motion of a root, None for one that rests."""
    t = np.arange(int(TIMES[-1] * RATE) + 1) / RATE
    place, turn = (np.zeros((len(t), 3)), rotation.exp(np.zeros((len(t), 3)))) if root is None else root
    swing = TINY * np.sin(5.0 * t)[:, None] * np.ones(3)
    return place + swing, rotation.multiply(turn, rotation.exp(swing))


def just_met(motion: Array, share: float) -> ik.Limits:
    """This share of the limits of the joints' angles that a motion just meets; two angles together have an ellipse."""
    angles = ik.Limits(minimum=np.full((motion.shape[1], 3), -np.pi)).angles(motion)
    low, high = np.minimum(angles.min(axis=0), -0.01), np.maximum(angles.max(axis=0), 0.01)

    def wider(share: float) -> ik.Limits:
        return ik.Limits(minimum=share * low, maximum=share * high)

    met, free = 0.9, 2.0
    for _ in range(25):
        middle = 0.5 * (met + free)
        met, free = (middle, free) if wider(middle).excess(motion).max() > 1e-9 else (met, middle)
    return wider(free * share)


def hardly_more(scene: Scene, given: dict[str, Any], motion: Interpolation) -> dict[str, dict[str, Any]]:
    """The same settings with hardly any of one more disturbance, or with a limit that is not met. motion: without."""
    n, passive = len(scene.body), given.get("passive", np.zeros(len(scene.body), dtype=bool))
    damping = np.broadcast_to(given.get("damping", 0.0), (n,))
    # A tail may swing as far as it likes.
    wide = np.where(passive[:, None], np.inf, 3.1) * np.ones((n, 3))
    found: dict[str, dict[str, Any]] = {
        "friction": {"damping": damping + TINY * 0.2},
        "gravity": {"gravity": np.asarray(scene.given.get("gravity", np.zeros(3))) - TINY * 9.81},
        "wide limits": {"limits": ik.Limits(minimum=-wide, maximum=wide)},
        "remainder": {"residual": 0.01 * (1.0 + TINY)},
        "time to settle": {"settle": TINY},
        "motion of the root": {"root": hardly_moved(scene.given.get("root"))},
    }
    if np.any(passive):
        found["spring"] = {"stiffness": TINY * 2.0}
    if "torque_limit" not in given:
        most = float(np.linalg.norm(motion.torques[:, ~passive], axis=-1).max())
        found |= {"a strong limit": {"torque_limit": 1e6}, "a limit just not met": {"torque_limit": 1.2 * most}}
    else:
        found["hardly weaker"] = {"torque_limit": given["torque_limit"] * (1.0 - TINY)}
    if "reference" not in given:
        other = hardly_heavier(scene.body)
        found["own body"] = {"inertia": "reference", "reference": scene.body}
        found["hardly another body"] = {"inertia": "reference", "reference": other}
    return found


def passing() -> tuple[Scene, dict[str, Any]]:
    """Keys that are passed, by joints that show their masses, and the settings for that."""
    scene = chain()
    velocities = dynamics.key_velocities(scene.keys, TIMES, ["stop", "pass", "stop"])
    return scene, {"velocities": velocities, "keeps": np.full(scene.keys.shape[:2], 0.5), "settle": 0.1}


def hardly_more_passing(scene: Scene, given: dict[str, Any], motion: Interpolation) -> dict[str, dict[str, Any]]:
    """The same for settings of keys that are passed. The second joint is a hinge with a range."""
    hinged = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    along = np.tile([0.0, 1.0, 0.0], (3, 1))
    free = ik.Posture(np.zeros(3), hinged, np.full(3, -np.pi), np.full(3, np.pi))
    bend = free.bend(along, along, motion.rotations)[:, 1]
    low, high = (float(end) * np.array([0.0, 1.0, 0.0]) for end in (bend.min() - 0.3, bend.max() + 0.3))
    ranges = BendRanges.of(ik.Posture(np.zeros(3), hinged, low, high), along, along, scene.keys)
    return {
        "speed at keys": {"velocities": given["velocities"] * (1.0 + TINY)},
        "kept speed": {"keeps": given["keeps"] + TINY},
        "swing past": {"swing_past": TINY},
        "load": {"felt": hardly_heavier(scene.body)},
        "bends": {"bends": ranges},
    }


def check(scene: Scene, name: str, left_out: Container[str] = ()) -> None:
    given = settings(scene)[name]
    motion = interpolated(scene, given)
    for more, change in hardly_more(scene, given, motion).items():
        if more in left_out:
            continue
        apart_by = apart(motion.rotations, moved(scene, {**given, **change}))
        assert apart_by < NEARLY, f"{name}, and hardly any {more}"


@pytest.mark.thorough
@pytest.mark.parametrize("made", SCENES, ids=lambda made: made.__name__)
def test_hardly_more_of_a_disturbance_hardly_changes_the_motion(made: Callable[[], Scene]) -> None:
    for name in SCENES[made]:
        check(made(), name, () if name == "nothing" else NO_DISTURBANCES)


@pytest.mark.slow
@pytest.mark.parametrize("made", SCENES, ids=lambda made: made.__name__)
def test_hardly_more_of_any_disturbance_hardly_changes_the_motion(made: Callable[[], Scene]) -> None:
    scene = made()
    for name in set(settings(scene)).difference({"nothing"}):
        check(scene, name)


def test_a_limit_that_is_just_met_hardly_changes_the_motion() -> None:
    scene = chain()
    strong = interpolate(scene.body, scene.keys, TIMES, 1.0 / 960.0)
    peak = float(np.linalg.norm(strong.torques, axis=-1).max())
    plain = interpolate(scene.body, scene.keys, TIMES, 1.0 / RATE).rotations
    for share in (1.0 + TINY, 1.0 - TINY, 1.0 - 1e-4):
        limited = interpolate(scene.body, scene.keys, TIMES, 1.0 / RATE, torque_limit=share * peak).rotations
        assert apart(plain, limited) < NEARLY


def test_friction_of_one_joint_is_the_same_whatever_hardly_rubs_in_the_others() -> None:
    scene = chain()
    alone, hardly = (moved(scene, {"damping": [0.2, rest, rest]}) for rest in (0.0, 2e-7))
    assert apart(alone, hardly) < NEARLY
    assert apart(alone, moved(scene, {})) > 0.01


def test_a_range_that_is_just_met_hardly_changes_the_motion() -> None:
    for made in SCENES:
        scene = made()
        motion = moved(scene, {})
        # Beyond its range a hinge would turn about another axis, which is an error.
        for share in (1.0 + TINY,) if made is hinges else (1.0 + TINY, 1.0 - TINY):
            assert apart(motion, moved(scene, {"limits": just_met(motion, share)})) < NEARLY, made.__name__


def test_what_disturbs_a_passed_key_is_continuous_too() -> None:
    scene = chain()
    passed = {"velocities": dynamics.key_velocities(scene.keys, TIMES, ["stop", "pass", "stop"])}
    plain = moved(scene, passed)
    for change in ({"damping": TINY}, {"torque_limit": 1e6}, {"inertia": "reference", "reference": scene.body}):
        assert apart(plain, moved(scene, {**passed, **change})) < NEARLY


def test_settings_of_passed_keys_are_continuous() -> None:
    scene, given = passing()
    motion = interpolated(scene, given)
    for more, change in hardly_more_passing(scene, given, motion).items():
        apart_by = apart(motion.rotations, moved(scene, {**given, **change}))
        assert apart_by < NEARLY, f"hardly any {more}"
    none, hardly = (moved(scene, {**given, "keeps": share * given["keeps"]}) for share in (0.0, TINY))
    assert apart(none, hardly) < NEARLY


def test_no_setting_is_left_out() -> None:
    """A new argument of the law, or a new disturbance, has a change that tends to nothing here."""
    changes = [hardly_more_passing(*passing(), interpolated(*passing()))]
    for name in ("nothing", "weak with a tail"):
        scene = chain()
        given = settings(scene)[name]
        changes.append(hardly_more(scene, given, interpolated(scene, given)))
    tried = {setting for more in changes for change in more.values() for setting in change}
    _, _, _, _, *arguments = inspect.signature(interpolate).parameters
    assert set(arguments) - CHOICES == tried - CHOICES
    assert {field.name for field in fields(Disturbances)} - KEPT <= set(arguments)
