"""Pairs of texts: candidates, similarities, weights, groups."""
