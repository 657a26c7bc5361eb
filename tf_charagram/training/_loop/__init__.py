"""The loop over steps: streams, steps, checkpoints, progress."""
