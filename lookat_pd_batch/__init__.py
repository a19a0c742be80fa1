"""Many files: which, what was made of them, in which run, and job files. Python's own library is all it needs.

    import lookat_pd_batch
    rows = lookat_pd_batch.run("show.toml")

`cli` builds on this package; its processes do the work, so the file that is open in Blender is not touched.
"""

from .errors import BatchError
from .job_file import Job
from .running import run

__all__ = ["BatchError", "Job", "run"]
