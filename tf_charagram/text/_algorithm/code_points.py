"""White space and lowercase letters, by code point."""

from __future__ import annotations

import functools

import numpy as np

#: Code points with the Unicode property White_Space.
WHITE_SPACE = (
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
)  # fmt: skip
SPACE = 0x20
#: Regular expression of ASCII white space, for RE2 and for Python.
SPACES = r"[\t\n\f\r ]+"
FIRST_BEYOND_ASCII = 0x80
#: Ends ascending tables of code points, so that a search for a character never ends past the end.
PAST_CODES = 2**31 - 1
# The only character whose lowercase form has two code points.
_DOTTED_I = 0x130


@functools.cache
def normalized_code_points(lowercase: bool = True) -> np.ndarray:
    """Returns a table from code points to normalized ones, int32 `(table_size,)`.

    White space becomes U+0020. Lowercasing maps one code point to one: U+0130, the only character
    whose lowercase form has two, is unchanged, so lengths never change. Code points past the end
    of the table are unchanged.
    """
    table = np.arange(0x1E944, dtype=np.int32)
    if lowercase:
        # One string takes a tenth of the time of one per character. A letter follows the capital
        # sigma, so it does not become a final one.
        codes = table.copy()
        codes[_DOTTED_I] = SPACE
        chars = codes.tobytes().decode("utf-32-le", "surrogatepass")
        lowered = chars.lower()
        lowered_bytes = lowered.encode("utf-32-le", "surrogatepass")
        table = np.frombuffer(lowered_bytes, np.int32).copy()
        table[_DOTTED_I] = _DOTTED_I
    table[list(WHITE_SPACE)] = SPACE
    table.setflags(write=False)
    return table
