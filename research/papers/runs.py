"""The runs behind the papers' tables; several tables share most of them.

A run is a `charagram train` command. Settings without a flag are the package's defaults: margin
0.4, MAX, Adam at 0.001, as in Charagram, and no penalty. Nothing is tuned, while the papers search
settings on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SIZES = (100, 1000, 50_000)
ORDERS = ("2", "2,3", "2,3,4", "2,3,4,5", "2,3,4,5,6")
WORD_ENCODERS = ("word_average", "projection", "dan", "rnn", "identity_rnn", "lstm")
#: Halvings of the pairs in figure 1 of Universal: of 3,033,753, until there are fewer than 10.
NUM_HALVINGS = 19
#: Note on tables for which the papers tuned settings.
UNTUNED = "Settings were not tuned."
#: Note on scores below the papers'.
FEWER_PAIRS = (
    "With half of our phrases, word_average loses 2.6 to 3.1 (universal/figure-1); the paper has 8 "
    "to 26 times as many pairs as we."
)
#: Number of runs whose median is in table 1 of CSE.
NUM_SEEDS = 5


#: Examples of the papers' data, by role.
_EXAMPLES = {
    "words": 770_007, "phrases": 3_033_753, "paraphrases": 3_033_753,
    "paraphrases-xxl": 9_123_575, "sentences": 167_689, "tagged-train": 38_219,
    "sick-train": 4_500, "sst-train": 6_920,
}  # fmt: skip
#: Task -> encoder -> approximate examples per second on two cores.
_RATES = {
    "words": {"charagram": 17_000, "char_cnn": 1_200, "char_lstm": 600},
    "sentences": {
        "charagram": 5_000, "cse": 7_900, "word_average": 31_000, "projection": 23_000,
        "dan": 22_000, "identity_rnn": 2_700, "rnn": 2_000, "lstm": 700, "gran": 700,
        "char_cnn": 290, "char_lstm": 140,
    },
    "pos": {"charagram": 470, "char_cnn": 250, "char_lstm": 165},
}  # fmt: skip
_LABELLED_RATE = 500


@dataclass(frozen=True)
class Subset:
    """The first pairs of a role, or random ones; larger subsets contain smaller ones.

    Attributes:
        role: Of `sources.ROLES`.
        halvings: Number of times the pairs are halved.
        is_random: Shuffle the pairs first.
    """

    role: str
    halvings: int
    is_random: bool

    def size(self, num_pairs: int) -> int:
        """Returns its number of pairs: 0 if there were fewer than 10 before the last halving."""
        if self.halvings and num_pairs >> (self.halvings - 1) < 10:
            return 0
        return num_pairs >> self.halvings


@dataclass(frozen=True)
class Run:
    """A training run.

    Attributes:
        name: Its folder below `runs/`.
        task: As `--task`.
        encoder: As `--encoder`.
        data: Roles of the training data, or a subset of one.
        flags: Further flags of `charagram train`.
        init: The run to start from.
        settings: Settings without a flag.
    """

    name: str
    task: str
    encoder: str
    data: tuple[str, ...] | Subset
    flags: tuple[str, ...] = ()
    init: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def epochs(self) -> float:
        """Number of epochs, as in the paper."""
        return float(self.flags[self.flags.index("--epochs") + 1])

    @property
    def hours(self) -> float:
        """Approximate hours with the papers' data and epochs, on two cores."""
        if isinstance(self.data, Subset):
            examples = _EXAMPLES[self.data.role] / 2**self.data.halvings
        else:
            examples = sum(_EXAMPLES[role] for role in self.data)
        rate = _RATES.get(self.task, {}).get(self.encoder, _LABELLED_RATE)
        return self.epochs * examples / rate / 3600


def _words() -> list[Run]:
    """Charagram, tables 1, 2 and 5, figure 1."""
    fifty = ("--epochs", "50")
    # With MAX, its loss stays near twice the margin; one epoch with MIX brings it to 0.55.
    mix = ("--negatives", "mix", "--batch-size", "50")
    runs = [
        Run("words/charagram", "words", "charagram", ("words",), fifty),
        Run("words/char_cnn", "words", "char_cnn", ("words",), (*fifty, *mix)),
        Run("words/char_lstm", "words", "char_lstm", ("words",), (*fifty, *mix)),
    ]
    large = ("--ngrams", ORDERS[-1], "--max-per-order", "50000", "--epochs", "25")
    runs.append(Run("words/charagram-large", "words", "charagram", ("words",), large))
    return runs + [
        Run(f"sizes/words-{size}-{orders}", "words", "charagram", ("words",),
            ("--ngrams", orders, "--max-per-order", str(size), "--epochs", "5"))
        for size in SIZES for orders in ORDERS
    ]  # fmt: skip


_PAIRS, _PAIRS_XXL = ("paraphrases",), ("paraphrases-xxl",)
#: Flags with which an encoder's loss falls; Universal pulls it back to its start more strongly.
_STEADY = {
    "identity_rnn": ("--l2-composition", "10", "--clip-norm", "1"),
    "rnn": ("--learning-rate", "0.0005", "--clip-norm", "1"),
}
_HUNDRED = ("--batch-size", "100", "--evaluations-per-epoch", "1")
#: Charagram-phrase: section 4.1.4.
_FILE_FIRST = {"order": "file_first"}
#: LSTM without output gate.
_NO_GATE = {"use_output_gate": False}


def _sentences() -> list[Run]:
    """Charagram, tables 3, 5 to 11; Universal, tables 2 to 4, 7 and 8, figure 1."""
    ten = ("--epochs", "10")
    tanh = ("--activation", "tanh", "--l2", "1e-6")
    runs = [
        Run("sentences/charagram", "sentences", "charagram", _PAIRS_XXL,
            (*_HUNDRED, *ten, *tanh), settings=_FILE_FIRST),
        Run("sentences/char_cnn", "sentences", "char_cnn", _PAIRS_XXL, (*_HUNDRED, *ten),
            settings=_FILE_FIRST),
        Run("sentences/char_lstm", "sentences", "char_lstm", _PAIRS_XXL, (*_HUNDRED, *ten),
            settings=_FILE_FIRST),
        Run("sentences/word_average-xxl", "sentences", "word_average", _PAIRS_XXL,
            (*_HUNDRED, *ten)),
        *(
            Run(f"sentences/{encoder}", "sentences", encoder, _PAIRS,
                (*_HUNDRED, *ten, *_STEADY.get(encoder, ())))
            for encoder in WORD_ENCODERS
        ),
        Run("sentences/lstm-no-gate", "sentences", "lstm", _PAIRS,
            (*_HUNDRED, *ten), settings=_NO_GATE),
    ]  # fmt: skip
    for size in SIZES:
        for orders in ORDERS:
            flags = ("--ngrams", orders, "--max-per-order", str(size), "--epochs", "5")
            runs.append(
                Run(f"sizes/sentences-{size}-{orders}", "sentences", "charagram", _PAIRS,
                    (*_HUNDRED, "--activation", "tanh", *flags), settings=_FILE_FIRST)
            )  # fmt: skip
    return runs + [
        Run(f"amount/{'random' if is_random else 'ordered'}-{halvings}", "sentences",
            "word_average", Subset("phrases", halvings, is_random), (*_HUNDRED, *ten))
        for is_random in (False, True) for halvings in range(NUM_HALVINGS + 1)
    ]  # fmt: skip


def _tagging() -> list[Run]:
    """Charagram, tables 4 and 5, figure 1."""
    data, fifty = ("tagged-train",), ("--epochs", "50")
    runs = [
        Run("tagging/char_cnn", "pos", "char_cnn", data, fifty),
        Run("tagging/char_lstm", "pos", "char_lstm", data, fifty),
        Run("tagging/charagram", "pos", "charagram", data, (*fifty, "--activation", "tanh")),
        Run("tagging/charagram-2", "pos", "charagram", data,
            (*fifty, "--activation", "tanh", "--num-layers", "2")),
    ]  # fmt: skip
    return runs + [
        Run(f"sizes/tagging-{size}-{orders}", "pos", "charagram", data,
            ("--ngrams", orders, "--max-per-order", str(size), *fifty))
        for size in SIZES for orders in ORDERS
    ]  # fmt: skip


#: Task -> the roles of its training data.
LABELLED = {
    "similarity": ("sick-train",), "entailment": ("sick-train",), "sentiment": ("sst-train",),
}  # fmt: skip


def _labelled() -> list[Run]:
    """Universal, tables 5 and 6; CSE, table 3."""
    runs = []
    for task, data in LABELLED.items():
        for encoder in WORD_ENCODERS:
            if encoder != "identity_rnn":  # not in the table
                flags = ("--epochs", "10", *_STEADY.get(encoder, ()))
                runs.append(Run(f"{task}/{encoder}", task, encoder, data, flags))
        ten = ("--epochs", "10")
        runs.append(Run(f"{task}/lstm-no-gate", task, "lstm", data, ten, settings=_NO_GATE))
        best = "lstm" if task == "sentiment" else "word_average"
        pull = ("--epochs", "10", "--pull-back", "--l2-words", "1e-3", "--l2-composition", "1e-3")
        runs.append(
            Run(f"{task}/{best}-universal", task, best, data, pull, init=f"sentences/{best}")
        )
        frozen = ("--epochs", "20", "--freeze", "encoder")
        for dim, init in FEATURES.items():
            runs.append(Run(f"{task}/frozen-{dim}", task, init[1], data, frozen, init=init[0]))
    data = LABELLED["similarity"]
    pull = ("--epochs", "10", "--pull-back", "--l2-words", "1e-3", "--l2-composition", "1e-3")
    return [
        *runs,
        Run("similarity/cse", "similarity", "cse", data, ("--epochs", "10")),
        Run("similarity/cse-universal", "similarity", "cse", data, pull, init="cse/cumulative"),
        Run("similarity/gran-universal", "similarity", "gran", data, pull, init="cse/gran"),
    ]


#: Width of frozen features -> their run and its encoder.
FEATURES = {
    300: ("sentences/word_average", "word_average"),
    1200: ("sentences/projection-1200", "projection"),
    2400: ("sentences/projection-2400", "projection"),
}


def _features() -> list[Run]:
    """Universal, table 6: wider projections of the mean of 300-dimensional word vectors."""
    return [
        Run(f"sentences/projection-{dim}", "sentences", "projection", _PAIRS,
            (*_HUNDRED, "--epochs", "10", "--dim", str(dim), "--input-dim", "300"))
        for dim in (1200, 2400)
    ]  # fmt: skip


def _cse() -> list[Run]:
    """CSE, tables 1, 2, 4 and 5."""
    ten = ("--batch-size", "100", "--epochs", "10", "--evaluations-per-epoch", "1")
    fixed = ("--margin", "0.6", "--l2-words", "1e-6")
    return [
        Run("cse/phrases", "sentences", "cse", ("phrases",), ten),
        *(
            Run(f"cse/phrases-{seed}", "sentences", "cse", ("phrases",),
                (*ten, "--seed", str(seed)))
            for seed in range(1, NUM_SEEDS)
        ),
        Run("cse/sentences", "sentences", "cse", ("sentences",), ten),
        Run("cse/cumulative", "sentences", "cse", ("sentences",), ten, init="cse/phrases"),
        Run("cse/gran", "sentences", "gran", ("sentences",), ten),
        *(
            Run(f"cse/widths-{widths}", "sentences", "cse", ("sentences",),
                (*ten, *fixed, "--widths", widths))
            for widths in ("1", "2", "3", "4", "1,2,3")
        ),
    ]  # fmt: skip


RUNS = {
    run.name: run
    for run in (
        *_words(), *_sentences(), *_tagging(), *_features(), *_cse(), *_labelled(),
    )
}  # fmt: skip
