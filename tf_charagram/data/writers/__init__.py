"""Writers of vectors and tags."""
