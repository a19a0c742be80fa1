"""Springs: tails, hair, ears and straps that swing, live and baked."""
