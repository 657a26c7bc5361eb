"""Slow NumPy versions of the papers' formulas, which the library's layers must agree with.

Nothing here imports TensorFlow or the library. Everything is float64, loops where a loop is
clearer than an array expression, and is itself checked against hand-worked numbers by the tests in
this folder.
"""
