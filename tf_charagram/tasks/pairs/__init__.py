"""Training on pairs of sentences with scores or labels: `similarity`, `entailment`."""
