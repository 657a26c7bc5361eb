"""The layers by name, those that turn strings into ids among them."""

from tf_charagram.lazy import lazy_names

#: Name -> module.
LAYERS = {
    "BiLstm": "tf_charagram.layers.bilstm",
    "CharacterVectorizer": "tf_charagram.text.characters",
    "ConvPooling": "tf_charagram.layers.conv_pooling",
    "NgramVectorizer": "tf_charagram.text.vectorizer",
    "PaddedEmbedding": "tf_charagram.layers.embedding_table",
    "PairLabelHead": "tf_charagram.tasks.pairs.head",
    "PairScoreHead": "tf_charagram.tasks.pairs.head",
    "PeepholeLSTM": "tf_charagram.layers.peephole_lstm",
    "PeepholeLSTMCell": "tf_charagram.layers.peephole_lstm",
    "PlainLSTM": "tf_charagram.layers.plain_lstm",
    "RaggedEmbeddingSum": "tf_charagram.layers.embedding_table",
    "TaggingHead": "tf_charagram.tasks.tagging.head",
    "TextHead": "tf_charagram.tasks.sentiment.head",
    "WordVectorizer": "tf_charagram.text.words",
}

__getattr__ = lazy_names(__name__, LAYERS)
