"""Baselines that need no training: averages of word vectors, and vectors from other programs."""
