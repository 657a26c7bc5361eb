"""Training on tagged sentences: `pos`."""
