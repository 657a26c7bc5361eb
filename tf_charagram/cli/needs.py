"""What this package needs of others, and what of it an installation has."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement

_PACKAGE = "tf-charagram"
_FOR_DEVELOPERS = ("test", "bench")


@dataclass(frozen=True)
class Need:
    """A package that this one builds on.

    Attributes:
        package: Its name.
        extra: The extra that installs it, or `None` if nothing works without it.
        versions: Which versions serve, for instance `">=2.21"`; empty for any.
        version: The one that is installed, or `None`.
    """

    package: str
    extra: str | None
    versions: str
    version: str | None

    @property
    def problem(self) -> str | None:
        """What is wrong with it, if anything."""
        if self.version is None:
            return "missing"
        requirement = Requirement(f"{self.package}{self.versions}")
        fits = requirement.specifier.contains(self.version, prereleases=True)
        return None if fits else "wrong version"

    @property
    def cure(self) -> str:
        """The command that installs it."""
        name = _PACKAGE if self.extra is None else f"{_PACKAGE}[{self.extra}]"
        return f"pip install '{name}'"


def needs() -> list[Need]:
    """Returns what the package was installed with: what it requires, then its extras."""
    # Without an extra first: what nothing works without belongs to none.
    extras = [None, *(metadata.metadata(_PACKAGE).get_all("Provides-Extra") or [])]
    found = []
    for requirement in map(Requirement, metadata.requires(_PACKAGE) or ()):
        marker = requirement.marker
        for extra in extras:
            if marker is None or marker.evaluate({"extra": extra or ""}):
                if extra not in _FOR_DEVELOPERS:
                    version = _version_of(requirement.name)
                    found.append(Need(requirement.name, extra, str(requirement.specifier), version))
                break
    return sorted(found, key=lambda need: (need.extra or "", need.package))


def problem_of(package: str) -> str | None:
    """Returns what is wrong with the version of a package that all needs, and what to do."""
    try:
        found = [need for need in needs() if need.package == package and not need.extra]
    except metadata.PackageNotFoundError:
        return None  # A checkout that was not installed says nothing of its needs.
    need = next(iter(found), None)
    if need is None or need.version is None or need.problem is None:
        return None
    return (
        f"{package} {need.version} is installed, and tf-charagram needs {need.versions}. "
        f"pip install '{package}{need.versions}'"
    )


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
