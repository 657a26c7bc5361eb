"""Training runs: data, model, loop, checkpoints and everything a run writes."""
