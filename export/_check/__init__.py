"""The command `charagram check`."""
