"""Checks of an exported version: it loads without us, and gives the same vectors everywhere."""
