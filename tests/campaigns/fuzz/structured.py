"""Changes to what a file means: it stays a valid one of its kind, with other values in it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from tests.campaigns.fuzz.mutations import mutated

_CODE = {"class_name": "__lambda__", "config": {"code": "4wAAAAA=", "defaults": None}}
_CLASS = {"module": "os", "class_name": "system", "config": "touch ../touched",
          "registered_name": "system"}  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 2**31 - 1, 2**31, 2**62, 2**64, 10**400, 0.5, -0.5, 1e308,
    float("nan"), float("inf"), "", "x", "1", "../../x", "/etc/passwd", "\0", "a" * 10_000, "NFKC",
    [], [1], [0, -1], [2, 2], ["a", "a"], [[1]], list(range(2000)), {}, {"a": 1}, _CODE, _CLASS,
    {"class_name": "DTypePolicy", "config": {"name": "int8"}}, "float16", "tanh", "lstm", "tagger",
    "charagram", "dan", "classifier",
)  # fmt: skip
_NUMBERS = (0, 1, -1, 2**31, 2**63 - 1, -(2**63), 0x110000, 2**40, 7)
_FLOATS = (np.nan, np.inf, -np.inf, 3e38, 1e-45, 0.0)
_TYPES = ("<i8", "<i4", "<u8", "|u1", "|i1", "<f2", "<f4", "<f8", ">f4", ">i8", "|b1", "<c8", "<U3",
          "<M8[s]")  # fmt: skip


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
        kind = random.random()
        changed = {key: part for key, part in value.items() if key != name}
        if kind < 0.1:
            return changed
        if kind < 0.15:
            return {**changed, random.choice(("x", "module", "kwargs", name * 2)): value[name]}
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
        if arrays:
            _change_arrays(arrays, random)
    file = io.BytesIO()
    with np.errstate(all="ignore"):
        (np.savez_compressed if random.random() < 0.3 else np.savez)(file, **arrays)
    return file.getvalue()


def _change_arrays(arrays: dict[str, np.ndarray], random: Random) -> None:
    name = random.choice(sorted(arrays))
    array, kind = arrays[name], random.randrange(10)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[random.choice(("x", "../x", "/x", name + "/scales", "alphabet"))] = arrays.pop(name)
    elif kind == 2:
        with np.errstate(all="ignore"):
            try:
                arrays[name] = array.astype(random.choice(_TYPES))
            except (ValueError, TypeError):
                arrays[name] = np.zeros(array.shape, random.choice(_TYPES))
    elif kind == 3:
        arrays[name] = array.ravel()[: random.randint(0, array.size)]
    elif kind == 4:
        arrays[name] = random.choice((array.T, array[np.newaxis], np.asfortranarray(array)))
    elif kind == 5 and array.size:
        arrays[name] = np.concatenate([array] * random.choice((2, 3))) if array.ndim else array
    else:
        arrays[name] = _with_other_numbers(array, random)


def _with_other_numbers(array: np.ndarray, random: Random) -> np.ndarray:
    changed = array.copy()
    if not changed.size:
        return changed
    values = _FLOATS if changed.dtype.kind == "f" else _NUMBERS
    for _ in range(random.choice((1, 1, 3, changed.size))):
        place = random.randrange(changed.size)
        with np.errstate(all="ignore"):
            changed.flat[place] = np.array(random.choice(values)).astype(changed.dtype)
    return changed


def changed_member(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Returns a seed, a Zip archive of JSON and other files, with one member changed or added."""
    if random.random() < 0.2:
        return mutated(seeds, (), random)
    with zipfile.ZipFile(io.BytesIO(random.choice(seeds))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(sorted(members))
    change = changed_json if name.endswith(".json") else None
    change = changed_arrays if name.endswith(".npz") else change
    data = members[name]
    members[name] = change(random, [data]) if change else mutated([data], (), random)
    if random.random() < 0.1:
        members[random.choice(("../out", "/tmp/fuzz-out", "a/../../out"))] = b"x"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return file.getvalue()
