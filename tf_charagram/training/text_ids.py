"""Checks of the settings of how texts become ids, and of word vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tf_charagram.checks import changed
from tf_charagram.encoders import vectorizer_of
from tf_charagram.errors import ConfigError

if TYPE_CHECKING:
    from tf_charagram.training.settings import RunConfig

_NGRAM_SETTINGS = (
    "ngrams", "max_per_order", "dictionary", "hash_buckets", "rows_per_ngram",
)  # fmt: skip
_WORD_SETTINGS = ("word_vectors", "freeze_words", "unknown_words", "l2_words")
#: Settings without use for encoders of some ids.
_WITHOUT_USE = {
    "ngrams": _WORD_SETTINGS,
    "words": _NGRAM_SETTINGS,
    "characters": (*_NGRAM_SETTINGS, "min_count", *_WORD_SETTINGS),
}


def check_text_ids(config: RunConfig) -> None:
    """Checks that the settings of n-grams and word vectors suit the encoder and each other.

    Raises:
        ConfigError: The encoder has no use for one, or two do not go together.
    """
    ids = vectorizer_of(config.encoder)
    for name in changed(config, _WITHOUT_USE[ids]):
        if (ids, name, config.unknown_words) != ("words", "ngrams", "ngrams"):
            raise ConfigError(
                f"`{name}` is not an option of the encoder '{config.encoder}'. "
                f"Received: {name}={getattr(config, name)!r}"
            )
    if config.hash_buckets is None and config.rows_per_ngram != 1:
        raise ConfigError(
            "`rows_per_ngram` is for `hash_buckets` only. "
            f"Received: rows_per_ngram={config.rows_per_ngram}"
        )
    is_chosen = config.min_count > 1 or bool(config.max_per_order)
    if config.hash_buckets is not None and is_chosen:
        raise ConfigError(
            "`min_count` and `max_per_order` choose the n-grams of a vocabulary, and with "
            "`hash_buckets` there is none. Leave out these two, or `hash_buckets`."
        )
    if config.freeze_words and config.l2_words:
        raise ConfigError(
            "`l2_words` is for word vectors that are trained, not for `freeze_words`. Leave one of "
            f"them out. Received: l2_words={config.l2_words}"
        )
    if config.freeze_words and config.unknown_words == "ngrams" and config.init is None:
        raise ConfigError(
            "`freeze_words` would leave the n-grams of unknown words at their random vectors. "
            "Leave it out, or choose `unknown_words=shared`."
        )
    if config.freeze_words and config.word_vectors is None and config.init is None:
        raise ConfigError(
            "`freeze_words` needs `word_vectors` or `init`: without them, words are random."
        )
