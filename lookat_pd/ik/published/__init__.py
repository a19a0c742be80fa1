"""The methods as published, a file each, for comparing: iterations of one chain or of a batch, see `task`."""
