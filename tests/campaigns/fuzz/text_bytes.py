"""Batches of texts of any bytes: random ones, broken ones, long ones, those of many scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from tests.texts import NASTY
from tf_charagram.text.batches import to_bytes

#: Stands between two texts of a batch; no text has it.
SEPARATOR = b"\xff\xfe\xff\xfd"
_SCRIPTS = (
    "The quick brown fox can't jump over 1,000 lazy dogs' (AT&T) e-mails, U.S. $3.14!",
    "Stra\xdfe \xc4rger \u0130stanbul na\xefve co\xf6perate \u1e9e \xfc\u0308",
    "\u041c\u043e\u0441\u043a\u0432\u0430 \u0441\u043b\u0435\u0437\u0430\u043c \u043d\u0435 "
    "\u0432\u0435\u0440\u0438\u0442 \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u03a3\u03c2",
    "\u4e2d\u6587\u5b57\u7b26 \u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \ud55c\uad6d\uc5b4",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u0928\u092e\u0938\u094d\u0924\u0947",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f600\U0001f3fd e\u0301\u0302\u0303 "
    "\u202e\u200b\ufeff\u2028\x85\xa0",
)
_WHITE = np.frombuffer(b" \t\n\r\x0b\x0c\x1c\x1f", np.uint8)
_BATCH_BYTES = 200_000


def text_batch(random: Random, seeds: Sequence[bytes], most: int = 1 << 20) -> bytes:
    """Returns some 100 kB of texts of one kind, joined by `SEPARATOR`.

    Args:
        random: Draws them.
        seeds: Not used: the kinds have texts of their own.
        most: Most bytes, for what takes long.
    """
    del seeds
    numbers = np.random.Generator(np.random.SFC64(random.getrandbits(64)))
    data = random.choice(_KINDS)(random, numbers)[:most]
    lengths = numbers.geometric(1 / random.choice((3, 20, 60, 60, 400)), len(data) // 3 + 1)
    if random.random() < 0.05:
        lengths[0] = len(data) // 2
    ends = np.cumsum(lengths - (numbers.random(len(lengths)) < 0.02))
    ends = ends[ends < len(data)].tolist()
    texts = [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]
    texts += random.sample(_NASTY, 3)
    return SEPARATOR.join(texts)


def _any_bytes(random: Random, numbers: np.random.Generator) -> bytes:
    return random.randbytes(_BATCH_BYTES)


def _any_characters(random: Random, numbers: np.random.Generator) -> bytes:
    most = random.choice((0x7F, 0x7FF, 0xFFFF, 0x10FFFF))
    codes = numbers.integers(0, most, _BATCH_BYTES // 3, np.int32, endpoint=True)
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass").encode(
        "utf-8", "surrogatepass"
    )  # fmt: skip


def _scripts(random: Random, numbers: np.random.Generator) -> bytes:
    words = " ".join(_SCRIPTS).split()
    return " ".join(random.choices(words, k=_BATCH_BYTES // 10)).encode()


def _broken_scripts(random: Random, numbers: np.random.Generator) -> bytes:
    data = np.frombuffer(_scripts(random, numbers), np.uint8).copy()
    places = numbers.integers(0, len(data), len(data) // random.choice((10, 100, 1000)))
    data[places] = numbers.integers(0, 256, len(places), np.uint8)
    return data.tobytes()


def _white(random: Random, numbers: np.random.Generator) -> bytes:
    data = np.frombuffer(_scripts(random, numbers), np.uint8).copy()
    places = numbers.random(len(data)) < 0.5
    data[places] = numbers.choice(_WHITE, int(places.sum()))
    return data.tobytes()


def _few_characters(random: Random, numbers: np.random.Generator) -> bytes:
    letters = np.frombuffer(random.choice((b"ab", b"a ", b"'a.", b"aA\0", b"\xc3\xa9", b"-0"))
                            , np.uint8)  # fmt: skip
    return numbers.choice(letters, _BATCH_BYTES).tobytes()


_NASTY = [to_bytes(text) for text in NASTY.values()]
_KINDS: tuple[Callable[[Random, np.random.Generator], bytes], ...] = (
    _any_bytes, _any_characters, _scripts, _broken_scripts, _broken_scripts, _white,
    _few_characters,
)  # fmt: skip
SEEDS = tuple(text.encode() for text in _SCRIPTS)
