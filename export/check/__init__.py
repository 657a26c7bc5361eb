"""Checks an exported version: it loads without this package, and answers the same everywhere."""
