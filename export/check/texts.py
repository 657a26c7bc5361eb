"""Texts to check a model with."""

from __future__ import annotations

#: What users send by mistake or on purpose. None may end a request, or touch another text of it.
BAD_TEXTS: dict[str, bytes] = {
    "empty": b"",
    "one character": b"a",
    "white space": " \t\r\n\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}".encode(),
    "NUL": b"\0",
    "NUL within": b"cat\0dog\0",
    "byte order mark": b"\xef\xbb\xbfcat",
    "broken UTF-8": b"caf\xe9 \xff\xfe\xc3",
    "overlong UTF-8": b"\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80",
    "emoji": "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL} \N{THUMBS UP SIGN}\U0001f3fd".encode(),
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d\u0628\u0627".encode(),
    "CJK": "\u4f60\u597d\u3000\u4e16\u754c".encode(),
    "combining marks": ("e" + "\u0301" * 50).encode(),
    "line breaks": "a\nb\r\nc\u2028d\u0085e".encode(),
    "no characters": "\uffff\U0010ffff".encode(),
    "1 MB": b"cat dog " * 131_072,
    "1 MB in one word": b"x" * 2**20,
    "broken and long": b"\xff" * 50_000,
}
