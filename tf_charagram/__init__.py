"""Text embeddings from character n-grams, trained on paraphrase pairs, in TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names, register_with_keras, when_keras_is_imported
from tf_charagram._version import __version__
from tf_charagram.encoders import CLASSES
from tf_charagram.errors import CharagramError, ConfigError, DataError, RunError, TrainingError
from tf_charagram.layers import LAYERS
from tf_charagram.models._storage.locations import MODELS
from tf_charagram.optimizers import CLASSES as OPTIMIZERS
from tf_charagram.tasks import CLASSES as TASK_CLASSES
from tf_charagram.tasks import MODELS as TASK_MODELS
from tf_charagram.tasks.train import TrainedRun, train

if TYPE_CHECKING:
    from tf_charagram import encoders, layers, losses, optimizers
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.models.text_reader import TextReader
    from tf_charagram.tasks.labels.models import PairClassifier, PairScorer, TextClassifier
    from tf_charagram.tasks.paraphrase.model import ParaphraseModel
    from tf_charagram.tasks.tagging.model import Tagger
    from tf_charagram.text.characters import CharacterVectorizer
    from tf_charagram.text.vectorizer import NgramVectorizer
    from tf_charagram.text.words import WordVectorizer

_MODELS = {
    **TASK_CLASSES,
    "TextEmbedder": "tf_charagram.models.embedder",
}
_TRAINING = {
    **OPTIMIZERS,
    "MarginLoss": "tf_charagram.losses.margin",
}
_VECTORIZERS = {
    "CharacterVectorizer": "tf_charagram.text.characters",
    "NgramVectorizer": "tf_charagram.text.vectorizer",
    "WordVectorizer": "tf_charagram.text.words",
}
_NAMES = {
    **_MODELS,
    **_VECTORIZERS,
    "ParaphraseModel": "tf_charagram.tasks.paraphrase.model",
    "TextReader": "tf_charagram.models.text_reader",
}
_MODULES = ("encoders", "layers", "losses", "optimizers")

__all__ = [
    "CharacterVectorizer",
    "CharagramError",
    "ConfigError",
    "DataError",
    "NgramVectorizer",
    "PairClassifier",
    "PairScorer",
    "ParaphraseModel",
    "RunError",
    "Tagger",
    "TextClassifier",
    "TextEmbedder",
    "TextReader",
    "TrainedRun",
    "TrainingError",
    "WordVectorizer",
    "__version__",
    "encoders",
    "layers",
    "losses",
    "optimizers",
    "train",
]

_MODULE_NAMES = {name: f"{__name__}.{name}" for name in _MODULES}
MODELS.update(TASK_MODELS)


def _register() -> None:
    for classes in (_MODELS, _TRAINING, _VECTORIZERS, LAYERS, CLASSES):
        register_with_keras(__name__, classes)


if not TYPE_CHECKING:
    # Type checkers would take any name for a lazy one.
    __getattr__ = lazy_names(
        __name__, {**_NAMES, **_MODULE_NAMES}, needs_tensorflow=True, light=["TextReader"]
    )

when_keras_is_imported(_register)
