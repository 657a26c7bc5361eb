"""The layers by name."""

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names

if TYPE_CHECKING:
    from tf_charagram.layers.base import ConfiguredLayer
    from tf_charagram.layers.bilstm import BiLstm
    from tf_charagram.layers.conv_pooling import ConvPooling
    from tf_charagram.layers.embedding_table import PaddedEmbedding, RaggedEmbeddingSum
    from tf_charagram.layers.peephole_lstm import PeepholeLSTM
    from tf_charagram.layers.plain_lstm import PlainLSTM

__all__ = [
    "BiLstm",
    "ConfiguredLayer",
    "ConvPooling",
    "PaddedEmbedding",
    "PeepholeLSTM",
    "PlainLSTM",
    "RaggedEmbeddingSum",
]

#: Layer of a saved model -> module.
LAYERS = {
    "BiLstm": "tf_charagram.layers.bilstm",
    "ConvPooling": "tf_charagram.layers.conv_pooling",
    "PaddedEmbedding": "tf_charagram.layers.embedding_table",
    "PeepholeLSTM": "tf_charagram.layers.peephole_lstm",
    "PlainLSTM": "tf_charagram.layers.plain_lstm",
    "RaggedEmbeddingSum": "tf_charagram.layers.embedding_table",
}

if not TYPE_CHECKING:
    _BASE = {"ConfiguredLayer": "tf_charagram.layers.base"}
    __getattr__ = lazy_names(__name__, {**LAYERS, **_BASE}, needs_tensorflow=True)
