"""Answers of models: neighbors, similarities, labels, explanations."""
