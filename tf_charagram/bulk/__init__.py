"""Embeds the lines of many files into shards, which can be resumed; counts their n-grams."""
