"""A message is its English sentence, and keeps what it was made of."""

import copy
import json
import pickle

import pytest

from lookat_pd.errors import InvalidArgument, LookAtError, RigError
from lookat_pd.message import Message, joined


def test_a_message_is_its_sentence() -> None:
    message = Message("Bone '{bone}' weighs {mass:.1f} kg.", bone="head", mass=4.25)
    assert message == "Bone 'head' weighs 4.2 kg."
    assert message.template == "Bone '{bone}' weighs {mass:.1f} kg."
    assert message.values == {"bone": "head", "mass": 4.25}


def test_without_values_braces_mean_themselves() -> None:
    assert Message("a {name} and }{") == "a {name} and }{"


def test_a_message_of_a_message_is_that_message() -> None:
    message = Message("{n} bones", n=3)
    assert Message(message) is message


@pytest.mark.parametrize("kind", [LookAtError, InvalidArgument, RigError])
def test_an_error_keeps_its_message(kind: type[LookAtError]) -> None:
    error = kind("There is no bone '{name}'.", name="{0}")
    assert str(error) == "There is no bone '{0}'."
    assert str(error).values == {"name": "{0}"}
    assert kind(str(error)).args == error.args


def test_messages_are_copied_with_their_values() -> None:
    message = Message("{n} bones", n=3)
    for copied in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):
        assert (copied, copied.template, copied.values) == (message, message.template, message.values)
    error = pickle.loads(pickle.dumps(RigError("{n} bones", n=3)))
    assert str(error).values == {"n": 3}
    assert json.dumps(message) == '"3 bones"'


def test_parts_in_a_row() -> None:
    parts = [Message("'{name}'", name=name) for name in ("a", "{b}")]
    assert joined(", ", parts) == "'a', '{b}'"
    assert list(joined(", ", parts).values.values()) == parts
    assert joined(", ", ()) == ""
