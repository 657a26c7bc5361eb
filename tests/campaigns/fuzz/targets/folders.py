"""What is kept in folders: models, runs, checkpoints, vocabularies, Keras archives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.fuzz.structured import changed_arrays, changed_json, changed_member
from tests.campaigns.fuzz.target import RESULT, Run, Target, check

TEXTS = ["a cat sat", "some cats", "", "the caf\xe9 \U0001f600"]
_JSON_TOKENS = (
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"null",
    b"1e400",
    b"-1",
    b'"step"',
    b"\n",
)


def _models() -> Path:
    """Returns a folder of saved models of several kinds; made where the cases run, once."""
    path = Path("models").absolute()
    if path.is_dir():
        return path
    from tests.models.answers import parts, randomized
    from tf_charagram.encoders.char_cnn import CharCnn
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.tasks.pairs.head import PairLabelHead
    from tf_charagram.tasks.pairs.models import PairClassifier
    from tf_charagram.text.characters import CharacterVectorizer

    TextEmbedder(*parts(dim=4)).save(path / "embedder")
    TextEmbedder(*parts(dim=4)).save(path / "small", table_dtype="int4")
    head = randomized(PairLabelHead(dim=6, labels=["yes", "no"], hidden_dim=3))
    PairClassifier(*parts("cse"), head).save(path / "classifier")
    vectorizer = CharacterVectorizer.from_texts(["a cat", "dogs"])
    encoder = CharCnn(num_rows=vectorizer.num_rows, dim=3, char_dim=4)
    TextEmbedder(vectorizer, encoder).save(path / "characters")
    TextEmbedder(*parts(dim=4)).save(path / "model.keras")
    return path


def _model_target(kind: str, file_name: str) -> Target:
    """Returns a target that changes one file of a model folder, and loads it."""

    def seeds() -> list[bytes]:
        return [(_models() / kind / file_name).read_bytes()]

    @contextmanager
    def opened(folder: Path) -> Iterator[Run]:
        from tf_charagram.models.registry import load_any

        path = folder / f"{kind}-hostile"
        shutil.copytree(_models() / kind, path, dirs_exist_ok=True)

        def run(case: bytes) -> str:
            (path / file_name).write_bytes(case)
            model = load_any(path)
            # A changed config may say that it is an embedder, which it then is.
            is_pair = hasattr(model, "probabilities")
            numbers = model.probabilities(TEXTS, TEXTS) if is_pair else model.encode(TEXTS)
            check(len(numbers) == len(TEXTS), f"{len(numbers)} answers to {len(TEXTS)} texts")
            check(np.isfinite(numbers).all(), "an answer is not finite")
            return RESULT

        yield run

    name = f"model.{kind}-{file_name.partition('.')[0]}"
    return Target(
        name, opened, seeds, in_message=f"{kind}-hostile", needs_tensorflow=True, share=0.0002,
        least_cases=12, make=changed_json if file_name.endswith("json") else changed_arrays,
    )  # fmt: skip


@contextmanager
def _archive(folder: Path) -> Iterator[Run]:
    """Changes one member of a Keras archive; Keras' own errors are its own, but nothing runs."""
    import keras

    def run(case: bytes) -> str:
        (folder / "hostile.keras").write_bytes(case)
        try:
            keras.models.load_model(folder / "hostile.keras")
        except Exception as error:
            return f"Keras.{type(error).__name__}"
        return RESULT

    yield run


def _archive_seeds() -> list[bytes]:
    return [(_models() / "model.keras").read_bytes()]


def _checkpoint_target(suffix: str) -> Target:
    """Returns a target that changes one file of a checkpoint, and restores it."""

    def files(folder: Path) -> Any:
        import tensorflow as tf

        from tf_charagram.training.checkpoints import Checkpoints

        variables = [tf.Variable(np.ones((5, 4), np.float32)), tf.Variable(3, dtype=tf.int64)]
        return Checkpoints(folder, variables), variables

    def seeds() -> list[bytes]:
        folder = Path("checkpoint-seed").absolute()
        files(folder)[0].save(7)
        return [(folder / f"ckpt-7{suffix}").read_bytes()]

    @contextmanager
    def opened(folder: Path) -> Iterator[Run]:
        path = folder / "checkpoints"
        checkpoints, variables = files(path)
        checkpoints.save(7)

        def run(case: bytes) -> str:
            (path / f"ckpt-7{suffix}").write_bytes(case)
            for variable in variables:
                variable.assign(np.zeros_like(variable))
            restored = checkpoints.restore_latest()
            check(restored is not None, "no checkpoint was seen")
            check(np.all(variables[0] == 1) and variables[1] == 3, "other values were restored")
            return RESULT

        yield run

    return Target(f"checkpoint.{suffix[1:5]}", opened, seeds, in_message="checkpoints",
                  needs_tensorflow=True, least_cases=12)  # fmt: skip


@contextmanager
def _run(folder: Path) -> Iterator[Run]:
    from tf_charagram.training.run_folder import RunFolder

    path = folder / "a-run"
    path.mkdir()
    new = {"settings": {"dim": 8, "out": "x"}, "versions": {}, "data_files": {"a.tsv": "00"}}

    def run(case: bytes) -> str:
        (path / "config.json").write_bytes(case)
        RunFolder(path).check_config(new, dict)
        return RESULT

    yield run


@contextmanager
def _history(folder: Path) -> Iterator[Run]:
    from tf_charagram.training.run_folder import RunFolder

    def run(case: bytes) -> str:
        (folder / "history.jsonl").write_bytes(case)
        run_folder = RunFolder(folder)
        kept = [record for record in run_folder.read_history() if record["step"] <= 3]
        run_folder.trim_history(3)
        check(run_folder.read_history() == kept, "another history was written")
        return RESULT

    yield run


_RUN = {"settings": {"dim": 8, "out": "runs/x"}, "versions": {}, "data_files": {"a.tsv": "00"}}

TARGETS = [
    Target("run.config", _run, [json.dumps(_RUN).encode()], in_message="a-run", make=changed_json),
    Target("run.history", _history, [b'{"step": 1, "loss": 0.5}\n{"step": 4, "loss": 0.1}\n'],
           _JSON_TOKENS),
    *(
        _model_target(kind, name)
        for kind in ("embedder", "small", "classifier", "characters")
        for name in ("config.json", "vocabulary.npz", "weights.npz")
    ),
    Target("model.keras", _archive, _archive_seeds, needs_tensorflow=True, share=0.0002,
           least_cases=12, make=changed_member),
    _checkpoint_target(".index"),
    _checkpoint_target(".data-00000-of-00001"),
]  # fmt: skip
