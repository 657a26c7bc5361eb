"""Search spaces, trials and their folder."""
