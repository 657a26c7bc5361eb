"""The Keras models: the embedder a user holds, and the models that train it."""
