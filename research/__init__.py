"""The papers again: tables, figures, analyses, baselines; the package never imports it."""
