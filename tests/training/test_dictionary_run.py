"""`--dictionary`, from the flag to the served model and to a second stage."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.commands import QUICK, call
from tf_charagram import TextEmbedder
from tf_charagram.cli._flags.run_flags import parse_run
from tf_charagram.cli.train import make_parser
from tf_charagram.encoders import encoder_class
from tf_charagram.export._compression.shrinking import pruned
from tf_charagram.models._storage.locations import read_config
from tf_charagram.models._storage.stored_model import read_dictionary
from tf_charagram.search.texts import read_vocabulary
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.training._loop.building import make_vectorizer

KNOWN = "road\t900\nvehicles\t30\n4x4\t9\n"
RIGHT, WRONG = "vehicles on the road", "vehicels on the raod"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    lines = [f"vehicles on the road{n}\tcars on the street{n}" for n in "abcdefghijklmnopqrst"]
    path.write_text("\n".join(["text1\ttext2", *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture
def known(tmp_path):
    path = tmp_path / "known.tsv"
    path.write_text(KNOWN)
    return path


def vectorizer_of(texts, mistyped=(), **settings):
    return make_vectorizer(ParaphraseConfig(**settings), texts, mistyped)


def grown(first, texts, **settings):
    """Returns the vectorizer of a second stage on some texts."""
    new = vectorizer_of(texts, init=str(first), **settings)
    return TextEmbedder.load(first).vectorizer.grown(new)[0]


def train(out, *arguments):
    return call("train", *QUICK, *arguments, "--output", out)


@pytest.fixture(scope="module")
def trained(pairs, tmp_path_factory):
    """Returns the folder of a finished run with a dictionary."""
    folder = tmp_path_factory.mktemp("trained")
    known = folder / "known.tsv"
    known.write_text(KNOWN)
    assert train(folder / "run", "--data", pairs, "--dictionary", known) == 0
    return folder / "run"


@pytest.mark.long
def test_every_route_corrects(trained, tmp_path):
    embedder = TextEmbedder.load(trained)
    assert embedder.vectorizer.dictionary.words == ["road", "vehicles"]
    assert embedder.vectorizer.spans(WRONG)[0] == f" {RIGHT} "
    right, wrong = embedder.encode([RIGHT, WRONG])
    np.testing.assert_array_equal(right, wrong)
    folded = TextEmbedder.load(trained, folded=True)
    np.testing.assert_allclose(folded.encode([WRONG])[0], right, rtol=1e-4, atol=1e-6)
    as_written = TextEmbedder.load(trained, correct_spelling=False)
    assert as_written.vectorizer.dictionary is None
    np.testing.assert_array_equal(as_written.encode([RIGHT])[0], right)
    assert np.abs(as_written.encode([WRONG])[0] - right).max() > 1e-3
    served = tf.saved_model.load(str(trained / "saved_model" / "1")).signatures["serving_default"]
    for vector in served(texts=tf.constant([WRONG, RIGHT]))["embedding"]:
        np.testing.assert_allclose(vector, right, rtol=1e-4, atol=1e-6)


@pytest.mark.long
def test_saved_again_and_made_smaller(trained, tmp_path):
    embedder = TextEmbedder.load(trained)
    embedder.save(tmp_path / "small", table_dtype="int8")
    assert read_config(tmp_path / "small")["format_version"] == 3
    assert read_dictionary(tmp_path / "small").words == ["road", "vehicles"]
    assert read_vocabulary(None, str(tmp_path / "small")) == ["road", "vehicles"]
    vectorizer, _ = pruned(embedder.vectorizer, embedder.encoder, 20)
    assert vectorizer.spans(WRONG)[0] == f" {RIGHT} " and len(vectorizer.vocabulary) == 20
    embedder.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.encode([WRONG]), embedder.encode([RIGHT]))


def test_second_stage_knows_both(trained, pairs, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("the roda roda\n" * 3 + "rare\n" * 4)
    own = pairs.read_text().replace("\t", "\n").splitlines()
    second = grown(trained, own, dictionary=(str(texts),))
    assert second.dictionary.words == ["road", "on", "the", "vehicles", "cars", "roda"]
    assert second.spans(WRONG + " roda")[0] == f" {RIGHT} roda "
    third = grown(trained, own)
    assert third.dictionary.words == ["road", "on", "the", "vehicles", "cars"]


def test_second_stage_knows_words_of_its_own_texts(trained):
    # One that would be read as a known word, a misspelling of a frequent one, and a rare one.
    texts = ["the toad sits", "the toad rests"] * 5 + ["the road"] * 80
    texts += ["a vehicles", "a vehicle"] * 60 + ["the raod", "the raods"] * 5
    second = grown(trained, [*texts, "the vehiles"])
    assert second.spans("a toad a tooad the raod")[0] == " a toad a toad the road "
    assert {"vehicle", "sits", "the"} < set(second.dictionary.words)


def test_several_lists_with_apostrophes_and_in_a_form(tmp_path):
    first, second = tmp_path / "first.tsv", tmp_path / "second.tsv"
    first.write_text("could 100\ncouldn't 90\nroad 9\n")
    second.write_text("scho\u0308n 50\nschon 100\n", encoding="utf-8")
    flags = ("--dictionary", str(first), "--dictionary", str(second), "--unicode-form", "NFC")
    values = parse_run(flags, make_parser).config
    assert values.dictionary == (str(first), str(second))
    text = " he couldn't see a sch\u00f6n road "
    vectorizer = vectorizer_of([text], dictionary=values.dictionary, unicode_form="NFC")
    assert vectorizer.spans(text.replace("road", "raod"))[0] == text


@pytest.mark.parametrize("hashing", [{}, {"hash_buckets": 99}])
def test_errors_that_were_added_are_no_words(hashing, tmp_path):
    first = vectorizer_of(["road"], **hashing)
    road = first.with_parts(first.vocabulary, Dictionary({"road": 900}))
    encoder = encoder_class("charagram")(num_rows=road.num_rows, dim=3)
    TextEmbedder(road, encoder).save(tmp_path)
    texts, mistyped = ["road street"] * 9 + ["toad"] * 9, ["raod"] * 9
    vectorizer = vectorizer_of(iter(texts), iter(mistyped), init=str(tmp_path), **hashing)
    assert sorted(vectorizer.dictionary.words) == ["street", "toad"]
    if not hashing:
        assert "rao" in vectorizer.vocabulary.ngrams()


def test_a_dictionary_that_changed_is_noticed(trained, pairs, known, capsys):
    known.write_text("road\t900\n")
    flags = ("--data", pairs, "--dictionary", known, "--resume")
    assert train(trained, *flags) == 1
    assert "known.tsv" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "message"), [
    ("road\t9\n" * 20 + "vehicles\n", "known.tsv:21: expected a word and its count"),
    ("4x4\t9\n", "at least one word of letters only"),
    ("seldom\n", "at least one word of letters only"),
    (None, "known.tsv"),
])  # fmt: skip
def test_bad_files(text, message, pairs, known, tmp_path, capsys):
    known.unlink() if text is None else known.write_text(text)
    assert train(tmp_path / "run", "--data", pairs, "--dictionary", known) == 1
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error
