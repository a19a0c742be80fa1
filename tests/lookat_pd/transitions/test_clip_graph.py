"""The cuts between the clips of a library, and the cheapest path over them."""

from itertools import pairwise

import numpy as np
import pytest

from lookat_pd.errors import InvalidArgument
from lookat_pd.transitions import best_cut, clip_graph
from lookat_pd.transitions.clip_graph import ClipCut, ClipGraph

DT = 1.0 / 30.0


def clip(seed: int, frames: int = 30, joints: int = 6, amount: float = 0.3) -> np.ndarray:
    """Positions (frames, joints, 3) that sway about the same pose."""
    random = np.random.default_rng(seed)
    t = np.arange(frames)[:, None, None] * DT
    sway = np.sin(random.uniform(1, 5, (joints, 3)) * t + random.uniform(0, 6, (joints, 3)))
    return np.random.default_rng(0).normal(size=(joints, 3)) + amount * sway


def feet(positions: np.ndarray) -> np.ndarray:
    return positions[:, :2, 2] < np.median(positions[:, :2, 2], axis=0)


def line(*steps: tuple[int, int, int, int, float], lengths=(30, 30, 30)) -> ClipGraph:
    return ClipGraph(lengths, tuple(sorted((ClipCut(*step) for step in steps), key=lambda cut: cut.cost)))


def test_two_clips_have_the_cuts_of_the_search() -> None:
    clips = [clip(1), clip(2, 40)]
    touching = [feet(each) for each in clips]
    graph = clip_graph.compare(clips, DT, contacts=touching, per_pair=3, spacing=6, room=4)
    found = best_cut.search(*clips, DT, contacts=tuple(touching)).best(3, spacing=6, room=4)
    here = [cut for cut in graph.cuts if (cut.source, cut.destination) == (0, 1)]
    assert [(cut.i, cut.j) for cut in here] == [(cut.i, cut.j) for cut in found]
    np.testing.assert_allclose([cut.cost for cut in here], [cut.cost for cut in found], rtol=1e-9)
    assert graph.lengths == (30, 40) and graph.pairs()[0] in graph.cuts


def test_each_pair_has_its_best_cut_and_all_are_in_order() -> None:
    clips = [clip(seed, 24) for seed in range(4)]
    graph = clip_graph.compare(clips, DT)
    costs = [cut.cost for cut in graph.cuts]
    assert costs == sorted(costs)
    pairs = graph.pairs()
    assert {(cut.source, cut.destination) for cut in pairs} == {(a, b) for a in range(4) for b in range(4) if a != b}
    for cut in pairs:
        every = [other.cost for other in graph.cuts if (other.source, other.destination) == cut[:2]]
        assert cut.cost == min(every) and len(every) <= 4


def test_a_cycle_leads_back_into_itself() -> None:
    t = np.arange(31)[:, None, None] * 2 * np.pi / 30
    cycle = np.random.default_rng(0).normal(size=(6, 3)) + 0.3 * np.sin(t + np.arange(18).reshape(6, 3))
    graph = clip_graph.compare([cycle, clip(3)], DT, spacing=5)
    itself = [cut for cut in graph.cuts if cut.source == cut.destination == 0]
    assert all(cut.i - cut.j > 5 for cut in itself)
    assert itself[0].i - itself[0].j in (29, 30) and itself[0].cost < 0.05 * graph.pairs()[0].cost


def test_the_path_goes_over_a_clip_between_where_that_costs_less() -> None:
    steps = ((0, 2, 20, 3, 0.5), (0, 1, 20, 3, 0.1), (1, 2, 20, 3, 0.1))
    assert [cut[:2] for cut in line(*steps).cheapest(0, 2)] == [(0, 1), (1, 2)]
    assert [cut[:2] for cut in line(*steps).cheapest(0, 2, cut_cost=0.31)] == [(0, 2)]


def test_a_path_never_goes_back_in_time_but_by_a_cut() -> None:
    early = line((0, 1, 20, 25, 0.1), (1, 2, 5, 3, 0.1))
    assert early.cheapest(0, 2) == []
    loops = line((0, 1, 20, 25, 0.1), (1, 2, 5, 3, 0.1), (1, 1, 29, 0, 0.0))
    path = loops.cheapest(0, 2)
    assert [cut[:2] for cut in path] == [(0, 1), (1, 1), (1, 2)]
    for before, after in pairwise(path):
        assert after.source == before.destination and after.i > before.j


def test_where_a_path_may_begin_and_end() -> None:
    graph = line((0, 1, 4, 3, 0.1), (0, 1, 20, 3, 0.2), (0, 1, 25, 20, 0.0))
    assert graph.cheapest(0, 1, enter=slice(0, 10))[0].i == 4
    assert graph.cheapest(0, 1, leave=slice(10, None), enter=slice(0, 10))[0].i == 20
    stays = line((0, 1, 5, 3, 0.1), (1, 2, 8, 3, 0.1))
    assert stays.cheapest(0, 2, stay=4) and not stays.cheapest(0, 2, stay=5)


@pytest.mark.parametrize("seed", range(5))
def test_no_chain_of_cuts_is_cheaper(seed) -> None:
    """Beside every sequence of up to three cuts."""
    graph = clip_graph.compare([clip(10 * seed + n, 16) for n in range(3)], DT, per_pair=2, spacing=3)
    path = graph.cheapest(0, 2)
    least = np.inf
    chains = [[cut] for cut in graph.cuts if cut.source == 0]
    for _ in range(3):
        least = min([least, *(sum(cut.cost for cut in chain) for chain in chains if chain[-1].destination == 2)])
        chains = [
            [*chain, cut]
            for chain in chains
            for cut in graph.cuts
            if cut.source == chain[-1].destination and cut.i > chain[-1].j + 1
        ]
    assert sum(cut.cost for cut in path) <= least + 1e-12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clips": []}, "no clips"),
        ({"clips": [clip(1), clip(1, joints=5)]}, "same joints"),
        ({"contacts": [np.ones((30, 2))]}, "contacts of 1 clips"),
        ({"contacts": [np.ones((30, 2)), np.ones((30, 3))]}, "Contacts"),
        ({"spacing": -1}, "spacing"),
        ({"dt": 0.0}, "time step"),
    ],
)
def test_wrong_input(change, message) -> None:
    with pytest.raises(InvalidArgument, match=message):
        clip_graph.compare(**{"clips": [clip(1), clip(2)], "dt": DT, **change})


def test_wrong_clips_of_a_path() -> None:
    for clips in ((0, 3), (-1, 0), (0.5, 1)):
        with pytest.raises(InvalidArgument, match="among the 3 clips"):
            line().cheapest(*clips)
    with pytest.raises(InvalidArgument, match="cost of a cut"):
        line().cheapest(0, 1, cut_cost=-1.0)
