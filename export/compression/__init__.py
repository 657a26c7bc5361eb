"""Smaller models: fewer bits per number, fewer n-grams, fewer dimensions, or a size limit."""
