"""How long the window stands still, as `gaps` measures it, for all that is set of a look-at, done beside it and made of
actions on a generated human with dozens of clips, and on more rigs from other makers. It takes a quarter of an hour, so
that no test does it: the benchmark of the window does.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import bpy
from gaps import (
    BAKING,
    HUMAN,
    LIVE,
    MOST,
    Blenders,
    Edit,
    Subject,
    common_edits,
    each,
    local_human,
    measured,
    other_maker,
    rigs_of_other_makers,
)
from windowed.hands import Hands, Waiting
from windowed.scripts import script

from extension import load


def of_settings(of: Subject, own: Blenders, other: str) -> Iterator[Edit]:
    """What is set of a look-at, in the order of its panels. other: name of another target."""
    set_to = lambda name, path, *values: Edit(  # noqa: E731
        name, partial(of.set, path, *values), of.nothing, of.is_idle, own.drawn
    )
    operate = lambda name, **options: Edit(  # noqa: E731
        name, partial(of.operate, name, **options), of.take_back, of.is_idle, own.operated
    )
    yield Edit("Add", of.add, of.remove, of.is_idle, own.made)
    yield set_to("damping", "damping", "RESPONSIVE", "CRITICAL")
    yield set_to("influence", "influence", 0.5, 1.0)
    for layer in load("rig.look_at.body.layers").LAYERS.values():
        for _ in range(2):
            yield set_to(layer.label, f"{layer.group}.{layer.switch}", True, False)
    for _ in range(2):
        yield set_to("target", "target", of.scene.objects[other], of.target)
    yield operate("chain_detect")
    yield set_to("chain's share", "chain.0.share", 0.5, 0.6)
    yield set_to("chain's limit", "chain.0.yaw_limit", 0.9, 1.0)
    yield operate("key", setting="influence")
    yield operate("look_away")
    yield operate("target_add", empty=True)
    yield operate("look_here", number=0)
    yield operate("glance", number=0)
    yield Edit("nod", partial(of.key_setting, "nod"), of.nothing, of.is_idle, own.keyed)
    yield Edit("target's key", of.key_target, of.nothing, of.is_idle, own.keyed)
    yield Edit("undo", of.take_back, of.constrain, of.is_idle, own.undone)
    yield operate("compare")
    yield Edit("compare's end", partial(of.operate, "compare"), of.nothing, of.is_idle, own.operated)
    yield operate("copy_settings")
    for _ in range(2):
        yield set_to("mute", "mute", True, False)
    yield Edit("bake", of.bake, of.take_back, of.is_idle, own.operated, BAKING)
    yield Edit("compare of a bake", partial(of.operate, "compare"), of.nothing, of.is_idle, own.operated)
    yield operate("edit_live")
    yield Edit("Remove", of.remove, of.add, of.is_idle, own.operated)


def of_features(of: Subject, own: Blenders, fingers: tuple[str, ...], hand: str) -> Iterator[Edit]:
    """What is done beside look-ats, of a rig in Pose Mode. fingers: bones of one; hand: a bone that turns an arm."""
    operate = lambda name, most=MOST, **options: Edit(  # noqa: E731
        name, partial(of.operate, name, **options), of.take_back, of.is_idle, own.operated, most
    )

    def chosen(edit: Edit, *names: str) -> Edit:
        return replace(edit, undo=lambda: (edit.undo(), of.pose(*names)), before=partial(of.pose, *names))

    def slide(group: str, bone: str) -> Edit:
        def do() -> None:
            settings = getattr(of.rig.pose.bones[bone], group)
            assert settings.exists, f"nothing was added to {bone}"
            # Blender holds 0.8 as the next number that it has.
            settings.settle_time = 0.7 if settings.settle_time > 0.75 else 0.8

        return Edit(f"settle time of {group}", do, of.nothing, of.is_idle, own.drawn)

    yield chosen(operate("add_springs"), *fingers)
    yield slide("lookat_pd_springs", fingers[0])
    yield chosen(operate("add_spring_collider"), *fingers)
    yield chosen(operate("springs_bake", BAKING), *fingers)
    yield chosen(operate("springs_remove"), *fingers)
    yield chosen(operate("pd_follow_add"), fingers[-1])
    yield slide("lookat_pd_follow", fingers[-1])
    yield chosen(operate("pd_follow_bake", BAKING), fingers[-1])
    yield chosen(operate("pd_follow_remove"), fingers[-1])

    def aim() -> None:
        of.scene.lookat_pd_ik.target = of.target

    yield Edit("IK's target", aim, of.nothing, of.is_idle, own.drawn)
    bake = chosen(operate("ik_bake", BAKING), hand)
    # To undo the bake takes what was set before it back, too: that has no step of its own.
    yield replace(bake, undo=lambda: (bake.undo(), aim()))
    yield chosen(operate("ik_switch", BAKING, to="FK"), hand)
    yield chosen(operate("ik_pin"), hand)
    yield chosen(operate("hit_add"), "chest")
    yield chosen(operate("hit", BAKING), "chest")


def of_actions(of: Subject, own: Blenders, second: str) -> Iterator[Edit]:
    """Joins and what is made of actions, which show progress. second: another action."""
    for name, options in (
        ("inertialize", {"destination": second, "source_frame": 60, "use_dialog": False, "pose_source": "KEYS"}),
        ("inertialize", {"destination": second, "source_frame": 60, "use_dialog": False, "pose_source": "VISUAL"}),
        ("compare_library", {}),
        ("best_cut", {"source": of.rig.animation_data.action.name, "destination": second}),
        ("loop_action", {}),
        ("in_place", {}),
        ("find_visual_pops", {}),
    ):
        do = partial(of.operate, name, **options)
        label = f"{name} of the visual pose" if options.get("pose_source") == "VISUAL" else name
        yield Edit(label, do, of.take_back, of.is_idle, own.operated, BAKING)
        if label != name:
            # Such a join is live: it is made again.
            yield Edit("key in that join", partial(of.key, 62), of.nothing, of.is_idle, own.keyed)


@script(needs=LIVE)
def settings_of_a_generated_human(hands: Hands) -> Waiting:
    of = yield from local_human(hands)
    yield from each(of, HUMAN, of_settings(of, (yield from measured(of, HUMAN)), "Other"))


@script(needs=LIVE)
def features_of_a_generated_human(hands: Hands) -> Waiting:
    of = yield from local_human(hands)
    own = yield from measured(of, HUMAN)
    of.add()
    assert (yield from hands.until(of.is_idle))
    for collection in of.rig.data.collections_all:
        # Operators leave alone what is out of sight.
        collection.is_visible = True
    bpy.ops.ed.undo_push(message="In sight")
    fingers = tuple(f"f_index.{n:02d}.L" for n in (1, 2, 3))
    yield from each(of, HUMAN, of_features(of, own, fingers, "hand_fk.L"))


@script(needs=LIVE)
def actions_of_a_generated_human(hands: Hands) -> Waiting:
    of = yield from local_human(hands)
    own = yield from measured(of, HUMAN)
    second = of.rig.animation_data.action.copy()
    bpy.ops.ed.undo_push(message="Second")
    yield from each(of, HUMAN, of_actions(of, own, second.name))


@script(needs=LIVE)
def more_rigs_of_other_makers(hands: Hands) -> Waiting:
    for path in itertools.islice(rigs_of_other_makers(), 1, None):
        yield from common_edits((yield from other_maker(hands, path)), path.stem)
