"""A version for TensorFlow Serving: folder, card, golden answers, warm-up, and clients."""
