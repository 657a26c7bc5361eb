"""The commands `search`, `match`, `dedupe` and `label`."""
