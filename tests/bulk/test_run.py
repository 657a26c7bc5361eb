"""Every line is embedded once: without interruption, or after any."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.bulk.conftest import check_complete, records_of
from tests.commands import full_disk
from tests.variants import some_now
from tf_charagram._files.writing import FolderLock
from tf_charagram.bulk._shards.folder import ShardFolder
from tf_charagram.bulk._shards.inputs import InputFile
from tf_charagram.bulk.job import EmbedJob
from tf_charagram.bulk.run import embed_files
from tf_charagram.errors import ConfigError, DataError, RunError
from tf_charagram.models.embedder import TextEmbedder


class Killed(BaseException):
    """Ends a run at once, like a signal."""


@pytest.fixture
def check(model, files, tmp_path):
    """Returns a function that checks that the shards are complete."""
    return lambda: check_complete(tmp_path / "out", model, *files)


def test_in_one_go(make_job, check, tmp_path, capsys):
    embed_files(make_job())
    check()
    names = [record["name"] for record in records_of(tmp_path / "out")]
    assert names == [f"part-0000{file}-0000{part}.npy" for file, part in
                     ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1))]  # fmt: skip
    error = capsys.readouterr().err
    assert re.fullmatch(r"37 lines in [\d.]+ s, [\d,]+ lines/s -> .*/out\n", error)


def test_no_lines(make_job, tmp_path):
    (tmp_path / "empty").write_text("")
    folder = embed_files(make_job(inputs=(InputFile.look_at(str(tmp_path / "empty")),)))
    assert folder.records == {}
    assert json.loads(folder.manifest.read_text())["is_complete"] is True


def is_complete(folder):
    return json.loads((folder / "manifest.json").read_text())["is_complete"]


class TestStopped:
    @pytest.mark.parametrize("number", some_now(range(5), 3))
    @pytest.mark.parametrize("when", ["before", "within", "after"])
    def test_while_a_shard_is_noted(self, make_job, check, monkeypatch, tmp_path, number, when):
        add = ShardFolder.add

        def stop(self, record):
            if len(self.records) < number:
                return add(self, record)
            if when != "before":
                add(self, record)
            if when == "within":
                os.truncate(self.shards, self.shards.stat().st_size - 10)
            raise Killed

        monkeypatch.setattr(ShardFolder, "add", stop)
        with pytest.raises(Killed):
            embed_files(make_job())
        monkeypatch.undo()
        # What a killed process was writing.
        (tmp_path / "out" / ".part-00000-00002.npy.part").write_bytes(b"half")
        folder = embed_files(make_job(), resume=True)
        assert folder.damaged == []
        check()

    def test_before_the_manifest(self, make_job, check, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / ".manifest.json.part").write_text("{")
        embed_files(make_job(), resume=True)
        check()

    def test_an_error_in_the_middle(self, make_job, check, monkeypatch, tmp_path):
        embed = EmbedJob.embed

        def fail(self, shard, embedder):
            if shard.name == "part-00000-00002":
                raise RunError("no more")
            return embed(self, shard, embedder)

        monkeypatch.setattr(EmbedJob, "embed", fail)
        with pytest.raises(RunError, match="no more"):
            embed_files(make_job())
        monkeypatch.undo()
        names = [record["name"] for record in records_of(tmp_path / "out")]
        assert names == ["part-00000-00000.npy", "part-00000-00001.npy"]
        embed_files(make_job(), resume=True)
        check()

    def test_full_disk(self, make_job, check):
        job = make_job(shard_lines=100)
        embed_files(make_job(output=job.output, shard_lines=100))
        message = r"Cannot write .*: File too large\. Free some space"
        with full_disk(300), pytest.raises(RunError, match=message):
            embed_files(job, overwrite=True)
        embed_files(job, overwrite=True)
        check()

    def test_files_of_others_stay(self, make_job, check, tmp_path):
        embed_files(make_job())
        for name in ("part-list.txt", "part-1-2.npy", "part-00000-00000.npy.md5"):
            (tmp_path / "out" / name).write_text("mine")
        embed_files(make_job(shard_lines=1000), overwrite=True)
        assert not (tmp_path / "out" / "part-00000-00001.npy").exists()
        kept = [path for path in (tmp_path / "out").iterdir() if path.read_bytes() == b"mine"]
        assert len(kept) == 3

    @pytest.mark.parametrize("num_deleted", [0, 2])
    def test_while_old_shards_are_deleted(
        self, make_job, check, monkeypatch, tmp_path, num_deleted
    ):
        embed_files(make_job())
        unlink, deleted = Path.unlink, []

        def stop(path):
            if len(deleted) == num_deleted:
                raise Killed
            deleted.append(path)
            unlink(path)

        monkeypatch.setattr(Path, "unlink", stop)
        with pytest.raises(Killed):
            embed_files(make_job(), overwrite=True)
        monkeypatch.undo()
        assert not is_complete(tmp_path / "out") and not records_of(tmp_path / "out")
        embed_files(make_job(), resume=True)
        check()

    def test_nothing_is_embedded_again(self, make_job, check, monkeypatch, capsys):
        embed_files(make_job())
        monkeypatch.setattr(EmbedJob, "embed", lambda *_, **__: 1 / 0)
        embed_files(make_job(), resume=True)
        check()
        assert "0 lines in " in (message := capsys.readouterr().err)
        assert message.endswith("; 5 shards were there\n")


class TestDamage:
    @pytest.mark.parametrize(
        "damage",
        [lambda path: os.truncate(path, path.stat().st_size - 1), lambda path: path.unlink()],
        ids=["cut", "missing"],
    )
    def test_is_said_and_mended(self, make_job, check, tmp_path, capsys, damage):
        embed_files(make_job())
        path = tmp_path / "out" / "part-00000-00001.npy"
        damage(path)
        capsys.readouterr()
        folder = embed_files(make_job(), resume=True)
        check()
        assert folder.damaged == [path]
        error = capsys.readouterr().err
        assert "part-00000-00001.npy is damaged; embedding it again\n" in error
        assert "\n10 lines in " in error and "; 4 shards were there" in error

    def test_manifest(self, make_job, tmp_path):
        embed_files(make_job())
        (tmp_path / "out" / "manifest.json").write_text("{")
        with pytest.raises(RunError, match=r"manifest\.json is damaged"):
            embed_files(make_job(), resume=True)


class TestChanges:
    def test_input_of_the_same_size(self, make_job, files):
        embed_files(make_job())
        path = files[0][0]
        with open(path, "r+b") as file:
            file.seek(-3, os.SEEK_END)
            file.write(b"X")
        with pytest.raises(DataError, match=r"a\.txt:21: has changed since it was embedded"):
            embed_files(make_job(), resume=True)

    def test_grown_input(self, make_job, files):
        embed_files(make_job())
        with open(files[0][0], "a") as file:
            file.write("more\n")
        with pytest.raises(RunError, match=r"other settings: \S*a\.txt has changed\. "):
            embed_files(make_job(), resume=True)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"shard_lines": 11}, "shard_lines was 10, is 11"),
            (
                {"shard_lines": 11, "format": "parquet"},
                "format was npy, is parquet, shard_lines was 10, is 11",
            ),
        ],
    )
    def test_settings(self, make_job, settings, message):
        if "format" in settings:
            pytest.importorskip("pyarrow")
        embed_files(make_job())
        with pytest.raises(RunError, match=f"other settings: {message}\\. .*--overwrite"):
            embed_files(make_job(**settings), resume=True)

    def test_model(self, make_job, model, tmp_path):
        embed_files(make_job())
        shutil.copytree(model, tmp_path / "other")
        embedder = TextEmbedder.load(tmp_path / "other")
        embedder.encoder.ngram_table.assign_add(np.ones(embedder.encoder.ngram_table.shape))
        embedder.save(tmp_path / "other")
        with pytest.raises(RunError, match="other settings: model_sha256 was "):
            embed_files(make_job(model=str(tmp_path / "other")), resume=True)


class TestFolder:
    def test_exists(self, make_job):
        embed_files(make_job())
        with pytest.raises(RunError, match=r"out exists\. Add --resume .* --overwrite"):
            embed_files(make_job())

    @pytest.mark.parametrize("flags", [{"resume": True}, {"overwrite": True}])
    def test_not_a_folder_of_shards(self, make_job, tmp_path, flags):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.tex").write_text("years of work")
        (tmp_path / "out" / ".thesis.pdf.part").touch()
        with pytest.raises(RunError, match="is not a folder of shards, so nothing is written"):
            embed_files(make_job(), **flags)
        assert len(list((tmp_path / "out").iterdir())) == 2

    def test_another_process_is_at_work(self, make_job, tmp_path, monkeypatch):
        monkeypatch.setattr("tf_charagram._files.writing._PATIENCE_S", 0)
        with FolderLock(tmp_path / "out"), pytest.raises(RunError, match="out is in use"):
            embed_files(make_job(), resume=True)
        assert not list((tmp_path / "out").iterdir())

    def test_a_file(self, make_job, tmp_path):
        (tmp_path / "out").write_text("x")
        with pytest.raises(RunError, match=r"out is a file\. Give a folder\."):
            embed_files(make_job())

    def test_no_model_leaves_no_folder(self, make_job, tmp_path):
        with pytest.raises(RunError, match="is not a model folder"):
            embed_files(make_job(model=str(tmp_path)))
        assert not (tmp_path / "out").exists()


class TestSettings:
    def test_below_1(self, make_job):
        with pytest.raises(ConfigError, match="`shard_lines` must be at least 1"):
            make_job(shard_lines=0)

    def test_what_cannot_be_read_twice(self, make_job):
        with pytest.raises(ConfigError, match=r"a resumed run can read again. Received: -"):
            make_job(inputs=(InputFile.look_at("-"),))

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            ({"resume": True, "overwrite": True}, "one of `resume` and `overwrite`"),
            ({"ray": -1}, "`ray` must be at least 0. Received: ray=-1"),
        ],
    )
    def test_flags(self, make_job, tmp_path, flags, message):
        with pytest.raises(ConfigError, match=message):
            embed_files(make_job(), **flags)
        assert not (tmp_path / "out").exists()

    def test_ray_is_not_installed(self, make_job, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "ray.data", None)
        with pytest.raises(ConfigError, match=r"pip install .*\[ray\]'"):
            embed_files(make_job(), ray=0)
        assert not (tmp_path / "out").exists()


def test_a_gzip_cut_short(make_job, tmp_path):
    lines = "".join(f"{number * 7919 % 10007}\n" for number in range(500))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(lines.encode())[:-20])
    job = make_job(inputs=(InputFile.look_at(str(tmp_path / "cut.gz")),))
    with pytest.raises(DataError, match=r"cut\.gz:\d+: the gzip data is truncated"):
        embed_files(job)
    assert not is_complete(tmp_path / "out")
