"""Training on the vectors of a teacher: `distill`."""
