"""When the feet and hands of a rig touch the ground."""

from ...lookat_pd.body.contacts import Detection, Interval, detect
from ..sampling.sampler import Samples
from .foot_bones import Footing


def find_contacts(footing: Footing, samples: Samples, dt: float, detection: Detection) -> list[list[list[Interval]]]:
    """The contacts of each point of each foot, as indices of the sampled frames. Hands touch the ground of the feet."""
    found = []
    touched = [foot.touch(samples) for foot in footing.feet]
    lowest = min(
        float(places[..., 2].min()) for foot, places in zip(footing.feet, touched, strict=True) if not foot.hand
    )
    for foot, places in zip(footing.feet, touched, strict=True):
        size, floor = foot.length(samples), lowest if foot.hand else None
        found.append([detect(places[:, point], dt, size, detection, floor) for point in range(places.shape[1])])
    return found
