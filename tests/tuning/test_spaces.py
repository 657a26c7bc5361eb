"""The spaces: the papers' grids in their sizes and order, each point fit to train."""

from __future__ import annotations

import itertools

import pytest

from tf_charagram.encoders import ENCODERS, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.tasks import TASKS, settings_class
from tf_charagram.tasks.defaults import preset_settings
from tf_charagram.tuning.spaces import (
    FROZEN,
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


@pytest.mark.parametrize("make_space", [paper_space, wide_space])
@pytest.mark.parametrize(("task", "encoder"), [*itertools.product(TASKS, ENCODERS)])
@pytest.mark.parametrize("state", [{}, {"init": "run"}, {"init": "run", "freeze": True}])
def test_every_value_fits_the_settings(task, encoder, make_space, state):
    has_words = vectorizer_of(encoder) == "words"
    if task not in LABELS and "freeze" in state:
        return
    shared = {"dim": 3} if has_words else {}
    if task == "distill":
        shared |= {"pairs": ("pairs.tsv",), "neighbor_batch_size": 10}
    if has_words and not state:
        shared["word_vectors"] = "vectors.txt"
    try:
        space = make_space(
            task, encoder, has_vectors="word_vectors" in shared, has_init="init" in state,
            freeze="freeze" in state,
        )  # fmt: skip
    except ConfigError:
        return
    first = settings_of(combination(space, 0))
    for name, choices in space.items():
        assert len({label(choice) for choice in choices}) == len(set(choices)) == len(choices)
        for choice in choices:
            values = settings_of({**combination(space, 0), name: choice}) | {}
            settings_class(task).from_dict(
                {"task": task, "encoder": encoder, **shared, **state, **first, **values}
            )


def test_wide_spaces():
    space = wide_space("words", "charagram")
    assert list(space)[:2] == ["ngrams", "hash_buckets"]  # The slowest: trials share ids.
    assert list(space)[-3:] == ["l2", "activation", "num_layers"]
    assert wide_space("sentences", "identity_rnn")["l2_composition"] == (1000.0, 100.0, 10.0, 1.0)
    assert "use_peepholes" not in wide_space("sentences", "lstm")
    started = wide_space("sentences", "cse", has_init=True)
    assert "dim" not in started and "activation" not in started and "word_dropout" in started
    head = ["hidden_dim", "batch_size", "l2_head", "optimizer", "learning_rate", "decay"]
    assert list(wide_space("entailment", "lstm", has_init=True, freeze=True)) == head
