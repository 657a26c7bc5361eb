"""What is fuzzed, one file for each kind of thing; each has a list `TARGETS`."""
