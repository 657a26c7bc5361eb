"""Files are written whole and read without trust."""
