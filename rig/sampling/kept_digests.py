"""Fingerprints that are kept until Blender reports a change of what they are of, and looked at again at leisure.

Blender says which data was changed, but not of all data: what is hidden, or in no scene, is left out, and so is what a
script writes without a word. That is why all that is kept is found again, a few milliseconds at a time, while nothing
else is to be done.
"""

from collections.abc import Mapping
from time import perf_counter

import bpy

from . import fingerprint
from .fingerprint import GradualFingerprint

Identity = tuple[str, str]


class KeptDigests:
    """The fingerprints of all that the motions of a scene depend on. Data is known by session identifiers alone."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        self._parts: dict[int, frozenset[tuple[str, str]]] = {}
        """Of which data a change may change each: its own, what is embedded in it, and the actions that play."""
        self._begun: dict[int, GradualFingerprint] = {}
        self._left: list[int] = []
        """Those that are still to be looked at again."""
        self._again = GradualFingerprint()
        self.read: fingerprint.Read = {}
        """What data was found to use, while that is looked at in several turns and nothing is reported."""

    def forget(self) -> None:
        """Anything may have changed."""
        self.read = {}
        self._known.clear()
        self._begun.clear()
        self._left.clear()

    def note(self, scene: bpy.types.Scene) -> None:
        """Take note of what Blender reports to be changed since the scene was last evaluated."""
        changed = {fingerprint.tag(item) for item in fingerprint.reported(scene)}
        if changed:
            self.read = {}
        for uid in [uid for uid, parts in self._parts.items() if not changed.isdisjoint(parts)]:
            self._known.pop(uid, None)
            self._begun.pop(uid, None)
            if self._left and self._left[-1] == uid:
                self._again = GradualFingerprint()

    def learn(self, item: bpy.types.ID, digest: bytes) -> None:
        """This is the fingerprint of an item now."""
        if item.is_embedded_data:
            return
        self._known[item.session_uid] = digest
        self._note_parts(item)

    def of(self, items: Mapping[Identity, bpy.types.ID], seconds: float) -> dict[Identity, bytes] | None:
        """The fingerprints of all items; None if what is not known takes longer than this, and more of it next time."""
        until, prints = perf_counter() + seconds, {}
        for identity, item in items.items():
            digest = self.one(item, until)
            if digest is None:
                return None
            prints[identity] = digest
        used = {item.session_uid for item in items.values()}
        for kept in (self._known, self._parts):
            for uid in kept.keys() - used:
                del kept[uid]
        return prints

    def one(self, item: bpy.types.ID, until: float) -> bytes | None:
        """The fingerprint of one item; None if that is not known until a time [s], and more of it the next time."""
        digest = self._known.get(item.session_uid)
        if digest is None and (digest := self._found(item, until)) is not None:
            self.learn(item, digest)
        return digest

    def look_again(self, seconds: float) -> bool | None:
        """Go on finding all anew for so long: False once all is as it was known, True as soon as something is not, None
        until then. What is different is no longer known."""
        until = perf_counter() + seconds
        if not self._left:
            self._left, self._again = list(self._known), GradualFingerprint()
        by_uid = _items(self._left)
        while self._left:
            item = by_uid.get(self._left[-1])
            digest = self._again.go_on(item, until) if item is not None else b""
            if digest is None:
                return None
            uid, self._again = self._left.pop(), GradualFingerprint()
            if uid in self._known and self._known[uid] != digest:
                del self._known[uid]
                return True
            if self._left and perf_counter() > until:
                return None
        return False

    def _found(self, item: bpy.types.ID, until: float) -> bytes | None:
        if item.is_embedded_data:
            return fingerprint.fingerprint(item)
        uid = item.session_uid
        self._note_parts(item)
        digest = self._begun.setdefault(uid, GradualFingerprint()).go_on(item, until)
        if digest is not None:
            del self._begun[uid]
        return digest

    def _note_parts(self, item: bpy.types.ID) -> None:
        parts = (*fingerprint.whole(item), *fingerprint.playing_actions(item))
        self._parts[item.session_uid] = frozenset(map(fingerprint.tag, parts))


def _items(uids: list[int]) -> dict[int, bpy.types.ID]:
    """The data of a file that has these session identifiers."""
    wanted = set(uids)
    settings = bpy.types.BlendData.bl_rna.properties
    collections = (getattr(bpy.data, one.identifier) for one in settings if one.type == "COLLECTION")
    return {item.session_uid: item for some in collections for item in some if item.session_uid in wanted}
