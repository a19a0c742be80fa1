"""The gaze file: what it may say, and what is said about one that is wrong."""

import json

import pytest

from extension import load

gaze_file = load("cli.gaze_file")


def test_events_are_sorted_by_frame() -> None:
    events = gaze_file.parse(
        [{"frame": 90, "off": True}, {"frame": -3.5, "point": [1, 2, 3]}, {"frame": 40, "target": "Rig:Bone"}]
    )
    assert events == (
        gaze_file.GazeEntry(-3.5, point=(1.0, 2.0, 3.0)),
        gaze_file.GazeEntry(40.0, target="Rig:Bone"),
        gaze_file.GazeEntry(90.0),
    )


GOOD = {"frame": 1, "off": True}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ([1, 2], "not an object"),
        ({"off": True}, "no frame"),
        ({"frame": "10", "off": True}, "'10'"),
        ({"frame": True, "off": True}, "True"),
        ({"frame": float("nan"), "off": True}, "nan"),
        ({"frame": 10**400, "off": True}, "not a finite number"),
        ({"frame": 10}, "none"),
        ({"frame": 10, "off": False}, "only be true"),
        ({"frame": 10, "off": 1}, "only be true"),
        ({"frame": 10, "target": ""}, "''"),
        ({"frame": 10, "target": None}, "None"),
        ({"frame": 10, "target": "Ball", "off": True}, "target and off"),
        ({"frame": 10, "point": [1, 2]}, "[1, 2]"),
        ({"frame": 10, "point": [1, 2, None]}, "None"),
        ({"frame": 10, "point": [1, 2, float("inf")]}, "three finite numbers"),
        ({"frame": 10, "point": "1,2,3"}, "1,2,3"),
        ({"frame": 10, "point": [1, 2, 3], "pont": 1}, "'pont'"),
    ],
)
def test_wrong_event_is_named(entry, expected) -> None:
    with pytest.raises(ValueError, match=r"^event 2: ") as complaint:
        gaze_file.parse([GOOD, entry])
    assert expected in str(complaint.value)


def test_two_events_at_one_frame() -> None:
    with pytest.raises(ValueError, match="events 1 and 3 are both at frame 1"):
        gaze_file.parse([GOOD, {"frame": 2, "off": True}, {"frame": 1.0, "target": "Ball"}])


@pytest.mark.parametrize("entries", [{}, [], "gaze", None, {"frame": 1, "off": True}])
def test_anything_but_a_list_of_events(entries) -> None:
    with pytest.raises(ValueError, match="list"):
        gaze_file.parse(entries)


@pytest.mark.parametrize("text", ["", "[", '[{"frame": 1, "off": tru}]', "\xff", "[" * 100_000])
def test_anything_but_json(text, tmp_path) -> None:
    path = tmp_path / "gaze.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(load("cli.arguments").Misuse, match="not JSON"):
        gaze_file.read(path)


def test_byte_order_mark_is_no_matter(tmp_path) -> None:
    path = tmp_path / "gaze.json"
    path.write_text(json.dumps([GOOD]), "utf-8-sig")
    assert gaze_file.read(path) == (gaze_file.GazeEntry(1.0),)
