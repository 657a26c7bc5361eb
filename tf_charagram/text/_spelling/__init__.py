"""Spelling: the known words, and the misspelled words that are read as these."""
