"""Model folders and SavedModels, written and read."""
