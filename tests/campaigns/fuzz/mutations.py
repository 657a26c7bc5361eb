"""Changes to the bytes of a valid file: small ones, large ones, those that formats trip over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

#: Pieces that no format expects where they are put.
ODD = (
    b"", b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xfe\xff",
    b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u2028\x85\u00a0".encode(),
    "\U0001f468\u200d\U0001f469\u0301".encode(), b"0", b"-1", b"1e999", b"-1e-999", b"NaN",
    b"Infinity", b"-Infinity", b"null", b"true", b"[]", b"{}", b'""', b"9" * 19, b"9" * 400,
    b"-9223372036854775808", b"4294967296", b"2147483648", b"0x10", b"1_0", "\u0663".encode(),
    b"../../../x", b"/dev/zero", b"%s%n", b"\x1f\x8b", b"PK\x03\x04", b"\x93NUMPY", b"\x80\x04",
    b"\x00" * 8, b"\xff" * 8, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f",
)  # fmt: skip
_NESTED = ((b"[", b"]"), (b"(", b")"), (b'{"a":', b"}"), (b"(S ", b")"), (b"<a>", b"</a>"))
_LONGEST = 1 << 20

Change = Callable[[bytearray, Random, Sequence[bytes]], None]


def _flip_bits(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    for _ in range(random.choice((1, 1, 2, 8))):
        if data:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set_bytes(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    start, stop = _span(data, random, 8)
    data[start:stop] = random.choice((b"\0", b"\xff", b"\x80", b" ")) * (stop - start)


def _truncate(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    del data[random.randint(0, len(data)) :]


def _delete(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    start, stop = _span(data, random, 64)
    del data[start:stop]


def _duplicate(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    start, stop = _span(data, random, 256)
    times = random.choice((1, 1, 2, 50))
    data[start:start] = data[start:stop] * times


def _swap(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    start, stop = _span(data, random, 64)
    moved = bytes(data[start:stop])
    del data[start:stop]
    _insert_at(data, random, moved)


def _insert_odd(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    _insert_at(data, random, random.choice(ODD))


def _insert_token(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    _insert_at(data, random, random.choice(tokens or ODD))


def _insert_random(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    _insert_at(data, random, random.randbytes(random.choice((1, 4, 64))))


def _replace_number(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if digits:
        start = stop = random.choice(digits)
        while stop < len(data) and 48 <= data[stop] <= 57:
            stop += 1
        data[start:stop] = random.choice(ODD[15:35])


def _replace_token(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    if token := random.choice(tokens or [b""]):
        if (start := data.find(token, random.randint(0, len(data)))) >= 0:
            data[start : start + len(token)] = random.choice([*tokens, *ODD])


def _nest(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    opened, closed = random.choice(_NESTED)
    depth = random.choice((10, 1_000, 1_000, 100_000))
    _insert_at(data, random, opened * depth + closed * random.choice((depth, 0, depth - 1)))


def _lengthen(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    start, stop = _span(data, random, 4)
    piece = bytes(data[start:stop]) or b"a"
    _insert_at(data, random, piece * (random.choice((100, 100, 10_000, 300_000)) // len(piece)))


def _mix_line_ends(data: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    ends = (b"\n", b"\r\n", b"\r", b"\n\n", b"\x85", "\u2028".encode(), b"\0")
    data[:] = b"".join(line + random.choice(ends) for line in bytes(data).split(b"\n"))


def _insert_at(data: bytearray, random: Random, piece: bytes) -> None:
    place = random.randint(0, len(data))
    data[place:place] = piece


def _span(data: bytearray, random: Random, most: int) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.randint(1, most))


_COMMON: tuple[Change, ...] = (
    _flip_bits, _set_bytes, _truncate, _delete, _duplicate, _swap, _insert_odd, _insert_token,
    _insert_random, _replace_number, _replace_token,
)  # fmt: skip
_RARE: tuple[Change, ...] = (_nest, _lengthen, _mix_line_ends)


def mutated(seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    """Returns a seed with one to six changes; rarely bytes at random, or the seed as it is.

    Args:
        seeds: Valid files of the format.
        tokens: Pieces that mean something in it.
        random: Draws what is done.
    """
    kind = random.random()
    if kind < 0.03:
        return random.randbytes(random.choice((0, 1, 10, 1000)))
    data = bytearray(random.choice(seeds))
    if kind < 0.04:
        return bytes(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        changes = _RARE if random.random() < 0.03 else _COMMON
        random.choice(changes)(data, random, tokens)
    return bytes(data[:_LONGEST])
