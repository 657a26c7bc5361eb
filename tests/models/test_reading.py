"""What a model with a dictionary reads: `read_as`, accepted words and words to keep."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.c_runtime import measure_in_c_runtime
from tests.texts import NASTY
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.export._check.checks import _measure_in_process
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.batches import to_bytes
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.word_filter import WordFilter
from tf_charagram.text.vectorizer import NgramVectorizer

COUNTS = {"vehicles": 300, "moved": 900, "femur": 9}
TEXTS = [
    "A  Lemur, vehicls!",
    "NASA-moped \u65e5\u672c MOPED\tx",
    "",
    "rn\u00e9femr lemr",
    b"mopd \xff",
]


@pytest.fixture(scope="module")
def embedder():
    dictionary = Dictionary(COUNTS, WordFilter.from_words(["lemur"]))
    vectorizer = NgramVectorizer.from_texts(["vehicles moved lemur femur moped"])
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
    return TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=4))


@pytest.fixture(scope="module", params=[{}, {"fold_characters": True, "unknown_rows": 9}])
def exported(request, embedder, tmp_path_factory):
    """Returns an embedder, and the inputs of a request to its SavedModel."""
    vectorizer = embedder.vectorizer
    vectorizer = vectorizer.with_parts(
        vectorizer.vocabulary, vectorizer.dictionary, max_chars=100, **request.param
    )
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=4))
    folder = tmp_path_factory.mktemp("exported") / "1"
    embedder.export(folder)
    return embedder, {"folder": str(folder), "packages": [], "seconds": 0,
                      "text_inputs": ["texts"], "texts": [b"a"]}  # fmt: skip


@pytest.mark.parametrize(
    "measure", [pytest.param(_measure_in_process, marks=pytest.mark.variant), measure_in_c_runtime]
)
def test_signature(exported, measure):
    """A fresh process reads texts as Python does, and in lowercase with single spaces."""
    embedder, request = exported
    texts = [*map(to_bytes, [*TEXTS, "caf\u00e9 lemr", *NASTY.values()])]
    calls = {"all": ("read_as", {"texts": texts}), "none": ("read_as", {"texts": []})}
    answers = measure({**request, "calls": calls})["answers"]
    assert answers["none"]["text"].shape == (0,)
    read = [text.decode() for text in answers["all"]["text"]]
    assert read == [embedder.vectorizer.spans(text)[0][1:-1] for text in texts]
    assert read[2] == "" and max(map(len, read)) == 100
    if embedder.vectorizer.unknown_rows:
        expected = embedder.read_as(texts[:6])
        assert read[:6] == [" ".join(text.lower().split()) for text in expected]
    else:
        assert read[0] == "\ufffd lemur\ufffd vehicles\ufffd"


@pytest.fixture(scope="module")
def saved(embedder, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    embedder.save(path)
    return path


def test_read_as(embedder):
    assert embedder.read_as(TEXTS) == [
        "A  Lemur, vehicles!", "NASA-moved \u65e5\u672c MOPED\tx", "", "rn\u00e9femr lemr",
        "mopd \ufffd",
    ]  # fmt: skip
    assert embedder.read_as(["MOPED LEMR", "Moped"]) == ["MOVED LEMR", "Moved"]
    assert embedder.read_as([]) == []
    with pytest.raises(ConfigError, match="`texts` must be a list of texts"):
        embedder.read_as("vehicls")


def test_vectors_are_those_of_the_texts_as_read(embedder):
    np.testing.assert_array_equal(
        embedder.encode(TEXTS), TextEmbedder(embedder.vectorizer.as_written(), embedder.encoder)
        .encode(embedder.read_as(TEXTS)),
    )  # fmt: skip


@pytest.mark.long
def test_accepted_words_are_saved_and_exported(embedder, saved, tmp_path):
    assert TextEmbedder.load(saved).read_as(TEXTS) == embedder.read_as(TEXTS)
    embedder.export(tmp_path / "1")
    served = tf.saved_model.load(str(tmp_path / "1")).signatures["serving_default"]
    vectors = served(texts=tf.constant(TEXTS))["embedding"]
    np.testing.assert_allclose(vectors, embedder.encode(TEXTS), rtol=1e-5, atol=1e-6)


def test_two_readings_are_saved_and_exported(embedder, tmp_path):
    """A sure word is read, an unsure one is half read, and one that is surely right is not."""
    vectorizer = embedder.vectorizer
    # Missing letters are sure, wrong ones are not, swapped and added ones are no errors.
    weights = np.array([0] * 3 + [9000] * 3 + [-9000] * 13 + [0] * 3, np.int32)
    dictionary = vectorizer.dictionary.with_sureness(weights)
    unsure = TextEmbedder(
        vectorizer.with_parts(vectorizer.vocabulary, dictionary), embedder.encoder
    )
    texts = ["vehicls moved", "vehidles moved", "vehicels moved", "lemur", ""]
    assert unsure.read_as(texts) == ["vehicles moved", *texts[1:]]
    written = TextEmbedder(vectorizer.as_written(), embedder.encoder).encode(texts)
    [read] = embedder.encode(["vehicles moved"])
    expected = written.copy()
    expected[0] += 0.65 * (read - written[0])
    expected[1] += 0.325 * (read - written[1])
    vectors = unsure.encode(texts)
    np.testing.assert_allclose(vectors, expected, atol=0.02)
    np.testing.assert_array_equal(vectors[2:], written[2:])
    unsure.save(tmp_path / "saved")
    np.testing.assert_array_equal(TextEmbedder.load(tmp_path / "saved").encode(texts), vectors)
    unsure.export(tmp_path / "exported")
    exported = tf.saved_model.load(str(tmp_path / "exported"))
    answer = exported.signatures["serving_default"](tf.constant(texts))
    np.testing.assert_allclose(answer["embedding"], vectors, atol=1e-6)
    answer = exported.signatures["read_as"](tf.constant(texts))
    assert answer["text"].numpy().tolist() == [text.encode() for text in unsure.read_as(texts)]


def test_words_to_keep(saved, tmp_path):
    read = TextEmbedder.load(saved, keep_words=["a Moped, 1"]).read_as(["moped mopd lemur vehicls"])
    assert read == ["moped moped lemur vehicles"]
    file = tmp_path / "words.txt"
    file.write_bytes(b"moped\nvehicls \xff\n")
    read = TextEmbedder.load(saved, keep_words=file).read_as(["moped vehicls lemr"])
    assert read == ["moped vehicls lemr"]
    assert TextEmbedder.load(saved, keep_words=[]).read_as(["moped"]) == ["moved"]
    assert TextEmbedder.load(saved, correct_spelling=False, keep_words=file).read_as(["vehicle"])
    with pytest.raises(ConfigError, match="`keep_words` must hold strings"):
        TextEmbedder.load(saved, keep_words=[3])
    with pytest.raises(RunError, match=r"Cannot read .*missing: No such file"):
        TextEmbedder.load(saved, keep_words=tmp_path / "missing")


def test_without_dictionary(embedder):
    vectorizer = embedder.vectorizer.as_written()
    assert TextEmbedder(vectorizer, embedder.encoder).read_as(["vehicls"]) == ["vehicls"]
