"""Two people talk: who listens looks, who speaks thinks, and looks away; bare animation below, all by markers."""

from collections.abc import Iterator

from docs.alive import conversation

from .shooting import Shot, camera, whole_range


def shots() -> Iterator[Shot]:
    for take in conversation.takes():
        if take.label == "after":
            camera(take.scene, (0.0, -3.4, 1.72), (0.0, 0.0, 1.66), 76.0)
            yield Shot("", take.scene, whole_range(take.scene))
