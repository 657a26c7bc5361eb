"""`fetch` and `cached` against a server on this machine."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import tarfile
import zipfile

import pytest

from tests.data.download.conftest import PPDB, PPDB_CONTENT, PPDB_FILE
from tf_charagram.data.download.fetch import cached
from tf_charagram.data.download.sources import SOURCES
from tf_charagram.data.readers.pairs import read_pairs
from tf_charagram.data.readers.sts import find_sts
from tf_charagram.data.readers.wordsim import find_wordsim, read_wordsim
from tf_charagram.errors import ConfigError, DataError

STS = {"input": "a b\tc d\ne\tf\n", "gs": "1\n2\n"}


def serve(monkeypatch, server, name, content):
    """Serves `content` as the file of a set, with the checksum it has."""
    source = SOURCES[name]
    (server.folder / source.url.rsplit("/", 1)[1]).write_bytes(content)
    checksum = f"sha1:{hashlib.sha1(content).hexdigest()}"
    monkeypatch.setitem(SOURCES, name, dataclasses.replace(source, checksum=checksum))


def zip_of(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def tar_of(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return stream.getvalue()


def test_a_download_is_not_repeated(server, cache, get):
    path = get(PPDB)
    assert path == cache / PPDB_FILE
    assert list(read_pairs(path)) == [("car", "auto")]
    assert get(PPDB) == path
    assert server.num_requests == 1
    assert list(cache.iterdir()) == [path]


def test_a_damaged_file_in_the_cache_is_replaced(monkeypatch, server, cache, get):
    serve(monkeypatch, server, PPDB, PPDB_CONTENT)
    get(PPDB).write_bytes(b"damaged")
    assert get(PPDB).read_bytes() == PPDB_CONTENT
    assert server.num_requests == 2


def test_wrong_published_checksum(server, cache, get):
    (server.folder / "rw.zip").write_bytes(b"not the archive")
    message = r"rw\.zip: wrong checksum .*sha1:bf9c59.*but got .*by hand"
    with pytest.raises(DataError, match=message):
        get("RW")
    assert list(cache.iterdir()) == []


def test_zip_member(monkeypatch, server, cache, get):
    content = zip_of({"__MACOSX/rw/._rw.txt": "", "rw/rw.txt": "a\tb\t1\t2\nc\td\t3\t4\n"})
    serve(monkeypatch, server, "RW", content)
    assert cached("RW") is None
    path = get("RW")
    assert path == cached("RW") == cache / "rw.txt"
    assert read_wordsim(path).left == ["a", "c"]


def test_tar_members_and_their_union(monkeypatch, server, cache, get):
    content = tar_of(
        {
            "d/wordsim_similarity_goldstandard.txt": "a\tb\t1\nc\td\t2\n",
            "d/wordsim_relatedness_goldstandard.txt": "c\td\t2\ne\tf\t3",
        }
    )
    for name in ("WS353", "WS353-SIM", "WS353-REL"):
        serve(monkeypatch, server, name, content)
    union = read_wordsim(get("WS353"))
    assert (union.name, union.left) == ("WS353", ["a", "c", "e"])
    assert read_wordsim(get("WS353-SIM")).left == ["a", "c"]
    assert read_wordsim(get("WS353-REL")).left == ["c", "e"]
    assert server.num_requests == 1
    assert sorted(find_wordsim(cache)) == ["WS353", "WS353-REL", "WS353-SIM"]


@pytest.mark.parametrize("pack", [zip_of, tar_of])
def test_folder(monkeypatch, server, cache, get, pack):
    """All files, wherever the archive says they are."""
    files = {f"../sts/STS.{kind}.OnWN.txt": text for kind, text in STS.items()}
    serve(monkeypatch, server, "STS2012", pack({"__MACOSX/._x": "", **files}))
    assert cached("STS2012") is None
    folder = get("STS2012")
    assert folder == cached("STS2012") == cache / "STS2012"
    assert sorted(path.name for path in folder.iterdir()) == [
        "STS.gs.OnWN.txt", "STS.input.OnWN.txt",
    ]  # fmt: skip
    assert list(find_sts(folder)) == ["STS2012.OnWN"]
    assert not (cache.parent / "sts").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"neither", "expected a zip or tar archive"),
        (zip_of({"other": ""}), r"expected a file 'rw\.txt' in the archive, but it is missing"),
        (tar_of({"other": ""}), r"expected a file 'rw\.txt' in the archive, but it is missing"),
        (tar_of({"rw.txt": "a\tb\t1\n" * 9})[:-20], "expected a zip or tar archive"),
    ],
    ids=["not-archive", "zip", "tar", "cut"],
)
def test_archive_without_its_member(monkeypatch, server, get, content, message):
    serve(monkeypatch, server, "RW", content)
    with pytest.raises(DataError, match=message):
        get("RW")


@pytest.mark.parametrize(
    ("name", "file", "content", "kind"),
    [
        ("STS2012", "STS2012-en-test.zip", zip_of({"STS.gs.OnWN.txt": ""}), "zip or tar archive"),
        (PPDB, PPDB_FILE, PPDB_CONTENT, "gzip file"),
    ],
    ids=["archive", "gzip"],
)
def test_a_page_in_place_of_data_is_not_kept(server, cache, get, name, file, content, kind):
    (server.folder / file).write_bytes(b"<html>Log in first.</html>")
    with pytest.raises(DataError, match=f"expected a {kind}"):
        get(name)
    (server.folder / file).write_bytes(content)
    assert get(name).exists()


def test_network_errors_say_the_address_and_the_way_out(monkeypatch, server, cache, get):
    (server.folder / PPDB_FILE).unlink()
    message = rf"could not be fetched from {server.url}/{PPDB_FILE} \(404.*by hand and pass"
    with pytest.raises(DataError, match=message):
        get(PPDB)
    monkeypatch.setenv("TF_CHARAGRAM_BASE_URL", f"{server.url}/short")
    with pytest.raises(DataError, match=r"could not be fetched .*10 bytes read, 990 more"):
        get(PPDB)
    monkeypatch.setenv("TF_CHARAGRAM_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"could not be fetched from http://127\.0\.0\.1:9/"):
        get(PPDB)
    assert list(cache.iterdir()) == []


def test_progress_bar_goes_to_stderr(capsys, get):
    get(PPDB, progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert PPDB_FILE in captured.err
    assert "100%" in captured.err


def test_wrong_arguments(monkeypatch, get):
    message = r"Unknown data set 'ppdb-1\.0-xl-lexicl'\. Did you mean 'ppdb-1\.0-xl-lexical'"
    with pytest.raises(ConfigError, match=message):
        get("ppdb-1.0-xl-lexicl")
    with pytest.raises(ConfigError, match=r"Unknown data set 'SL99'\. Did you mean 'SL999'"):
        cached("SL99")
    for base_url in ("ftp://host/x", "file:///etc", "/folder", "http://"):
        monkeypatch.setenv("TF_CHARAGRAM_BASE_URL", base_url)
        with pytest.raises(ConfigError, match=r"BASE_URL` must be an http:// or https:// address"):
            get(PPDB)
