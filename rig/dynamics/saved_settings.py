"""Settings of dynamics in files of earlier versions, which mean what they meant then."""

from typing import Any

from ..animation.former_defaults import Saved, armatures, handlers, scenes

_SCENES = ({"between": "TENSION", "timing": "COST"}, {"point": "AUTO", "soft_reach": 0.0})
_HITS = ({"joints": "PUBLISHED"}, {"joints": "SUCCESSION"})
"""Settings that each version did not have yet, and the values with which motion is as it was."""


def _is_made(settings: Any) -> bool:
    """Whether there is a hit, or a setting was changed: a group that says a version would be stored in an override."""
    return len(settings.hits) > 0 or any(
        settings.is_property_set(prop.identifier)
        for prop in settings.bl_rna.properties
        if prop.identifier != "rna_type" and not prop.is_readonly
    )


_stamp, _keep_as_saved, register, unregister = handlers(
    Saved("lookat_pd_dynamics", scenes, _SCENES), Saved("lookat_pd_hits", armatures, _HITS, _is_made)
)
