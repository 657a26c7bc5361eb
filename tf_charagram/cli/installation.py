"""What to do where TensorFlow and its like are missing, or there in a version that does not serve.

A wrong version fails late and far from its cause, so it is looked at when it is first imported.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from tf_charagram.errors import InstallationError

_DOCTOR = "`charagram doctor` says what else this installation lacks."
#: Module -> its package, and what to know where it is missing.
_PACKAGES = {
    "tensorflow": ("tensorflow", _DOCTOR),
    "keras": ("keras", _DOCTOR),
    "tensorflow_text": (
        "tensorflow-text",
        "Taggers, encoders of words and --unicode-form need it. There are builds for Linux and for "
        "macOS on Apple silicon, not for Windows; without it the character encoders work: "
        "charagram, char_cnn, char_lstm.",
    ),
}
_INTEL_MAC = (
    "There is none for macOS on Intel in the versions that tf-charagram needs: use Linux, for "
    "instance in a container, or Apple silicon."
)


def watch_versions() -> None:
    """Has the first import of each of these packages in this process checked."""
    if not any(isinstance(finder, _VersionFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _VersionFinder())


def missing(error: ImportError) -> str | None:
    """Returns what to say of a module that cannot be found; `None` if it is none of these."""
    module = error.name if isinstance(error, ModuleNotFoundError) else None
    if "tensorflow-text" in str(error):  # As the package says it where there are no builds.
        module = "tensorflow_text"
    if module not in _PACKAGES:
        return None
    package, hint = _PACKAGES[module]
    if (platform.system(), platform.machine()) == ("Darwin", "x86_64"):
        hint = _INTEL_MAC
    return f"{package} is not installed. pip install tf-charagram. {hint}"


class _VersionFinder(MetaPathFinder):
    """Finds nothing; asked first, so that it sees what is about to be imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises an error if the installed version does not serve."""
        if fullname in _PACKAGES:
            from tf_charagram.cli.needs import problem_of

            if (problem := problem_of(_PACKAGES[fullname][0])) is not None:
                raise InstallationError(f"{problem}. {_DOCTOR}", name=fullname)
        return None
