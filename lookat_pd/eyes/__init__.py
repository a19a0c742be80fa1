"""Eyes: they look first, hold the target while the head follows, converge, make microsaccades and blink.

One call, `solve`, on top of a solved look-at. Sources: the main sequence of saccades (Bahill, Clark and Stark 1975),
the vestibulo-ocular reflex, blinks with large shifts of gaze (Evinger 1994), and gaze shifts of characters (Andrist,
Pejsa, Mutlu and Gleicher 2012).
"""

from .ability import Eyes
from .saccade import Shift
from .solver import EyeSolution, solve

__all__ = ["EyeSolution", "Eyes", "Shift", "solve"]
