"""Analyses of trained models: each is a function that returns a table."""
