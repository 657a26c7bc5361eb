"""Shards of input files, and the folder of their results."""
