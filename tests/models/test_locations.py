"""Models by name: everything that takes a folder takes the name of a shipped model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import call
from tests.models.answers import parts
from tests.shipped import FACTS, NAME, WORDS, ship_tiny
from tf_charagram import TextEmbedder
from tf_charagram.bulk.inputs import find_inputs
from tf_charagram.bulk.run import EmbedJob
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.export.serving.card import about_run, page
from tf_charagram.files.json_files import write_json
from tf_charagram.models import locations
from tf_charagram.models.locations import model_folder, model_sha256, read_card, shipped_models
from tf_charagram.models.registry import load_any
from tf_charagram.search.texts import read_vocabulary
from tf_charagram.tasks import make_settings
from tf_charagram.training.inherited_settings import check_init


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

    def test_a_file_of_that_name_does_not(self, shipped):
        Path(NAME).write_text("x")
        assert model_folder(NAME) == shipped

    @pytest.mark.parametrize("path", ["./" + NAME, "runs/" + NAME, "../here/" + NAME])
    def test_a_path_is_no_name(self, shipped, path):
        with pytest.raises(RunError, match=r"is not a model folder: .* `model` folder\.$"):
            TextEmbedder.load(path)

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

    def test_nothing_ships(self, shipped, monkeypatch):
        monkeypatch.setattr(locations, "PRETRAINED", shipped / "nothing")
        with pytest.raises(RunError, match=r"is not a model folder: .* `model` folder\.$"):
            TextEmbedder.load(NAME)

    @pytest.mark.parametrize("file", ["config.json", "vocabulary.npz", "weights.npz"])
    def test_a_damaged_folder(self, shipped, file):
        raw = (shipped / file).read_bytes()
        (shipped / file).write_bytes(raw[: len(raw) // 2])
        with pytest.raises(RunError, match=f"{NAME}.* is damaged"):
            TextEmbedder.load(NAME)
        (shipped / file).unlink()
        with pytest.raises(RunError, match=rf"is not a model folder|is damaged: .*{file}"):
            TextEmbedder.load(NAME)


class TestInsteadOfAFolder:
    def test_neighbors_search_its_words(self, shipped, capsys):
        assert read_vocabulary(None, NAME) == WORDS
        assert call("neighbors", NAME, "cat", "--json", "--k", 2) == 0
        result = json.loads(capsys.readouterr().out)
        assert {word for word, _ in result["neighbors"]} <= {*WORDS}

    def test_neighbors_of_a_mistyped_name(self, shipped, capsys):
        assert call("neighbors", "tiny-englsh", "cat") == 1
        assert "Did you mean 'tiny-english'?" in capsys.readouterr().err

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
        assert job.open_folder().path == Path("shards")

    def test_vectors(self, shipped):
        assert call("export.convert", NAME, "--out", "vectors.txt") == 0
        assert Path("vectors.txt").read_text().startswith(f"{len(WORDS)} 6\nthe ")

    def test_a_step_of_scikit_learn(self, shipped):
        pytest.importorskip("sklearn")
        from tf_charagram.export.interop.sklearn import CharagramTransformer

        assert CharagramTransformer(NAME).fit_transform(WORDS).shape == (len(WORDS), 6)

    def test_training_goes_on(self, shipped):
        config = make_settings("words", init=NAME)
        assert (config.encoder_options.activation, config.ngrams) == ("tanh", (2, 3, 4))
        with pytest.raises(ConfigError, match="must not lie in `out`"):
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


def test_a_damaged_card(shipped):
    for raw in ("{", "[]", "3"):
        (shipped / "card.json").write_text(raw)
        if raw == "[]":
            assert read_card(NAME) == {}
            continue
        with pytest.raises(RunError, match=r"card\.json is damaged: .* Install the package again"):
            read_card(NAME)


def test_no_card(tmp_path):
    write_json(tmp_path / "config.json", {"format_version": 1})
    assert read_card(tmp_path) is None and read_card(tmp_path / "nothing") is None
