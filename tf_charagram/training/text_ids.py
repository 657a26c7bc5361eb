"""Settings of how a text becomes ids: which encoders have a use for them, and their checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tf_charagram.encoders.options import vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.text.validation import check_unicode_form

if TYPE_CHECKING:
    from tf_charagram.training.settings import RunConfig

_NGRAM_SETTINGS = (
    "ngrams", "max_per_order", "dictionary", "hash_buckets", "rows_per_ngram",
)  # fmt: skip
_WORD_SETTINGS = ("word_vectors", "vector_words", "freeze_words", "unknown_words", "l2_words")
#: Settings that only the encoders of some ids have a use for: ids -> the settings of the others.
_WITHOUT_USE = {
    "ngrams": _WORD_SETTINGS,
    "words": _NGRAM_SETTINGS,
    "characters": (*_NGRAM_SETTINGS, "min_count", *_WORD_SETTINGS),
}


def settings_without_use(encoder: str, unknown_words: str = "ngrams") -> tuple[str, ...]:
    """Returns the settings of ids and word vectors that an encoder has no use for.

    Args:
        encoder: Its name.
        unknown_words: For encoders of words, what the vector of an unknown word is made of.
    """
    ids = vectorizer_of(encoder)
    used = "ngrams" if ids == "words" and unknown_words == "ngrams" else None
    return tuple(name for name in _WITHOUT_USE[ids] if name != used)


def check_text_ids(config: RunConfig) -> None:
    """Checks the settings of normalization, n-grams, and hashing.

    Raises:
        ConfigError: One is out of range, or two do not go together.
    """
    check_unicode_form(config.unicode_form)
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
