"""The settings of a controller whose result a layer shows: those that look-ats and PD Follow have in common.

No postponed annotations: Blender reads them.
"""

import bpy

from ...lookat_pd.pd import integrators
from ...lookat_pd.pd.second_order import DAMPING_RATIOS
from ..settings import EDITABLE, Properties

SETTLE_TIME = 0.6
SETTLE_TIMES = 0.01, 60.0
"""The default and the bounds of a settle time, in seconds."""
HIGHEST_RATIO = 20.0


def changed(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Request an evaluation, which Blender does not start when a setting changes."""
    settings.id_data.update_tag(refresh={"OBJECT"})


setting = Properties(override=EDITABLE, update=changed, options=set())
"""Declares settings that change the motion and cannot be animated."""


def settle_time(description: str) -> object:
    lowest, highest = SETTLE_TIMES
    return setting.number(
        "Settle Time",
        description,
        SETTLE_TIME,
        max=highest,
        min=lowest,
        soft_min=0.1,
        soft_max=3.0,
        step=1,
        precision=2,
    )


def aim_axis(description: str, automatic: str) -> object:
    """automatic: what is chosen by *Automatic*."""
    axes = [
        (f"{sign}_{axis}", f"{minus}{axis}", f"The {word}{axis} axis of the bone or object")
        for sign, minus, word in (("POS", "", ""), ("NEG", "-", "negative "))
        for axis in "XYZ"
    ]
    return setting.choice("Aim Axis", description, (("AUTO", "Automatic", automatic), *axes))


class ControllerSettings:
    """Base of a property group that has a controller; the group adds its own `settle_time`."""

    damping: setting.choice(
        "Damping",
        "Damping of the motion as it reaches the target",
        (
            ("CRITICAL", "Critical", "Settle as fast as possible without overshoot"),
            ("RESPONSIVE", "Responsive", "Settle earlier, with a slight overshoot"),
            ("CUSTOM", "Custom", "Set the damping ratio directly"),
        ),
    )
    damping_ratio: setting.number(
        "Damping Ratio",
        "Damping ratio of the controller: 1 is critical, lower values overshoot, higher values approach slowly",
        1.0,
        max=HIGHEST_RATIO,
        soft_min=0.2,
        soft_max=2.0,
    )
    integrator: setting.choice(
        "Integrator",
        "Method of integrating the controller over time",
        tuple((row.identifier, row.label, row.description) for row in integrators.INTEGRATORS.values()),
        integrators.default().identifier,
    )
    feed_forward: setting.factor(
        "Lag Compensation", "Part of the lag behind a moving target that is removed; at 1 it keeps up with the target"
    )


def damping_ratio(settings: ControllerSettings) -> float:
    """The damping ratio by the choice of damping."""
    return DAMPING_RATIOS.get(settings.damping, settings.damping_ratio)
