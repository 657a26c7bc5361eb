"""What trained models learned: each analysis a function on a model or two that returns a table."""
