"""What `make bench` does with its arguments: print, check, write."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import __main__ as program
from benchmarks import baseline as baselines
from benchmarks import page
from benchmarks.baseline import Baseline, better, worse
from benchmarks.rows import Goal, Row

Run = Callable[[str], Sequence[Row]]


def row(key: str, ratio: float | None, seconds: float = 0.01) -> Row:
    return Row(key, f"what {key}", seconds, ratio, "its peer", Goal(2.0) if ratio else None)


def runs(*rounds: Sequence[Row]) -> Run:
    """A benchmark that yields other rows each time it is run, in the end always the last."""
    remaining = list(rounds)
    return lambda name: remaining.pop(0) if len(remaining) > 1 else remaining[0]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Where figures and page are written to, instead of the committed files."""
    figures, text = tmp_path / "baseline.json", tmp_path / "benchmarks.md"
    read, write = Baseline.read, Baseline.write
    monkeypatch.setattr(Baseline, "read", lambda: read(figures))
    monkeypatch.setattr(Baseline, "write", lambda self: write(self, figures))
    monkeypatch.setattr(page, "FILE", text)
    return figures, text


@pytest.fixture
def committed(files: tuple[Path, Path]) -> Baseline:
    """The solver's table: one ratio, 1.0, of 10 ms."""
    made = Baseline("2024-02-29", "a machine", {"solver": (row("solver.peer", None), row("solver.a", 1.0))})
    made.write()
    return made


def test_a_ratio_is_worse_beyond_the_factor_only() -> None:
    then = [row("a", 2.0)]
    assert not list(worse(then, [row("a", 2.0 * baselines.WORSE)]))
    assert not list(worse(then, [row("a", 0.1)]))
    [(key, line)] = worse(then, [row("a", 2.8)])
    assert key == "a"
    assert line == "what a: 2.80 times its peer, committed 2.00 times its peer; 1.40 times as long."


def test_times_alone_are_never_compared() -> None:
    assert not list(worse([row("a", None, 0.01), row("b", 1.0, 0.01)], [row("a", None, 9.0), row("b", 1.0, 9.0)]))


def test_a_ratio_that_is_not_measured_any_more_is_a_complaint() -> None:
    [(_, line)] = worse([row("a", 1.0)], [row("b", 1.0)])
    assert line == "what a: in the committed table, but not measured."


def test_what_cannot_be_measured_here_is_excused() -> None:
    missing = Row("dynamics", "Dynamics", also="the physics engine is not installed")
    assert not list(worse([row("dynamics.plain", 1.0)], [missing]))
    assert list(worse([row("solver.a", 1.0)], [missing]))


def test_each_row_counts_with_its_better_ratio() -> None:
    first, second = [row("a", 1.0), row("b", 3.0), row("c", None, 5.0)], [row("a", 2.0), row("b", 2.0), row("c", None)]
    assert better(first, second) == [first[0], second[1], second[2]]


def test_check_passes_where_no_ratio_is_worse(committed: Baseline, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--check", "solver"], runs([row("solver.a", 1.2)])) == 0
    assert "No ratio is worse" in capsys.readouterr().out


def test_check_fails_with_one_line_for_each_worse_ratio(
    committed: Baseline, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["--check", "solver"], runs([row("solver.a", 1.4)])) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("what solver.a: 1.40 times its peer")


def test_check_repeats_a_benchmark_before_it_complains(committed: Baseline) -> None:
    assert program.main(["--check", "solver"], runs([row("solver.a", 9.0)], [row("solver.a", 1.0)])) == 0
    slow = [[row("solver.a", 9.0)]] * program.ATTEMPTS
    assert program.main(["--check", "solver"], runs(*slow, [row("solver.a", 1.0)])) == 1


def test_check_runs_nothing_again_when_it_has_taken_long(committed: Baseline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "PATIENCE", 0.0)
    counted: list[str] = []
    slow = runs([row("solver.a", 9.0)])
    assert program.main(["--check", "solver"], lambda name: counted.append(name) or slow(name)) == 1
    assert counted == ["solver"]


def test_check_leaves_the_files_alone(committed: Baseline, files: tuple[Path, Path]) -> None:
    before = files[0].read_bytes()
    program.main(["--check"], runs([row("solver.a", 0.5)]))
    assert files[0].read_bytes() == before
    assert not files[1].exists()


def test_write_writes_figures_and_page_from_one_run(files: tuple[Path, Path]) -> None:
    count = iter(range(1, 100))
    assert program.main(["--write"], lambda name: [row(f"{name}.a", float(next(count)))]) == 0
    read = Baseline.read()
    assert list(read.tables) == list(program.MODULES)
    assert files[1].read_text("utf-8") == page.render(read)
    assert program.main(["--check"], lambda name: [row(f"{name}.a", 1.0)]) == 0


def test_printing_writes_nothing(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["ik", "solver"], lambda name: [row(f"{name}.a", 1.5)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| what | figure |",
        "|---|---|",
        "| what ik.a | 10.0 ms, 1.50 times its peer (goal: at most 2 times) |",
        "| what solver.a | 10.0 ms, 1.50 times its peer (goal: at most 2 times) |",
    ]
    assert not any(path.exists() for path in files)


@pytest.mark.parametrize("name", program.LONG)
def test_what_takes_long_is_run_by_name_and_has_its_own_page(
    name: str, files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "DOCS", tmp_path)
    parts = page.shown(page.PROSE.with_name(f"{name}.md").read_text("utf-8"))

    def run(asked: str) -> Sequence[Row]:
        assert asked == name
        return [row(f"{name}.{part}.a", 1.5) for part in parts]

    assert program.main([name], run) == 0
    assert not list(tmp_path.iterdir())
    assert program.main(["--write", name], run) == 0
    assert (tmp_path / f"{name}.md").read_text("utf-8").count("| what ") == 2 * len(parts)
    assert not any(path.exists() for path in files)


@pytest.mark.parametrize(
    "arguments",
    [
        *(["nothing"], ["--chekc"], ["--check", "--write"], ["--write", "solver"], ["--check", "nothing"]),
        *(["--check", program.LONG[0]], [program.LONG[0], "solver"], ["--write", program.LONG[0], "solver"]),
    ],
)
def test_bad_arguments_give_one_sentence(
    arguments: list[str], files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    def never(name: str) -> Sequence[Row]:
        raise AssertionError("nothing must be measured")

    assert program.main(arguments, never) == 2
    said = capsys.readouterr()
    assert not said.out
    assert said.err.count("\n") == 1
    assert said.err.endswith(".\n")


def test_check_without_figures_says_how_to_write_them(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["--check"], runs([row("a", 1.0)])) == 2
    assert "make bench ARGS=--write" in capsys.readouterr().err


def test_what_is_measured_beside_needs_its_folder_and_its_name(tmp_path, capsys) -> None:
    assert program.parse([]) == ("print", program.MODULES)
    assert program.parse(["jiggle"]) == ("print", ("jiggle",))
    assert program.main(["jiggle", "--jiggle", str(tmp_path)], runs([])) == 2
    assert "folder of its source" in capsys.readouterr().err


@pytest.mark.parametrize("name", [*program.MODULES, *program.LONG, *program.BESIDE])
def test_every_benchmark_finds_what_it_measures(name: str) -> None:
    """They run too seldom to notice that something was renamed."""
    assert callable(import_module(f"benchmarks.{name}").run)
