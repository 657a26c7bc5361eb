"""Embeds the lines of many files into a folder of shards; an interrupted run can be resumed."""
