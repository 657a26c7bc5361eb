"""Reads classes of the package from their source: what a class takes, without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

_PACKAGE = "tf_charagram."
# What annotations and defaults may name besides builtins and names of the package.
_TYPE_MODULES = ("typing", "collections.abc")


class SourceClass(NamedTuple):
    """A class that was parsed, not imported.

    Attributes:
        module: Where it is.
        node: Its definition.
    """

    module: SourceModule
    node: ast.ClassDef

    @property
    def constructor(self) -> ast.FunctionDef | None:
        """Its own constructor, if it has one."""
        functions = (node for node in self.node.body if isinstance(node, ast.FunctionDef))
        return next((node for node in functions if node.name == "__init__"), None)

    def attribute(self, name: str) -> Any:
        """Returns the value that its own body assigns to an attribute; `None` without one."""
        values = _assigned(self.node.body)
        return self.module.value(values[name]) if name in values else None

    def lineage(self) -> Iterator[SourceClass]:
        """Yields the class and its bases in the package, first bases first."""
        yield self
        for base in self.node.bases:
            found = self.module.find_class(base.id) if isinstance(base, ast.Name) else None
            if found is not None:
                yield from found.lineage()


class SourceModule:
    """A module of the package that was parsed, not imported.

    Args:
        name: Its full name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(name)
        with open(spec.origin, encoding="utf-8") as file:
            body = ast.parse(file.read(), spec.origin).body
        self._classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
        self._assigned = _assigned(body)
        self._imported = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def find_class(self, name: str) -> SourceClass | None:
        """Returns a class by its name here; `None` where it is of another package."""
        if name in self._classes:
            return SourceClass(self, self._classes[name])
        module, original = self._imported.get(name, ("", ""))
        return source_module(module).find_class(original) if module.startswith(_PACKAGE) else None

    def value(self, node: ast.expr) -> Any:
        """Returns the value of an expression of literals, types, and names for these.

        Raises:
            NameError: It has another name, which only an import could tell.
        """
        code = compile(ast.Expression(node), self.name, "eval")
        return eval(code, {}, _Names(self))

    def value_of(self, name: str) -> Any:
        """Returns the value of a name; errors as `value`.

        Raises:
            KeyError: It may be a builtin; it is no name of the module.
        """
        if name in self._assigned:
            return self.value(self._assigned[name])
        module, original = self._imported[name]
        if module.startswith(_PACKAGE):
            return source_module(module).value_of(original)
        if module in _TYPE_MODULES:
            return getattr(import_module(module), original)
        raise NameError(
            f"{self.name}: `{name}` of {module} is known only once that is imported, and types and "
            "defaults of options are read before. Write them as literals."
        )


class _Names(dict[str, Any]):
    """The names of a module as the local names of an expression."""

    def __init__(self, module: SourceModule) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> Any:
        return self._module.value_of(name)


@cache
def source_module(name: str) -> SourceModule:
    """Returns a module of the package by its full name, parsed once."""
    return SourceModule(name)


def _assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Returns what statements assign to names."""
    values: dict[str, ast.expr] = {}
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign):
                values[target.id] = node.value  # type: ignore[assignment]
    return values
