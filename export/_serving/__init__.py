"""Versions for servers."""
