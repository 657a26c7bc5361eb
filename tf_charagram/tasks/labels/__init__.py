"""Training on labelled texts and pairs of texts: `similarity`, `entailment`, `sentiment`."""
