"""Which keys an operator writes, and how many they became."""

from typing import Any

from ..lookat_pd.message import Message
from ..rig.animation import key_settings
from ..rig.animation.key_writer import KeyWriter
from ..rig.settings import text
from ..translations import messages
from . import reporting


class KeyChoice:
    """Mixin of operators with the settings of `key_settings`."""

    # For the redo panel, which draws another instance.
    told: text(options={"HIDDEN", "SKIP_SAVE"})
    _writer: KeyWriter | None = None
    _says_keys = False
    """Whether the report of the result has the count of keys."""

    def writer(self) -> KeyWriter:
        """What writes the keys of the next result."""
        self._writer, self.told = key_settings.writer(self), ""
        return self._writer

    @property
    def written(self) -> Message | None:
        """How many keys were written, as a part of a sentence; None where there is one at every frame."""
        count = None if self._writer is None else self._writer.count
        return None if count is None or count.keys == count.every_frame else count.told()

    def report_keys(self) -> None:
        """Say how many keys were written, and remember it for the redo panel."""
        if self.written is None:
            return
        line = Message("{keys}.", keys=self.written)
        self.told = messages.translate(line)
        if not self._says_keys:
            reporting.report_info(self, line)  # pyright: ignore[reportArgumentType]

    def draw_keys(self, layout: Any) -> None:
        key_settings.draw(layout, self)
        if self.told:
            layout.label(text=self.told, translate=False)
