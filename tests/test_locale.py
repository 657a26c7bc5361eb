"""No answer depends on the locale: Turkish has other lowercase letters, C no UTF-8 in files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tensorflow as tf

from tests.commands import call, environment
from tests.texts import NASTY
from tf_charagram import ParaphraseModel, TextEmbedder
from tf_charagram.models.text_reader import TextReader
from tf_charagram.optimizers import LazyAdam
from tf_charagram.search import match
from tf_charagram.tasks.paraphrase._corpus.pair_stream import text_keys
from tf_charagram.text.splitting import split_tokens

ROOT = Path(__file__).parent.parent
TEXTS = ["TITLE IN ISTANBUL", "title in istanbul", "t\u0131tle", "\u0130ZM\u0130R", "I\u00c9\u00c7"]
NASTY_TEXTS = [text for name, text in NASTY.items() if "long" not in name]


def answers() -> dict[str, object]:
    """Returns what the package makes of texts, by all ways that lowercase or write them."""
    embedder = TextEmbedder.load("english")
    trained = ParaphraseModel.from_embedder(embedder)
    trained.compile(LazyAdam())
    pairs = tf.data.Dataset.from_tensors((TEXTS, TEXTS[::-1]))
    with TemporaryDirectory() as folder:
        file, similar = Path(folder, "texts.txt"), Path(folder, "similar.csv")
        file.write_text("\n".join(TEXTS), encoding="utf-8")
        assert call("dedupe", file, "--threshold", "0.9", "--output", similar) == 0
        written = similar.read_bytes().decode("utf-8")
    return {
        "vectors": embedder.encode([*TEXTS, *NASTY_TEXTS]).tolist(),
        "reader": TextReader.load("english").encode([*TEXTS, *NASTY_TEXTS]).tolist(),
        "read_as": embedder.read_as(TEXTS),
        "keys": text_keys(TEXTS).numpy().tolist(),
        "tokens": repr([part.to_list() for part in split_tokens(tf.constant(TEXTS))]),
        "loss": trained.evaluate(pairs, verbose=0),
        "matched": match(TEXTS[:1], TEXTS[1:], embedder).pairs,
        "file": written,
    }


@pytest.fixture(scope="module")
def expected():
    return json.loads(json.dumps(answers()))


@pytest.mark.long
@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "tr_TR.UTF-8"},
        # Python then reads and writes ASCII, where no encoding is given.
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["turkish", "ascii"],
)
def test_answers_are_the_same(expected, variables):
    script = "import json; from tests.test_locale import answers; print(json.dumps(answers()))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", cwd=ROOT, env=environment(**variables)
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert {name for name in expected if found[name] != expected[name]} == set()
