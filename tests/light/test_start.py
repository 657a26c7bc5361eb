"""Commands and functions that read models start without TensorFlow, and work without it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.commands import call
from tf_charagram.models._storage.choice import load_anywhere

NAMES = ["Sony WH-1000XM5 Headphones", "Bosch Cordless Drill 18V", "Apple iPhone 14 Pro"]
WRITTEN = ["sonny hedphones", "cordless dril bosch", "aple iphone"]
IMPORTED = 'sorted({"tensorflow", "tensorflow_text", "keras"} & sys.modules.keys())'

COMMANDS = {
    "search": ["names.csv", "sonny hedphones"],
    "search a model": ["english", "vehicals"],
    "search --spelling": ["english", "vehicals", "--spelling"],
    "search --save": ["names.csv", "hedphones", "--save", "index"],
    "match": ["written.csv", "names.csv", "--on", "name"],
    "match columns": ["written.csv", "names.csv", "--on", "name,city"],
    "dedupe": ["names.csv", "--on", "name"],
    "embed": ["english", "--input", "names.csv", "--output", "vectors.npy"],
    "embed shards": ["english", "--input", "names.csv", "--output", "shards/"],
    "evaluate": ["english", "--eval-data", "scored.tsv"],
    "convert": ["english", "--texts", "words.txt", "--output", "vectors.txt"],
    "models": [],
}
# One after the other in one process, whose start takes longer than they do.
RUN = f"""
import json, sys
from tf_charagram.cli import main
for name, arguments in json.loads(sys.argv[1]).items():
    status = main([name.split()[0], *arguments])
    print(json.dumps([name, status, {IMPORTED}]), file=sys.stderr)
"""

FUNCTIONS = {
    "index": """
        from tf_charagram.search import TextIndex
        index = TextIndex(NAMES)
        index.add(["Lego Star Wars"])
        assert [hits[0].row for hits in index.search(WRITTEN)] == [0, 1, 2]
        index.save("index")
        assert TextIndex.load("index").search("lego starwars")[0].row == 3
    """,
    "match": """
        from tf_charagram.search import match
        assert [pair.right for pair in match(WRITTEN, NAMES).pairs] == [0, 1, 2]
    """,
    "deduplicate": """
        from tf_charagram.search import deduplicate
        [group] = deduplicate([*NAMES, "Aple iPhone 14 Pro"]).groups
        assert group.rows == [2, 3]
    """,
    "reader": """
        from tf_charagram import TextReader
        reader = TextReader.load("english", keep_words=["vehical"])
        reader.encode(["my pasword", "caf\\u00e9"], normalize=True)
        reader.similarity(["a"], ["b"])
        reader.similarity_matrix(["a", "c"], ["b"])
        assert reader.neighbors("pasword", ["car", "my password"], k=1)[0].row == 1
        reader.explain("pasword", "password")
        assert reader.read_as(["my pasword"]) == ["my password"]
        reader.known_share(["a"])
    """,
    "sklearn": """
        from importlib.util import find_spec
        if find_spec("sklearn") is not None:
            from tf_charagram.export.sklearn import CharagramTransformer
            assert CharagramTransformer("english").transform(NAMES).shape == (3, 384)
    """,
    "demo": """
        from tf_charagram.demo.answers import Answers, embedder_of
        answers = Answers(embedder_of("english"), NAMES, "english")
        answers.neighbors("hedphones", 1, 0)
        assert answers.compare("hedphones", "headphones", 0, 0)["explanation"]["pairs"]
    """,
}


def run(folder, program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Returns a folder with two tables and an evaluation set."""
    folder = tmp_path_factory.mktemp("light")
    for name, texts in (("names", NAMES), ("written", WRITTEN)):
        lines = ["name,city", *(f"{text},{city}" for text, city in zip(texts, "abc", strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    (folder / "words.txt").write_text("cat\nhouse\n")
    (folder / "scored.tsv").write_text("cats\ta cat\t4\ndog\tcar\t1\nhouse\thome\t3\n")
    return folder


def test_commands(files):
    done = run(files, RUN, json.dumps(COMMANDS))
    assert done.returncode == 0, done.stderr
    ended = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert [json.loads(line) for line in ended] == [[name, 0, []] for name in COMMANDS]


def test_functions(tmp_path):
    program = f"import sys\nNAMES, WRITTEN = {json.dumps([NAMES, WRITTEN])}\n"
    for name, function in FUNCTIONS.items():
        body = "\n".join(line.removeprefix(" " * 8) for line in function.splitlines())
        program += f"{body}\nprint({name!r}, {IMPORTED})\n"
    done = run(tmp_path, program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{name} []" for name in FUNCTIONS]


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="TensorFlow is installed")
@pytest.mark.parametrize("command", [
    ["train", "--data", "pairs.tsv", "--output", "run"],
    ["tune", "--data", "pairs.tsv", "--output", "search"],
    ["tag", "run"],
    ["export", "english", "--output", "saved"],
    ["check", "saved"],
])  # fmt: skip
def test_other_commands_name_tensorflow(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text("text1\ttext2\na cat\tcats\nhouse\thome\n")
    assert call(*command) == 1
    assert "need TensorFlow: `pip install " in capsys.readouterr().err


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="TensorFlow is installed")
@pytest.mark.parametrize("module, name", [
    ("tf_charagram", "TextEmbedder"),
    ("tf_charagram.layers", "BiLstm"),
])  # fmt: skip
def test_names_of_tensorflow(module, name):
    with pytest.raises(
        ImportError, match=r"need TensorFlow: `pip install .*`tf_charagram\.TextReader`"
    ):
        getattr(import_module(module), name)


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="TensorFlow is installed")
def test_a_model_of_the_hub_is_read_without_tensorflow():
    assert load_anywhere("english", correct_spelling=False).read_as(["pasword"]) == ["pasword"]
