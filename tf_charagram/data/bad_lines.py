"""Bad lines of input files: stop at the first, or skip and count them."""

from __future__ import annotations

from pathlib import Path

from tf_charagram.errors import ConfigError, DataError, unknown_name


class BadLines:
    """Stops at the first bad line, or skips and counts bad lines.

    Args:
        on_bad_line: `"error"` raises at the first bad line; `"skip"` counts it.

    Attributes:
        count: Number of bad lines skipped so far.
        first: Message of the first of them, with file and line.

    Raises:
        ConfigError: `on_bad_line` is neither of the two.
    """

    POLICIES = ("error", "skip")

    def __init__(self, on_bad_line: str = "error") -> None:
        if on_bad_line not in self.POLICIES:
            raise ConfigError(unknown_name("on_bad_line", on_bad_line, self.POLICIES))
        self.on_bad_line = on_bad_line
        self.count = 0
        self.first = ""

    @classmethod
    def of(cls, on_bad_line: str | BadLines) -> BadLines:
        """Returns the policy itself, or makes one from its name."""
        return on_bad_line if isinstance(on_bad_line, BadLines) else cls(on_bad_line)

    def report(self, path: str | Path, line: int, message: str) -> None:
        """Raises or counts one bad line.

        Args:
            path: File of the line.
            line: 1-based line number.
            message: The problem, such as `expected 2 texts, found 1`.

        Raises:
            DataError: The policy is `"error"`.
        """
        if self.on_bad_line == "error":
            remedy = (
                ". Correct the line, or skip bad lines with --on-bad-line skip (in Python, "
                "on_bad_line='skip')."
            )
            raise DataError(path, message + remedy, line)
        self.count += 1
        self.first = self.first or str(DataError(path, message, line))

    def summary(self) -> str:
        """Returns one sentence, such as `skipped 3 bad lines; first: ...`."""
        if not self.count:
            return "no bad lines"
        plural = "" if self.count == 1 else "s"
        return f"skipped {self.count} bad line{plural}; first: {self.first}"
