"""A page in the browser to try a model, served on this computer only."""
