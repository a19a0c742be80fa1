"""Distribution of the mass of a human body over its segments.

Source: de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, Journal of Biomechanics 29, 1996,
table 4: young adults.
"""

from ..errors import InvalidArgument

_PERCENT = {
    # segment: male, female
    "head": (6.94, 6.68),
    "upper_trunk": (15.96, 15.45),
    "middle_trunk": (16.33, 14.65),
    "lower_trunk": (11.17, 12.47),
    "upper_arm": (2.71, 2.55),
    "forearm": (1.62, 1.38),
    "hand": (0.61, 0.56),
    "thigh": (14.16, 14.78),
    "shank": (4.33, 4.81),
    "foot": (1.37, 1.29),
}
PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
"""Paired segments."""
BUILDS = ("mean", "male", "female")


def fractions(build: str = "mean") -> dict[str, float]:
    """The fraction of the body's mass in each segment, of one side for paired segments; the total is 1.

    The head includes the neck. The trunk is cut at the lower end of the breastbone and at the navel. build: one of
    BUILDS. Raises InvalidArgument.
    """
    if build not in BUILDS:
        raise InvalidArgument("Build {build!r} is unknown; use one of {builds}.", build=build, builds=", ".join(BUILDS))
    chosen = {"mean": (0.5, 0.5), "male": (1.0, 0.0), "female": (0.0, 1.0)}[build]
    masses = {name: sum(w * p for w, p in zip(chosen, pair, strict=True)) for name, pair in _PERCENT.items()}
    whole = sum(part * (2 if name in PAIRED else 1) for name, part in masses.items())
    return {name: part / whole for name, part in masses.items()}
