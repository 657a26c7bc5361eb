"""`charagram export`: numbered versions that appear when they are complete."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import tensorflow as tf
import yaml
from google.protobuf import text_format

from tests.commands import call, full_disk
from tf_charagram.cli import main
from tf_charagram.errors import RunError
from tf_charagram.export._serving.card import about_run, page
from tf_charagram.export._serving.requests import _prediction_log, read_golden, write_warmup
from tf_charagram.export._serving.version import (
    BATCHING_PARAMETERS,
    GOLDEN,
    WARMUP,
    ServingFolder,
)
from tf_charagram.export.command import _real_texts
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.training._loop.loop import TrainingLoop


def export(*arguments):
    return main(["export", *map(str, arguments)])


def version_like(path):
    path.mkdir(parents=True)
    (path / "saved_model.pb").touch()
    return path


def golden_vectors(version):
    """Returns the golden texts and vectors of a version."""
    golden = read_golden(version / GOLDEN)[0]
    return golden.inputs["texts"], golden.outputs["embedding"]


@pytest.fixture(scope="module")
def exported(trained, tmp_path_factory):
    """Returns the folder of models with version 1 of `words`."""
    models = tmp_path_factory.mktemp("models")
    assert export(trained.folder, "--output", models / "words") == 0
    return models


class TestVersion:
    def test_files(self, exported):
        assert {path.name for path in exported.iterdir()} == {
            "words", "models.config", "batching.config", "monitoring.config", "compose.yaml",
        }  # fmt: skip
        assert [path.name for path in (exported / "words").iterdir()] == ["1"]
        version = exported / "words" / "1"
        names = {str(path.relative_to(version)) for path in version.glob("assets.extra/*")}
        assert names == {WARMUP, GOLDEN}

    def test_golden_vectors(self, trained, exported):
        texts, vectors = golden_vectors(exported / "words" / "1")
        assert b"" in texts and len(texts) > 30
        expected = TextEmbedder.load(trained.folder).encode(texts)
        np.testing.assert_allclose(vectors, expected, rtol=1e-5, atol=1e-6)
        loaded = tf.saved_model.load(str(exported / "words" / "1"))
        served = loaded.signatures["serving_default"](texts=tf.constant(texts))["embedding"]
        np.testing.assert_allclose(served, vectors, rtol=1e-5, atol=1e-6)

    def test_card_and_page(self, trained, exported):
        card = json.loads((exported / "words" / "1" / "model_card.json").read_text())
        metrics = json.loads((trained.folder / "metrics.json").read_text())
        assert card["training"]["scores"] == metrics["scores"]
        assert list(card["training"]["data_files"]) == [str(trained.data)]
        text = (exported / "words" / "1" / "README.md").read_text()
        assert text == page(card, "words")
        assert f"* scored: {metrics['scores']['scored']:.2f}" in text
        assert "v1/models/words:predict" in text and trained.data.name in text
        assert 'tf.saved_model.load("models/words/1")' in text
        more = {"a": card["signatures"]["similarity"], **card["signatures"]}
        assert 'model.signatures["serving_default"](' in page({**card, "signatures": more}, "words")
        # Without a run, there are no scores.
        assert about_run(trained.folder / "nothing" / "there") == {}
        assert "## Scores" not in page({**card, "training": {}}, "words")

    @pytest.mark.parametrize(
        "flags",
        [
            pytest.param(("--dtype", "int8", "--dim", 4), marks=pytest.mark.variant),
            ("--max-mb", 2),
        ],
    )
    def test_made_smaller(self, trained, tmp_path, flags, capsys):
        assert export(trained.folder, "--output", tmp_path / "small", *flags) == 0
        is_quantized = "--dtype" in flags  # The model has less than 2 MB.
        assert ("Made smaller: dtype int8, dim 4\n" in capsys.readouterr().out) == is_quantized
        version = tmp_path / "small" / "1"
        text = (version / "README.md").read_text()
        assert ("* dtype: int8" in text) == is_quantized
        assert ("## Scores before it was made smaller: " in text) == is_quantized
        texts, vectors = golden_vectors(version)
        served = tf.saved_model.load(str(version)).signatures["serving_default"]
        found = served(texts=tf.constant(texts))["embedding"]
        np.testing.assert_allclose(found, vectors, rtol=1e-5, atol=1e-6)
        size = sum(file.stat().st_size for file in version.rglob("*") if file.is_file())
        assert size < 2e6
        card = json.loads((version / "model_card.json").read_text())
        assert card["encoder"]["name"] == ("quantized_charagram" if is_quantized else "charagram")
        assert len(vectors[0]) == (4 if "--dim" in flags else 8)

    def test_next_number_and_pruning(self, trained, tmp_path, capsys):
        for number in (2, 9):
            version_like(tmp_path / "words" / str(number))
        (tmp_path / "batching.config").write_text("mine")
        assert export(trained.folder, "--output", tmp_path / "words", "--keep", 2) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(f"{tmp_path}/words/10  ") and "Deleted versions: 2\n" in printed
        assert sorted(os.listdir(tmp_path / "words")) == ["10", "9"]
        assert (tmp_path / "words" / "10" / BATCHING_PARAMETERS).read_text() == "mine"

    def test_pruning_ends_what_a_killed_export_began(self, tmp_path):
        for name in ("1", "2", ".7.old"):
            version_like(tmp_path / "words" / name)
        assert ServingFolder(tmp_path / "words").prune(1) == [1]
        assert os.listdir(tmp_path / "words") == ["2"]

    def test_full_disk(self, trained, exported, capsys):
        """The version before is left, and nothing of the new one."""
        models = exported / "words"
        before = sorted(path.relative_to(models) for path in models.rglob("*"))
        capsys.readouterr()
        with full_disk(2000):
            assert export(trained.folder, "--output", models) == 1
        errors = capsys.readouterr().err
        assert "Cannot write" in errors and "Traceback" not in errors
        assert sorted(path.relative_to(models) for path in models.rglob("*")) == before


class TestErrors:
    @pytest.mark.parametrize("name", ["a b", ".hidden", "\xf6"])
    def test_name(self, trained, tmp_path, capsys, name):
        assert export(trained.folder, "--output", tmp_path / name) == 1
        assert "use only letters, digits" in capsys.readouterr().err

    def test_not_on_this_machine(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        assert export("run", "--output", "gs://bucket/models/words") == 1
        assert "gs://bucket/models/words is not a local path" in capsys.readouterr().err
        assert not os.listdir(tmp_path)

    def test_a_run_that_was_stopped(self, data, tmp_path, monkeypatch, capsys):
        def stopped(self, *_):
            raise KeyboardInterrupt

        monkeypatch.setattr(TrainingLoop, "_train_until", stopped)
        arguments = ["--data", data[0], "--eval-data", data[1], "--output", tmp_path / "run"]
        assert call("train", *arguments, "--epochs", 1) == 130
        assert export(tmp_path / "run", "--output", tmp_path / "words") == 1
        assert "--resume" in capsys.readouterr().err
        assert export(tmp_path, "--output", tmp_path / "words") == 1
        assert "is not a model folder" in capsys.readouterr().err
        assert not (tmp_path / "words").exists()

    @pytest.mark.parametrize("name", ["thesis.tex", "\u0661", "0"])
    def test_other_files(self, tmp_path, name):
        (tmp_path / "words" / "1").mkdir(parents=True)
        (tmp_path / "words" / name).mkdir()
        with pytest.raises(RunError, match=f"holds other files than versions .*: {name}"):
            ServingFolder(tmp_path / "words")

    def test_a_file_in_the_way(self, tmp_path):
        (tmp_path / "words").touch()
        with pytest.raises(RunError, match="is a file"):
            ServingFolder(tmp_path / "words")

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            (("--keep", 0), "`keep` must be at least 1"),
            (("--max-mb", 10, "--dtype", "int8"), "`max_mb` chooses"),
        ],
    )
    def test_flags(self, tmp_path, capsys, flags, message):
        assert export("run", "--output", tmp_path / "words", *flags) == 1
        assert message in capsys.readouterr().err

    def test_texts(self, trained, tmp_path, capsys):
        """Warm-up requests count as part of the size, and there must be some."""
        (tmp_path / "long.txt").write_text("a long text " * 4_000)
        arguments = (
            "--output",
            tmp_path / "words",
            "--texts",
            tmp_path / "long.txt",
            "--max-mb",
            2,
        )
        assert export(trained.folder, *arguments) == 1
        error = capsys.readouterr().err
        assert "`max_mb` must be at least" in error and "Received: max_mb=2." in error
        (tmp_path / "blank.txt").write_text("\n \n")
        arguments = ("--output", tmp_path / "words", "--texts", tmp_path / "blank.txt")
        assert export(trained.folder, *arguments) == 1
        assert "has no text" in capsys.readouterr().err


class TestServerFiles:
    def test_every_model_is_listed(self, tmp_path):
        for name in ("words/3", "words/12", "sentences/3", 'a"b/1', ".trash/1"):
            version_like(tmp_path / name)
        (tmp_path / "notes").mkdir()
        ServingFolder(tmp_path / "words").write_server_files()
        text = (tmp_path / "models.config").read_text()
        assert text.count("config {") == 2
        assert 'name: "words" base_path: "/models/words"' in text
        pytest.importorskip("tensorflow_serving", reason="needs the extra `serving`")
        from tensorflow_serving.config import model_server_config_pb2

        message = text_format.Parse(text, model_server_config_pb2.ModelServerConfig())
        models = [(config.name, config.base_path) for config in message.model_config_list.config]
        assert models == [("sentences", "/models/sentences"), ("words", "/models/words")]

    def test_edited_files_stay(self, tmp_path):
        folder = ServingFolder(tmp_path / "words")
        assert len(folder.write_server_files()) == 4
        (tmp_path / "compose.yaml").write_text("mine")
        assert [path.name for path in folder.write_server_files()] == ["models.config"]
        assert (tmp_path / "compose.yaml").read_text() == "mine"

    def test_compose_names_the_files_there_are(self, tmp_path):
        ServingFolder(tmp_path / "words").write_server_files()
        service = yaml.safe_load((tmp_path / "compose.yaml").read_text())["services"]["serving"]
        assert service["volumes"] == [".:/models:ro"] and ":" in service["image"]
        files = [flag.partition("=/models/")[2] for flag in service["command"]]
        assert {name for name in files if name} == {
            path.name for path in tmp_path.iterdir() if path.suffix == ".config"
        }


class TestWarmup:
    def test_full_disk(self, trained, tmp_path):
        message = "Cannot write .*warmup: .*File too large.* Free some space"
        model = TextEmbedder.load(trained.folder)
        with full_disk(2000), pytest.raises(RunError, match=message):
            write_warmup(tmp_path / "warmup", "words", model, [b"x" * 300])

    def test_length_of_long_fields(self):
        """A field of 300 bytes has a length of two bytes."""
        log = _prediction_log("m", "serving_default", {"texts": [b"x" * 300]})
        assert log.count(b"x" * 300) == 1
        assert log[0] == 6 << 3 | 2 and (log[1] & 0x7F | log[2] << 7) == len(log) - 3


def test_real_texts(trained, tmp_path):
    model = TextEmbedder.load(trained.folder)
    found = _real_texts(None, str(trained.folder), model)
    lines = (trained.folder / "texts.txt").read_bytes().splitlines()
    assert found == lines[:50]
    (tmp_path / "texts.txt").write_text("\n".join(["", *map(str, range(2500))]))
    first = _real_texts(str(tmp_path / "texts.txt"), "", model)
    assert first == [str(number).encode() for number in range(50)]
    samples = _real_texts(None, str(tmp_path / "none"), model)
    assert len(samples) == len(set(samples)) == 50
