"""Reads and writes protobuf messages without their classes: the wire format as needed here."""

from __future__ import annotations

from typing import Any


def varint(number: int) -> bytes:
    """Returns a number that is not negative, seven bits per byte, lowest first."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def field(number: int, value: bytes) -> bytes:
    """Returns one field of a message, of the kind that has a length."""
    return bytes([number << 3 | 2]) + varint(len(value)) + value


def read_fields(message: memoryview) -> dict[int, list[Any]]:
    """Returns the values of a message by field number: ints, or views of bytes."""
    fields: dict[int, list[Any]] = {}
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        value: Any
        if key & 7 == 0:
            value, at = _read_varint(message, at)
        else:
            # Wire types 1 and 5 have 8 and 4 bytes; 2 says how many.
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, at = _read_varint(message, at)
            value, at = message[at : at + size], at + size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (message[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if message[at - 1] < 0x80:
            return value, at
