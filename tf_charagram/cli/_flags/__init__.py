"""Flags that commands share."""
