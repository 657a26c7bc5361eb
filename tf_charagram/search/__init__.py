"""Nearest texts without looking at all of them."""
