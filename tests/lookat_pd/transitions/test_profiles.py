"""Profiles: which names a row fits, and files that are read back as they were written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extension import load

profiles = load("lookat_pd.transitions.profiles")
InvalidArgument = load("lookat_pd.errors").InvalidArgument
Row = profiles.ProfileRow

NAMES = st.text("abAB*?.[]", max_size=8)


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("hand.L", "Hand.L", True),
        ("hand.L", "hand.L.001", False),
        ("*hand*", "DEF-hand.L", True),
        ("foot, hand?L", "hand.L", True),
        ("hand[1]", "hand[1]", True),
        ("hand.?", "hand.", False),
        ("*a*b*c", "xaxbxxc", True),
        ("*a*b*c", "xaxcxxb", False),
    ],
)
def test_patterns(pattern: str, name: str, fits: bool) -> None:
    assert Row("BONES", pattern).fits(name) == fits


@given(NAMES, NAMES)
def test_a_name_fits_itself_and_a_star_fits_all(before: str, after: str) -> None:
    name = before + after
    assert Row("BONES", "*").fits(name)
    if name.strip():
        assert Row("BONES", name).fits(name)
        assert Row("BONES", f"{before}*").fits(name) or not before.strip()


def test_many_stars_take_no_longer() -> None:
    assert not Row("BONES", "*a" * 40 + "b").fits("a" * 4000)


@given(
    st.lists(
        st.builds(
            Row,
            st.sampled_from(sorted(profiles.KINDS)),
            st.text(min_size=1).filter(lambda text: text.strip(" ,")),
            st.integers(0, 100).map(lambda n: n / 10),
            st.integers(0, 60).map(float),
        )
    )
)
def test_what_is_written_is_read_back(rows: list) -> None:
    assert list(profiles.read_text(profiles.text_of(rows))) == rows


def test_the_first_row_that_fits_counts() -> None:
    rows = Row("BONES", "hand*", 0.5), Row("BONES", "*", 2.0), Row("CURVES", "hand*")
    assert profiles.first(rows, "BONES", "hand.L") is rows[0]
    assert profiles.first(rows, "BONES", "foot.L") is rows[1]
    assert profiles.first(rows[:1], "BONES", "foot.L") is None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "A profile must be a list"),
        ([7], "Row 1 of the profile: A row must be an object in braces"),
        ([{"bones": "*"}, {"factor": 1.0}], "Row 2 of the profile: A row must have exactly one of bones, "),
        ([{"bones": "*", "curves": "*"}], "exactly one"),
        ([{"bones": "*", "weight": 1.0}], "with keys from bones"),
        ([{"bones": " , "}], "has no names"),
        ([{"bones": ["hand"]}], "one text"),
        ([{"bones": "*", "factor": -1}], "from 0 to 10"),
        ([{"bones": "*", "factor": 1e400}], "from 0 to 10"),
        ([{"bones": "*", "factor": float("nan")}], "from 0 to 10"),
        ([{"bones": "*", "factor": 10**4000}], "from 0 to 10"),
        ([{"bones": "*", "factor": "half"}], "must be a number, not half"),
        ([{"bones": "*", "delay": 61}], "from 0 to 60"),
        ([{"bones": "*", "filter": "both"}], "Filter both is unknown; use blend, source, destination"),
        ([{"bones": "*"}] * 1001, "at most 1000 rows"),
    ],
)
def test_bad_rows_are_named(entries, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        profiles.parsed(entries)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, json.dumps("x")])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        profiles.read_text(text)
    assert profiles.read_text(" \n") == ()
