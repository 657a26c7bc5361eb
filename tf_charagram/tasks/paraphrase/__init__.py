"""Training on paraphrase pairs: `words` and `sentences`."""
