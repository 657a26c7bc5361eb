"""Settings of ids: who has a use for them, and which go together."""

from __future__ import annotations

import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training.text_ids import settings_without_use


def test_settings_without_use():
    assert "hash_buckets" in settings_without_use("lstm")
    assert "ngrams" not in settings_without_use("lstm")
    assert "ngrams" in settings_without_use("lstm", unknown_words="shared")
    assert "word_vectors" in settings_without_use("charagram")
    assert {"min_count", "l2_words", "ngrams"} < set(settings_without_use("char_cnn"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unicode_form": "NFX"}, "must be None, NFC, NFD, NFKC or NFKD. Received: 'NFX'"),
        ({"rows_per_ngram": 2}, "`rows_per_ngram` is for `hash_buckets` only"),
        ({"hash_buckets": 100, "min_count": 2}, "with `hash_buckets` there is none"),
        ({"hash_buckets": 100, "max_per_order": 9}, "with `hash_buckets` there is none"),
    ],
)
def test_what_does_not_go_together(settings, message):
    with pytest.raises(ConfigError) as raised:
        ParaphraseConfig(**settings)
    assert message in str(raised.value)
