"""Embedding the lines of many files into shards that a stopped run can go on with."""
