"""One file a verb. A verb has NAME, SUMMARY, add_arguments(parser) and run(arguments, console), its exit code."""

from . import bake, follow, hit, ik, inertialize, inspect, interpolate, job, reach, report, springs

VERBS = (bake, inertialize, ik, interpolate, reach, hit, follow, springs, inspect, job, report)
