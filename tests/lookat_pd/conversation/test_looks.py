"""The laws of a conversation: who looks at whom when, and with which shares of the time."""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lookat_pd.conversation import DWELL, PERSONALITIES, Look, Manner, Shares, Turn, plan, shares
from lookat_pd.errors import InvalidArgument

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


def switches(looks: Sequence[Look], begin: float, end: float) -> list[Look]:
    return [look for look in looks if begin <= look.time < end]


def of_seeds(length: float, seconds: float, seeds: int = 20, **manner) -> list[Shares]:
    """The shares of so many seeds, of two who take turns of a length."""
    turns = [Turn(length * n, n % 2) for n in range(int(np.ceil(seconds / length)))]
    return [shares(turns, 2, seconds, plan(turns, 2, seconds, Manner(seed, **manner))) for seed in range(seeds)]


def measured(length: float, **manner) -> Shares:
    """The mean of the shares over 20 seeds of 60 s."""
    found = of_seeds(length, 60.0, **manner)
    means = [np.mean([getattr(one, name) for one in found]) for name in ("listening", "speaking", "mutual")]
    return Shares(*map(float, means), np.mean([one.changes for one in found], axis=0))


@pytest.mark.thorough
@pytest.mark.parametrize("seconds", [20.0, 60.0])
@pytest.mark.parametrize("length", [1.5, 2.5, 4.0, 8.0])
def test_shares_are_those_of_people(length, seconds) -> None:
    """Argyle and Cook (1976): within 8° of the face 75 % listening, 41 % speaking, 30 % both, to the 3 % to which the
    figures are known; and no talk is far off."""
    found = of_seeds(length, seconds, 60)
    for name, share in (("listening", 0.75), ("speaking", 0.41), ("mutual", 0.30)):
        each = np.array([getattr(one, name) for one in found])
        assert abs(each.mean() - share) < 0.03, name
        assert each.std(ddof=1) < 0.1 * np.sqrt(20.0 / seconds), name
    assert all(8.0 <= change <= 25.0 for change in np.mean([one.changes for one in found], axis=0))


@given(talks(), manners())
def test_the_same_again(talk, manner) -> None:
    assert plan(*talk, manner) == plan(*talk, manner)


@given(st.integers(0, 20), st.floats(-100.0, 100.0))
def test_it_does_not_matter_when_it_is(seed, shift) -> None:
    turns = [Turn(2.5 * n, n % 3) for n in range(8)]
    later = plan([Turn(turn.time + shift, turn.speaker) for turn in turns], 3, 20.0 + shift, Manner(seed))
    for here, there in zip(plan(turns, 3, 20.0, Manner(seed)), later, strict=True):
        assert [look.at for look in here] == [look.at for look in there]
        assert [look.time for look in there] == pytest.approx([look.time + shift for look in here], abs=1e-9)


@given(talks(), manners())
def test_nobody_looks_at_himself(talk, manner) -> None:
    for person, looks in enumerate(plan(*talk, manner)):
        assert person not in {look.at for look in looks}
        assert all(0 <= look.at < talk[1] for look in looks)


@given(talks(), manners())
def test_a_gaze_rests(talk, manner) -> None:
    for looks in plan(*talk, manner):
        assert all(later.time - earlier.time >= DWELL - A_LITTLE for earlier, later in pairwise(looks))
        assert all(
            (later.at, later.yaw, later.pitch) != (earlier.at, earlier.yaw, earlier.pitch)
            for earlier, later in pairwise(looks)
        )


@given(talks(), manners())
def test_it_happens_before_the_end_and_hardly_before_the_first_turn(talk, manner) -> None:
    turns, _, end = talk
    for looks in plan(*talk, manner):
        assert all(turns[0].time <= look.time < end for look in looks)


@pytest.mark.thorough
@given(st.integers(0, 50), st.integers(1, 6), st.floats(-1.5, 1.5))
def test_what_comes_later_does_not_change_what_was_before(seed, n, moved) -> None:
    """Moving the start of a turn changes this turn and the one before, which prepares for it."""
    turns = [Turn(4.0 * k, (0, 1, 2, 1)[k % 4]) for k in range(8)]
    other = [Turn(t.time + (moved if k == n else 0.0), t.speaker) for k, t in enumerate(turns)]
    before = turns[n - 1].time - 0.5
    looks, changed = plan(turns, 3, 32.0, Manner(seed)), plan(other, 3, 32.0, Manner(seed))
    for one, now in zip(looks, changed, strict=True):
        assert switches(one, -np.inf, before) == switches(now, -np.inf, before)


def averted(length: float, since: float, seeds: int = 60) -> float:
    """Fraction of turns in which the speaker looks away at a time since the start of the turn."""
    turns = [Turn(length * n, n % 2) for n in range(10)]
    away = []
    for seed in range(seeds):
        looks = plan(turns, 2, 10.0 * length, Manner(seed))
        for turn in turns[:-1]:
            seen = [look for look in looks[turn.speaker] if look.time <= turn.time + since]
            away.append(not seen or seen[-1].away)
    return float(np.mean(away))


@pytest.mark.thorough
def test_speakers_look_away_first_and_back_before_they_end() -> None:
    """Kendon (1967); Andrist and others (2013): away in 73 % of turns at the start."""
    assert averted(6.0, 0.8) > 0.65
    assert averted(6.0, 5.9) < 0.25


def test_bystanders_look_at_the_next_speaker_before_the_turn_begins() -> None:
    """Holler and Kendrick (2015), in some turns; hardly anybody does a second before."""
    turns = [Turn(4.0 * n, n % 3) for n in range(30)]
    early = [0, 0]
    for seed in range(5):
        for person, looks in enumerate(plan(turns, 3, 120.0, Manner(seed))):
            for before, turn in pairwise(turns):
                if person not in (before.speaker, turn.speaker):
                    known = [look for look in looks if look.time < turn.time]
                    early[0] += known[-1].at == turn.speaker and known[-1].time > turn.time - 0.5
                    early[1] += 1
    assert 0.15 < early[0] / early[1] < 0.7


@pytest.mark.thorough
@given(st.integers(0, 50), st.integers(3, 5))
def test_a_long_speech_goes_to_all(seed, people) -> None:
    looks = plan([Turn(0.0, 0)], people, 60.0, Manner(seed))
    assert {look.at for look in looks[0]} == set(range(1, people))


@given(talks(), manners(), st.sampled_from(list(PERSONALITIES.values())))
def test_who_looks_away_looks_away_from_the_face(talk, manner, personality) -> None:
    """By 10 to 25°, and at no place for longer than people stare at nothing."""
    turns, people, end = talk
    chosen = Manner(manner.seed, **personality.manner)
    for looks in plan(turns, people, end, chosen):
        for look, until in zip(looks, [*(look.time for look in looks[1:]), end], strict=True):
            if look.away:
                size = np.degrees(np.hypot(look.yaw, look.pitch))
                assert 10.0 - A_LITTLE <= size <= 25.0 + A_LITTLE
                assert until - look.time <= 2.1 + DWELL + A_LITTLE


def test_who_goes_on_looking_away_looks_elsewhere() -> None:
    """From one place beside a face to the next, by 50 to 160 degrees about the face."""
    steps = []
    for seed in range(4):
        for seen in plan([Turn(6.0 * n, n % 2) for n in range(30)], 2, 180.0, Manner(seed)):
            for one, other in pairwise(seen):
                if one.away and other.away and one.at == other.at:
                    turn = np.angle(complex(other.yaw, other.pitch) / complex(one.yaw, one.pitch), deg=True)
                    steps.append(abs(turn))
    assert len(steps) > 50
    assert np.mean([50.0 - 1e-6 <= step <= 160.0 + 1e-6 for step in steps]) > 0.95


def test_no_glance_begins_where_there_is_no_time_to_return_from_it() -> None:
    turns = [Turn(4.0 * n, n % 2) for n in range(6)]
    for seed, end in product(range(40), (21.0, 22.3, 23.5)):
        for seen in plan(turns, 2, end, Manner(seed)):
            if len(seen) > 1 and seen[-1].away and not seen[-2].away:
                assert seen[-1].time < end - 1.0


def test_glances_are_of_the_size_of_saccades() -> None:
    looks = plan([Turn(2.0 * n, n % 2) for n in range(300)], 2, 600.0, Manner())
    away = np.degrees([(look.yaw, look.pitch) for seen in looks for look in seen if look.away])
    assert 12.0 < np.median(np.linalg.norm(away, axis=1)) < 18.0
    assert abs(np.mean(away[:, 0] > 0.0) - 0.5) < 0.15
    former = plan([Turn(2.0 * n, n % 2) for n in range(300)], 2, 600.0, Manner(nearest=np.radians(5.0)))
    sizes = np.degrees([np.hypot(look.yaw, look.pitch) for seen in former for look in seen if look.away])
    assert np.median(sizes) < 12.0


@given(talks(), manners())
def test_they_look_at_each_other_from_the_first_moment(talk, manner) -> None:
    turns, _, end = talk
    for person, looks in enumerate(plan(*talk, manner)):
        if end - turns[0].time > 1.0:
            assert looks[0].time == turns[0].time and not looks[0].away, person


@pytest.mark.parametrize("reaction", [(0.0, 0.0), (0.3, 0.5)])
def test_they_do_so_in_short_first_turns(reaction) -> None:
    for seed, people in product(range(100), (2, 3)):
        for looks in plan([Turn(0.0, 0), Turn(1.0, 0)], people, 2.0, Manner(seed, reaction)):
            assert looks[0].time == 0.0 and not looks[0].away, (seed, people)


def test_a_common_object_is_looked_at_by_the_speaker_and_then_by_listeners() -> None:
    turns = [Turn(6.0 * n, n % 2) for n in range(20)]
    looks = plan(turns, 2, 120.0, Manner(3), objects=1)
    starts = [[look.time for look in seen if look.at == 2] for seen in looks]
    assert all(starts)
    followed = [any(0.25 <= b - a <= 0.95 for b in starts[1]) for a in starts[0]]
    assert any(followed)


def test_whom_a_turn_is_addressed_to_can_be_chosen() -> None:
    looks = plan([Turn(0.0, 0, at=2), Turn(20.0, 1, at=3)], 3, 40.0, Manner(1), objects=1)
    assert {look.at for look in looks[0] if look.time < 19.0} == {2}
    assert {look.at for look in looks[1] if look.time > 20.0} == {3}
    assert 3 in {look.at for look in looks[2] if look.time > 21.0}


@given(talks(), manners())
def test_without_glances_nobody_looks_away(talk, manner) -> None:
    turns, people, end = talk
    for looks in plan(turns, people, end, Manner(manner.seed, manner.reaction, 0.0)):
        assert not any(look.away for look in looks)


def test_another_seed_is_another_conversation() -> None:
    turns = [Turn(0.0, 0), Turn(4.0, 1)]
    assert plan(turns, 2, 8.0, Manner(1)) != plan(turns, 2, 8.0, Manner(2))


@pytest.mark.thorough
def test_personalities_differ_as_they_say() -> None:
    found = {name: measured(4.0, **row.manner) for name, row in PERSONALITIES.items()}
    assert found["SHY"].listening < found["BALANCED"].listening < found["ATTENTIVE"].listening
    assert found["SHY"].speaking < found["BALANCED"].speaking < found["DOMINANT"].speaking
    assert found["DOMINANT"].listening < found["DOMINANT"].speaking
    assert found["DISTRACTED"].changes.mean() > found["ATTENTIVE"].changes.mean()


def test_each_can_have_a_manner() -> None:
    turns = [Turn(4.0 * n, n % 2) for n in range(50)]
    looks = plan(turns, 2, 200.0, [Manner(**PERSONALITIES["SHY"].manner), Manner()])
    away = [sum(look.away for look in seen) for seen in looks]
    assert away[0] > away[1]


@given(talks())
def test_objects_and_short_turns_break_nothing(talk) -> None:
    turns, people, end = talk
    assume(end - turns[0].time > 1.0)
    for looks in plan(turns, people, end, Manner(2), objects=2):
        assert all(later.time - earlier.time >= DWELL - A_LITTLE for earlier, later in pairwise(looks))


@pytest.mark.parametrize(
    ("turns", "people", "end", "match"),
    [
        ([Turn(0.0, 0)], 1, 5.0, "at least two"),
        ([], 2, 5.0, "has no turns"),
        ([Turn(0.0, 2)], 2, 5.0, "from 0 to 1"),
        ([Turn(0.0, 0, at=0)], 2, 5.0, "another person"),
        ([Turn(0.0, 0, at=2)], 2, 5.0, "another person"),
        ([Turn(0.0, 0), Turn(0.0, 1)], 2, 5.0, "in order of time"),
        ([Turn(0.0, 0)], 2, 0.0, "the end after the last"),
        ([Turn(np.nan, 0)], 2, 5.0, "in order of time"),
        ([Turn(0.0, 0)], 2, np.inf, "the end after the last"),
    ],
)
def test_what_is_no_conversation(turns, people, end, match) -> None:
    with pytest.raises(InvalidArgument, match=match):
        plan(turns, people, end)


@pytest.mark.parametrize(
    "given",
    [
        {"reaction": (0.6, 0.2)},
        {"reaction": (-1.0, 0.2)},
        {"glances": 1.5},
        {"seed": -1},
        {"listening": 2.0},
        {"hold": 0.0},
        {"blinks": -1.0},
    ],
)
def test_what_is_no_manner(given) -> None:
    with pytest.raises(InvalidArgument):
        Manner(**given)
