"""Reads models of n-grams with NumPy alone, without TensorFlow."""

from __future__ import annotations

from tf_charagram.reader.text_reader import TextReader

__all__ = ["TextReader"]
