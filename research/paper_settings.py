"""The settings of the papers, for `charagram train --config`.

    python -m research settings sentences word_average > paper.yaml
    charagram train --config paper.yaml --data ppdb-xl-phrasal.gz --eval-data sts
    python -m research settings words charagram --tune > paper.yaml
    charagram tune --config paper.yaml --data ppdb-xxl-lexical.gz --eval-data wordsim --select SL999

Sources: C is Charagram (2016), U Towards Universal Paraphrastic Sentence Embeddings (2016), S CSE
(2018). Most values were searched, and the papers rarely report the best one; then they are those of
the grid nearest to our default. Other settings have the same default as the papers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import yaml

from tf_charagram.errors import ConfigError
from tf_charagram.tasks import make_settings
from tf_charagram.tasks._shared.defaults import inherited_settings
from tf_charagram.tuning._search.spaces import search_space

Settings = dict[str, Any]

_ADAM: Settings = {"optimizer": "adam", "learning_rate": 0.001}  # C 4.1.2, S 4.1
_ADAGRAD: Settings = {"optimizer": "adagrad", "learning_rate": 0.05}  # U, footnote 12
_PAIRS: Settings = {
    # C appendix A.1, U 3.1.1, S 3.2: a negative is any text of the batch but those of its pair,
    # and the batch is drawn at random.
    "mask_duplicates": False,
    "order": "random",
    # The penalties of C appendix A and U equation 1 are on all weights, at every step.
    "dense_l2": True,
    "margin": 0.4,  # C appendix B, U footnote 12
    "negatives": "max",
    "dim": 300,
}
_C_PAIRS: Settings = {**_PAIRS, **_ADAM, "l2": 1e-6}
_C_WORDS: Settings = {**_C_PAIRS, "epochs": 50, "batch_size": 25}  # C 4.1.3
_C_SENTENCES: Settings = {**_C_PAIRS, "epochs": 10, "batch_size": 100}  # C 4.1.4
# C 4.1.4: without the order of the file in the first epoch, these two did not converge.
_C_CURRICULUM: Settings = {**_C_SENTENCES, "order": "file_first"}
_C_POS: Settings = {  # C 4.2
    "optimizer": "sgd", "learning_rate": 0.2, "batch_size": 100, "epochs": 50, "dim": 150,
    "use_capitals": True,
    # The paper truncates nothing; this is the limit of n-gram ids.
    "max_chars": 10_000,
}  # fmt: skip

_U_AVERAGE: Settings = {**_PAIRS, **_ADAGRAD, "epochs": 10, "batch_size": 100, "l2_words": 1e-8}
_U_COMPOSED: Settings = {
    **_U_AVERAGE, "optimizer": "adam", "learning_rate": 0.0005, "l2_composition": 1e-6,
}  # fmt: skip
_S_PAIRS: Settings = {  # S 4.1; searched values as in footnote 4, the only ones it states
    **_PAIRS, **_ADAM, "epochs": 10, "batch_size": 100, "margin": 0.6, "l2_words": 1e-6,
}  # fmt: skip

_LABELS: Settings = {**_ADAM, "dense_l2": True, "epochs": 10, "dim": 300}
_U_LABELS: Settings = {  # U 4.4 and footnote 16
    **_LABELS, "batch_size": 25, "hidden_dim": 50, "l2_words": 1e-8, "l2_head": 1e-6,
}  # fmt: skip
_S_SIMILARITY: Settings = {**_LABELS, "batch_size": 32, "l2_words": 1e-6}  # S 4.2
_FROZEN: Settings = {**_ADAM, "epochs": 20, "l2_head": 1e-6}  # U 4.4.2

_PAPER: dict[str, dict[str, Settings]] = {
    "words": dict.fromkeys(("charagram", "char_cnn", "char_lstm"), _C_WORDS),
    "sentences": {
        "charagram": _C_SENTENCES,
        "char_cnn": _C_CURRICULUM,
        "char_lstm": _C_CURRICULUM,
        "word_average": _U_AVERAGE,
        **dict.fromkeys(("projection", "dan", "rnn", "lstm"), _U_COMPOSED),
        # Both are in its grid; without them its loss overflowed (research/results.md).
        "identity_rnn": {**_U_COMPOSED, "l2_composition": 10.0, "clip_norm": 1.0},
        "cse": _S_PAIRS,
    },
    "pos": dict.fromkeys(("charagram", "char_cnn", "char_lstm"), _C_POS),
}
_U_ENCODERS = ("word_average", "projection", "dan", "rnn", "lstm")
_LABEL_TASKS = ("similarity", "entailment", "sentiment")


def _labels(task: str, encoder: str, has_init: bool, freeze: bool) -> Settings | None:
    """Returns the settings of a task with labels; `None` if no paper has that encoder."""
    if task == "similarity" and encoder == "cse":
        settings = dict(_S_SIMILARITY)
    elif encoder in _U_ENCODERS:
        settings = dict(_U_LABELS)
        if encoder != "word_average":
            settings["l2_composition"] = 1e-6
    else:
        return None
    if freeze:
        return dict(_FROZEN)
    if has_init and encoder != "word_average":
        settings["pull_back"] = True  # U 4.4.1, S 4.2
    return settings


def paper_settings(
    task: str, encoder: str, *, has_init: bool = False, freeze: bool = False
) -> Settings:
    """Returns the settings with which a paper trains an encoder on a task.

    Args:
        task: Name of the task.
        encoder: Name of the encoder.
        has_init: Whether training starts from a model.
        freeze: Whether only a head is trained on top of that model.

    Raises:
        ConfigError: No paper trains the encoder on the task.

    Examples:
        >>> paper_settings("pos", "charagram")["learning_rate"]
        0.2
    """
    if task in _LABEL_TASKS:
        settings = _labels(task, encoder, has_init, freeze)
    else:
        settings = _PAPER.get(task, {}).get(encoder)
    if settings is None:
        raise ConfigError(f"The papers do not train the encoder '{encoder}' on {task}.")
    return settings


def run(arguments: Sequence[str]) -> int:
    """Writes the settings to standard output, as YAML."""
    parser = argparse.ArgumentParser(
        prog="python -m research settings", description=__doc__.split("\n")[0]
    )
    parser.add_argument("task")
    parser.add_argument("encoder")
    parser.add_argument("--init", help="model to start from")
    parser.add_argument("--freeze", choices=["encoder"], help="train the head only")
    parser.add_argument(
        "--tune", action="store_true", help="leave out what `tune` searches, for tune --config"
    )
    values = vars(parser.parse_args(arguments))
    task, encoder = values["task"], values["encoder"]
    settings = paper_settings(
        task, encoder, has_init=bool(values["init"]), freeze=bool(values["freeze"])
    )
    decided = inherited_settings(values["init"]) if values["init"] else {}
    is_tuned = values.pop("tune")
    given = {name: value for name, value in values.items() if value}
    given |= {name: value for name, value in settings.items() if name not in decided}
    config = make_settings(**given)  # Reports what does not go together.
    if is_tuned:
        searched = {name for names in search_space("paper", config) for name in names.split("+")}
        given = {name: value for name, value in given.items() if name not in {*searched, "epochs"}}
    sys.stdout.write(yaml.safe_dump(given, sort_keys=False))
    return 0
