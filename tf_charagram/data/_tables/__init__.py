"""Lines, columns and tables of files."""
