"""Fast paths from texts to vectors."""
