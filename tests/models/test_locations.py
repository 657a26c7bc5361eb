"""Tests of models by name and by kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import call
from tests.models.answers import parts
from tests.shipped import FACTS, NAME, WORDS, ship_tiny
from tf_charagram import TextEmbedder
from tf_charagram._files.json_files import write_json
from tf_charagram.bulk._shards.inputs import find_inputs
from tf_charagram.bulk.job import EmbedJob
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.export._serving.card import about_run, page
from tf_charagram.models._storage import locations
from tf_charagram.models._storage.locations import (
    MODELS,
    load_any,
    model_class,
    model_folder,
    model_sha256,
    read_card,
    shipped_models,
)
from tf_charagram.models.base import TextModel
from tf_charagram.search.texts import read_vocabulary
from tf_charagram.tasks import make_settings
from tf_charagram.tasks._shared.defaults import check_init


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Returns the folder of the only shipped model; the working directory is an empty one."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(locations, "PRETRAINED", tmp_path / "pretrained")
    ship_tiny(tmp_path / "pretrained")
    return tmp_path / "pretrained" / NAME


class TestName:
    def test_the_same_as_the_folder(self, shipped):
        assert shipped_models() == {NAME: shipped}
        vectors = TextEmbedder.load(shipped).encode(WORDS)
        for name in (NAME, Path(NAME)):
            assert model_folder(name) == shipped
            np.testing.assert_array_equal(TextEmbedder.load(name).encode(WORDS), vectors)
        np.testing.assert_array_equal(load_any(NAME).encode(WORDS), vectors)
        assert model_sha256(NAME) == model_sha256(shipped)

    def test_a_folder_of_that_name_comes_first(self, shipped):
        TextEmbedder(*parts(dim=3)).save(NAME)
        assert TextEmbedder.load(NAME).dim == 3
        assert TextEmbedder.load(shipped).dim == 6

    def test_paths_are_not_names(self, shipped):
        with pytest.raises(RunError, match=r"is not a model folder: .* `model` folder\.$"):
            TextEmbedder.load("./" + NAME)

    def test_an_unknown_name(self, shipped):
        message = (
            "tiny-englsh is not a model folder: it has no config.json. Give a run folder or "
            "its `model` folder. Unknown model 'tiny-englsh'. Did you mean 'tiny-english'? "
            "Available: tiny-english."
        )
        for load in (TextEmbedder.load, load_any, model_sha256):
            with pytest.raises(RunError) as caught:
                load("tiny-englsh")
            assert str(caught.value) == message


class TestInsteadOfAFolder:
    def test_search_finds_its_words(self, shipped, capsys):
        assert read_vocabulary(None, NAME) == WORDS
        assert call("search", NAME, "cat", "--json", "--k", 2) == 0
        result = json.loads(capsys.readouterr().out)
        assert result["hits"] and {hit["text"] for hit in result["hits"]} <= {*WORDS} - {"cat"}

    def test_words_are_missing(self, shipped):
        (shipped / "words.txt.gz").unlink()
        with pytest.raises(ConfigError, match=f"{NAME} has no texts.txt: name a file with --texts"):
            read_vocabulary(None, NAME)

    def test_embed(self, shipped, tmp_path):
        (tmp_path / "lines.txt").write_text("cat\ndogs\n")
        files = ["--input", tmp_path / "lines.txt", "--output", "vectors.npy"]
        assert call("embed", NAME, *files) == 0
        expected = TextEmbedder.load(shipped).encode(["cat", "dogs"])
        np.testing.assert_allclose(np.load("vectors.npy"), expected, rtol=1e-4, atol=1e-5)
        job = EmbedJob(NAME, tuple(find_inputs([str(tmp_path / "lines.txt")])), "shards")
        assert job.identity()["settings"]["model_sha256"] == model_sha256(shipped)

    def test_training_goes_on(self, shipped):
        config = make_settings("words", init=NAME)
        assert (config.encoder_options.activation, config.ngrams) == ("tanh", (2, 3, 4))
        with pytest.raises(ConfigError, match="must not lie in `output`"):
            check_init(NAME, NAME)

    def test_exported_card(self, shipped, tmp_path):
        assert about_run(NAME) == {"pretrained": read_card(shipped)}
        load_any(NAME).write_saved_model(tmp_path / "1", about_run(NAME))
        card = json.loads((tmp_path / "1" / "model_card.json").read_text())
        assert card["pretrained"]["data"] == FACTS["data"]
        assert (
            "## Data and licences\n\n* tiny-english: Apache-2.0\n* Cats: CC0\n* Dogs: CC BY 4.0\n"
            in page(card, "tiny")
        )


@pytest.mark.parametrize("raw", ["{", "3"])
def test_damaged_card(shipped, raw):
    (shipped / "card.json").write_text(raw)
    with pytest.raises(RunError, match=r"card\.json is damaged: .* Install the package again"):
        read_card(NAME)


def test_no_card(tmp_path):
    write_json(tmp_path / "config.json", {"format_version": 1})
    assert read_card(tmp_path) is None and read_card(tmp_path / "nothing") is None


def subclasses(cls):
    return {cls, *(lower for below in cls.__subclasses__() for lower in subclasses(below))}


def test_every_kind():
    registered = {kind: model_class(kind) for kind in MODELS}
    ours = {cls for cls in subclasses(TextModel)
            if hasattr(cls, "kind") and cls.__module__.startswith("tf_charagram.")}  # fmt: skip
    assert registered == {cls.kind: cls for cls in ours}
    with pytest.raises(ConfigError, match=r"Unknown kind of model 'taggr'. Did you mean 'tagger'"):
        model_class("taggr")
