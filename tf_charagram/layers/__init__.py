"""The layers by name, those that turn strings into ids among them."""

from tf_charagram.lazy import lazy_names

#: Name -> module.
LAYERS = {
    "BiLstm": "tf_charagram.layers.bilstm",
    "CharacterVectorizer": "tf_charagram.text.characters",
    "ConvPooling": "tf_charagram.layers.conv_pooling",
    "NgramVectorizer": "tf_charagram.text.vectorizer",
    "PaddedEmbedding": "tf_charagram.layers.embedding_table",
    "PeepholeLSTM": "tf_charagram.layers.peephole_lstm",
    "PlainLSTM": "tf_charagram.layers.plain_lstm",
    "RaggedEmbeddingSum": "tf_charagram.layers.embedding_table",
    "WordVectorizer": "tf_charagram.text.words",
}

__getattr__ = lazy_names(__name__, LAYERS)
