"""Exports models: versions for TensorFlow Serving, checks, compression, other libraries."""
