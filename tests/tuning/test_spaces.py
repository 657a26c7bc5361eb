"""The spaces: the papers' grids in their sizes and order, each point fit to train."""

from __future__ import annotations

import itertools

import pytest

from tf_charagram.encoders import ENCODERS, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.tasks import TASKS, settings_class
from tf_charagram.tuning._search.spaces import (
    label,
    num_combinations,
    search_space,
    settings_of,
    tuner_values,
    without,
)

# l2_composition, batch_size, l2_words, margin, optimizer, learning_rate, clip_norm, negatives.
U_SIZE = 4 * 3 * 4 * 3 * 2 * 3 * 2 * 2
# batch_size, hidden_dim, l2_composition with l2_head, l2_words, optimizer with learning_rate.
U_LABELS = 3 * 3 * 4 * 6 * 2
LABELS = ("similarity", "entailment", "sentiment")


SIZES = {
    "words": {"charagram": 24, "char_cnn": 96, "char_lstm": 24},
    "sentences": {
        "charagram": 6, "char_cnn": 24, "char_lstm": 6, "word_average": U_SIZE // 4,
        "projection": U_SIZE, "dan": 4 * U_SIZE, "rnn": 2 * U_SIZE, "identity_rnn": U_SIZE,
        "lstm": 2 * U_SIZE, "cse": 144,
    },
    "pos": {"charagram": 12, "char_cnn": 8, "char_lstm": 2},
    "similarity": {"charagram": U_LABELS // 3, "cse": 3 * 4**3, "word_average": U_LABELS},
    "entailment": {"cse": U_LABELS, "word_average": U_LABELS},
    "sentiment": {
        "word_average": U_LABELS, "projection": U_LABELS, "identity_rnn": U_LABELS,
        "dan": 4 * U_LABELS, "rnn": 2 * U_LABELS, "lstm": 2 * U_LABELS,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("task", "encoder", "size"),
    [(task, encoder, size) for task, sizes in SIZES.items() for encoder, size in sizes.items()],
)
def test_sizes_of_the_papers_grids(task, encoder, size):
    assert num_combinations(paper(task, encoder)) == size


def config_of(task, encoder, **settings):
    return settings_class(task).from_dict({"task": task, "encoder": encoder, **settings})


def paper(task, encoder, **settings):
    return search_space("paper", config_of(task, encoder, **settings))


def test_a_model_to_go_on_from_is_pulled_back_to_and_decides_what_it_is():
    space = paper("sentiment", "lstm", init="run")
    assert num_combinations(space) == 3 * 3 * 4 * 5 * 6 * 2
    assert space["pull_back"] == (True,) and "use_output_gate" not in space
    averaged = paper("similarity", "word_average", init="run")
    assert num_combinations(averaged) == U_LABELS
    assert not {"pull_back", "l2_composition"} & averaged.keys()
    assert list(paper("pos", "charagram", init="run")) == ["min_count"]


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("task", LABELS)
def test_nothing_pulls_to_0_what_is_pulled_back(task, encoder):
    for space in ("paper", "wide"):
        found = search_space(space, config_of(task, encoder, init="run"))
        assert "l2" not in found and "l2_head" in found


@pytest.mark.parametrize("encoder", ["charagram", "lstm", "cse"])
def test_a_frozen_model_leaves_the_head_to_search(encoder):
    assert paper("entailment", encoder, init="run", freeze="encoder") == {
        "l2_head": (1e-3, 1e-4, 1e-5, 1e-6),
        "optimizer+learning_rate": (("adagrad", 0.05), ("adam", 0.001)),
    }


def test_fields_that_vary_together():
    space = {"dim": (1, 2), "optimizer+learning_rate": (("adagrad", 0.05), ("adam", 0.001))}
    assert num_combinations(space) == 4
    assert settings_of("optimizer+learning_rate", ("adam", 0.001)) == {
        "optimizer": "adam", "learning_rate": 0.001,
    }  # fmt: skip
    assert without(space, ["dim", "optimizer"]) == {"learning_rate": (0.05, 0.001)}
    assert without(space, ["optimizer", "learning_rate"]) == {"dim": (1, 2)}
    # A word average has nothing to compose.
    assert paper("similarity", "word_average")["l2_head"] == (1e-3, 1e-4, 1e-5, 1e-6)


def test_charagram_is_in_the_order_of_the_paper():
    assert list(paper("words", "charagram").items()) == [
        ("batch_size", (25, 50)),
        ("negatives", ("max", "mix")),
        ("l2", (1e-4, 1e-5, 1e-6)),
        ("activation", ("tanh", "linear")),
    ]


@pytest.mark.parametrize(
    ("name", "choices", "values"),
    [
        ("clip_norm", (1.0, None), [1.0, 0.0]),
        ("hash_buckets", (None, 65536), [0, 65536]),
        ("pull_back", (True, False), [1, 0]),
        ("dim", (10, 0.5), [10.0, 0.5]),
        ("decay", ("none", "linear"), ["none", "linear"]),
        ("ngrams", ((2, 3), (3, 4)), ["2,3", "3,4"]),
        ("l2_words+freeze", ((1e-5, None), (0.0, "words")), [1e-5, 0.0]),
        ("l2_words+freeze", ((0.0, None), (0.0, "words")), ["0.0,None", "0.0,words"]),
    ],
)
def test_kerastuner_gets_numbers(name, choices, values):
    assert tuner_values(name, choices) == values


@pytest.mark.parametrize(("task", "encoder"), [("words", "cse"), ("sentences", "gran")])
def test_no_grid_in_the_papers(task, encoder):
    with pytest.raises(ConfigError, match=f"no grid for the encoder '{encoder}' on {task}.*wide"):
        search_space("paper", config_of(task, encoder))


def test_settings_without_effect_are_not_searched():
    vectors = {"word_vectors": "vectors.txt"}
    found = paper("sentences", "projection", **vectors)
    assert found["l2_words+freeze"][-2:] == ((1e-8, None), (0.0, "words"))
    assert "l2_words" in paper("sentences", "word_average", word_vectors="vectors.txt")
    frozen = config_of("sentences", "projection", **vectors, freeze="words")
    found = search_space("paper", frozen, {"freeze"})
    assert "l2_words" not in found and "l2_composition" in found
    assert "freeze" not in search_space("paper", frozen.replace(freeze=None), {"l2_words"})
    assert "hash_buckets" not in search_space(
        "wide", config_of("words", "charagram"), {"min_count"}
    )
    with pytest.raises(ConfigError, match="every field is fixed by a flag or by --init"):
        search_space({"dim": (1, 2)}, config_of("words", "charagram"), {"dim"})
    with pytest.raises(ConfigError, match="Unknown space 'papr'"):
        search_space("papr", config_of("words", "charagram"))


@pytest.mark.parametrize("space", ["paper", "wide"])
@pytest.mark.parametrize(("task", "encoder"), [*itertools.product(TASKS, ENCODERS)])
@pytest.mark.parametrize("state", [{}, {"init": "run"}, {"init": "run", "freeze": "encoder"}])
def test_every_value_fits_the_settings(task, encoder, space, state):
    has_words = vectorizer_of(encoder) == "words"
    if task not in LABELS and "freeze" in state:
        return
    shared = {"dim": 3} if has_words else {}
    if task == "distill":
        shared |= {"pairs": ("pairs.tsv",), "neighbor_batch_size": 10}
    if has_words and not state:
        shared["word_vectors"] = "vectors.txt"
    config = config_of(task, encoder, **shared, **state)
    try:
        found = search_space(space, config)
    except ConfigError:
        return
    first = {}
    for name, choices in found.items():
        first |= settings_of(name, choices[0])
    for name, choices in found.items():
        values = tuner_values(name, choices)
        assert len({type(value) for value in values}) == 1
        assert len({label(value) for value in values}) == len(choices)
        for choice in choices:
            config.replace(**{**first, **settings_of(name, choice)})


def test_wide_spaces():
    space = search_space("wide", config_of("words", "charagram"))
    assert list(space)[:3] == ["ngrams", "hash_buckets", "dim"]
    assert list(space)[-3:] == ["l2", "activation", "num_layers"]
    started = search_space("wide", config_of("sentences", "cse", init="run"))
    assert "dim" not in started and "activation" not in started and "dropout" in started
    head = ["hidden_dim", "batch_size", "optimizer", "learning_rate", "decay", "l2_head"]
    frozen = config_of("entailment", "lstm", init="run", freeze="encoder")
    assert list(search_space("wide", frozen)) == head
