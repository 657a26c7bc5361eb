"""What is fuzzed: readers, files of settings, model folders and vectorizers."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.campaigns.fuzz import RESULT, Run, Target, check
from tests.campaigns.mutations import changed_arrays, changed_json, mutated
from tests.texts import NASTY
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data._tables.table_reading import read_table
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.data.readers.pairs import read_pairs
from tf_charagram.data.readers.sts import read_sts
from tf_charagram.data.readers.words import load_word_vectors, scan_word_vectors
from tf_charagram.data.readers.wordsim import read_wordsim
from tf_charagram.tasks.distillation._teachers.vectors import read_vectors
from tf_charagram.tasks.labels.treebank import read_labelled_texts, read_trees
from tf_charagram.tasks.tagging._conllu.data import read_tagged
from tf_charagram.text._algorithm.batches import to_bytes

TEXTS = ["a cat sat", "some cats", "", "the caf\xe9 \U0001f600"]
TABS = (b"\t", b"\n", b"\r\n")


def file_target(
    name: str,
    file_name: str,
    read: Callable[[Path], Any],
    seeds: Sequence[bytes],
    tokens: Sequence[bytes] = TABS,
    **fields: Any,
) -> Target:
    """Returns a target that writes a case to a file and reads it; all numbers must be finite."""

    def prepare(folder: Path) -> Run:
        path = folder / file_name

        def run(case: bytes) -> str:
            path.write_bytes(case)
            _check_finite(read(path))
            return RESULT

        return run

    fields = {"in_message": file_name.partition(".")[0], **fields}
    return Target(name, prepare, seeds, tokens, **fields)


def _check_finite(value: Any) -> None:
    if isinstance(value, np.ndarray | float):
        is_number = isinstance(value, float) or value.dtype.kind == "f"
        check(not is_number or np.isfinite(value).all(), "a number is not finite")
    elif hasattr(value, "scores"):
        _check_finite(np.asarray(value.scores))
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for part in value:
            _check_finite(part)


def _both(read: Callable[..., Any]) -> Callable[[Path], Any]:
    """Returns a reader that skips bad lines, and then reads up to the first bad line."""

    def read_all(path: Path, on_bad_line: Any) -> Any:
        value = read(path, on_bad_line=on_bad_line)
        return list(value) if hasattr(value, "__next__") else value

    def both(path: Path) -> Any:
        bad = BadLines("skip")
        try:
            skipped = read_all(path, bad)
        finally:
            bad.summary()
        return [skipped, read_all(path, "error")]

    return both


_PAIRS = b"text1\ttext2\ncat\tcats\na dog\tsome dogs\ncaf\xc3\xa9\t\xf0\x9f\x98\x80\n"
_PPDB = (
    b"[VB] ||| agreed ||| consented ||| PPDB2.0Score=3.5 Abstract=0 ||| 0-0 ||| Equivalence\n"
    b"[NP] ||| the cat ||| a cat ||| PPDB2.0Score=2.25 ||| 0-0 1-1 ||| ForwardEntailment\n"
)
_CONLLU = (
    b"# text = The cat can't sit.\n1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n"
    b"2\tcat\tcat\tNOUN\tNN\t_\t5\tnsubj\t_\t_\n3-4\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    b"3\tca\tcan\tAUX\tMD\t_\t5\taux\t_\t_\n4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_\n\n"
)
_SST = b"(3 (2 It) (4 (2 sings) (3 -LRB- -RRB-)))\n(1 (2 It) (0 (1 stinks) (2 .)))\n"
_SICK = (
    b"pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\tSemEval_set\n"
    b"1\tA cat sits\tThe cat is sitting\t4.5\tENTAILMENT\tTEST\n"
    b"2\tA dog runs\tNo dog is running\t3.2\tCONTRADICTION\tTEST\n"
)
_NPY = io.BytesIO()
np.save(_NPY, np.arange(6, dtype=np.float32).reshape(2, 3) / 4)

READERS = [
    file_target("reader.pairs", "pairs.tsv", _both(read_pairs), [_PAIRS, gzip.compress(_PAIRS)]),
    file_target("reader.csv", "table.csv", _both(read_table),
                [b"id;text\n1;a b\n2;c\n", b'id,text\n1,"a, ""b"""\n'], (b";", b'"', b",", b"#")),
    file_target("reader.json", "table.jsonl", _both(read_table),
                [b'{"id": 1, "text": "a"}\n{"text": null, "n": [true]}\n'], (b"{", b"\\ud83d")),
    file_target("reader.ppdb", "ppdb.txt", _both(read_pairs), [_PPDB],
                (b" ||| ", b"=", b"PPDB2.0Score", b"Equivalence", b"\n")),
    file_target("reader.conllu", "tags.conllu", _both(read_tagged), [_CONLLU],
                (b"\t", b"\n\n", b"_", b"# ", b"3-4\t", b"8.1\t")),
    file_target("reader.sst", "sst.txt", _both(partial(read_trees, phrases=True)), [_SST],
                (b"(", b")", b"(2 x)", b"-LRB-")),
    file_target("reader.sts", "sts.tsv", _both(read_sts), [b"4.5\tA cat.\tThe cat\n0\tA\tB\n"]),
    file_target("reader.sick", "SICK.txt", _both(read_sts), [_SICK], (*TABS, b"TEST")),
    file_target("reader.wordsim", "ws.csv", _both(read_wordsim),
                [b"# note\nWord 1,Word 2,Human (mean)\ncat,dog,7.5\ncar,bus,6\n"], (b",", b"#")),
    file_target("reader.misspellings", "misspellings.tsv", _both(read_misspellings),
                [b"teh\tthe\n", b"$the\nteh\nhte\n", b"teh->the\n"], (b"\t", b"$", b"->", b",")),
    file_target("reader.texts", "sentiment.tsv", _both(read_labelled_texts),
                [b"label\ttext\n1\ta lovely film\n0\tit stinks , really\n", _SST], (*TABS, b'"')),
    file_target("vectors.word2vec", "vectors.txt",
                lambda path: [
                    len(list(scan_word_vectors(path))), load_word_vectors(path, ["cat"])[0]
                ],
                [b"2 3\ncat 0.5 -1 2e-3\na\xc2\xa0dog 1 2 3\n", b"cat 1 2\n"], (b" ", b"0 0\n")),
    file_target("vectors.npy", "teacher.npy", lambda path: [len(read_vectors(path))],
                [_NPY.getvalue()], (b"'<f4'", b"'|O'", b"(2, 3)", b"9999999999", b"True")),
]  # fmt: skip


def _flags(folder: Path) -> Run:
    """Parses `charagram train --config FILE`."""
    from tf_charagram.cli._flags.run_flags import parse_run
    from tf_charagram.cli.train import make_parser

    def run(case: bytes) -> str:
        (folder / "recipe.yaml").write_bytes(case)
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                parse_run(["--config", str(folder / "recipe.yaml")], make_parser)
        except SystemExit as end:
            check(end.code in (0, 2), f"exit status {end.code}")
            check(end.code == 0 or "error: " in said.getvalue(), f"it says {said.getvalue()!r}")
            return f"exit {end.code}"
        return RESULT

    return run


_CONFIG = {"task": "words", "data": ["pairs.tsv"], "dim": 30, "seed": 3, "quiet": False}
_YAML = b"# A recipe\ntask: words\ndata: [a.tsv, b.tsv]\ndim: 30\nmargin: 0.4\nngrams: 2,3,4\n"
SETTINGS = [
    Target("settings.yaml", _flags, [_YAML], (b": ", b"- ", b"&a ", b"*a", b"!!python/object:x",
           b"|\n", b"<<: ", b"---\n", b"{", b".nan", b"dim", b"encoder")),
    Target("settings.json", _flags, [json.dumps(_CONFIG).encode()], make=changed_json),
]  # fmt: skip


def _model() -> Path:
    """Returns a saved model; the first call in a process makes it."""
    path = Path("model").absolute()
    if not path.is_dir():
        from tests.models.answers import parts
        from tf_charagram.models.embedder import TextEmbedder

        TextEmbedder(*parts(dim=4)).save(path, table_dtype="int4")
    return path


def _model_target(file_name: str) -> Target:
    """Returns a target that changes one file of a model folder, and loads the model."""

    def prepare(folder: Path) -> Run:
        from tf_charagram.models._storage.locations import load_any

        path = folder / "hostile"
        shutil.copytree(_model(), path, dirs_exist_ok=True)

        def run(case: bytes) -> str:
            (path / file_name).write_bytes(case)
            vectors = load_any(path).encode(TEXTS)
            check(len(vectors) == len(TEXTS), f"{len(vectors)} answers to {len(TEXTS)} texts")
            check(np.isfinite(vectors).all(), "an answer is not finite")
            return RESULT

        return run

    return Target(
        f"model.{file_name.partition('.')[0]}", prepare,
        lambda: [(_model() / file_name).read_bytes()], in_message="hostile", share=0.2,
        make=changed_json if file_name.endswith("json") else changed_arrays,
    )  # fmt: skip


FOLDERS = [_model_target(name) for name in ("config.json", "vocabulary.npz", "weights.npz")]


#: Separates the texts of a batch; no text contains it.
_SEPARATOR = b"\xff\xfe\xff\xfd"
_SCRIPTS = tuple(
    text.encode()
    for text in (
        "The quick brown fox can't jump over 1,000 lazy dogs' (AT&T) e-mails, U.S. $3.14!",
        "Stra\xdfe \xc4rger \u0130stanbul na\xefve co\xf6perate \u1e9e \xfc\u0308",
        "\u041c\u043e\u0441\u043a\u0432\u0430 \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac",
        "\u4e2d\u6587\u5b57\u7b26 \u65e5\u672c\u8a9e \ud55c\uad6d\uc5b4 \u05e9\u05dc\u05d5\u05dd",
        "\U0001f468\u200d\U0001f469 \U0001f600\U0001f3fd e\u0301\u0302 \u202e\u200b\ufeff\x85\xa0",
    )
)


def _text_batch(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Returns a few kB of texts: changed ones of many scripts, random bytes, and nasty ones."""
    texts = [mutated(seeds, seeds, random) for _ in range(random.choice((3, 30)))]
    texts += [random.randbytes(random.choice((1, 50, 2000))) for _ in range(3)]
    return _SEPARATOR.join([*texts, *random.sample([*map(to_bytes, NASTY.values())], 2)])


def _vectorizer_target(name: str, make: Callable[[], Any]) -> Target:
    """Returns a target that turns texts into ids, in a batch and alone."""

    def prepare(folder: Path) -> Run:
        import tensorflow as tf

        vectorizer = make()
        signature = [tf.TensorSpec([None], tf.string)]
        fast = tf.function(vectorizer.call, input_signature=signature, autograph=False)

        def run(case: bytes) -> str:
            texts = case.split(_SEPARATOR)
            ids = fast(tf.constant(texts))
            values = ids.values.numpy()
            check(ids.nrows() == len(texts), f"{ids.nrows()} rows for {len(texts)} texts")
            check(((values >= 0) & (values < vectorizer.num_rows)).all(), "an id has no row")
            for place in range(0, len(texts), 5):
                row = ids[place].numpy().tolist()
                alone = fast(tf.constant(texts[place : place + 1]))[0].numpy().tolist()
                check(row == alone, f"other ids in another batch: {texts[place][:200]!r}")
            return RESULT

        return run

    return Target(f"texts.{name}", prepare, _SCRIPTS, share=0.2, make=_text_batch)


def _ngrams() -> Any:
    from tf_charagram.text.vectorizer import NgramVectorizer

    return NgramVectorizer.from_texts(text.decode() for text in _SCRIPTS)


def _words() -> Any:
    from tf_charagram.text.words import WordVectorizer

    texts = [text.decode() for text in _SCRIPTS]
    return WordVectorizer.from_texts([*texts, *texts[:2]], min_count=2)


VECTORIZERS = [
    _vectorizer_target("ngrams", _ngrams),
    _vectorizer_target("words", _words),
]

TARGETS = [*READERS, *SETTINGS, *FOLDERS, *VECTORIZERS]
