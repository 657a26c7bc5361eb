"""Ids of pairs in memory and in files."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.data.pipeline.corpus import Example
from tf_charagram.data.pipeline.store import PairStore, text_keys
from tf_charagram.errors import RunError

NUM_PAIRS = 23


def to_ids(texts):
    """Gives each text the code points of its characters."""
    return tf.strings.unicode_decode(texts, "UTF-8")


def examples():
    for i in range(NUM_PAIRS):
        pair = (f"left {i}" * (i % 4), f"Right  {i}")
        yield Example(*pair, pair)


def filled(folder, block_size, **settings):
    store = PairStore(NUM_PAIRS, block_size, folder / "pairs", seed=3, **settings)
    store.fill(examples(), to_ids)
    return store


def pairs_in(block):
    ids, keys = block.ids.to_list(), block.keys.numpy().tolist()
    return [(*ids[i : i + 2], *keys[i : i + 2]) for i in range(0, len(ids), 2)]


def test_one_block_is_in_memory(tmp_path):
    store = filled(tmp_path, 100)
    assert store.num_blocks == 1
    block = store.load(0)
    assert block.num_pairs == NUM_PAIRS
    texts = [text for example in examples() for text in example[:2]]
    assert block.ids.to_list() == [list(map(ord, text)) for text in texts]
    assert store.load(0, in_order=True) is block
    assert not (tmp_path / "pairs").exists()


@pytest.mark.parametrize("block_size", [1, 5, 22])
def test_blocks_hold_every_pair_once(tmp_path, block_size, monkeypatch):
    monkeypatch.setattr("tf_charagram.data.pipeline.store._CHUNK_PAIRS", 4)
    whole = pairs_in(filled(tmp_path, NUM_PAIRS).load(0))
    store = filled(tmp_path, block_size, keeps_order=True)
    assert store.num_blocks == -(-NUM_PAIRS // block_size)
    shuffled, ordered = [], []
    for number in range(store.num_blocks):
        block = store.load(number)
        shuffled += pairs_in(block)
        ordered += pairs_in(store.load(number, in_order=True))
    assert ordered == whole
    assert shuffled != whole and sorted(shuffled) == sorted(whole)
    assert pairs_in(filled(tmp_path, block_size).load(0)) == shuffled[:block_size]
    store.remove()
    assert not (tmp_path / "pairs").exists()


def test_keys_ignore_case_white_space_and_typos(tmp_path):
    pairs = [("The cat", "the  CAT "), ("a cat", "\tThe cat")]
    texts = [Example(*pair, pair) for pair in pairs]
    texts.append(Example("The catt", "x", ("The cat", "x")))
    store = PairStore(3, 3, tmp_path)
    store.fill(texts, to_ids)
    keys = store.load(0).keys.numpy()
    assert keys.dtype == np.int64
    assert len(set(keys[[0, 1, 3, 4]].tolist())) == 1
    assert len(set(keys.tolist())) == 3


def test_keys_of_different_texts_differ():
    assert len(set(text_keys(map(str, range(2000))).numpy().tolist())) == 2000


def test_files_of_an_earlier_run_are_deleted(tmp_path):
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "shuffled-0.ids").write_bytes(b"old")
    store = filled(tmp_path, 5)
    pairs = [pair for number in range(5) for pair in pairs_in(store.load(number))]
    assert len(pairs) == NUM_PAIRS


def test_unwritable_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"Cannot write .*pairs: Not a directory"):
        filled(tmp_path / "file", 5)


def test_missing_block(tmp_path):
    store = filled(tmp_path, 5)
    (tmp_path / "pairs" / "shuffled-2.ids").unlink()
    with pytest.raises(RunError, match=r"shuffled-2 cannot be read: .* --resume"):
        store.load(2)
