"""From texts to batches: the corpus, its ids, and the stream of batches."""
