"""Addresses of models that are served."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

_PRINTABLE_ASCII = re.compile(r"[!-~]*")
_MODEL_PATH = re.compile(r".*/v1/models/[^/:]+(/(versions|labels)/[^/:]+)?/?")


def split_address(url: str) -> SplitResult:
    """Returns the parts of an address; empty ones if it is not an address."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def is_rest_address(url: str) -> bool:
    """Returns whether `url` is the address of a model, and one that a request can be sent to."""
    parts = split_address(url)
    try:
        # The resolver encodes the name in the same way.
        host, port = (parts.hostname or "").encode("idna"), parts.port
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and _MODEL_PATH.fullmatch(parts.path) is not None
        and not (parts.query or parts.fragment)
        and _PRINTABLE_ASCII.fullmatch(url) is not None
        and host != b""
        and port != 0
        and "@" not in parts.netloc
    )
