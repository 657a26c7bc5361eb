"""A page that shows what a model makes of what one types, served on this computer alone."""
