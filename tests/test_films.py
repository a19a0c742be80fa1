"""The films of the documents: none is older than what it is made by, and a page with one opens at once."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
kept = pytest.importorskip("docs.films.kept")
cutting = pytest.importorskip("docs.films.cutting", reason="Pillow is not installed")
sys.path.pop(0)


def test_no_film_is_older_than_what_it_is_made_by() -> None:
    assert not kept.outdated(), "make films"


@pytest.fixture
def copied(tmp_path, monkeypatch) -> Path:
    """A copy of all that films are made by."""
    for name in {source for film in (*kept.FILMS, *kept.IN_WINDOW, kept.REEL) for source in kept.sources(film)}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    assert not kept.outdated()
    return tmp_path


def test_a_film_whose_script_changes_is_outdated(copied) -> None:
    script = copied / "docs" / "films" / "hit.py"
    script.write_text(script.read_text("utf-8") + "LONGER = 1\n", "utf-8")
    assert kept.outdated() == ["hit"]


def test_a_film_of_the_interface_whose_panel_changes_is_outdated(copied) -> None:
    panel = copied / "panels" / "rows.py"
    panel.write_text(panel.read_text("utf-8") + "WIDER = 1\n", "utf-8")
    assert kept.outdated() == ["settle_panel", "stranger"]


@pytest.mark.thorough
def test_films_are_short_and_small() -> None:
    for name in (*kept.FILMS, *kept.IN_WINDOW):
        pictures, times = cutting.frames(name)
        assert kept.path(name).stat().st_size < cutting.LARGEST, name
        assert sum(times) / 1000 <= cutting.LONGEST, name
        assert len({picture.tobytes() for picture in pictures}) > 0.5 * len(pictures), f"{name} stands still"
