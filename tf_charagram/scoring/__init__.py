"""Scores saved models, alone or side by side: what `evaluate` prints."""
