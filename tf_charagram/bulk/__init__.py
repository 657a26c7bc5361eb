"""Embeds the lines of many files into shards; a stopped run can be resumed."""
