"""Reads texts as symbols in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram.text._algorithm import graph
from tf_charagram.text._algorithm.flat import Readings
from tf_charagram.text._algorithm.symbols import Symbols
from tf_charagram.text._algorithm.tensors import tensor_of
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.sureness import MIN_SHARE
from tf_charagram.text.alphabet import Alphabet


class SymbolReader(Symbols):
    """Turns tensors of texts into symbols, eagerly or in a graph, always on the CPU.

    The arguments are those of `Symbols`, except for `ops`.
    """

    @on_cpu
    def __init__(
        self, alphabet: Alphabet | None, dictionary: Dictionary | None = None, **options: Any
    ) -> None:
        super().__init__(alphabet, dictionary, graph, **options)

    strings = on_cpu(Symbols.strings)
    string = on_cpu(Symbols.string)
    folded = on_cpu(Symbols.folded)
    known_share = on_cpu(Symbols.known_share)

    @on_cpu
    def readings(self, texts: Any, min_share: float = MIN_SHARE) -> Readings:
        """Reads a batch of texts, also with words that may well be right."""
        read = self._read if tf.executing_eagerly() else self._function
        return read(tensor_of(texts), tf.constant(min_share))

    @cached_property
    def _function(self) -> Callable[[tf.Tensor, tf.Tensor], Readings]:
        """Concrete function shared by all graphs.

        A SavedModel with several signatures stores it once.
        """
        signature = [tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.float32)]
        with tf.init_scope():
            read = tf.function(self._read, input_signature=signature, autograph=False)
            return read.get_concrete_function()

    @on_cpu
    def _read(self, texts: tf.Tensor, min_share: tf.Tensor) -> Readings:
        # A function that is called later runs outside the scope of its caller.
        return super()._read(texts, min_share)
