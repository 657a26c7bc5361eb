"""The spaces: the papers' grids in their sizes and order, each point fit to train."""

from __future__ import annotations

import functools
import itertools

import pytest

from tests.contracts import some_now
from tests.texts import words
from tf_charagram.encoders import ENCODERS, encoder_class, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.tasks import TASKS, settings_class
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.presets import preset_settings
from tf_charagram.training.building import check_options
from tf_charagram.tuning.spaces import (
    FROZEN,
    SPACES,
    combination,
    label,
    num_combinations,
    paper_space,
    settings_of,
    wide_space,
    without,
)

# l2_composition, batch_size, l2_words, margin, optimizer, learning_rate, clip_norm, negatives.
U_SIZE = 4 * 3 * 4 * 3 * 2 * 3 * 2 * 2
# batch_size, hidden_dim, l2_composition with l2_head, l2_words, optimizer with learning_rate.
U_LABELS = 3 * 3 * 4 * 6 * 2
LABELS = ("similarity", "entailment", "sentiment")


@pytest.mark.parametrize(
    ("task", "encoder", "size"),
    [
        ("words", "charagram", 24),
        ("words", "char_cnn", 96),
        ("words", "char_lstm", 24),
        ("sentences", "charagram", 6),
        ("sentences", "char_cnn", 24),
        ("sentences", "char_lstm", 6),
        ("sentences", "word_average", U_SIZE // 4),
        ("sentences", "projection", U_SIZE),
        ("sentences", "dan", 4 * U_SIZE),
        ("sentences", "rnn", 2 * U_SIZE),
        ("sentences", "identity_rnn", U_SIZE),
        ("sentences", "lstm", 2 * U_SIZE),
        ("sentences", "cse", 144),
        ("pos", "charagram", 12),
        ("pos", "char_cnn", 8),
        ("pos", "char_lstm", 2),
        *((task, "word_average", U_LABELS) for task in LABELS),
        ("sentiment", "projection", U_LABELS),
        ("sentiment", "identity_rnn", U_LABELS),
        ("sentiment", "dan", 4 * U_LABELS),
        ("sentiment", "rnn", 2 * U_LABELS),
        ("sentiment", "lstm", 2 * U_LABELS),
        ("similarity", "charagram", 2 * U_LABELS // 6),
        ("similarity", "cse", 3 * 4 * 4 * 4),
        ("entailment", "cse", U_LABELS),
    ],
)
def test_sizes_of_the_papers_grids(task, encoder, size):
    assert num_combinations(paper_space(task, encoder)) == size


@pytest.mark.parametrize(
    ("space", "task", "encoder", "size"),
    [
        ("charagram", "words", "charagram", 48),
        ("charagram", "words", "char_cnn", 96),
        ("charagram", "sentences", "charagram", 12),
        ("charagram", "sentences", "char_lstm", 6),
        ("charagram", "sentences", "word_average", 4),
        ("charagram", "pos", "charagram", 12),
        ("paragram-xxl", "sentences", "word_average", 6),
        ("projection", "sentences", "projection", 300),
    ],
)
def test_sizes_of_the_smaller_grids(space, task, encoder, size):
    """Charagram, sections 4.1.2 and 4.1.4; Universal, footnotes 12 and 18."""
    has_vectors = vectorizer_of(encoder) == "words"
    found = SPACES[space](task, encoder, has_vectors=has_vectors)
    assert num_combinations(found) == size
    shared = {"word_vectors": "vectors.txt"} if has_vectors else {}
    for index in range(size):
        values = settings_of(combination(found, index))
        settings_class(task)(task=task, encoder=encoder, **shared).replace(**values)


def test_projections_without_word_vectors_have_none_to_keep():
    assert num_combinations(SPACES["projection"]("sentences", "projection")) == 240


@pytest.mark.parametrize(
    ("space", "task", "encoder"),
    [
        ("charagram", "words", "word_average"),
        ("charagram", "similarity", "charagram"),
        ("paragram-xxl", "words", "word_average"),
        ("projection", "sentences", "dan"),
    ],
)
def test_the_smaller_grids_are_for_few_encoders(space, task, encoder):
    message = f"The space '{space}' has nothing for the encoder '{encoder}' on {task}; docs/tuning"
    with pytest.raises(ConfigError, match=message):
        SPACES[space](task, encoder)


#: What a preset has that its paper states outside its grid: CSE, footnote 4.
NOT_IN_THE_GRID = {("sentences", "cse"): {"batch_size"}}


@pytest.mark.parametrize("state", [{}, {"has_init": True}, {"has_init": True, "freeze": True}])
@pytest.mark.parametrize(("task", "encoder"), [*itertools.product(TASKS, ENCODERS)])
def test_the_preset_is_a_point_of_the_grid(task, encoder, state):
    try:
        preset = preset_settings("paper", task, encoder, **state)
    except ConfigError:
        return
    flags = {"init": "run"} if "has_init" in state else {}
    flags |= {"freeze": True} if "freeze" in state and task in LABELS else {}
    config = settings_class(task).from_dict({"task": task, "encoder": encoder, **preset, **flags})
    space = paper_space(task, encoder, **{**state, "freeze": "freeze" in flags})
    settings = config.to_dict()
    for name, choices in space.items():
        value = tuple(settings[field] for field in name.split("+"))
        if name not in NOT_IN_THE_GRID.get((task, encoder), ()):
            assert (value if len(value) > 1 else value[0]) in choices, name


def test_a_model_to_go_on_from_is_pulled_back_to_and_decides_what_it_is():
    space = paper_space("sentiment", "lstm", has_init=True)
    assert num_combinations(space) == 3 * 3 * 4 * 5 * 6 * 2
    assert space["pull_back"] == (True,) and "use_output_gate" not in space
    averaged = paper_space("similarity", "word_average", has_init=True)
    assert num_combinations(averaged) == U_LABELS
    assert not {"pull_back", "l2_composition"} & averaged.keys()
    assert list(paper_space("pos", "charagram", has_init=True)) == ["min_count"]


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("task", LABELS)
def test_nothing_pulls_to_0_what_is_pulled_back(task, encoder):
    space = paper_space(task, encoder, has_init=True)
    assert "l2" not in space and "l2_head" in space


@pytest.mark.parametrize("encoder", ["charagram", "lstm", "cse"])
def test_a_frozen_model_leaves_the_head_to_search(encoder):
    space = paper_space("entailment", encoder, has_init=True, freeze=True)
    assert space == {
        "l2_head": (1e-3, 1e-4, 1e-5, 1e-6),
        "optimizer+learning_rate": (("adagrad", 0.05), ("adam", 0.001)),
    }


def test_fields_that_vary_together():
    space = {"dim": (1, 2), "optimizer+learning_rate": (("adagrad", 0.05), ("adam", 0.001))}
    assert num_combinations(space) == 4
    assert settings_of(combination(space, 3)) == {
        "dim": 2, "optimizer": "adam", "learning_rate": 0.001,
    }  # fmt: skip
    assert without(space, ["dim", "optimizer"]) == {"learning_rate": (0.05, 0.001)}
    assert without(space, ["optimizer", "learning_rate"]) == {"dim": (1, 2)}
    # A word average has nothing to compose.
    assert paper_space("similarity", "word_average")["l2_head"] == (1e-3, 1e-4, 1e-5, 1e-6)


def test_charagram_is_in_the_order_of_the_paper():
    space = paper_space("words", "charagram")
    assert list(space.items()) == [
        ("batch_size", (25, 50)),
        ("negatives", ("max", "mix")),
        ("l2", (1e-4, 1e-5, 1e-6)),
        ("activation", ("tanh", "linear")),
    ]


def test_combinations_are_the_product_in_order():
    space = paper_space("words", "char_cnn")
    found = [tuple(combination(space, index).values()) for index in range(96)]
    assert found == list(itertools.product(*space.values()))
    assert list(combination(space, 0)) == list(space)


@pytest.mark.parametrize(("task", "encoder"), [("words", "cse"), ("sentences", "gran")])
def test_no_grid_in_the_papers(task, encoder):
    with pytest.raises(ConfigError, match=f"no grid for the encoder '{encoder}' on {task}.*wide"):
        paper_space(task, encoder)


@pytest.mark.parametrize("make_space", [paper_space, wide_space])
def test_words_do_not_tag(make_space):
    with pytest.raises(ConfigError, match=r"from characters: choose .*Received: encoder=dan"):
        make_space("pos", "dan")


def test_word_vectors_may_be_frozen_where_something_else_is_trained():
    assert FROZEN in paper_space("sentences", "lstm", has_vectors=True)["l2_words"]
    assert FROZEN not in paper_space("sentences", "lstm")["l2_words"]
    assert FROZEN not in paper_space("sentences", "word_average", has_vectors=True)["l2_words"]
    assert settings_of({"l2_words": FROZEN, "margin": 0.4}) == {
        "l2_words": 0.0, "freeze_words": True, "margin": 0.4,
    }  # fmt: skip


@pytest.mark.long
def test_points_of_the_papers_grids_are_configurations():
    for task, encoder in itertools.product(("words", "sentences"), ENCODERS):
        try:
            space = paper_space(task, encoder)
        except ConfigError:
            continue
        # A prime number: every value meets every value of every other field.
        for index in range(0, num_combinations(space), 17):
            values = settings_of(combination(space, index))
            ParaphraseConfig(task=task, encoder=encoder).replace(**values)


@pytest.fixture
def made_once(monkeypatch):
    """Makes an encoder once for the same options; most choices are about the training."""

    @functools.cache
    def make(name, options):
        return encoder_class(name)(**dict(options))

    def class_of(name):
        def construct(**options):
            encoder = make(name, tuple(sorted(options.items())))
            if hasattr(encoder, "table"):  # It may have been frozen.
                encoder.table.trainable = True
            return encoder

        return construct

    monkeypatch.setattr("tf_charagram.training.building.encoder_class", class_of)


@pytest.mark.usefixtures("made_once")
@pytest.mark.parametrize("make_space", [paper_space, wide_space])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_encoder_has_every_value(encoder, make_space, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} 1 2 3\n" for word in words(3)))
    try:
        space = make_space("sentences", encoder, has_vectors=True)
    except ConfigError:
        assert make_space is paper_space and encoder == "gran"
        return
    is_over_words = "l2_words" in space
    first = settings_of(combination(space, 0))
    for name, choices in space.items():
        for choice in choices:
            values = settings_of({**first, name: choice})
            shared = {"word_vectors": str(vectors), "dim": 3} if is_over_words else {}
            check_options(
                ParaphraseConfig(task="sentences", encoder=encoder, **shared).replace(**values)
            )


@pytest.mark.usefixtures("made_once")
@pytest.mark.parametrize(
    ("task", "make_space"),
    some_now(
        [*itertools.product(["pos", *LABELS], [paper_space, wide_space])],
        ("pos", paper_space), ("pos", wide_space), ("similarity", paper_space),
        ("entailment", wide_space),
    ),
)  # fmt: skip
def test_every_value_of_the_labelled_tasks_is_fit_to_train(task, make_space, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} 1 2 3\n" for word in words(3)))
    states = [{}] if task == "pos" else [{}, {"init": "run"}, {"init": "run", "freeze": True}]
    for encoder, state in itertools.product(ENCODERS, states):
        has_words = encoder not in ("charagram", "char_cnn", "char_lstm")
        if task == "pos" and has_words:
            continue
        shared = {"dim": 3} if has_words else {}
        if has_words and "freeze" not in state:
            shared["word_vectors"] = str(vectors)
        space = make_space(
            task, encoder, has_vectors=has_words, has_init="init" in state,
            freeze="freeze" in state,
        )  # fmt: skip
        for name, choices in space.items():
            assert len({label(choice) for choice in choices}) == len(choices)
            for choice in choices:
                values = settings_of({**combination(space, 0), name: choice})
                config = settings_class(task).from_dict(
                    {"task": task, "encoder": encoder, **shared, **state, **values}
                )
                check_options(config)


@pytest.mark.parametrize("make_space", [paper_space, wide_space])
@pytest.mark.parametrize("encoder", ["charagram", "char_cnn", "char_lstm", "word_average", "cse"])
def test_labels_tell_values_apart(encoder, make_space):
    for choices in make_space("sentences", encoder).values():
        assert len({label(choice) for choice in choices}) == len(choices)
        assert len(set(choices)) == len(choices)


#: What `wide` has held since version 0.1: searches are resumed by it.
WIDE_IDS = {
    "ngrams": ((2, 3, 4), (3, 4), (2, 3, 4, 5), (3, 4, 5, 6), (2, 3, 4, 5, 6)),
    "hash_buckets": (None, 65536, 262144, 1048576),
}
WIDE_PAIRS = {
    "dim": (100, 200, 300),
    "batch_size": (25, 50, 100, 200),
    "negatives": ("max", "mix", "random"),
    "margin": (0.2, 0.4, 0.6, 0.8),
    "optimizer": ("adam", "adagrad"),
    "learning_rate": (0.05, 0.005, 0.001, 0.0005),
    "decay": ("none", "linear"),
}
WIDE_L2 = {"l2": (0.0, 1e-6, 1e-5, 1e-4)}
WIDE_WORDS = {
    "l2_words": (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4),
    "l2_composition": (0.0, 1e-6, 1e-5, 1e-4),
    "word_dropout": (0.0, 0.1, 0.3),
}
WIDE_ENCODERS = {
    "charagram": {**WIDE_L2, "activation": ("linear", "tanh", "relu"), "num_layers": (1, 2)},
    "char_cnn": {
        **WIDE_L2,
        "activation": ("relu", "tanh"),
        "dense": ("tanh", "linear", "none"),
        "filters": ("small", "kim"),
        "dropout": (0.0, 0.2),
    },
    "char_lstm": {**WIDE_L2, "use_output_gate": (True, False), "use_peepholes": (True, False)},
    "word_average": without(WIDE_WORDS, ["l2_composition"]),
    "projection": WIDE_WORDS,
    "dan": {**WIDE_WORDS, "activation": ("tanh", "relu"), "num_layers": (1, 2)},
    "rnn": {**WIDE_WORDS, "activation": ("tanh", "relu")},
    "identity_rnn": {**WIDE_WORDS, "l2_composition": (1000.0, 100.0, 10.0, 1.0)},
    "lstm": {**WIDE_WORDS, "use_output_gate": (True, False)},
    "cse": {**WIDE_WORDS, "activation": ("linear", "tanh")},
    "gran": {**WIDE_WORDS, "use_output_gate": (True, False)},
}


@pytest.mark.parametrize("encoder", WIDE_ENCODERS)
class TestWideSpacesStayAsTheyWere:
    def test_pairs(self, encoder):
        ids = WIDE_IDS if encoder == "charagram" else {}
        expected = {**ids, **WIDE_PAIRS, **WIDE_ENCODERS[encoder]}
        for task in ("words", "sentences"):
            assert [*wide_space(task, encoder).items()] == [*expected.items()]

    def test_a_model_to_go_on_from(self, encoder):
        expected = {**without(WIDE_PAIRS, ["dim"]), **WIDE_ENCODERS[encoder]}
        of_model = ["activation", "num_layers", "dense", "filters"]
        expected = without(expected, [*of_model, "use_output_gate", "use_peepholes"])
        space = wide_space("sentences", encoder, has_init=True)
        assert [*space.items()] == [*expected.items()]

    def test_a_head(self, encoder):
        space = wide_space("entailment", encoder, has_init=True, freeze=True)
        head = ["hidden_dim", "batch_size", "l2_head", "optimizer", "learning_rate", "decay"]
        assert list(space) == head

    def test_the_encoder_comes_last(self, encoder):
        own = [*WIDE_ENCODERS[encoder].items()]
        for task in ("sentiment", "pos"):
            if task == "pos" and "l2" not in WIDE_ENCODERS[encoder]:
                continue
            space = wide_space(task, encoder)
            assert [*space.items()][-len(own) :] == own
            ids = {"pos": ["ngrams", "min_count"], "sentiment": ["ngrams", "hash_buckets"]}[task]
            assert list(space)[:2] == (ids if encoder == "charagram" else list(space)[:2])


@pytest.mark.parametrize(
    ("like", "tasks"),
    [("char_lstm", TASKS), ("charagram", TASKS), ("cse", [t for t in TASKS if t != "pos"])],
)
def test_an_encoder_that_no_grid_knows(like, tasks, monkeypatch):
    """Its wide space follows from its constructor; the papers have nothing for it."""
    name = f"unheard_of_{like}"  # What is read of an encoder is read once.
    monkeypatch.setitem(ENCODERS, name, ENCODERS[like])
    for task in tasks:
        assert wide_space(task, name) == wide_space(task, like)
        message = f"no grid for the encoder '{name}' on {task}. Search --space wide"
        with pytest.raises(ConfigError, match=message):
            paper_space(task, name)
    head = paper_space("sentiment", name, has_init=True, freeze=True)
    assert list(head) == ["l2_head", "optimizer+learning_rate"]
