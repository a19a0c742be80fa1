"""Presets of the settings of dynamics."""

from .settings import DAMPING, TENSION

PRESETS = {
    "HUMAN_ARM": (
        "Human Arm",
        "Limited strength of a human arm, with gravity",
        {
            "tension": 7.5,
            "at_keys": "PASS",
            "swing_past": 0.0,
            "limit": "STRENGTH",
            "strength": 8.0,
            "use_gravity": True,
            "inertia": "TRUE",
            "passive": False,
            "settle": 0.0,
            "joint_damping": DAMPING,
            "method": "OPTIMAL",
        },
    ),
    "HEAVY": (
        "Heavy",
        "Barely enough strength for the weight: starts late, arrives late and overshoots the keys",
        {
            "tension": 5.0,
            "at_keys": "PASS",
            "swing_past": 0.1,
            "limit": "STRENGTH",
            "strength": 1.5,
            "use_gravity": True,
            "inertia": "TRUE",
            "passive": False,
            "settle": 0.5,
            "joint_damping": 0.0,
            "method": "OPTIMAL",
        },
    ),
    "PUPPET": (
        "Puppet",
        "Loose and weightless, pulled from key to key",
        {
            "tension": 4.7,
            "at_keys": "PASS",
            "swing_past": 0.15,
            "limit": "NONE",
            "use_gravity": False,
            "inertia": "REFERENCE",
            "passive": False,
            "settle": 0.3,
            "joint_damping": 0.0,
            "method": "OPTIMAL",
        },
    ),
    "TAIL": (
        "Tail",
        "No muscles: swings behind its parent and back",
        {
            "tension": TENSION,
            "limit": "NONE",
            "use_gravity": False,
            "inertia": "TRUE",
            "passive": True,
            "stiffness": 1.5,
            "damping": 0.3,
            "settle": 1.0,
        },
    ),
}
