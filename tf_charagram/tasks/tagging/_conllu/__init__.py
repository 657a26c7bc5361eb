"""Tagged sentences, and scores of tags."""
