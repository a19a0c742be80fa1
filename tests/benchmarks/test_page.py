"""The page of figures: nothing on it but what was measured."""

import re

import pytest

from benchmarks import __main__ as program
from benchmarks import baseline as baselines
from benchmarks import page
from benchmarks.baseline import Baseline
from benchmarks.rows import Goal, Row

MADE = Baseline(
    "2024-02-29",
    "a machine",
    {
        "one": (Row("one.a", "a", 0.012), Row("one.b", "b", 0.006, 0.5, "a", Goal(0.4))),
        "two": (Row("two.a", "c", 0.001, goal=Goal(0.002, "seconds")),),
    },
)


def test_tables_stand_where_the_prose_has_a_place() -> None:
    text = page.render(MADE, "On {machine}, {date}.\n\n<!-- table: two one -->\n\nend\n")
    assert text == (
        "On a machine, 2024-02-29.\n\n| what | figure |\n|---|---|\n| c | 1.0 ms (goal: below 2 ms) |\n"
        "| a | 12.0 ms |\n| b | 6.0 ms, 0.50 times a (goal: at most 0.4 times) |\n\nend\n"
    )


def test_goals_say_whether_they_are_met() -> None:
    assert page.render(MADE, "<!-- goals: -->").splitlines()[2:] == [
        "| b | at most 0.4 times | 0.50 times a |  | **no** |",
        "| c | below 2 ms | 1.0 ms | 1.0 ms | yes |",
    ]


@pytest.mark.parametrize(("loop", "in_proportion", "met"), [(0.1, "1.5 ms", "yes"), (0.06, "2.5 ms", "**no**")])
def test_goals_in_seconds_are_in_proportion_to_the_plain_loop(loop: float, in_proportion: str, met: str) -> None:
    goal = Goal(0.002, "seconds")
    rows = (Row("solver.loop", "loop", loop), Row("a", "a", 0.003, goal=goal))
    assert page.goals({"one": rows}).endswith(f"| a | below 2 ms | 3.0 ms | {in_proportion} | {met} |")


def test_a_machine_that_is_faster_is_given_as_much() -> None:
    rows = (Row("solver.loop", "loop", 0.025), Row("a", "a", 0.0015, goal=Goal(0.002, "seconds")))
    assert page.goals({"one": rows}).endswith("| a | below 2 ms | 1.5 ms | 1.5 ms | yes |")


@pytest.mark.parametrize("slot", ["<!-- table: three -->", "<!-- tabel: one -->"])
def test_an_unknown_place_is_an_error(slot: str) -> None:
    with pytest.raises(KeyError):
        page.render(MADE, slot)


def test_every_benchmark_has_one_place_on_the_page() -> None:
    assert sorted(page.shown(page.PROSE.read_text("utf-8"))) == sorted(program.MODULES)


def test_the_prose_holds_no_figures_of_its_own() -> None:
    assert not re.search(r"\d\s*(s|ms|µs|times|%)(?!\w)", page.PROSE.read_text("utf-8"))


@pytest.mark.parametrize("name", program.LONG)
def test_pages_of_their_own_are_those_of_their_prose(name: str) -> None:
    """Their figures are committed nowhere else."""
    slot = re.compile(r"<!-- table: \w+ -->|\{\w+\}")
    prose = page.PROSE.with_name(f"{name}.md").read_text("utf-8")
    assert not re.search(r"\d\s*(s|ms|µs|times|%)(?!\w)", prose)
    pattern = ".*".join(map(re.escape, slot.split(prose)))
    assert re.fullmatch(pattern, (page.DOCS / f"{name}.md").read_text("utf-8"), re.DOTALL)


def test_the_committed_page_shows_the_committed_figures() -> None:
    assert page.FILE.read_text("utf-8") == page.render(Baseline.read())


def test_keys_of_committed_figures_are_unique() -> None:
    tables = Baseline.read().tables
    keys = [row.key for rows in tables.values() for row in rows]
    assert len(keys) == len(set(keys))
    assert all(row.key.split(".")[0] == name for name, rows in tables.items() for row in rows)
    assert baselines.FILE.exists()
