"""Strings to ids, inside the graph: normalization, n-gram keys, vocabularies, vectorizers."""
