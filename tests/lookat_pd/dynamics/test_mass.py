import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.dynamics import mass, segments
from lookat_pd.errors import InvalidArgument

LENGTHS = st.floats(0.01, 3.0)
# A brick's 8 corners, x counting slowest, and its 12 triangles, outside out.
CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
BRICK = np.array([(q[0], q[n], q[n + 1]) for q in QUADS for n in (1, 2)])


def surface(length: float, radius: float, rings: int, sides: int) -> tuple[np.ndarray, np.ndarray]:
    """A capsule's surface as a mesh: latitudes about Y, the upper half moved by the length."""
    latitudes = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * rings)
    around = 2.0 * np.pi * np.arange(sides) / sides
    across = radius * np.cos(latitudes)[:, None]
    height = radius * np.sin(latitudes) + np.where(latitudes > 0.0, length, 0.0)
    points = np.stack(
        np.broadcast_arrays(across * np.sin(around), height[:, None], across * np.cos(around)), axis=-1
    ).reshape(-1, 3)
    faces = []
    for ring in range(2 * rings - 1):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces += [(a, b, b + sides), (a, b + sides, a + sides)]
    return points, np.array(faces)


@given(LENGTHS, LENGTHS, LENGTHS, st.integers(0, 1000))
def test_a_brick_has_the_inertia_of_the_textbook(x: float, y: float, z: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    turn, offset = rotation.normalize(random.normal(size=4)), random.normal(size=3)
    found = mass.mesh(rotation.rotate(turn, CORNERS * (x, y, z)) + offset, BRICK, 700.0)
    weight = 700.0 * x * y * z
    own = np.diag(weight / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y]))
    matrix = rotation.to_matrix(turn)
    assert_allclose(found.mass, weight, rtol=1e-9)
    assert_allclose(found.center, offset, atol=1e-9)
    assert_allclose(found.inertia, matrix @ own @ matrix.T, atol=1e-9 * np.trace(own))


@pytest.mark.thorough
@pytest.mark.parametrize(("length", "radius"), [(0.0, 0.1), (0.3, 0.05), (0.02, 0.2)])
def test_a_capsule_is_what_its_surface_encloses(length: float, radius: float) -> None:
    exact, fine = mass.capsule(length, radius, 900.0), mass.mesh(*surface(length, radius, 150, 300), 900.0)
    assert_allclose(fine.mass, exact.mass, rtol=2e-4)
    assert_allclose(fine.center, exact.center, atol=2e-4 * (length + radius))
    assert_allclose(fine.inertia, exact.inertia, atol=4e-4 * np.trace(exact.inertia))


def test_a_mesh_turned_inside_out_weighs_the_same() -> None:
    for a, b in zip(mass.mesh(CORNERS, BRICK), mass.mesh(CORNERS, BRICK[:, ::-1]), strict=True):
        assert_allclose(a, b, atol=1e-9)


@given(st.integers(0, 200))
def test_parts_of_a_mesh_make_up_the_whole(seed: int) -> None:
    points, faces = surface(0.5, 0.1, 6, 12)
    middle = points[faces].mean(axis=1)
    cut = np.random.default_rng(seed).uniform(0.05, 0.45)
    parts = mass.mesh_parts(points, faces, (middle[:, 1] > cut).astype(int), 2)
    whole, together = mass.mesh(points, faces), mass.combined(*parts)
    assert np.all(parts.mass > 0.0)
    for a, b in zip(together, whole, strict=True):
        assert_allclose(a, b, atol=1e-9 * float(whole.mass))


def test_a_part_without_triangles_has_no_mass() -> None:
    parts = mass.mesh_parts(CORNERS, BRICK, np.zeros(12, dtype=int), 2)
    assert_allclose(parts.mass, [1000.0, 0.0])


@given(st.integers(0, 200))
def test_pieces_weigh_the_same_in_every_frame(seed: int) -> None:
    random = np.random.default_rng(seed)
    pieces = mass.capsule(random.uniform(0.1, 1.0, 3), random.uniform(0.05, 0.2, 3))
    turns, offsets = rotation.normalize(random.normal(size=(3, 4))), random.normal(size=(3, 3))
    placed = mass.moved(pieces, turns, offsets)
    turn, offset = rotation.normalize(random.normal(size=4)), random.normal(size=3)
    first = mass.moved(mass.combined(*placed), turn, offset)
    then = mass.combined(*mass.moved(placed, turn, offset))
    for a, b in zip(first, then, strict=True):
        assert_allclose(a, b, atol=1e-9 * float(first.mass))


def test_scaling_keeps_the_shape() -> None:
    pieces = mass.capsule([0.3, 0.2], [0.05, 0.04])
    heavy = mass.scaled_to(pieces, 70.0)
    assert_allclose(heavy.mass.sum(), 70.0)
    assert_allclose(heavy.inertia / heavy.mass[:, None, None], pieces.inertia / pieces.mass[:, None, None])


def test_the_ellipsoid_of_a_ball_is_the_ball() -> None:
    axes, _ = mass.ellipsoid(mass.capsule(0.0, 0.3))
    assert_allclose(axes, 0.3)


@given(st.tuples(LENGTHS, LENGTHS, LENGTHS), st.integers(0, 100))
def test_an_ellipsoid_has_the_inertia_that_it_was_made_from(axes: tuple[float, float, float], seed: int) -> None:
    turn = rotation.to_matrix(rotation.normalize(np.random.default_rng(seed).normal(size=4)))
    a, b, c = np.square(axes)
    inertia = turn @ np.diag([b + c, a + c, a + b]) @ turn.T * 3.0 / 5.0
    found, q = mass.ellipsoid(mass.MassProperties(np.float64(3.0), np.zeros(3), inertia))
    a, b, c = np.square(found)
    matrix = rotation.to_matrix(q)
    assert_allclose(matrix @ np.diag([b + c, a + c, a + b]) @ matrix.T * 3.0 / 5.0, inertia, atol=1e-9)


@pytest.mark.parametrize("build", segments.BUILDS)
def test_segments_make_up_the_whole_body(build: str) -> None:
    parts = segments.fractions(build)
    assert_allclose(sum(part * (2 if name in segments.PAIRED else 1) for name, part in parts.items()), 1.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: mass.capsule(-0.1, 0.1), "length"),
        (lambda: mass.capsule(0.1, 0.0), "radius"),
        (lambda: mass.capsule(0.1, np.nan), "radius"),
        (lambda: mass.capsule(0.1, 0.1, 0.0), "density"),
        (lambda: mass.mesh(CORNERS * (1.0, 1.0, 0.0), BRICK), "no volume"),
        (lambda: mass.mesh(CORNERS * np.nan, BRICK), "finite"),
        (lambda: mass.mesh(CORNERS, BRICK[:, :2]), "triangles"),
        (lambda: mass.mesh_parts(CORNERS, BRICK, [0], 1), "owner"),
        (lambda: mass.scaled_to(mass.capsule([0.1], [0.1]), 0.0), "total mass"),
        (lambda: mass.combined([0.0], [[0.0] * 3], [np.zeros((3, 3))]), "no mass"),
        (lambda: segments.fractions("child"), "child"),
    ],
)
def test_what_has_no_mass_is_refused(call: object, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        call()  # type: ignore[operator]
