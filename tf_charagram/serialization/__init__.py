"""What is kept on disk: model folders, SavedModels and their cards."""
