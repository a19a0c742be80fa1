"""Layers are solved after those on which they depend, and again once these have changed."""

import bpy
import pytest

from extension import load

from .. import scenes

dependence = load("rig.layers.dependence")
kinds = load("rig.layers.kinds")
layer = load("rig.layers.layer")


class First(layer.Layer):
    order = 1


class Last(layer.Layer):
    order = -1


class _Kind(kinds.Kind):
    def __init__(self, name: str, of: type) -> None:
        super().__init__(None)
        self.name, self.layer = name, of

    def find(self, scene):
        return ()

    def settings(self, instance, keyed):
        return ()

    def inputs(self, instance):
        return [instance.owner], [instance.resolved]

    def solve(self, solve, over):
        yield from ()

    def mute(self, instance) -> None:
        pass


def solve_of(kind, owner, target=None):
    made = kinds.LayerSolve(kinds.Instance(owner, "", 1, target))
    made.key = kind.name, owner.session_uid, 1
    return kind, made


@pytest.fixture
def rigs(empty_file) -> list[bpy.types.Object]:
    return [scenes.figure(name) for name in ("One", "Other")]


@pytest.mark.every_blender
def test_what_comes_last_in_the_stacks_is_solved_first_where_it_depends_on_nothing(rigs) -> None:
    first, last = _Kind("FIRST", First), _Kind("LAST", Last)
    scene, one, other = bpy.context.scene, *rigs
    looking = solve_of(first, one, other)
    for follower, order in ((solve_of(last, other), ["LAST", "FIRST"]), (solve_of(last, one), ["FIRST", "LAST"])):
        groups = dependence.Dependence().groups(scene, [looking, follower])
        assert [kind.name for kind, _ in groups] == order


def test_a_layer_is_out_of_date_once_one_below_it_is_another(rigs) -> None:
    first, last = _Kind("FIRST", First), _Kind("LAST", Last)
    scene, one, other = bpy.context.scene, *rigs
    looking, follower = solve_of(first, one, other), solve_of(last, other)
    layers, known = [looking, follower], dependence.Dependence()
    follower[1].track = object()
    for stale, change in (
        (kinds.TARGETS, lambda: None),
        (kinds.FRESH, lambda: None),
        (kinds.TARGETS, lambda: setattr(follower[1], "track", object())),
        (kinds.BODY, lambda: layers.remove(follower)),
    ):
        change()
        looking[1].stale = kinds.FRESH
        assert known.see_below(scene, *looking, layers) == (stale != kinds.FRESH)
        assert looking[1].stale == stale


class _Copied(kinds.LayerSolve):
    bones: dict | None = None

    @property
    def copied(self):
        return self.bones


def test_a_layer_that_moves_no_bone_of_the_copies_is_no_reason_to_solve_another_again(rigs) -> None:
    first, last = _Kind("FIRST", First), _Kind("LAST", Last)
    scene, rig = bpy.context.scene, rigs[0]
    looking = _Copied(kinds.Instance(rig, "", 1))
    looking.key = first.name, rig.session_uid, 1
    follower = kinds.LayerSolve(kinds.Instance(rig, "hips", rows=(("hips", "LOCATION"),)))
    follower.key = last.name, rig.session_uid, "hips"
    layers, known = [(first, looking), (last, follower)], dependence.Dependence()

    def is_out_of_date() -> bool:
        follower.track, looking.stale = object(), kinds.FRESH
        return known.see_below(scene, first, looking, layers)

    assert is_out_of_date(), "nobody knows yet what matters"
    looking.bones = {rig: {"head"}}
    assert not is_out_of_date() and not is_out_of_date()
    looking.bones = None
    assert not is_out_of_date(), "after an undo"
    looking.bones = {rig: {"head", "hips"}}
    assert is_out_of_date() and is_out_of_date()
    looking.bones = {}
    assert is_out_of_date(), "the whole rig is sampled"
    looking.bones = {rig: {"head"}}
    assert not is_out_of_date()
    layers.pop()
    assert not is_out_of_date(), "it is gone"
