"""What commands print: the console and its tables."""
