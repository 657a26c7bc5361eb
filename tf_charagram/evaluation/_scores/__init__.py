"""Scores on evaluation sets, their intervals and tables."""
