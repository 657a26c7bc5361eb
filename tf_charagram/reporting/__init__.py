"""Tables and progress on the terminal."""
