"""`charagram check` on versions that are sound and on broken ones, in processes and on servers."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.commands import call
from tests.export.serving.servers import NAME, SERVERS, OneVersion, predictor
from tests.texts import words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import RunError
from tf_charagram.export.check.checks import VersionChecks
from tf_charagram.export.check.operations import check_operations, read_operations
from tf_charagram.export.check.process import measure_in_process
from tf_charagram.export.check.version import version_folder
from tf_charagram.export.serving.golden import write_golden
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer

COMMAND = "export.check.command"
QUICK = ("--batches", "1,3", "--repeats", "2")
CHECKS = ["loads", "golden vectors", "golden cosines", "bad texts", "empty batch", "latency"]


def export(folder, **settings):
    """Writes a version as `charagram export` does, with its golden vectors."""
    keras.utils.set_random_seed(0)
    vectorizer = NgramVectorizer.from_texts(words(200), **settings)
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=8))
    embedder.export(folder)
    (folder / "assets.extra").mkdir()
    texts = [word.encode() for word in words(5)]
    write_golden(folder / "assets.extra", embedder, {}, texts)
    return folder


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    """Returns a sound version."""
    return export(tmp_path_factory.mktemp("models") / NAME / "1")


@pytest.fixture
def copy(version, tmp_path):
    """Returns a version that a test may break."""
    return shutil.copytree(version, tmp_path / NAME / "1")


@pytest.fixture
def check(capsys):
    """Returns a function that runs the command; it gives the exit status and what JSON says."""

    def run(*arguments):
        capsys.readouterr()
        status = call(COMMAND, *arguments, *QUICK, "--json")
        printed = capsys.readouterr()
        assert printed.out.count("\n") == 1, printed.err
        return status, json.loads(printed.out)

    return run


def failures(found):
    return {(row["where"], row["name"]) for row in found["checks"] if row["ok"] is False}


def tamper(folder):
    """Changes one number of the golden vectors a little."""
    path = folder / "assets.extra" / "golden.json"
    golden = json.loads(path.read_text())
    golden["embedding"][2][5] += 0.001
    path.write_text(json.dumps(golden))


class TestFolder:
    def test_a_sound_version(self, version, check):
        status, found = check(version)
        assert status == 0 and found["ok"] is True, found
        assert found["model"] == str(version)
        assert [(row["where"], row["name"]) for row in found["checks"]] == [
            ("graph", "operations"),
            *(("only tensorflow", name) for name in CHECKS),
            *(("C++ runtime", name) for name in CHECKS),
        ]
        assert all(row["ok"] is True for row in found["checks"])
        assert list(found["operations"]) == ["TensorFlow"]
        assert {"UnicodeDecode", "LookupTableFindV2"} <= set(found["operations"]["TensorFlow"])
        assert [(row["where"], row["batch"], row["calls"]) for row in found["latency"]] == [
            ("only tensorflow", 1, 2), ("only tensorflow", 3, 2),
            ("C++ runtime", 1, 2), ("C++ runtime", 3, 2),
        ]  # fmt: skip

    @pytest.mark.long
    def test_cut_off_variables(self, copy, check):
        (data,) = copy.glob("variables/variables.data*")
        data.write_bytes(data.read_bytes()[:100])
        status, found = check(copy)
        assert status == 1 and found["ok"] is False
        assert failures(found) == {("only tensorflow", "loads"), ("C++ runtime", "loads")}
        assert found["latency"] == []

    def test_python_in_the_graph(self, tmp_path, check):
        module = tf.Module()
        texts = tf.TensorSpec([None], tf.string, name="texts")

        def embed(texts):
            lengths = tf.numpy_function(np.char.str_len, [texts], tf.int64, stateful=False)
            lengths.set_shape([None])
            return {"embedding": tf.cast(lengths, tf.float32)[:, tf.newaxis]}

        module.embed = tf.function(embed, input_signature=[texts])
        tf.saved_model.save(module, str(tmp_path / "1"), signatures=module.embed)
        status, found = check(tmp_path)
        assert status == 1
        assert found["operations"]["Python"] == ["PyFuncStateless"]
        assert "PyFuncStateless" not in found["operations"]["TensorFlow"]
        details = {(row["where"], row["name"]): row["detail"] for row in found["checks"]}
        message = "PyFuncStateless cannot be served (Python)"
        assert details["graph", "operations"].endswith(message)
        wrong = failures(found)
        assert ("graph", "operations") in wrong
        assert {("only tensorflow", "bad texts"), ("only tensorflow", "latency")} <= wrong
        assert any(where == "C++ runtime" for where, _ in wrong)

    @pytest.mark.parametrize("content", [b"not a graph", b""])
    def test_a_graph_that_is_none(self, copy, content):
        (copy / "saved_model.pb").write_bytes(content)
        checks = VersionChecks(copy, batches=[1], repeats=1, seconds=1)
        checks.check_graph()
        (result,) = checks.results
        assert (result.name, result.ok) == ("operations", False)
        assert result.detail.startswith("damaged: ")


class TestOperations:
    def test_another_package(self, tmp_path):
        folder = export(tmp_path / "1", unicode_form="NFKC")
        operations = read_operations(folder)
        assert set(operations) == {"TensorFlow", "tensorflow-text"}
        card = json.loads((folder / "model_card.json").read_text())
        assert check_operations(operations, card).ok
        assert check_operations(operations, None).ok
        card["required_ops"] = {}
        result = check_operations(operations, card)
        assert not result.ok
        assert result.detail.endswith("the model card does not name tensorflow-text")

    @pytest.mark.long
    def test_another_package_is_imported_where_it_can_be(self, tmp_path, check):
        status, found = check(export(tmp_path / "1", unicode_form="NFKC"))
        assert status == 0, found
        where = "only tensorflow and tensorflow-text"
        assert [row["name"] for row in found["checks"] if row["where"] == where] == CHECKS
        skipped = [row for row in found["checks"] if row["ok"] is None]
        assert [(row["where"], row["name"]) for row in skipped] == [("C++ runtime", "loads")]
        assert skipped[0]["detail"] == "not asked, for it does not load tensorflow-text"

    def test_unknown(self):
        result = check_operations({"TensorFlow": ["AddV2"], "unknown": ["MyOp", "YourOp"]}, None)
        assert not result.ok
        assert "2 of unknown; MyOp, YourOp cannot be served (unknown)" in result.detail


class TestProcess:
    @pytest.mark.parametrize(
        ("runtime", "package"), [("tensorflow", "keras"), ("c_library", "tensorflow")]
    )
    def test_a_process_that_is_not_clean(self, monkeypatch, tmp_path, runtime, package):
        site = "import sys, types\nmodule = sys.modules[{0!r}] = types.ModuleType({0!r})\n"
        site += "module.__spec__ = types.SimpleNamespace(submodule_search_locations={1!r})\n"
        (tmp_path / "sitecustomize.py").write_text(site.format(package, [*tf.__path__]))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        answer = measure_in_process(runtime, {"libraries": [], "folder": str(tmp_path)})
        message = f"The process ended with status 1: ImportError: {package} is imported already."
        assert answer == {"error": message}

    def test_no_answer_in_time(self, monkeypatch, tmp_path):
        monkeypatch.setattr("tf_charagram.export.check.process._TIMEOUT_S", 0.01)
        answer = measure_in_process("c_library", {"libraries": [], "folder": str(tmp_path)})
        assert answer == {"error": "No answer within 0.01 s."}


@pytest.fixture
def serve(version):
    """Returns a function that serves the version; a context manager that gives the address."""

    def serve(kind):
        if kind == "grpc":
            pytest.importorskip("tensorflow_serving.apis")
        return SERVERS[kind](OneVersion(predictor(version)))

    return serve


class TestServers:
    def test_both_at_once(self, serve, version, check):
        with serve("rest") as rest, serve("grpc") as grpc:
            status, found = check(version, "--url", rest, "--url", grpc)
        assert status == 0, found
        places = [rest, grpc]
        assert [(row["where"], row["name"]) for row in found["checks"]] == [
            (place, name) for place in places for name in CHECKS
        ]
        assert [row["where"] for row in found["latency"]] == [rest, rest, grpc, grpc]
        assert found["operations"] == {}

    @pytest.mark.parametrize("kind", SERVERS)
    def test_golden_vectors_of_another_model(self, serve, copy, check, kind):
        tamper(copy)
        with serve(kind) as url:
            status, found = check(copy, "--url", url)
        assert status == 1
        assert (url, "golden vectors") in failures(found)
        assert {name for _, name in failures(found)} <= {"golden vectors", "golden cosines"}
        (detail,) = (row["detail"] for row in found["checks"] if row["name"] == "golden vectors")
        assert "1 of 16 vectors differ, the first is that of text 2; by up to 0.001" in detail

    @pytest.mark.parametrize("kind", SERVERS)
    def test_no_server(self, serve, version, check, kind):
        with serve(kind) as url:
            pass
        status, found = check(version, "--url", url)
        assert status == 1
        assert [row["name"] for row in found["checks"]] == ["loads"]
        assert "no connection" in found["checks"][0]["detail"]

    def test_tables(self, serve, version, capsys):
        (version / "assets.extra" / "golden.json").rename(version / "golden")
        try:
            with serve("rest") as rest:
                assert call(COMMAND, version, "--url", rest, *QUICK) == 0
        finally:
            (version / "golden").rename(version / "assets.extra" / "golden.json")
        printed = capsys.readouterr().out
        rows = [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]
        cells = [[cell.strip() for cell in row] for row in rows]
        assert [rest, "golden vectors", "skip", "the model comes without any"] in cells
        assert [rest, "empty batch", "pass", "shape (0, 8)"] in cells
        assert [row[:3] for row in cells[-2:]] == [[rest, "1", "2"], [rest, "3", "2"]]

    @pytest.mark.serving
    def test_tensorflow_serving(self, version, check, tmp_path):
        binary = os.environ.get("TF_MODEL_SERVER")
        if not binary:
            pytest.skip("TF_MODEL_SERVER names no server")
        pytest.importorskip("tensorflow_serving.apis")
        ports = [free_port(), free_port()]
        command = [
            binary, f"--port={ports[0]}", f"--rest_api_port={ports[1]}", f"--model_name={NAME}",
            f"--model_base_path={version.parent}",
        ]  # fmt: skip
        urls = [
            f"grpc://127.0.0.1:{ports[0]}/{NAME}",
            f"http://127.0.0.1:{ports[1]}/v1/models/{NAME}",
        ]
        with open(tmp_path / "log", "wb") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_for(server, ports, tmp_path / "log")
            status, found = check(version, "--url", urls[0], "--url", urls[1])
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


class TestCommandLine:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--batches", "1,0"], "`batches` must be numbers above 0, such as 1,32"),
            (["--batches", "1,x"], "Received: 1,x"),
            (["--repeats", "0"], "`repeats` must be above 0. Received: repeats=0"),
            (["--seconds", "-1"], "`seconds` must be above 0. Received: seconds=-1.0"),
            (["--url", "host:8500"], "`url` must look like http://HOST:8501/v1/models/NAME"),
        ],
    )
    def test_wrong_values(self, version, capsys, arguments, message):
        assert call(COMMAND, version, *arguments) == 1
        printed = capsys.readouterr()
        assert not printed.out
        assert message in printed.err

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("model_card.json", "{"),
            ("model_card.json", "[1]"),
            ("model_card.json", '{"kind": ["tagger"]}'),
            ("model_card.json", '{"kind": "tagger"}'),
            ("model_card.json", '{"kind": "tagger", "signatures": {"tag": null}}'),
            ("assets.extra/golden.json", '{"calls": [{"inputs": {}, "outputs": null}]}'),
            ("assets.extra/golden.json", "{"),
            ("assets.extra/golden.json", "[1]"),
            ("assets.extra/golden.json", '{"texts": [], "embedding": []}'),
            ("assets.extra/golden.json", '{"texts": ["YQ=="], "embedding": [[1, 2], [3, 4]]}'),
        ],
    )
    def test_damaged_files(self, copy, capsys, name, content):
        (copy / name).write_text(content)
        assert call(COMMAND, copy) == 1
        assert f"{name}: is damaged" in capsys.readouterr().err

    def test_unknown_flag(self, capsys):
        assert call(COMMAND, "x", "--urls", "y") == 2
        assert "Did you mean --url?" in capsys.readouterr().err


class TestVersionFolder:
    def test_the_last_version(self, tmp_path):
        for name in ("2", "10", "9.part", "1/variables"):
            (tmp_path / name).mkdir(parents=True)
        for name in ("2", "10", "9.part"):
            (tmp_path / name / "saved_model.pb").touch()
        assert version_folder(tmp_path) == tmp_path / "10"
        assert version_folder(tmp_path / "2") == tmp_path / "2"

    def test_a_run_folder(self, tmp_path):
        (tmp_path / "saved_model" / "1").mkdir(parents=True)
        (tmp_path / "saved_model" / "1" / "saved_model.pb").touch()
        for folder in (tmp_path, tmp_path / "saved_model"):
            assert version_folder(folder) == tmp_path / "saved_model" / "1"

    def test_no_saved_model(self, tmp_path):
        message = f"{tmp_path} has no saved_model.pb. Give a version, such as models/NAME/1."
        with pytest.raises(RunError, match=message):
            version_folder(tmp_path)
        with pytest.raises(RunError, match="nowhere has no saved_model"):
            version_folder("nowhere")
