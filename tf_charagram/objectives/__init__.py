"""Vectors to a loss: similarities, negatives, margins, penalties."""
