"""Serving: SavedModels, their checks, and the runtimes that load them."""
