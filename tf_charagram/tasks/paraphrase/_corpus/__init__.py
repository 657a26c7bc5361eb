"""Pairs of files, and batches of them."""
