"""When the feet of a rig touch the ground."""

from ...lookat_pd.body.contacts import Detection, Interval, detect
from ..sampling.sampler import Samples
from .foot_bones import Footing


def find_contacts(footing: Footing, samples: Samples, dt: float, detection: Detection) -> list[list[list[Interval]]]:
    """The contacts of each point of each foot, as indices of the sampled frames."""
    found = []
    for foot in footing.feet:
        places, size = foot.touch(samples), foot.length(samples)
        found.append([detect(places[:, point], dt, size, detection) for point in range(places.shape[1])])
    return found
