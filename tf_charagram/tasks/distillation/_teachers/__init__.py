"""Teachers' vectors of texts, and batches of them."""
