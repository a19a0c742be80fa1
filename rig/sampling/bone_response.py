"""The one rule for bones that do not respond to an offset, since a constraint overrides them."""

from ...lookat_pd.errors import RigError

MIN_RESPONSE = 0.02
"""The least part of its own offset by which a bone must be seen to turn."""


def check(bone: str, response: float) -> None:
    """Raise RigError where a bone makes a `response` to its own offset, as a factor, that is next to nothing."""
    if response < MIN_RESPONSE:
        raise RigError(
            "Bone '{bone}' does not respond to an offset because a constraint overrides it; "
            "replace it in the chain by the bone that controls it.",
            bone=bone,
        )
