"""What commands print: the console and its tables, one file per kind of score."""
