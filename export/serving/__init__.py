"""Versions for TensorFlow Serving, the files of the server, and clients."""
