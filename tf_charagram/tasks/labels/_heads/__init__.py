"""Heads that score and label texts and pairs, and their losses."""
