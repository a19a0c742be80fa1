"""How figures read, and whether goals are met."""

import pytest

from benchmarks import window
from benchmarks.rows import RATIO, SECONDS, SPEEDUP, Goal, Row, duration, table


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5e-7, "0.5 µs"),
        (1.64e-4, "0.164 ms"),
        (0.0121, "12.1 ms"),
        (0.3009, "301 ms"),
        (3.074, "3,074 ms"),
        (15.9, "15.9 s"),
    ],
)
def test_a_time_has_a_unit_that_suits_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_figure_shows_time_ratio_and_goal() -> None:
    row = Row("a", "with the look-at", 0.00164, 1.12, "muted", Goal(1.15))
    assert row.figure == "1.6 ms, 1.12 times muted (goal: at most 1.15 times)"


def test_a_faster_row_shows_its_ratio_inverted() -> None:
    row = Row("a", "bake", 0.03, 0.1, "Blender", Goal(10, SPEEDUP), faster=True)
    assert row.figure == "30.0 ms, 10.0 times faster than Blender (goal: at least 10 times)"


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal(0.02, SECONDS), True),
        (Goal(0.005, SECONDS), False),
        (Goal(0.5, RATIO), True),
        (Goal(0.1, RATIO), False),
        (Goal(4, SPEEDUP), True),
        (Goal(5, SPEEDUP), False),
        (None, True),
    ],
)
def test_a_goal_is_met_on_its_side_of_the_limit(goal: Goal | None, met: bool) -> None:
    assert Row("a", "a", 0.01, 0.22, "b", goal).is_met is met


def test_a_group_is_named_once() -> None:
    rows = [Row("a", "alone", 1.0, group="Ten"), Row("b", "twice", 2.0, group="Ten"), Row("c", "alone", 3.0)]
    assert table(rows).splitlines()[2:] == [
        "| Ten: alone | 1,000 ms |",
        "| ... twice | 2,000 ms |",
        "| alone | 3,000 ms |",
    ]


def test_a_row_survives_being_written_down() -> None:
    full = Row("a", "b", 0.1, 0.2, "c", Goal(3, SPEEDUP), "d", "a frame", True, "more")
    for row in (full, Row("a", "b"), Row("a", "b", 0.0, 0.0), Row("a", "b", also="only this")):
        assert Row.from_data(row.as_data()) == row


def test_the_edit_that_holds_a_rig_up_longest_is_its_row() -> None:
    made = (("knight, Add", 0.02, 0.1), ("knight, key", 0.09, 0.1), ("knight, bake", 0.2, 0.15), ("fox, Add", 0.0, 0.1))
    edits = [{"edit": name, "added": added, "most": most} for name, added, most in made]
    rows = {row.key: row for row in window.turns(edits)}
    assert list(rows) == ["window.turns.knight.edits", "window.turns.knight.joins", "window.turns.fox.edits"]
    longest = rows["window.turns.knight.edits"]
    assert longest.seconds == 0.09 and longest.also == "key, of 2" and longest.is_met
