"""Settings of objects, bones and data are read without being made, and library overrides keep all of them."""

import bpy
import pytest

from extension import load

from .. import linked, scenes

stored_settings = load("rig.animation.stored_settings")

NOT_STORED = ("rna_type", "name", "k_p", "k_d", "effectors_index", "version")
"""Not compared: names of the groups, what follows from others, is never saved, or is brought up to date by opening."""


def owners(hero) -> dict:
    """What of a character has settings: the object, a bone, its data where it can be changed."""
    found = {bpy.types.Object: hero, bpy.types.PoseBone: hero.pose.bones["neck"]}
    return found if hero.data.library is not None else {**found, bpy.types.Armature: hero.data}


def groups(hero):
    """Owner and name of each group and list of groups of a character."""
    for kind, owner in owners(hero).items():
        yield from ((owner, name) for name in stored_settings.DECLARED[kind])


def is_group(prop) -> bool:
    return prop.fixed_type.base is not None and prop.fixed_type.base.identifier == "PropertyGroup"


def fill(group, target) -> None:
    """Give all settings of a group another value than their default."""
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name in NOT_STORED or (prop.is_readonly and prop.type not in ("POINTER", "COLLECTION")):
            continue
        if prop.type == "COLLECTION":
            fill_list(getattr(group, name), target)
        elif prop.type == "POINTER" and is_group(prop):
            fill(getattr(group, name), target)
        elif prop.type == "POINTER":
            if prop.fixed_type.identifier == "Object":
                setattr(group, name, target)
        else:
            setattr(group, name, another(prop))


def fill_list(items, target) -> None:
    for _ in range(3):
        fill(items.add(), target)


def another(prop):
    if prop.type == "BOOLEAN":
        return [not value for value in prop.default_array] if prop.is_array else not prop.default
    if prop.type == "ENUM":
        return prop.enum_items[-1].identifier
    if prop.type == "STRING":
        return "neck"
    if prop.is_array:
        return [min(value + 1.0, prop.hard_max) for value in prop.default_array]
    step = 1 if prop.type == "INT" else 0.25 * min(prop.hard_max - prop.default, 1.0)
    return prop.default + step if step else prop.hard_min


def values(group):
    """All values of a group, nested ones too."""
    found = {}
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name in NOT_STORED:
            continue
        value = getattr(group, name)
        if prop.type == "COLLECTION":
            found[name] = [values(item) for item in value]
        elif prop.type == "POINTER":
            found[name] = values(value) if is_group(prop) else value and value.name
        else:
            found[name] = tuple(value) if getattr(prop, "is_array", False) else value
    return found


def all_values(hero):
    return {
        (type(owner).__name__, name): [values(item) for item in getattr(owner, name)]
        if owner.bl_rna.properties[name].type == "COLLECTION"
        else values(getattr(owner, name))
        for owner, name in groups(hero)
    }


def differing(one, other) -> dict:
    """What two trees of values have that differs, by path."""
    pairs = [(flat(one), flat(other))]
    return {path: (a.get(path), b.get(path)) for a, b in pairs for path in a | b if a.get(path) != b.get(path)}


def flat(tree, path: str = "") -> dict:
    if isinstance(tree, dict | list):
        rows = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return {place: value for key, part in rows for place, value in flat(part, f"{path}.{key}").items()}
    return {path: tree}


def as_read(group):
    """What `read` gives, as `values` has it."""
    return {
        name: as_read(value) if hasattr(value, "__dict__") else list(value) if value == () else value
        for name, value in vars(group).items()
        if name not in NOT_STORED
    }


def is_stored(item) -> bool:
    bones = [item, *(item.pose.bones if isinstance(item, bpy.types.Object) else ())]
    return any(owner.is_property_set(name) for owner in bones for name in stored_settings.DECLARED.get(type(owner), ()))


def test_reading_makes_nothing_and_gives_the_defaults() -> None:
    hero = scenes.figure()
    for owner, name in groups(hero):
        if owner.bl_rna.properties[name].type == "COLLECTION":
            continue
        read = stored_settings.read(owner, name)
        assert stored_settings.stored(owner, name) is None and not owner.is_property_set(name)
        assert as_read(read) == values(getattr(owner, name)), name
        with pytest.raises(AttributeError):
            read.exists = True
        assert stored_settings.read(owner, name) == stored_settings.stored(owner, name)


def library(folder, *further) -> str:
    linked.empty_file()
    return linked.save_library(folder, scenes.figure(rows=[*scenes.FIGURE, *further]))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", linked.KINDS)
def test_an_override_keeps_all_settings(tmp_path, kind) -> None:
    hero = linked.overridden(library(tmp_path), kind)
    target = scenes.ball()
    for owner, name in groups(hero):
        fill_one(owner, name, target)
    bpy.context.view_layer.update()
    before = all_values(hero)
    for _ in range(3):
        linked.reopened(tmp_path)
        assert differing(all_values(linked.hero()), before) == {}
    for item in bpy.data.libraries:
        item.reload()
    assert differing(all_values(linked.hero()), before) == {}


def test_a_step_of_a_drag_asks_no_bone_of_an_override_for_settings(tmp_path, monkeypatch) -> None:
    """Nothing gets settings in a drag; an edit after it does as before."""
    hero = linked.overridden(library(tmp_path), "object")
    asked: list[bpy.types.ID] = []
    monkeypatch.setattr(stored_settings, "match", asked.append)
    with stored_settings.unmatched():
        hero.location.x += 1.0
        bpy.context.view_layer.update()
        assert not asked
    hero.location.x += 1.0
    bpy.context.view_layer.update()
    assert hero in asked


def fill_one(owner, name: str, target) -> None:
    if owner.bl_rna.properties[name].type == "COLLECTION":
        fill_list(getattr(owner, name), target)
        for n, item in enumerate(getattr(owner, name)):
            # Names that say something are not given by `match`.
            item.name = f"look {n}"
    else:
        fill(getattr(owner, name), target)
