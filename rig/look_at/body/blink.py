"""Shape keys that close or turn the eyes: detection of lids, and showing what a look-at does to shape keys.

While a blink is shown, the animator's value is stored with the shape keys, `keys.lookat_pd_blinks`, so that an undo, a
save or a copy includes both or neither.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import bpy
import numpy as np

from ....lookat_pd.errors import RigError
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ...animation import actions
from ...animation.bake_transaction import animated_by_nla
from ...detection import shape_keys
from ...sampling import targets


@dataclass(frozen=True)
class Lid:
    """A shape key that closes eyes."""

    keys: bpy.types.Key
    """The shape keys of its mesh."""
    name: str
    """Name of the shape key."""
    adds: bool = field(default=False, compare=False)
    """The look-at adds to the animator's value, as to turn an eye; otherwise it closes what that leaves open."""

    @property
    def block(self) -> bpy.types.ShapeKey | None:
        """The shape key; None if it no longer exists."""
        return self.keys.key_blocks.get(self.name)

    @property
    def path(self) -> str:
        """Data path of its value, relative to its keys."""
        return f'key_blocks["{bpy.utils.escape_identifier(self.name)}"].value'


def find(armature: bpy.types.Object, chosen: str) -> list[Lid]:
    """The shape keys that close a character's eyes: those with the chosen name, or, for "", by name. Raises
    RigError."""
    lids = []
    for keys in keys_of(armature):
        names = keys.key_blocks.keys()[1:] if keys.use_relative else []
        wanted = [name for name in names if name == chosen] if chosen else shape_keys.closing(names)
        lids += [Lid(keys, name) for name in wanted]
    if chosen and not lids:
        raise RigError(
            "No mesh of '{armature}' has a shape key '{shape_key}' that closes the eyes; choose another shape key.",
            armature=armature.name,
            shape_key=chosen,
        )
    return lids


def keys_of(armature: bpy.types.Object) -> Iterator[bpy.types.Key]:
    """The shape keys of all meshes that belong to a character."""
    seen = set()
    for item in bpy.data.objects:
        keys = item.data.shape_keys if item.type == "MESH" else None
        if keys is not None and keys not in seen and targets.belongs_to(item, armature):
            seen.add(keys)
            yield keys


def state(lid: Lid) -> str:
    """Whether a shape key is "FREE", "KEYED" in the current action, or "HELD": driven, or otherwise out of reach."""
    if lid.block is None or not lid.keys.is_editable:
        return "HELD"
    data = lid.keys.animation_data
    if data is None:
        return "FREE"
    if any(driver.data_path == lid.path for driver in data.drivers):
        return "HELD"
    if data.use_tweak_mode or (data.use_nla and (lid.path, 0) in animated_by_nla(data)):
        return "HELD"
    curve = actions.curves_at(data.action, data.action_slot, lid.path, 1)[0]
    if curve is None:
        return "FREE"
    return "KEYED" if actions.plays(curve) and all(m.mute for m in curve.modifiers) else "HELD"


def signature(armature: bpy.types.Object, lids: Iterable[Lid]) -> tuple[object, ...]:
    """A value that changes with the shape keys that are found and their states, and where these turn the eyes."""
    names = [(keys.name_full, keys.key_blocks.keys()) for keys in keys_of(armature)]
    return names, [(state(lid), base(lid) if lid.adds else None) for lid in lids]


def note(lids: Iterable[Lid], notes: list[str]) -> None:
    """Add a note for each of these shape keys that shows no blink, or only a baked one, with the reason."""
    states = {lid.name: state(lid) for lid in lids}
    for name, how in states.items():
        if how == "KEYED":
            notes.append(
                Message(
                    "Shape key '{name}' is already animated, so the live look-at does not change it; bake to see "
                    "what it does.",
                    name=name,
                )
            )
        elif how == "HELD":
            notes.append(
                Message(
                    "Shape key '{name}' has a driver, is animated by the NLA or is not editable, so it "
                    "does not move; choose another shape key.",
                    name=name,
                )
            )


def closed(base: Array | float, closing: Array | float, top: float) -> Array:
    """Values of a shape key that is set to `base`, with the lids closed by 0 to 1; top: the end of its slider."""
    return base + np.maximum(min(top, 1.0) - np.asarray(base), 0.0) * closing


def changed(lid: Lid, base: Array | float, amount: Array | float) -> Array:
    """Values of a shape key that is set to `base` and that a look-at changes by `amount`."""
    block = lid.block
    assert block is not None
    if lid.adds:
        return np.clip(np.asarray(base) + amount, block.slider_min, block.slider_max)
    return closed(base, amount, block.slider_max)


def base(lid: Lid) -> float:
    """The animator's value of a shape key, also while a blink is shown."""
    shown, block = _shown(lid), lid.block
    return shown.base if shown is not None else 0.0 if block is None else block.value


def remember(lid: Lid, owner: str) -> None:
    """Store the animator's value, to be restored later. owner: name of the armature that closes it."""
    if _shown(lid) is None:
        item = lid.keys.lookat_pd_blinks.add()
        item.base, item.owner, item.name = lid.block.value, owner, lid.name


def _shown(lid: Lid):
    """The stored value of a shape key; None if there is none."""
    return lid.keys.lookat_pd_blinks.get(lid.name)


def show(amounts: Mapping[Lid, tuple[float, str]]) -> None:
    """Change shape keys by these amounts, for the armature of that name; restore those that are not changed.

    Equal values are not written, because a write makes Blender evaluate the mesh.
    """
    for lid, (amount, owner) in amounts.items():
        if amount == 0.0:
            if _shown(lid) is not None:
                _give_back(lid)
        elif state(lid) == "FREE":
            remember(lid, owner)
            _set(lid, float(changed(lid, base(lid), amount)))


def shown_values(lids: Iterable[Lid]) -> dict[Lid, float | None]:
    """The values of shape keys that a look-at changes, None of those that it does not change now."""
    return {lid: lid.block.value if lid.block is not None and _shown(lid) is not None else None for lid in lids}


def show_values(values: Mapping[Lid, float | None], owner: str) -> None:
    """Show shape keys as `shown_values` found them. owner: name of the armature."""
    for lid, value in values.items():
        if value is None and _shown(lid) is not None:
            _give_back(lid)
        elif value is not None and state(lid) == "FREE":
            remember(lid, owner)
            _set(lid, value)


def keep(lids: Iterable[Lid]) -> list[bpy.types.ShapeKey]:
    """Make what is shown the animator's values; the shape keys that this changes."""
    kept = []
    for lid in lids:
        if _shown(lid) is not None and lid.block is not None:
            blinks = lid.keys.lookat_pd_blinks
            blinks.remove(blinks.find(lid.name))
            kept.append(lid.block)
    return kept


def _set(lid: Lid, value: float) -> None:
    value = float(np.float32(value))
    if lid.block.value != value:
        lid.block.value = value


def _give_back(lid: Lid) -> None:
    """Restore the animator's value of a shape key; one that is animated is restored when it no longer is."""
    if lid.block is not None and state(lid) != "FREE":
        return
    if lid.block is not None:
        _set(lid, base(lid))
    blinks = lid.keys.lookat_pd_blinks
    blinks.remove(blinks.find(lid.name))


def _all_shown() -> Iterator[tuple[Lid, str]]:
    """Shape keys with a stored value, and their armatures."""
    for keys in bpy.data.shape_keys:
        for item in list(keys.lookat_pd_blinks):
            yield Lid(keys, item.name), item.owner


def is_shown() -> bool:
    """Whether there may be a shape key to restore."""
    return any(state(lid) == "FREE" for lid, _ in _all_shown())


def give_back(armature: bpy.types.Object, but: Iterable[Lid] = ()) -> None:
    """Restore the shape keys that the look-ats of an armature have closed, except those still in use."""
    kept = set(but)
    for lid, owner in list(_all_shown()):
        if owner == armature.name_full and lid not in kept:
            _give_back(lid)


def give_back_lost(owners: Iterable[str] = ()) -> None:
    """Restore all shape keys except those of the armatures of these names."""
    kept = set(owners)
    for lid, owner in list(_all_shown()):
        if owner not in kept:
            _give_back(lid)
