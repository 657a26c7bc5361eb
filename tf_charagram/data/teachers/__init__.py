"""Models that others have trained, whose vectors a student learns."""
