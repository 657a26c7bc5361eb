"""`charagram check` on versions that are sound and on broken ones, in processes and on servers."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time

import numpy as np
import pytest
import tensorflow as tf

from tests.c_runtime import measure_in_c_runtime
from tests.commands import call
from tests.export.serving.servers import NAME, predictor, rest_server
from tests.texts import words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import RunError
from tf_charagram.export._check import checks
from tf_charagram.export._check.checks import VersionChecks, version_folder
from tf_charagram.export._check.judge import judged
from tf_charagram.export._serving.version import GOLDEN, ServingFolder
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer

COMMAND = "check"
CHECKS = ["loads", "golden answers", "huge texts", "empty batch", "latency"]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Times only the fewest calls."""
    monkeypatch.setattr(checks, "_SECONDS", 0)


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    """Returns a sound version, which corrects misspelled words."""
    vectorizer = NgramVectorizer.from_texts(words(200))
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, Dictionary({"cat": 1}))
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=8))
    folder = ServingFolder(tmp_path_factory.mktemp("models") / NAME)
    return folder.write(embedder, {}, [word.encode() for word in words(5)])


@pytest.fixture
def copy(version, tmp_path):
    """Returns a version that a test may break."""
    return shutil.copytree(version, tmp_path / NAME / "1")


@pytest.fixture
def check(capsys):
    """Returns a function that runs the command; it returns the exit status and the JSON."""

    def run(*arguments):
        capsys.readouterr()
        status = call(COMMAND, *arguments, "--json")
        printed = capsys.readouterr()
        assert printed.out.count("\n") == 1, printed.err
        return status, json.loads(printed.out)

    return run


def failures(found):
    return {(row["where"], row["name"]) for row in found["checks"] if row["ok"] is False}


class TestFolder:
    def test_a_sound_version(self, version, check):
        status, found = check(version)
        assert status == 0 and found["ok"] is True, found
        assert found["model"] == str(version)
        assert [(row["where"], row["name"]) for row in found["checks"]] == [
            ("only tensorflow", name) for name in CHECKS
        ]
        assert all(row["ok"] is True for row in found["checks"])

    def test_in_the_c_library(self, version):
        """The version is served without Python."""
        checked = VersionChecks(version)
        results = judged("C library", measure_in_c_runtime(checked.request), checked.golden)
        assert [result.name for result in results] == CHECKS
        assert all(result.ok for result in results), results

    def test_python_in_the_graph(self, version, tmp_path):
        module = tf.Module()
        texts = tf.TensorSpec([None], tf.string, name="texts")

        def embed(texts):
            lengths = tf.numpy_function(np.char.str_len, [texts], tf.int64, stateful=False)
            lengths.set_shape([None])
            return {"embedding": tf.cast(lengths, tf.float32)[:, tf.newaxis]}

        module.embed = tf.function(embed, input_signature=[texts])
        tf.saved_model.save(module, str(tmp_path / "1"), signatures=module.embed)
        card = json.loads((version / "model_card.json").read_text())
        del card["signatures"]["similarity"], card["signatures"]["read_as"]
        (tmp_path / "1" / "model_card.json").write_text(json.dumps(card))
        request = VersionChecks(tmp_path / "1").request
        answers = measure_in_c_runtime(request)["answers"]
        assert answers["huge texts"].startswith("RuntimeError: ")


class TestServers:
    def test_two_at_once(self, version, check):
        predict = predictor(version)
        with rest_server(predict) as one, rest_server(predict) as other:
            status, found = check(version, "--url", one, other)
        assert status == 0, found
        assert [(row["where"], row["name"]) for row in found["checks"]] == [
            (place, name) for place in (one, other) for name in CHECKS
        ]

    def test_golden_answers_of_another_model(self, version, copy, check):
        golden = json.loads((copy / GOLDEN).read_text())
        golden[0][2]["embedding"][2][5] += 0.001
        (copy / GOLDEN).write_text(json.dumps(golden))
        with rest_server(predictor(version)) as url:
            status, found = check(copy, "--url", url)
        assert status == 1 and failures(found) == {(url, "golden answers")}
        (detail,) = (row["detail"] for row in found["checks"] if row["name"] == "golden answers")
        message = "serving_default: 1 of 160 values of `embedding` differ by up to 0.001"
        assert detail.startswith(message) and detail.endswith("in row 2")

    def test_no_server(self, version, check):
        with rest_server(predictor(version)) as url:
            pass
        status, found = check(version, "--url", url)
        assert status == 1
        assert [row["name"] for row in found["checks"]] == ["loads"]
        assert "no connection" in found["checks"][0]["detail"]

    def test_tables(self, copy, capsys):
        (copy / GOLDEN).unlink()
        with rest_server(predictor(copy)) as rest:
            assert call(COMMAND, copy, "--url", rest) == 0
        printed = capsys.readouterr().out
        rows = [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]
        cells = [[cell.strip() for cell in row] for row in rows]
        assert [rest, "golden answers", "skip", "no golden file"] in cells
        assert [rest, "empty batch", "pass", "embedding (0, 8)"] in cells

    @pytest.mark.serving
    def test_tensorflow_serving(self, version, check, tmp_path):
        binary = os.environ.get("TF_MODEL_SERVER")
        if not binary:
            pytest.skip("TF_MODEL_SERVER names no server")
        ports = [free_port(), free_port()]
        command = [
            binary, f"--port={ports[0]}", f"--rest_api_port={ports[1]}", f"--model_name={NAME}",
            f"--model_base_path={version.parent}",
        ]  # fmt: skip
        url = f"http://127.0.0.1:{ports[1]}/v1/models/{NAME}"
        with open(tmp_path / "log", "wb") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_for(server, ports, tmp_path / "log")
            status, found = check(version, "--url", url)
            assert status == 0, found
        finally:
            server.terminate()
            server.wait()


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


def wait_for(server, ports, log):
    """Waits until both ports are open, which they are once the model is loaded."""
    for port in ports:
        for _ in range(1500):
            assert server.poll() is None, log.read_text()
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.2)
        else:
            pytest.fail(f"Port {port} stayed closed.")


class TestErrors:
    def test_urls(self, version, capsys):
        assert call(COMMAND, version, "--url", "host:8500") == 1
        printed = capsys.readouterr()
        assert not printed.out
        assert "`url` must look like http://HOST:8501/v1/models/NAME" in printed.err

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("model_card.json", "{"),
            ("model_card.json", "[1]"),
            ("model_card.json", '{"kind": "tagger", "signatures": {"tag": null}}'),
            ("model_card.json", '{"kind": "tager"}'),
            (GOLDEN, "{"),
            (GOLDEN, '[["serving_default", {}, null]]'),
        ],
    )
    def test_damaged_files(self, copy, capsys, name, content):
        (copy / name).write_text(content)
        assert call(COMMAND, copy) == 1
        assert f"{name}: is damaged" in capsys.readouterr().err

    def test_no_card(self, copy, capsys):
        (copy / "model_card.json").unlink()
        assert call(COMMAND, copy) == 1
        assert "model_card.json: is missing. Check a version that" in capsys.readouterr().err


def test_the_last_version(tmp_path):
    for name in ("2", "10", "9.part", "1/variables"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("2", "10", "9.part"):
        (tmp_path / name / "saved_model.pb").touch()
    assert version_folder(tmp_path) == tmp_path / "10"
    assert version_folder(tmp_path / "2") == tmp_path / "2"


def test_the_version_of_a_run_folder(tmp_path):
    (tmp_path / "saved_model" / "1").mkdir(parents=True)
    (tmp_path / "saved_model" / "1" / "saved_model.pb").touch()
    for folder in (tmp_path, tmp_path / "saved_model"):
        assert version_folder(folder) == tmp_path / "saved_model" / "1"
    message = "nowhere has no saved_model.pb. Give a version, such as models/NAME/1."
    with pytest.raises(RunError, match=message):
        version_folder(tmp_path / "nowhere")
