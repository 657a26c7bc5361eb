"""Readers of sets that only the papers use."""
