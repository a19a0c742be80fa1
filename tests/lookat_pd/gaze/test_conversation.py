"""The laws of a conversation: who looks at whom when."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lookat_pd.errors import InvalidArgument
from lookat_pd.gaze.conversation import DWELL, SPEAKER_AWAY, Look, Manner, Turn, plan

A_LITTLE = 1e-9


@st.composite
def talks(draw, longest: float = 20.0) -> tuple[list[Turn], int, float]:
    """Turns of any length, how many people there are, and when it ends."""
    people = draw(st.integers(2, 5))
    lengths = draw(st.lists(st.floats(0.05, longest), min_size=1, max_size=8))
    speakers = [draw(st.integers(0, people - 1)) for _ in lengths]
    times = np.cumsum([draw(st.floats(-10.0, 10.0)), *lengths]).tolist()
    return [Turn(time, speaker) for time, speaker in zip(times, speakers, strict=False)], people, times[-1]


@st.composite
def manners(draw) -> Manner:
    shortest = draw(st.floats(0.0, 1.0))
    longest = shortest + draw(st.floats(0.0, 1.0))
    return Manner(draw(st.integers(0, 99)), (shortest, longest), draw(st.floats(0.0, 1.0)))


def speeches(turns: Sequence[Turn], end: float) -> list[tuple[Turn, float]]:
    """Turns with their ends; one who speaks on makes one speech."""
    begun = [turn for n, turn in enumerate(turns) if n == 0 or turn.speaker != turns[n - 1].speaker]
    return list(zip(begun, [*(turn.time for turn in begun[1:]), end], strict=True))


def looked_at(looks: Sequence[Look], time: float) -> int | None:
    """Whom somebody looks at; what became known at this very time counts."""
    return next((look.at for look in reversed(looks) if look.time <= time + A_LITTLE), None)


def switches(looks: Sequence[Look], begin: float, end: float) -> list[Look]:
    return [look for look in looks if begin <= look.time < end]


@given(talks(), manners())
def test_the_same_again(talk, manner) -> None:
    assert plan(*talk, manner) == plan(*talk, manner)


@given(talks(), manners(), st.floats(-100.0, 100.0))
def test_it_does_not_matter_when_it_is(talk, manner, shift) -> None:
    turns, people, end = talk
    later = plan([Turn(turn.time + shift, turn.speaker) for turn in turns], people, end + shift, manner)
    for here, there in zip(plan(turns, people, end, manner), later, strict=True):
        at_end = [look for look in here if look.time > end - 1e-6]
        assert [look.at for look in here][: len(there)] == [look.at for look in there][: len(here)]
        assert abs(len(here) - len(there)) <= max(len(at_end), 1)
        for one, other in zip(here, there, strict=False):
            assert other.time == pytest.approx(one.time + shift, abs=1e-9)


@given(talks(), manners())
def test_listeners_look_at_the_speaker_after_their_reaction(talk, manner) -> None:
    turns, people, end = talk
    looks = plan(turns, people, end, manner)
    shortest, longest = manner.reaction
    for turn, until in speeches(turns, end):
        latest = turn.time + max(longest, DWELL)
        for person in set(range(people)) - {turn.speaker}:
            if latest + A_LITTLE < until:
                assert looked_at(looks[person], latest) == turn.speaker
            for look in switches(looks[person], turn.time, min(turn.time + shortest, until)):
                assert look.at != turn.speaker


@given(talks(), manners())
def test_nobody_looks_at_himself(talk, manner) -> None:
    for person, looks in enumerate(plan(*talk, manner)):
        assert person not in {look.at for look in looks}
        assert all(look.at is None or 0 <= look.at < talk[1] for look in looks)


@given(talks(), manners())
def test_a_gaze_rests(talk, manner) -> None:
    for looks in plan(*talk, manner):
        assert all(later.time - earlier.time >= DWELL - A_LITTLE for earlier, later in pairwise(looks))
        assert all(later.at != earlier.at for earlier, later in pairwise(looks))


@given(talks(), manners())
def test_it_happens_between_the_first_turn_and_the_end(talk, manner) -> None:
    turns, _, end = talk
    for looks in plan(*talk, manner):
        assert all(turns[0].time <= look.time < end for look in looks)


@given(talks(), manners(), st.data())
def test_what_comes_later_does_not_change_what_was_before(talk, manner, data) -> None:
    turns, people, end = talk
    assume(len(turns) > 1)
    n = data.draw(st.integers(1, len(turns) - 1))
    after = turns[n + 1].time if n + 1 < len(turns) else end
    other = Turn(
        data.draw(st.floats(turns[n - 1].time + 0.01, after - 0.01).filter(lambda t: turns[n - 1].time < t < after)),
        data.draw(st.integers(0, people - 1)),
    )
    before = min(turns[n].time, other.time)
    changed = plan([*turns[:n], other, *turns[n + 1 :]], people, end, manner)
    for looks, now in zip(plan(turns, people, end, manner), changed, strict=True):
        assert switches(looks, -np.inf, before) == switches(now, -np.inf, before)


@given(talks(), manners())
def test_a_speaker_looks_away_seldom_and_never_first(talk, manner) -> None:
    turns, people, end = talk
    looks = plan(turns, people, end, manner)
    for turn, until in speeches(turns, end):
        own = switches(looks[turn.speaker], turn.time, until)
        away = [look for look in own if look.at is None]
        assert all(look.time > turn.time + 1.0 for look in away)
        back = [look.time for look in own[1:]] + [until]
        spent = sum(back[own.index(look)] - look.time for look in away)
        assert spent <= manner.glances * SPEAKER_AWAY * (until - turn.time) + A_LITTLE


@given(talks(), manners())
def test_nobody_ends_in_a_glance(talk, manner) -> None:
    turns, people, end = talk
    last, _ = speeches(turns, end)[-1]
    for looks in plan(turns, people, end, manner):
        assert not looks or looks[-1].at is not None or looks[-1].time < last.time


@given(talks(), manners())
def test_without_glances_nobody_looks_away(talk, manner) -> None:
    turns, people, end = talk
    for looks in plan(turns, people, end, Manner(manner.seed, manner.reaction, 0.0)):
        assert all(look.at is not None for look in looks)


@given(talks(), manners())
def test_a_speaker_addresses_who_spoke_before(talk, manner) -> None:
    turns, people, end = talk
    looks = plan(turns, people, end, manner)
    for (earlier, _), (turn, until) in pairwise(speeches(turns, end)):
        if turn.time + DWELL + A_LITTLE < until:
            assert looked_at(looks[turn.speaker], turn.time + DWELL) == earlier.speaker


@given(st.integers(0, 50), st.integers(3, 5))
def test_a_long_speech_goes_to_all(seed, people) -> None:
    looks = plan([Turn(0.0, 0)], people, 60.0, Manner(seed))
    assert {look.at for look in looks[0]} - {None} == set(range(1, people))


def test_listeners_look_away_less_than_speakers() -> None:
    looks = plan([Turn(0.0, 0)], 2, 2000.0, Manner(glances=1.0))

    def away(person: int) -> float:
        times = [(look.time, look.at) for look in looks[person]]
        return sum(end - begin for (begin, at), (end, _) in pairwise(times) if at is None) / 2000.0

    assert 0.15 <= away(0) <= 0.3
    assert 0.0 < away(1) < 0.5 * away(0)


def test_listeners_are_not_all_alike() -> None:
    turns = [Turn(4.0 * n, n % 2) for n in range(10)]
    looks = plan(turns, 6, 40.0, Manner(glances=0.0))
    reactions = {look.time - 4.0 * (look.time // 4.0) for seen in looks[2:] for look in seen}
    assert len(reactions) > 30


def test_another_seed_is_another_conversation() -> None:
    turns = [Turn(0.0, 0), Turn(4.0, 1)]
    assert plan(turns, 2, 8.0, Manner(1)) != plan(turns, 2, 8.0, Manner(2))


def test_some_look_first_at_who_was_speaking() -> None:
    """Now and then, and only where there are three: of two, one speaks and the other spoke."""
    turns = [Turn(11.0 * n, n % 3) for n in range(100)]
    slow = Manner(reaction=(0.2, 1.0), glances=1.0)
    seen = [
        look
        for person, looks in enumerate(plan(turns, 4, 1100.0, slow))
        for earlier, turn in pairwise(turns)
        for look in switches(looks, turn.time, turn.time + 1.0)
        if look.at == earlier.speaker and person not in (earlier.speaker, turn.speaker)
    ]
    assert seen


@pytest.mark.parametrize(
    ("turns", "people", "end", "match"),
    [
        ([Turn(0.0, 0)], 1, 5.0, "at least two"),
        ([], 2, 5.0, "has no turns"),
        ([Turn(0.0, 2)], 2, 5.0, "from 0 to 1"),
        ([Turn(0.0, 0), Turn(0.0, 1)], 2, 5.0, "in order of time"),
        ([Turn(0.0, 0)], 2, 0.0, "the end after the last"),
        ([Turn(np.nan, 0)], 2, 5.0, "in order of time"),
        ([Turn(0.0, 0)], 2, np.inf, "the end after the last"),
    ],
)
def test_what_is_no_conversation(turns, people, end, match) -> None:
    with pytest.raises(InvalidArgument, match=match):
        plan(turns, people, end)


@pytest.mark.parametrize("given", [{"reaction": (0.6, 0.2)}, {"reaction": (-1.0, 0.2)}, {"glances": 1.5}, {"seed": -1}])
def test_what_is_no_manner(given) -> None:
    with pytest.raises(InvalidArgument):
        Manner(**given)
