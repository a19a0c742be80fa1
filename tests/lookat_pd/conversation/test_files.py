"""Turns from text files: the same turns from all kinds, and what is no turn."""

import pytest

from lookat_pd.conversation import files
from lookat_pd.conversation.files import Line
from lookat_pd.errors import FileError

TURNS = [Line(1.5, "Anna", "where were you?"), Line(62.25, "Bo", "here")]
WRITTEN = {
    "txt": "# a note\n1.5 Anna: where were you?\n1:02.25 Bo: here\n",
    "srt": "1\n00:00:01,500 --> 00:00:02,000\n<i>Anna</i>: where were you?\n\n"
    "2\n00:00:10,000 --> 00:00:11,000\nI mean it.\n\n3\n00:01:02,250 --> 00:01:03,000\nBo: here\n",
    "csv": "Time,Speaker,Text\n62.25,Bo,here\n1.5,Anna,where were you?\n",
    "json": '[{"time": 1.5, "speaker": "Anna", "text": "where were you?"},'
    ' {"time": 62.25, "speaker": "Bo", "text": "here"}]',
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_all_kinds_give_the_same_turns(kind) -> None:
    assert files.read(WRITTEN[kind], kind) == TURNS


def test_frames_and_whom_to_look_at() -> None:
    assert files.read("36f Anna", "txt") == [Line(36.0, "Anna", in_frames=True)]
    assert files.read('{"turns": [{"frame": 36, "speaker": "Anna", "at": "Ball"}]}', "json") == [
        Line(36.0, "Anna", at="Ball", in_frames=True)
    ]


@pytest.mark.parametrize(
    ("text", "kind", "match"),
    [
        ("hello", "txt", "Line 1"),
        ("", "txt", "no turns"),
        ("", "srt", "no turns"),
        ("time,speaker\n,Anna\n", "csv", "Turn 1"),
        ("{", "json", "not JSON"),
        ("3", "json", "list of objects"),
        ('[{"time": 1}]', "json", "Turn 1"),
        ("x", "doc", "use .json"),
    ],
)
def test_what_is_no_turn(text, kind, match) -> None:
    with pytest.raises(FileError, match=match):
        files.read(text, kind)
