"""Spring transitions against the closed form, and the automatic choice of a method."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array
from lookat_pd.transitions import inertialization, methods, spring

DURATION = 0.8
SETTLE = 0.6
OMEGA = 2.0 * np.pi / SETTLE
numbers = st.floats(-5.0, 5.0)


def sides(x0: Array, v0: Array, dt: float, frames: int = 200) -> tuple[Array, Array]:
    """The last two poses of an output (2, 1, n) with these differences from a target (frames, 1, n) at rest at 0."""
    return np.stack((x0 - dt * v0, x0))[:, None], np.zeros((frames, 1, len(x0)))


def test_the_settle_time_is_three_quarters_of_the_blend() -> None:
    assert spring.settle_time(DURATION) == pytest.approx(SETTLE)
    assert spring.settle_time(DURATION, 0.7) == pytest.approx(SETTLE)
    # What rings longer is given more periods within the same time.
    assert spring.settle_time(DURATION, 0.2) < spring.settle_time(DURATION, 0.4) < SETTLE


@given(x=numbers, v=numbers)
def test_a_critical_spring_is_the_closed_form(x: float, v: float) -> None:
    """x(t) = (x0 + (v0 + omega x0) t) exp(-omega t), for each coordinate, until the fade begins."""
    dt = 1.0 / 100.0
    x0, v0 = np.array([x, 1.0, -2.0 * x]), np.array([v, -v, 3.0])
    previous, target = sides(x0, v0, dt)
    here = spring.transition(previous, target, dt, DURATION, kind="vector")[:, 0]
    t = dt * np.arange(1, 61)[:, None]
    assert_allclose(here[:60], (x0 + (v0 + OMEGA * x0) * t) * np.exp(-OMEGA * t), atol=1e-9)


@pytest.mark.parametrize("zeta", [0.3, 0.7, 1.0, 2.0])
def test_the_difference_obeys_the_law_of_the_spring(zeta: float) -> None:
    dt = 2e-4
    previous, target = sides(np.array([1.0]), np.array([4.0]), dt, 4500)
    x = np.concatenate((previous, spring.transition(previous, target, dt, DURATION, kind="vector", damping_ratio=zeta)))
    x = x[1:, 0, 0]
    omega = 2.0 * np.pi / spring.settle_time(DURATION, zeta)
    v, a = (x[2:] - x[:-2]) / (2.0 * dt), (x[2:] - 2.0 * x[1:-1] + x[:-2]) / dt**2
    force = -(omega**2) * x[1:-1] - 2.0 * zeta * omega * v
    free = slice(0, int(0.95 * spring.FREE * DURATION / dt))
    assert_allclose(a[free], force[free], atol=2e-4 * np.abs(force).max())


@pytest.mark.parametrize("zeta", [0.15, 0.5, 1.0, 4.0])
def test_little_is_left_to_fade(zeta: float) -> None:
    dt = 1e-3
    previous, target = sides(np.array([1.0]), np.array([0.0]), dt, 1000)
    here = spring.transition(previous, target, dt, DURATION, kind="vector", damping_ratio=zeta)[:, 0, 0]
    assert np.abs(here[int(spring.FREE * DURATION / dt) :]).max() < 0.03
    assert not here[int(DURATION / dt) :].any()
    steps = np.abs(np.diff(here, 2))[int(0.9 * spring.FREE * DURATION / dt) :]
    assert steps.max() < 1e-3, "the fade has no corner"


def test_only_an_underdamped_spring_overshoots() -> None:
    previous, target = sides(np.array([1.0]), np.array([0.0]), 0.01, 100)

    def least(zeta: float) -> float:
        return spring.transition(previous, target, 0.01, DURATION, kind="vector", damping_ratio=zeta).min()

    assert least(0.5) < -0.1 and least(1.0) >= 0.0 and least(3.0) >= 0.0


@given(st.lists(numbers, min_size=9, max_size=9))
def test_rotations_keep_their_velocity_in_every_direction(values: list[float]) -> None:
    """The first step repeats the last one, ever more closely the shorter the frames are."""
    turn, before, after = np.array(values).reshape(3, 3) * (0.4, 1.0, 1.0)

    def jump(dt: float) -> float:
        t = dt * np.arange(-1, 1)[:, None, None]
        previous = rotation.multiply(rotation.exp(before * t), rotation.exp(turn[None, None]))
        target = rotation.exp(after * dt * np.arange(1, 4)[:, None, None])
        shown = np.concatenate((previous, spring.transition(previous, target, dt, DURATION)))
        steps = rotation.log(rotation.multiply(shown[1:3], rotation.inverse(shown[:2])))
        return float(np.linalg.norm(steps[1] - steps[0]) / dt)

    # The spring accelerates the difference by about omega squared times its size.
    assert jump(1e-4) < 1e-4 * 60.0 * (OMEGA**2 + 1.0)


def test_the_rate_of_a_rotation_vector_is_its_difference_quotient() -> None:
    random = np.random.default_rng(3)
    v, w = random.uniform(-2.5, 2.5, (50, 3)), random.uniform(-2.0, 2.0, (50, 3))
    v[:5] *= 1e-5
    v = v[np.linalg.norm(v, axis=-1) < np.pi - 0.1]
    w = w[: len(v)]
    h = 1e-6
    ahead, behind = (rotation.log(rotation.multiply(rotation.exp(s * h * w), rotation.exp(v))) for s in (1.0, -1.0))
    assert_allclose(rotation.log_rate(v, w), (ahead - behind) / (2.0 * h), atol=1e-7)


@pytest.mark.parametrize("zeta", [0.0, -1.0, 6.0, np.nan, "one"])
def test_bad_damping_ratios_are_refused(zeta) -> None:
    previous, target = sides(np.array([1.0]), np.array([0.0]), 0.01)
    with pytest.raises(InvalidArgument, match="damping ratio"):
        spring.transition(previous, target, 0.01, DURATION, kind="vector", damping_ratio=zeta)


# The automatic choice.


def cut(turn: float, speed: float, bones: int = 4) -> tuple[Array, Array]:
    """Poses (2, B, 4) that turn about X at `speed` [deg/s] away from a target (20, B, 4), `turn` [deg] off it."""
    angle = np.radians(turn + speed * np.array([-1.0, 0.0]) / 30.0)[:, None, None]
    return rotation.exp(angle * np.ones((1, bones, 1)) * (1.0, 0.0, 0.0)), np.tile(rotation.IDENTITY, (20, bones, 1))


@pytest.mark.parametrize(
    ("turn", "speed", "wanted"),
    [(20, 0, "inertial"), (20, -400, "inertial"), (20, 420, "swing"), (100, 0, "dead"), (5, 30, "inertial")],
)
def test_the_automatic_choice_depends_on_distance_and_speed(turn: float, speed: float, wanted: str) -> None:
    previous, target = cut(turn, speed)
    assert methods.choose(previous, target, 1.0 / 30.0).id == wanted
    lengths = np.linalg.norm(np.zeros((2, 0, 3)), axis=-1)
    assert not lengths.size and methods.choose(previous[:, :0], target[:, :0], 1.0 / 30.0).id == "inertial"


def test_a_fast_cut_does_not_jump_with_the_automatic_choice() -> None:
    """A velocity of 420 deg/s away from the destination, which inertialization drops in one frame."""
    previous, target = cut(20.0, 420.0)

    def jump(blend) -> float:
        shown = np.concatenate((previous, blend(previous, target, None, 1.0 / 30.0, np.array(0.4), "rotation")))
        steps = rotation.log(rotation.multiply(shown[1:3], rotation.inverse(shown[:2])))
        return float(np.degrees(np.linalg.norm(steps[1] - steps[0], axis=-1).max()) * 30.0)

    assert jump(methods.METHODS["inertial"].blend) > 400.0
    assert jump(methods.METHODS["auto"].blend) < 130.0


# Those for comparison.


def test_unclamped_inertialization_starts_with_the_published_acceleration() -> None:
    """a0 = -20 x0 / T^2 of an offset at rest, where the clamped curve has none."""
    h = 1e-4
    for clamps, wanted in ((True, 0.0), (False, -20.0 / 0.25)):
        near = inertialization.decay(1.0, 0.0, 0.5, np.array([0.0, h, 2.0 * h]), clamps_acceleration=clamps)
        assert np.diff(near, 2)[0] / h**2 == pytest.approx(wanted, abs=0.2)


def test_a_linear_cross_fade_changes_at_constant_speed() -> None:
    source, target = np.zeros((10, 1, 1)), np.ones((10, 1, 1))
    faded = inertialization.cross_fade(source, target, 0.1, 1.0, kind="vector", is_linear=True)[:, 0, 0]
    assert_allclose(faded, np.linspace(0.1, 1.0, 10), atol=1e-12)
