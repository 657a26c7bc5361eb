"""Counts of keys against `collections.Counter`, in memory and on disk."""

from __future__ import annotations

import tempfile
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands import full_disk
from tests.text.strategies import property_settings
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.text import counting
from tf_charagram.text.counting import CountStore, count_keys, most_frequent
from tf_charagram.text.vocabulary import NgramVocabulary

key_lists = st.lists(st.integers(1, 9) | st.integers(1, 2**63 - 1), max_size=60)


def pairs_of(counted):
    return list(zip(counted.keys.tolist(), counted.counts.tolist(), strict=True))


def random_keys(size, seed=0):
    """Returns keys of which half are few and frequent, and the others rare."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(size) < 0.5, rng.integers(1, 50, size), rng.integers(1, 2**62, size))


@property_settings
@given(key_lists)
def test_counts_equal_a_counter(keys):
    assert pairs_of(count_keys(np.array(keys, np.int64))) == sorted(Counter(keys).items())


def test_more_keys_than_slots():
    keys = random_keys(800_000)
    expected = np.unique(keys, return_counts=True)
    assert len(expected[0]) > 2**18
    for found, wanted in zip(count_keys(keys), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@property_settings
@given(st.lists(key_lists, max_size=12), st.integers(1, 40))
def test_a_store_equals_a_counter(batches, max_distinct):
    store = CountStore(max_distinct)
    for batch in (*batches, []):
        store.add(count_keys(np.array(batch, np.int64)))
    expected = Counter(key for batch in batches for key in batch)
    for _ in range(2):  # It can be read again.
        assert [p for chunk in store.chunks() for p in pairs_of(chunk)] == sorted(expected.items())
    store.close()
    assert list(store.chunks()) == []


@property_settings
@given(key_lists, st.integers(1, 3), st.none() | st.integers(1, 5), st.integers(1, 9))
def test_most_frequent(keys, min_count, max_size, num_parts):
    """Of equally frequent keys, the highest comes first here; parts may share a key."""
    parts = [
        count_keys(part) for part in np.array_split(np.sort(np.array(keys, np.int64)), num_parts)
    ]
    found = most_frequent(parts, min_count, max_size, np.negative)
    counts = {-key: count for key, count in Counter(keys).items() if count >= min_count}
    expected = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    assert pairs_of(found) == expected[:max_size]


def test_memory_is_bounded(monkeypatch):
    """At most as many keys as allowed, and those of a batch, are merged at a time."""
    sizes, summed = [], counting._summed

    def watched(parts):
        sizes.append(sum(len(part.keys) for part in parts))
        return summed(parts)

    batches = [count_keys(random_keys(500, seed)) for seed in range(60)]
    monkeypatch.setattr(counting, "_summed", watched)
    store = CountStore(1000)
    for counted in batches:
        store.add(counted)
    chunks = list(store.chunks())
    assert sum(chunk.counts.sum() for chunk in chunks) == 60 * 500
    assert sum(len(chunk.keys) for chunk in chunks) > 4000
    assert 1000 < max(sizes) <= 1000 + max(len(counted.keys) for counted in batches)
    store.close()


def test_the_temporary_file_has_no_name(tmp_path, monkeypatch):
    """So it vanishes with the process, however that ends."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = CountStore(1)
    store.add(count_keys(np.arange(1, 100)))
    assert list(tmp_path.iterdir()) == []
    assert sum(len(chunk.keys) for chunk in store.chunks()) == 99
    store.close()


def test_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = CountStore(10)
    with full_disk(1000), pytest.raises(RunError) as raised:
        for start in range(1, 2000, 100):
            store.add(count_keys(np.arange(start, start + 100)))
    store.close()
    assert str(raised.value) == (
        f"Cannot write n-gram counts to {tmp_path}: File too large. Free some space there, or set "
        "TMPDIR to a folder on a larger disk."
    )


def test_an_error_of_the_texts_ends_counting(monkeypatch):
    monkeypatch.setattr(counting, "_BATCH_TEXTS", 2)

    def texts():
        yield from ["cat"] * 50
        raise ConfigError("no more")

    with pytest.raises(ConfigError, match="no more"):
        NgramVocabulary.from_texts(texts(), max_distinct=1)
