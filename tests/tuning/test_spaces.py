"""The spaces: the papers' grids in their sizes and order, each point fit to train."""

from __future__ import annotations

import itertools

import pytest

from tests.texts import words
from tf_charagram.config import TrainConfig
from tf_charagram.encoders import ENCODERS
from tf_charagram.errors import ConfigError
from tf_charagram.training.building import check_options
from tf_charagram.tuning.spaces import (
    FROZEN,
    combination,
    label,
    num_combinations,
    paper_space,
    settings_of,
    wide_space,
)

# l2_composition, batch_size, l2_words, margin, optimizer, learning_rate, clip_norm, negatives.
U_SIZE = 4 * 3 * 4 * 3 * 2 * 3 * 2 * 2


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
    ],
)
def test_sizes_of_the_papers_grids(task, encoder, size):
    assert num_combinations(paper_space(task, encoder)) == size


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


def test_word_vectors_may_be_frozen_where_something_else_is_trained():
    assert FROZEN in paper_space("sentences", "lstm", has_vectors=True)["l2_words"]
    assert FROZEN not in paper_space("sentences", "lstm")["l2_words"]
    assert FROZEN not in paper_space("sentences", "word_average", has_vectors=True)["l2_words"]
    assert settings_of({"l2_words": FROZEN, "margin": 0.4}) == {
        "l2_words": 0.0, "freeze_words": True, "margin": 0.4,
    }  # fmt: skip


def test_every_point_of_the_papers_grids_is_a_configuration():
    for task, encoder in itertools.product(("words", "sentences"), ENCODERS):
        try:
            space = paper_space(task, encoder)
        except ConfigError:
            continue
        for index in range(num_combinations(space)):
            TrainConfig(task=task, encoder=encoder, **settings_of(combination(space, index)))


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
            config = TrainConfig(
                task="sentences", encoder=encoder,
                **({"word_vectors": str(vectors), "dim": 3} if is_over_words else {}), **values,
            )  # fmt: skip
            check_options(config)


@pytest.mark.parametrize("make_space", [paper_space, wide_space])
@pytest.mark.parametrize("encoder", ["charagram", "char_cnn", "char_lstm", "word_average", "cse"])
def test_labels_tell_values_apart(encoder, make_space):
    for choices in make_space("sentences", encoder).values():
        assert len({label(choice) for choice in choices}) == len(choices)
        assert len(set(choices)) == len(choices)
