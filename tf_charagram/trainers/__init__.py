"""Keras models with a `train_step`: what the training loop calls."""
