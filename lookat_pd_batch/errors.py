"""What is wrong with a batch before anything is done: one sentence that names the place and the remedy."""


class BatchError(ValueError):
    """Files, a job file, or reports that cannot be used as they are."""
