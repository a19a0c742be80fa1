"""Springs of a VRM file that are read, edited, written and read again are the edited ones, in both versions."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest
from mathutils import Vector

from extension import load

from .. import scenes
from .tails import HAIR, ROWS, TAIL, springs_edit

along_chain = load("rig.springs.along_chain")
chains = load("rig.springs.chains")
colliders = load("rig.springs.colliders")
vrm_data = load("rig.springs.vrm_data")
vrm_known = load("rig.springs.vrm_known")
vrm_springs = load("rig.springs.vrm_springs")
vrm_tuning = load("rig.springs.vrm_tuning")
vrm_writing = load("rig.springs.vrm_writing")
NAMES = ["Hero", *(row[0] for row in ROWS)]
EXTENDED = "VRMC_springBone_extended_collider"


def nodes() -> list[dict]:
    """The figure below a node for its armature object."""
    heads = {name: np.array(head) for name, _, head, _ in ROWS} | {None: np.zeros(3)}
    found = [{"name": name, "children": []} for name in NAMES]
    for name, parent, head, _ in ROWS:
        x, y, z = (head - heads[parent]).tolist()
        found[NAMES.index(name)]["translation"] = [x, z, -y]
        found[NAMES.index(parent) if parent else 0]["children"].append(NAMES.index(name))
    return found


def number(name: str) -> int:
    return NAMES.index(name)


def new(r: np.random.Generator | None = None) -> dict:
    """VRM 1.0 with a tail and hair, which collide with one group each; with a generator also what is at bounds."""
    odd, r = float(r is not None), r or np.random.default_rng(1)

    def joint(bone: str) -> dict:
        return {
            "node": number(bone),
            "stiffness": float(r.choice([0.0, r.uniform(0.1, 4.0)], p=[0.2 * odd, 1.0 - 0.2 * odd])),
            "dragForce": float(r.choice([0.0, 1.0, r.uniform(0.2, 0.6)], p=[0.2 * odd, 0.2 * odd, 1.0 - 0.4 * odd])),
            "gravityPower": float(r.choice([0.0, r.uniform(0.0, 2.0)], p=[0.2 * odd, 1.0 - 0.2 * odd])),
            "gravityDir": [0.0, -1.0, 0.0],
            "hitRadius": float(r.uniform(0.0, 0.05)),
        }

    sphere = {"node": number("hips"), "shape": {"sphere": {"offset": [0.0, 0.05, r.random()], "radius": 0.08}}}
    capsule = {
        "node": number("head"),
        "shape": {"capsule": {"offset": [0.1, 0, 0], "tail": [0, 0.2, 0], "radius": 0.05}},
    }
    plane = {"offset": [0.0, 0.1, 0.0], "normal": [0.6, 0.8, 0.0]}
    inside = {"sphere": {"radius": 0.5, "inside": True}}
    extended = [{EXTENDED: {"specVersion": "1.0", "shape": shape}} for shape in ({"plane": plane}, inside)]
    center = r.choice(["", "hips", "Hero"])
    tail = {"name": "Tail", "joints": [*map(joint, TAIL[:3]), {"node": number(TAIL[3])}], "colliderGroups": [0]}
    hair = {"joints": [joint(HAIR[0]), {"node": number(HAIR[1])}], "colliderGroups": [1, 0], "extras": {"kept": 1}}
    own = {
        "specVersion": "1.0",
        "colliders": [sphere, capsule, *({**sphere, "extensions": further} for further in extended)],
        "colliderGroups": [{"name": "Body", "colliders": [0, 3]}, {"colliders": [1, 2]}],
        "springs": [{**tail, **({"center": number(center)} if center else {})}, hair],
    }
    return {
        "nodes": nodes(),
        "extensions": {"VRMC_vrm": {}, "VRMC_springBone": own},
        "extensionsUsed": ["VRMC_springBone", EXTENDED],
    }


def old(r: np.random.Generator | None = None) -> dict:
    """VRM 0.x with the same."""
    odd, r = float(r is not None), r or np.random.default_rng(1)

    def group(*roots: str, of: list[int]) -> dict:
        return {
            "comment": roots[0],
            "stiffiness": float(r.choice([0.0, r.uniform(0.1, 4.0)], p=[0.2 * odd, 1.0 - 0.2 * odd])),
            "gravityPower": float(r.choice([0.0, r.uniform(0.0, 2.0)], p=[0.2 * odd, 1.0 - 0.2 * odd])),
            "gravityDir": {"x": 0, "y": -1, "z": 0},
            "dragForce": float(r.random()),
            "center": int(r.choice([-1, number("hips"), 0])),
            "hitRadius": float(r.uniform(0.0, 0.05)),
            "bones": [number(root) for root in roots],
            "colliderGroups": of,
        }

    def spheres(bone: str, *radii: float) -> dict:
        rows = [{"offset": {"x": 0.0, "y": radius, "z": -0.1}, "radius": radius} for radius in radii]
        return {"node": number(bone), "colliders": rows}

    own = {
        "boneGroups": [group(TAIL[0], of=[0]), group(HAIR[0], of=[1, 0])],
        "colliderGroups": [spheres("hips", 0.08, 0.1), spheres("head", 0.05)],
    }
    return {"nodes": nodes(), "extensions": {"VRM": {"secondaryAnimation": own, "meta": {"kept": 1}}}}


def figure() -> bpy.types.Object:
    bpy.data.batch_remove(bpy.data.objects)
    return scenes.figure(rows=ROWS)


def character(document: dict) -> bpy.types.Object:
    """The figure with the springs of a file, alone."""
    armature = figure()
    vrm_springs.take_over(bpy.context.scene, armature, vrm_data.read(document))
    return armature


def written(document: dict, armature: bpy.types.Object) -> tuple[dict, list[str]]:
    """The file with the springs of the figure, and what is said."""
    made, done = vrm_writing.edited(document, bpy.context.scene, armature)
    return made, [str(note) for note in done.notes]


def bone_state(armature: bpy.types.Object) -> dict:
    """How each bone swings, from what it hangs, with which center, and with what it collides."""
    gravity = vrm_tuning.gravity_of(bpy.context.scene)
    found = {}
    for chain in chains.on(armature):
        s = chain.settings
        met = [
            (now.bone, now.shape, *np.round(now._numbers, 3).tolist())
            for item in colliders.on(bpy.context.scene)
            if (now := vrm_known.as_in_file(armature, item))
            and s.collide
            and colliders.meets([item], s.collider_groups)[0]
        ]
        for bone, own in vrm_tuning.of_chain(chain, gravity).items():
            values = own.settle_time, own.air, *own.pulled, own.radius
            found[bone] = np.round(values, 3).tolist(), s.inertia, s.center if s.inertia < 1.0 else "", sorted(met)
    return found


VERSIONS = pytest.mark.parametrize("made", [new, old], ids=["1.0", "0.x"])


@VERSIONS
def test_what_was_not_changed_stays_as_it_is(made) -> None:
    for seed in range(12):
        document = made(np.random.default_rng(seed))
        armature = character(document)
        found, notes = written(document, armature)
        assert found == document and not notes


Edit = Callable[[bpy.types.Object], object]


def of(armature: bpy.types.Object, bone: str) -> object:
    return chains.containing(armature, bone).settings


def tune(bone: str, **values: object) -> Edit:
    def edit(armature: bpy.types.Object) -> None:
        for name, value in values.items():
            setattr(of(armature, bone), name, value)

    return edit


def empties(armature: bpy.types.Object, bone: str) -> list[bpy.types.Object]:
    return [item for item in armature.children if item.parent_bone == bone]


def move(armature: bpy.types.Object) -> None:
    item = empties(armature, "hips")[0]
    item.location.x += 0.07
    item.empty_display_size = 0.13


def to_other_bone(armature: bpy.types.Object) -> None:
    empties(armature, "hips")[0].parent_bone = "chest"


def lose(armature: bpy.types.Object) -> None:
    bpy.data.objects.remove(empties(armature, "hips")[0])


def no_longer(armature: bpy.types.Object) -> None:
    empties(armature, "head")[0].lookat_pd_collider.exists = False


def regroup(armature: bpy.types.Object) -> None:
    empties(armature, "hips")[0].lookat_pd_collider.groups = "Other"
    of(armature, HAIR[0]).collider_groups += ", Other"


def add(shape: str, groups: str) -> Edit:
    def edit(armature: bpy.types.Object) -> None:
        item = springs_edit.add_collider(bpy.context.scene, shape)
        item.parent, item.parent_type, item.parent_bone = armature, "BONE", "chest"
        item.location, item.rotation_euler = (0.02, -0.1, 0.05), (0.3, 0.5, 0.0)
        item.scale = (1.5, 1.5, 1.5)
        item.lookat_pd_collider.groups, item.lookat_pd_collider.friction = groups, 0.0
        of(armature, TAIL[0]).collider_groups = groups

    return edit


def remove(bone: str) -> Edit:
    return lambda armature: springs_edit.remove(chains.containing(armature, bone))


def anew(bones: tuple[str, ...]) -> Edit:
    """Springs on fewer or more bones than the file has."""

    def edit(armature: bpy.types.Object) -> None:
        for bone in bones:
            if (chain := chains.containing(armature, bone)) is not None:
                springs_edit.remove(chain)
        (chain,) = springs_edit.add(armature, [bones])
        s = chain.settings
        s.one_way, s.settle_time, s.radius, s.tip_factor, s.damping_ratio, s.drag = True, 0.5, 0.01, 1.0, 0.1, 5.0
        s.collide = False

    return edit


def all_edits(*edits: Edit) -> Edit:
    def edit(armature: bpy.types.Object) -> None:
        for one in edits:
            one(armature)

    return edit


BOTH = {
    "softer": tune(TAIL[0], settle_time=0.6),
    "drag": tune(TAIL[0], drag=9.0, damping_ratio=0.3),
    "thicker": tune(HAIR[0], radius=0.031, tip_radius=1.0),
    "lighter": tune(TAIL[0], gravity=0.05),
    "wind": tune(TAIL[0], wind=(0.5, 0.2, 0.0), gravity=0.0),
    "a center": tune(HAIR[0], center="chest", inertia=0.0),
    "the object as center": tune(HAIR[0], center="", inertia=0.0),
    "no center": tune(TAIL[0], center="", inertia=1.0),
    "collides with nothing": tune(HAIR[0], collide=False),
    "collides with all": tune(TAIL[0], collider_groups=""),
    "a collider moves": move,
    "a collider on another bone": to_other_bone,
    "a collider is lost": lose,
    "a collider is none any more": no_longer,
    "no colliders": all_edits(lose, lose, no_longer),
    "another group": regroup,
    "a sphere": add("SPHERE", "Mine"),
    "a sphere for all": add("SPHERE", ""),
    "no hair": remove(HAIR[0]),
    "nothing": all_edits(remove(HAIR[0]), remove(TAIL[0])),
}
NEW = {
    "a capsule": add("CAPSULE", "Mine"),
    "a plane": add("PLANE", "Mine"),
    "a plane for all": add("PLANE", ""),
    "a shorter tail": anew(TAIL[:2]),
    "a tail without its root": anew(TAIL[1:3]),
    "a longer tail": anew(TAIL),
    "a gap": all_edits(anew(TAIL[:1]), anew(TAIL[2:3])),
    "the first one softer": lambda armature: setattr(of(armature, TAIL[0]).bones[0], "settle_factor", 3.0),
    "drawn": lambda armature: [
        along_chain.draw(chains.containing(armature, TAIL[0]), name, lambda at: 2.0 - at)
        for name in ("radius_factor", "gravity_factor", "drag_factor")
    ],
}
OLD = {"a tail from its second bone on": anew(TAIL[1:])}


@pytest.mark.thorough
@VERSIONS
def test_edits_come_back_from_the_file(made) -> None:
    for name, edit in {**BOTH, **(NEW if made is new else OLD)}.items():
        try:
            comes_back(made, edit)
        except AssertionError as error:
            error.add_note(f"edit: {name}")
            raise


def comes_back(made: Callable, edit: Edit) -> None:
    document = made()
    armature = character(document)
    edit(armature)
    wanted = bone_state(armature)
    found, notes = written(document, armature)
    assert found != document
    assert written(found, armature)[0] == found, "once more into the file that was written: nothing new"
    assert written(document, armature)[0] == found
    if wanted:
        # The last joint of VRM 0.x is half as long as the others, so one value cannot say the same of it.
        apart, divided = (words in " ".join(notes) for words in ("one value", "Drag Force"))
        assert apart <= (made is old) and len(notes) == apart + divided
        assert_alike(bone_state(character(found)), wanted, {TAIL[3], HAIR[1]} if made is old else set())
    else:
        assert not vrm_data.read(found).chains
    assert found["extensions"].get("VRMC_vrm") == document["extensions"].get("VRMC_vrm")
    assert found["extensions"].get("VRM", {}).get("meta") == document["extensions"].get("VRM", {}).get("meta")


def test_what_was_added_can_be_changed_and_removed_in_the_file_that_has_it() -> None:
    """Written twice into one file, as by choosing the written one the next time."""
    for document, shape in ((new(), "CAPSULE"), (old(), "SPHERE")):
        armature = character(document)
        add(shape, "Mine")(armature)
        springs_edit.remove(chains.containing(armature, HAIR[0]))
        added, done = vrm_writing.edited(document, bpy.context.scene, armature)
        vrm_writing.note(armature, done)
        (item,) = empties(armature, "chest")
        item.location.x += 0.2
        anew(HAIR)(armature)
        moved, done = vrm_writing.edited(added, bpy.context.scene, armature)
        vrm_writing.note(armature, done)
        assert len(vrm_data.read(moved).colliders) == len(vrm_data.read(added).colliders)
        wanted = bone_state(armature)
        vrm_springs.take_over(bpy.context.scene, armature, vrm_data.read(moved))
        assert_alike(bone_state(armature), wanted, {TAIL[3], HAIR[1]})
        assert item in empties(armature, "chest"), "one's own collider stays"
        item.lookat_pd_collider.exists = False
        springs_edit.remove(chains.containing(armature, HAIR[0]))
        gone = vrm_data.read(vrm_writing.edited(moved, bpy.context.scene, armature)[0])
        assert len(gone.colliders) == len(vrm_data.read(document).colliders)
        assert HAIR[0] not in gone.joints


def assert_alike(found: dict, wanted: dict, last: set[str]) -> None:
    assert found.keys() == wanted.keys()
    for bone, (values, *rest) in found.items():
        own, *others = wanted[bone]
        assert rest == others
        np.testing.assert_allclose(values, own, rtol=0.6 if bone in last else 1e-3, atol=2e-3)


def test_springs_that_were_never_taken_stay() -> None:
    """Who has springs on the hair only does not lose the tail of the file."""
    for document in (new(), old()):
        armature = figure()
        anew(HAIR[:1])(armature)
        found, _ = written(document, armature)
        tail = [chain for chain in vrm_data.read(found).chains if TAIL[0] == chain.joints[0].bone]
        assert tail == [chain for chain in vrm_data.read(document).chains if TAIL[0] == chain.joints[0].bone]
        assert vrm_data.read(found).colliders == vrm_data.read(document).colliders


def test_planes_are_spheres_for_readers_that_know_none() -> None:
    document = new()
    armature = character(document)
    add("PLANE", "Mine")(armature)
    found, _ = written(document, armature)
    *_, row = found["extensions"]["VRMC_springBone"]["colliders"]
    plane, sphere = row["extensions"][EXTENDED]["shape"]["plane"], row["shape"]["sphere"]
    assert row["extensions"][EXTENDED]["specVersion"] == "1.0"
    top = Vector(sphere["offset"]) + sphere["radius"] * Vector(plane["normal"])
    np.testing.assert_allclose(top, plane["offset"], atol=1e-3)
    assert Vector(plane["normal"]).length == pytest.approx(1.0)
    assert found["extensionsUsed"].count(EXTENDED) == 1


@pytest.mark.parametrize(
    ("made", "edit", "words"),
    [
        (new, tune(TAIL[0], limit=0.5, influence=0.5), f"no Limit, Influence, as '{TAIL[0]}'"),
        (new, tune(TAIL[0], wind=(1.0, 0.0, 0.0), turbulence=0.3), f"no Turbulence, as '{TAIL[0]}'"),
        (new, tune(TAIL[0], collide=True, floor=True), f"no Floor, as '{TAIL[0]}'"),
        (new, tune(TAIL[0], center="hips", inertia=0.3), f"no Inertia between 0 and 1, as '{TAIL[0]}'"),
        (new, tune(TAIL[0], one_way=False), f"'{TAIL[0]}' is not One Way"),
        (new, tune(TAIL[0], damping_ratio=2.0, drag=0.0), f"for Damping and Drag: '{TAIL[0]}' comes to rest"),
        (new, tune(TAIL[0], settle_time=0.011), f"cannot swing '{TAIL[0]}' as it does here"),
        (new, lambda armature: springs_edit.add_collider(bpy.context.scene, "SPHERE"), None),
        (
            new,
            all_edits(
                tune(TAIL[0], collider_groups=""), lambda a: springs_edit.add_collider(bpy.context.scene, "SPHERE")
            ),
            "'Collider' is on no bone of 'Hero'",
        ),
        (old, add("CAPSULE", "Mine"), "VRM 0.x has spheres as colliders only; 'Collider'"),
        (old, add("PLANE", "Mine"), "VRM 0.x has spheres as colliders only; 'Collider'"),
        (old, anew(TAIL[:2]), f"swing that hang on '{TAIL[0]}', so '{TAIL[2]}' swings"),
        (old, tune(TAIL[0], tip_factor=2.0), f"those of '{TAIL[0]}' are written for all"),
    ],
)
def test_what_a_version_cannot_say_is_told_by_name(made, edit, words) -> None:
    document = made()
    armature = character(document)
    edit(armature)
    _, notes = written(document, armature)
    assert not notes if words is None else [note for note in notes if words in note], notes


def test_joints_pulled_to_different_sides_are_told_when_they_are_read() -> None:
    document = new()
    joints = document["extensions"]["VRMC_springBone"]["springs"][0]["joints"]
    for joint, way in zip(joints, ([1, 0, 0], [0, 0, 1], [-1, 0, 0]), strict=False):
        joint.update(gravityDir=way, gravityPower=1.0)
    armature = scenes.figure(rows=ROWS)
    taken = vrm_springs.take_over(bpy.context.scene, armature, vrm_data.read(document))
    assert [note for note in taken.notes if f"joints of '{TAIL[0]}' points to different sides" in note]
    for joint, power in zip(joints, (1.0, 0.5, 0.0), strict=False):
        joint.update(gravityDir=[0.6, -0.8, 0.0], gravityPower=power)
    taken = vrm_springs.take_over(bpy.context.scene, armature, vrm_data.read(document))
    assert not [note for note in taken.notes if "different sides" in note]
    assert written(document, armature)[0] == document
