"""Slow NumPy versions of the papers' formulas, which the library's layers must agree with.

Nothing here imports TensorFlow, and of the library only tables. Everything is float64, with loops
where a loop is clearer than an array expression.
"""
