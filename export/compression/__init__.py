"""Smaller models: fewer bits a number, fewer n-grams, fewer dimensions, or a size not to exceed."""
