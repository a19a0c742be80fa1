"""The laws of what people do besides looking in a conversation: blinks, nods, tilts, gestures, shifts of weight."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookat_pd.conversation import DWELL, Manner, Turn, blinks, fixations, gestures, nods, plan, shifts, tilts


def turns_of(length: float) -> list[Turn]:
    return [Turn(length * n, n % 2) for n in range(int(np.ceil(60.0 / length)))]


def blinked(length: float, seed: int, **manner) -> list[list[float]]:
    turns, chosen = turns_of(length), Manner(seed, **manner)
    return blinks(turns, 2, 60.0, plan(turns, 2, 60.0, chosen), chosen)


@pytest.mark.thorough
@pytest.mark.parametrize("length", [1.5, 2.5, 4.0, 8.0])
def test_people_blink_as_often_as_people_do(length) -> None:
    """Bentivoglio and others (1997): 17 a minute at rest, 26 while talking."""
    counts = [len(times) for seed in range(20) for times in blinked(length, seed)]
    assert 12.0 <= np.mean(counts) <= 25.0


def test_speakers_blink_more() -> None:
    turns = [Turn(0.0, 0)]
    looks = plan(turns, 2, 600.0, Manner(1))
    speaker, listener = blinks(turns, 2, 600.0, looks, Manner(1))
    assert 1.3 < len(speaker) / len(listener) < 2.2


def test_blinks_go_with_changes_of_gaze() -> None:
    turns, near, far = turns_of(4.0), 0, 0
    for seed in range(10):
        looks = plan(turns, 2, 60.0, Manner(seed))
        for seen, times in zip(looks, blinks(turns, 2, 60.0, looks, Manner(seed)), strict=True):
            changes = np.array([look.time for look in seen])
            with_change = [np.abs(changes - time).min() < 0.05 for time in times]
            near, far = near + sum(with_change), far + len(times) - sum(with_change)
    assert near / (near + far) > 0.25


@given(st.integers(0, 30))
def test_no_blink_while_the_last_one_lasts(seed) -> None:
    for times in blinked(2.5, seed):
        assert all(later - earlier > 0.5 for earlier, later in pairwise(times))


def test_no_blinks_and_no_nods_where_they_are_off() -> None:
    assert blinked(4.0, 1, blinks=0.0) == [[], []]
    assert nods(turns_of(4.0), 2, 60.0, Manner(1, nods=0.0)) == [[], []]
    assert tilts(turns_of(4.0), 2, 60.0, Manner(1, tilts=0.0)) == [[], []]
    assert gestures(turns_of(4.0), 2, 60.0, Manner(1, gestures=0.0)) == [[], []]
    assert shifts(turns_of(4.0), 2, 60.0, Manner(1, shifts=0.0)) == [[], []]
    looks = plan(turns_of(4.0), 2, 60.0, Manner(1))
    assert fixations(turns_of(4.0), 2, 60.0, looks, Manner(1, scanning=0.0)) == [[], []]


def test_listeners_nod_after_pauses() -> None:
    """Within a second after the speaker's pauses, and never while they speak themselves, but for the first moment."""
    turns = [Turn(0.0, 0), Turn(3.0, 0), Turn(7.0, 0), Turn(12.0, 1), Turn(20.0, 0)]
    counts = []
    for seed in range(20):
        found = nods(turns, 3, 30.0, Manner(seed))
        for nod in found[2]:
            if nod.time < 12.0:
                assert any(0.0 <= nod.time - pause <= 0.61 for pause in (3.0, 7.0, 12.0)), nod
            assert np.radians(3.9) < nod.angle < np.radians(8.1)
        assert all(nod.time > 3.0 for nod in found[1])
        counts.append(len(found[2]))
    assert 2.0 < np.mean(counts) < 8.0


@given(st.integers(0, 30))
def test_nods_do_not_overlap(seed) -> None:
    for found in nods(turns_of(1.5), 2, 60.0, Manner(seed)):
        assert all(later.time >= earlier.end for earlier, later in pairwise(found))


@pytest.mark.parametrize("length", [1.5, 8.0, 60.0])
def test_heads_tilt_a_little_to_both_sides_and_are_upright_between(length) -> None:
    each = [found for seed in range(10) for found in tilts(turns_of(length), 2, 60.0, Manner(seed))]
    for found in each:
        assert 5 <= len(found) <= 16
        assert all(later.time - earlier.time >= 4.0 for earlier, later in pairwise(found))
    angles = np.degrees([tilt.angle for found in each for tilt in found])
    assert np.all((angles == 0.0) | ((np.abs(angles) >= 2.0) & (np.abs(angles) <= 7.0)))
    assert all(np.mean(side) > 0.2 for side in (angles < 0.0, angles == 0.0, angles > 0.0))


def test_a_tilt_depends_on_what_was_said_before_only() -> None:
    """More turns later leave the tilts of the speeches before as they are."""
    few, more = turns_of(4.0)[:5], turns_of(4.0)[:9]
    for one, other in zip(tilts(few, 2, 20.0, Manner(3)), tilts(more, 2, 36.0, Manner(3)), strict=True):
        assert one == [tilt for tilt in other if tilt.time < 20.0]


@pytest.mark.thorough
@given(st.integers(0, 30), st.floats(0.2, 3.0))
def test_eyes_rest_on_parts_of_the_face_and_go_on(seed, often) -> None:
    """Each look at a face begins at one of its parts, and no gaze changes twice within 0.3 s."""
    turns, manner = turns_of(4.0), Manner(seed, scanning=often)
    looks = plan(turns, 2, 60.0, manner)
    for seen, found in zip(looks, fixations(turns, 2, 60.0, looks, manner), strict=True):
        begun = {look.time for look in seen if not look.away}
        assert begun <= {fixation.time for fixation in found}
        times = sorted({look.time for look in seen} | {fixation.time for fixation in found})
        assert all(later - earlier >= DWELL - 1e-9 for earlier, later in pairwise(times))
        aside = [look.time for look in seen if look.away]
        for before, after in pairwise(found):
            if after.time not in begun:
                assert (before.side, before.up) != (after.side, after.up)
                assert not any(before.time < time <= after.time for time in aside)


def test_a_face_is_scanned_at_both_eyes_and_below_them_and_at_the_mouth_more_while_listening() -> None:
    """Sides are in distances between the eyes, heights in those from the eyes to the mouth."""
    parts, at_mouth = set(), {True: [], False: []}
    for seed in range(6):
        turns, manner = turns_of(4.0), Manner(seed)
        looks = plan(turns, 2, 60.0, manner)
        for person, found in enumerate(fixations(turns, 2, 60.0, looks, manner)):
            for fixation in found:
                parts.add((fixation.side, fixation.up))
                speaker = [turn.speaker for turn in turns if turn.time <= fixation.time][-1]
                at_mouth[speaker == person].append(fixation.up == -1.0)
    assert parts == {(0.5, 0.0), (-0.5, 0.0), (0.0, -0.5), (0.0, -1.0)}
    assert np.mean(at_mouth[False]) > 1.3 * np.mean(at_mouth[True]) > 0.1


@pytest.mark.parametrize("length", [1.5, 2.5, 4.0, 8.0])
def test_heads_move_with_their_speech_and_rest_when_it_ends(length) -> None:
    turns = turns_of(length)
    for seed in range(10):
        for person, found in enumerate(gestures(turns, 2, 60.0, Manner(seed))):
            spoken = [(turn.time, min(turn.time + length, 60.0)) for turn in turns if turn.speaker == person]
            for begin, end in spoken:
                own = [gesture for gesture in found if begin <= gesture.time <= end]
                assert len(own) >= length
                assert (own[-1].yaw, own[-1].pitch) == (0.0, 0.0)
                # Its way back takes 0.4 s or so: who listens then moves no more.
                assert own[-1].time <= end - 0.4
            assert all(later.time >= earlier.time for earlier, later in pairwise(found))
            assert all(any(b <= gesture.time <= e for b, e in spoken) for gesture in found)
            sizes = np.degrees([(gesture.yaw, gesture.pitch) for gesture in found])
            assert np.abs(sizes).max() < 25.0 and 2.0 < np.percentile(np.abs(sizes[:, 1]), 75) < 7.0


@pytest.mark.parametrize("length", [2.5, 8.0, 60.0])
def test_people_stand_on_one_leg_and_then_on_the_other(length) -> None:
    each = [found for seed in range(10) for found in shifts(turns_of(length), 2, 60.0, Manner(seed))]
    for found in each:
        assert found[0].time == 0.0 and len(found) >= 2
        assert all(later.time > earlier.time for earlier, later in pairwise(found))
    assert 3 <= np.mean([len(found) for found in each]) <= 14
    sides = np.array([shift.side for found in each for shift in found])
    assert np.abs(sides).max() <= 1.0 and all(np.mean(side) > 0.3 for side in (sides < 0.0, sides > 0.0))


def test_amounts_are_factors_of_angles_and_distances() -> None:
    turns = turns_of(4.0)
    for of in (gestures, shifts):
        (whole, _), (half, _) = (of(turns, 2, 60.0, Manner(2, gestures=f, shifts=f)) for f in (1.0, 0.5))
        for one, other in zip(whole, half, strict=True):
            assert one.time == other.time
            for name in {"yaw", "pitch", "side"} & set(vars(one)):
                assert getattr(other, name) == pytest.approx(0.5 * getattr(one, name))


@pytest.mark.parametrize("of", [gestures, shifts])
def test_what_comes_later_changes_no_gesture_before(of) -> None:
    few, more = turns_of(4.0)[:5], turns_of(4.0)[:9]
    for one, other in zip(of(few, 2, 20.0, Manner(3)), of(more, 2, 36.0, Manner(3)), strict=True):
        assert [found for found in one if found.time < 19.0] == [found for found in other if found.time < 19.0]


@pytest.mark.thorough
@given(st.integers(0, 30), st.floats(-1.2, 1.2))
def test_an_edited_turn_leaves_what_comes_long_after_it_as_it_is(seed, moved) -> None:
    """Everybody begins anew after six turns: two turns later nobody looks, blinks or moves otherwise."""
    manner, after = Manner(seed), 4.0 * 8
    turns = turns_of(4.0)[:15]
    edited = [Turn(turn.time + moved * (n == 3), turn.speaker) for n, turn in enumerate(turns)]
    for one, other in zip(signs(turns, manner), signs(edited, manner), strict=True):
        assert [later(row, after) for row in one] == [later(row, after) for row in other]


def signs(turns: list[Turn], manner: Manner) -> list[list]:
    looks = plan(turns, 2, 60.0, manner)
    of_each = [function(turns, 2, 60.0, manner) for function in (nods, tilts, gestures, shifts)]
    return [looks, blinks(turns, 2, 60.0, looks, manner), fixations(turns, 2, 60.0, looks, manner), *of_each]


def later(row: list, after: float) -> list:
    return [one for one in row if (one if isinstance(one, float) else one.time) > after]
