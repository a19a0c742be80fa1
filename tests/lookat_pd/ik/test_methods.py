"""The table of methods, from which everything else that lists them is made."""

from dataclasses import replace

import numpy as np
import pytest

from lookat_pd import ik
from lookat_pd.errors import InvalidArgument
from lookat_pd.ik import methods


def test_every_method_can_be_distinguished_from_the_others() -> None:
    rows = list(ik.METHODS.values())
    assert list(ik.METHODS) == [row.id for row in rows]
    for field in ("id", "label", "description", "key"):
        values = [getattr(row, field) for row in rows]
        assert all(values) and len(set(values)) == len(values), field
    assert all(len(row.key) == 1 and row.key in "0123456789" for row in rows)


def test_one_method_is_the_default() -> None:
    assert [row.id for row in ik.METHODS.values() if row.is_default] == [methods.default().id] == ["nearest_pose"]


def test_keys_are_those_of_the_published_demo() -> None:
    keys = {row.key: row.id for row in ik.METHODS.values()}
    assert len(keys) == len(ik.METHODS)
    assert (
        keys.items()
        >= {
            "0": "ccd",
            "1": "particle",
            "2": "jacobian_euler",
            "3": "jacobian_quaternion",
            "4": "fabrik",
            "5": "ccd_root",
            "6": "nearest_pose",
        }.items()
    )


def test_a_row_is_enough_to_solve_with(monkeypatch: pytest.MonkeyPatch) -> None:
    offsets, rotations = np.tile([0.0, 1.0, 0.0], (2, 1)), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    with pytest.raises(InvalidArgument, match="ccd_root"):
        ik.solve(offsets, rotations, (1.0, 0.5, 0.0), method="still")
    monkeypatch.setitem(ik.METHODS, "still", replace(ik.METHODS["ccd"], id="still", step=lambda task, pose: list(pose)))
    found = ik.solve(offsets, rotations, (1.0, 0.5, 0.0), method="still", iterations=3)
    assert np.array_equal(found.rotations, rotations)
    with pytest.raises(InvalidArgument, match="still"):
        ik.solve(offsets, rotations, (1.0, 0.5, 0.0), method="unknown")
