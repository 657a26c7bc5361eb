"""The tests' own server follows a folder as TensorFlow Serving does."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest
import tensorflow as tf

from tests.export.serving.servers import NAME, Refused
from tests.export.serving.versions import Versions, read_records
from tf_charagram.export.serving.folder import ServingFolder


class Fake:
    """A runtime that answers with the number of its version; made for each in `made`."""

    def __init__(self, folder, made, answering=None):
        if not any(folder.iterdir()):
            raise RuntimeError("Could not find SavedModel")
        self.number = int(folder.name)
        self.is_closed = False
        self.answering = answering
        made.append(self)

    def run(self, signature, inputs):
        if inputs["texts"] == [b"wait"]:
            self.answering.wait()
        if signature != "serving_default":
            raise KeyError(signature)
        assert not self.is_closed
        return {"embedding": np.full((1, 1), self.number)}

    def close(self):
        self.is_closed = True


@pytest.fixture
def folder(tmp_path):
    return ServingFolder(tmp_path / NAME)


def publish(folder, *files):
    partial = folder.path / ".partial"
    partial.mkdir(parents=True)
    for name in files:
        (partial / name).touch()
    folder.publish(partial)


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ask(versions, version=None, texts=(b"a",), signature="serving_default", name=NAME):
    return versions.predict(name, version, signature, {"texts": list(texts)})


def test_follows_the_folder(folder):
    made = []
    publish(folder, "saved_model.pb")
    with Versions(folder, lambda path: Fake(path, made)) as versions:
        assert ask(versions) == (1, {"embedding": 1})
        publish(folder, "saved_model.pb")
        until(lambda: versions.states(NAME) == {1: "AVAILABLE", 2: "AVAILABLE"})
        assert (ask(versions)[0], ask(versions, 1)[0], ask(versions, 2)[0]) == (2, 1, 2)
        folder.prune(1)
        until(lambda: versions.states(NAME) == {2: "AVAILABLE"})
        assert [fake.is_closed for fake in made] == [True, False]
    assert made[1].is_closed


def test_a_version_that_vanishes_finishes_what_it_was_asked(folder):
    made, answers, go_on = [], [], threading.Event()
    publish(folder, "saved_model.pb")
    with Versions(folder, lambda path: Fake(path, made, go_on)) as versions:
        thread = threading.Thread(target=lambda: answers.append(ask(versions, texts=[b"wait"])))
        thread.start()
        until(lambda: versions._loaded[1].num_users)
        os.rename(folder.path / "1", folder.path / ".1.old")
        until(lambda: versions.states(NAME) == {1: "UNLOADING"})
        with pytest.raises(Refused, match=r"Servable not found for request: Latest\(words\)"):
            ask(versions)
        assert not made[0].is_closed
        go_on.set()
        until(lambda: versions.states(NAME) == {})
        thread.join()
    assert made[0].is_closed and answers == [(1, {"embedding": 1})]


def test_a_version_that_does_not_load_leaves_the_others(folder):
    publish(folder, "saved_model.pb")
    with Versions(folder, lambda path: Fake(path, [])) as versions:
        publish(folder)
        until(lambda: versions.states(NAME) == {1: "AVAILABLE", 2: "END"})
        assert ask(versions)[0] == 1


def test_records_are_read_as_tensorflow_wrote_them(tmp_path):
    records = [b"", b"a", bytes(range(256)) * 5]
    with tf.io.TFRecordWriter(str(tmp_path / "records")) as writer:
        for record in records:
            writer.write(record)
    assert list(read_records((tmp_path / "records").read_bytes())) == records


def test_what_is_refused(folder):
    publish(folder, "saved_model.pb")
    with Versions(folder, lambda path: Fake(path, [])) as versions:
        with pytest.raises(Refused, match=r"Specific\(words, 7\)") as error:
            ask(versions, 7)
        assert error.value.status == "NOT_FOUND"
        with pytest.raises(Refused, match=r"Latest\(nope\)") as error:
            ask(versions, name="nope")
        assert error.value.status == "NOT_FOUND"
        with pytest.raises(Refused, match="nope") as error:
            ask(versions, signature="nope")
        assert error.value.status == "INVALID_ARGUMENT"
