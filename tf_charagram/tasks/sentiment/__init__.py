"""Training on labelled texts: `sentiment`."""
