"""`fetch`, `cached` and the command `data` against a server on this machine."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import hashlib
import io
import tarfile
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pooch  # noqa: F401  (its log goes to the standard error at the time of import)
import pytest

from tests.commands import call
from tf_charagram.data.download import SOURCES, cached, fetch
from tf_charagram.data.readers.pairs import read_pairs
from tf_charagram.data.readers.sts import find_sts
from tf_charagram.data.readers.wordsim import find_wordsim, read_wordsim
from tf_charagram.errors import ConfigError, DataError

PPDB = "ppdb-1.0-s-lexical"
PPDB_FILE = f"{PPDB}.gz"
PPDB_CONTENT = gzip.compress(b"[NN] ||| car ||| auto ||| Abstract=0 ||| 0-0\n", mtime=0)
STS = {"input": "a b\tc d\ne\tf\n", "gs": "1\n2\n"}


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder in silence; `/short/` promises more bytes than it sends."""

    def log_message(self, *args):
        self.server.num_requests += 1

    def do_GET(self):
        if not self.path.startswith("/short/"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 10)


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(Handler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.num_requests = 0
    server.folder = folder
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def serve(server, monkeypatch):
    """Serves `content` as the file of a set, by default with the checksum it has."""

    def serve(name, content, checksum="", at=""):
        source = SOURCES[name]
        file = source.url.rsplit("/", 1)[1]
        (server.folder / file).write_bytes(content)
        changes = {
            "url": f"{at or server.url}/{file}",
            "checksum": checksum or f"sha1:{hashlib.sha1(content).hexdigest()}",
        }
        if checksum == "published":
            del changes["checksum"]
        monkeypatch.setitem(SOURCES, name, dataclasses.replace(source, **changes))

    serve(PPDB, PPDB_CONTENT, "published")
    return serve


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("TF_CHARAGRAM_CACHE", str(folder))
    return folder


@pytest.fixture
def get(serve, cache):
    return fetch


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


def test_a_damaged_file_in_the_cache_is_replaced(server, serve, get):
    serve(PPDB, PPDB_CONTENT)
    get(PPDB).write_bytes(b"damaged")
    assert get(PPDB).read_bytes() == PPDB_CONTENT
    assert server.num_requests == 2


def test_wrong_published_checksum(serve, cache, get):
    serve("RW", b"not the archive", "published")
    message = r"rw\.zip: wrong checksum .*sha1:bf9c59.*but got .*by hand"
    with pytest.raises(DataError, match=message):
        get("RW")
    assert list(cache.iterdir()) == []


def test_zip_member(serve, cache, get):
    serve("RW", zip_of({"__MACOSX/rw/._rw.txt": "", "rw/rw.txt": "a\tb\t1\t2\nc\td\t3\t4\n"}))
    assert cached("RW") is None
    path = get("RW")
    assert path == cached("RW") == cache / "rw.txt"
    assert read_wordsim(path).left == ["a", "c"]


def test_tar_members_and_their_union(server, serve, cache, get):
    content = tar_of(
        {
            "d/wordsim_similarity_goldstandard.txt": "a\tb\t1\nc\td\t2\n",
            "d/wordsim_relatedness_goldstandard.txt": "c\td\t2\ne\tf\t3",
        }
    )
    for name in ("WS353", "WS353-SIM", "WS353-REL"):
        serve(name, content)
    union = read_wordsim(get("WS353"))
    assert (union.name, union.left) == ("WS353", ["a", "c", "e"])
    assert read_wordsim(get("WS353-SIM")).left == ["a", "c"]
    assert read_wordsim(get("WS353-REL")).left == ["c", "e"]
    assert server.num_requests == 1
    assert sorted(find_wordsim(cache)) == ["WS353", "WS353-REL", "WS353-SIM"]


@pytest.mark.parametrize("pack", [zip_of, tar_of])
def test_folder(serve, cache, get, pack):
    """Paths inside the archive are ignored."""
    files = {f"../sts/STS.{kind}.OnWN.txt": text for kind, text in STS.items()}
    serve("STS2012", pack({"__MACOSX/._x": "", **files}))
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
        (tar_of({"rw.txt": "a\tb\t1\n" * 9})[:-20], "expected a zip or tar archive"),
    ],
    ids=["not-archive", "no-member", "cut"],
)
def test_bad_archive(serve, get, content, message):
    serve("RW", content)
    with pytest.raises(DataError, match=message):
        get("RW")


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("STS2012", zip_of({"STS.gs.OnWN.txt": ""}), "zip or tar archive"),
        (PPDB, PPDB_CONTENT, "gzip file"),
    ],
    ids=["archive", "gzip"],
)
def test_an_html_page_instead_of_data_is_not_kept(serve, get, name, content, kind):
    serve(name, b"<html>Log in first.</html>", "published")
    with pytest.raises(DataError, match=f"expected a {kind}"):
        get(name)
    serve(name, content, "published")
    assert get(name).exists()


def test_network_errors(server, serve, cache, get):
    (server.folder / PPDB_FILE).unlink()
    message = rf"could not be fetched from {server.url}/{PPDB_FILE} \(404.*by hand and pass"
    with pytest.raises(DataError, match=message):
        get(PPDB)
    for place, problem in (
        (f"{server.url}/short", ".*10 bytes read, 990 more"),
        ("http://127.0.0.1:9", r"from http://127\.0\.0\.1:9/"),
    ):
        serve(PPDB, b"", "published", at=place)
        with pytest.raises(DataError, match=f"could not be fetched {problem}"):
            get(PPDB)
    assert list(cache.iterdir()) == []


def test_unknown_name(get):
    with pytest.raises(ConfigError, match=r"Unknown data set 'SL99'\. Did you mean 'SL999'"):
        get("SL99")


def test_list(cache, capsys):
    (cache / "SST").mkdir(parents=True)
    (cache / "SST" / "train.txt").write_text("(3 good)\n" * 2000)
    assert call("data") == 0
    text = capsys.readouterr().out
    assert all(name in text for name in SOURCES if not name.startswith("ppdb-"))
    assert text.count("ppdb-") == 2  # one row, and the pattern of all
    assert "0.02" in next(line for line in text.splitlines() if "SST" in line)
    shown = "".join(line.split("│")[4].strip() for line in text.splitlines() if "│" in line)
    assert "charagram train --task sentiment --data" in shown and f"{cache}/SST/train.txt" in shown


def test_get(serve, cache, capsys):
    assert call("data", "get", PPDB) == 0
    streams = capsys.readouterr()
    assert streams.out == f"{PPDB} -> {cache / PPDB_FILE}\n"
    assert streams.err == f"{PPDB}: licence: CC BY 3.0 US (paraphrase.org)\n"
    assert call("data") == 0
    assert capsys.readouterr().out.count("ppdb-") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get"], "Give `charagram data` or `charagram data get NAME`. Received: get"),
        (["get", "sl999"], "Unknown data set 'sl999'. Did you mean 'SL999'?"),
    ],
)
def test_command_errors(arguments, message, capsys):
    assert call("data", *arguments) == 1
    assert message in capsys.readouterr().err
