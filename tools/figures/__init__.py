"""What the scripts that make figures share: those of `docs/` and of `benchmarks/`."""
