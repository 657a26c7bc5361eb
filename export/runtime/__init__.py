"""SavedModels without Python's TensorFlow: the C library and the wire format."""
