"""Values of columns, read and compared."""
