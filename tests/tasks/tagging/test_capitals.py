"""Which tokens have a capital, against Python."""

from __future__ import annotations

import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.tokens import has_capital as has_capital_by_python
from tests.text.strategies import TRICKY, property_settings
from tf_charagram.tasks.tagging.capitals import has_capital
from tf_charagram.text.normalize import normalized_code_points


def found(*tokens):
    encoded = [token if isinstance(token, bytes) else token.encode() for token in tokens]
    return has_capital(tf.constant(encoded, tf.string)).numpy().tolist()


def test_tokens():
    assert found("the", "The", "eBay", "", "42", "n't") == [False, True, True, False, False, False]
    # Greek, Adlam (at the end of the table), a title letter; what has no case.
    assert found("\u03a3", "\U0001e921", "\u01c5", "\u4e2d", "\u05d0") == [True] * 3 + [False] * 2
    # No-break space, U+0130, sharp s, broken bytes with and without a capital.
    assert found("\u00a0", "\u0130", "\u00df", b"\xff", b"\xffA") == [False] * 4 + [True]
    assert found() == []


def test_every_code_point():
    codes = [code for code in range(0x1F000) if not 0xD800 <= code < 0xE000]
    chars = [chr(code) for code in codes]
    assert codes[-1] > len(normalized_code_points())
    assert found(*chars) == [has_capital_by_python(char) for char in chars]


@property_settings
@given(st.lists(st.text(max_size=9) | st.text(TRICKY, max_size=9), max_size=9))
def test_equals_python(tokens):
    assert found(*tokens) == [has_capital_by_python(token) for token in tokens]


def test_runs_in_a_graph():
    graph = tf.function(has_capital, input_signature=[tf.TensorSpec([None], tf.string)])
    assert graph(tf.constant(["a", "B"])).numpy().tolist() == [False, True]
    assert graph(tf.constant([], tf.string)).shape == (0,)
