"""Reproduces the papers: tables, figures, analyses and baselines. The package never imports it."""
