"""Changes to valid files: to their bytes, to values of JSON, and to arrays."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

_MAX_BYTES = 1 << 20
#: Pieces that formats trip over.
ODD = (
    b"", b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80",
    "\u2028\x85\u00a0".encode(), "\U0001f468\u200d\U0001f469\u0301".encode(), b"0", b"-1",
    b"1e999", b"NaN", b"99999999999999999999", b"0x10", b"None", b"true", b"'", b'"', b"\\",
    b"../x", b"/etc/passwd", b"%s", b"${x}", b"a" * 10_000, b"[" * 1000, b"{\"a\":" * 1000,
)  # fmt: skip
_CLASS = {"module": "os", "class_name": "system", "config": "touch ../touched",
          "registered_name": "system"}  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**64, 10**400, 0.5, 1e308, float("nan"), float("inf"), "",
    "x", "1", "../../x", "\0", "a" * 10_000, [], [1], [0, -1], ["a", "a"], [[1]],
    list(range(2000)), {}, {"a": 1}, _CLASS, "float16", "tanh", "tagger", "charagram",
)  # fmt: skip
_NUMBERS = (0, 1, -1, 2**31, 2**63 - 1, -(2**63), 0x110000, 7, np.nan, np.inf, 3e38)
_TYPES = ("<i8", "<i4", "<u8", "|u1", "<f2", "<f8", ">f4", "|b1", "<c8", "<U3", "<M8[s]")


def mutated(seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    """Returns a seed with one to six changes to its bytes, or rarely random bytes.

    Args:
        seeds: Valid files of the format.
        tokens: Pieces that mean something in it.
        random: Source of randomness.
    """
    if random.random() < 0.03:
        return random.randbytes(random.choice((0, 1, 10, 1000)))
    data = bytearray(random.choice(seeds))
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        _change(data, tokens, random)
    return bytes(data[:_MAX_BYTES])


def _change(data: bytearray, tokens: Sequence[bytes], random: Random) -> None:
    start = random.randint(0, len(data))
    stop = min(len(data), start + random.randint(1, 64))
    piece = bytes(data[start:stop])
    match random.choice(
        "flip truncate delete repeat move odd token random number lengthen".split()
    ):
        case "flip" if start < len(data):
            data[start] ^= 1 << random.randrange(8)
        case "truncate":
            del data[start:]
        case "delete":
            del data[start:stop]
        case "repeat":
            data[start:start] = piece * random.choice((1, 2, 50))
        case "move":
            del data[start:stop]
            place = random.randint(0, len(data))
            data[place:place] = piece
        case "odd":
            data[start:start] = random.choice(ODD)
        case "token":
            data[start : random.choice((start, stop))] = random.choice(tokens or ODD)
        case "random":
            data[start:start] = random.randbytes(random.choice((1, 4, 64)))
        case "number":
            digits = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
            if digits:
                place = random.choice(digits)
                data[place : place + 1] = random.choice(ODD)
        case "lengthen" if random.random() < 0.1:
            data[start:start] = (piece or b"a") * (100_000 // len(piece or b"a"))


def changed_json(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Returns a seed with one to three values replaced, renamed or left out."""
    if random.random() < 0.3:
        return mutated(seeds, (), random)
    value = json.loads(random.choice(seeds))
    for _ in range(random.choice((1, 1, 2, 3))):
        value = _changed_value(value, random)
    return json.dumps(value).encode()


def _changed_value(value: Any, random: Random) -> Any:
    if isinstance(value, dict) and value and random.random() < 0.85:
        name = random.choice(sorted(value))
        others = {key: part for key, part in value.items() if key != name}
        kind = random.random()
        if kind < 0.1:
            return others
        if kind < 0.15:
            return {**others, random.choice(("x", "module", name * 2)): value[name]}
        return {**value, name: _changed_value(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.6:
        place = random.randrange(len(value))
        return [*value[:place], _changed_value(value[place], random), *value[place + 1 :]]
    return random.choice(_VALUES)


def changed_arrays(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Returns a seed, an `.npz` file, with one to three arrays changed, renamed or left out."""
    if random.random() < 0.3:
        return mutated(seeds, (), random)
    with np.load(io.BytesIO(random.choice(seeds))) as stored:
        arrays = dict(stored)
    for _ in range(random.choice((1, 1, 2, 3))):
        name = random.choice(sorted(arrays)) if arrays else "x"
        array = arrays.pop(name, np.zeros(3))
        if random.random() < 0.9:
            name = name if random.random() < 0.9 else random.choice(("x", "../x", "alphabet"))
            with np.errstate(all="ignore"):
                arrays[name] = _changed_array(array, random)
    file = io.BytesIO()
    (np.savez_compressed if random.random() < 0.3 else np.savez)(file, **arrays)
    return file.getvalue()


def _changed_array(array: np.ndarray, random: Random) -> np.ndarray:
    match random.choice(("type", "cut", "turn", "twice", "numbers", "numbers", "numbers")):
        case "type":
            try:
                return array.astype(random.choice(_TYPES))
            except (ValueError, TypeError):
                return np.zeros(array.shape, random.choice(_TYPES))
        case "cut":
            return array.ravel()[: random.randint(0, array.size)]
        case "turn":
            return random.choice((array.T, array[np.newaxis], np.asfortranarray(array)))
        case "twice" if array.ndim:
            return np.concatenate([array, array])
    changed = array.copy()
    for _ in range(random.choice((1, 3, changed.size)) if changed.size else 0):
        number = np.array(random.choice(_NUMBERS)).astype(changed.dtype, casting="unsafe")
        changed.flat[random.randrange(changed.size)] = number
    return changed
