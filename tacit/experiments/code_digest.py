"""A digest of the code that decides a result: the modules that a function's module imports, and they in turn.

Found by reading, not by running: every import counts, those inside functions too, but for those that only a type
checker sees. Of each module its syntax counts, without docstrings and comments, and its name: code that moves is other
code. Of other distributions their versions count.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.metadata import packages_distributions, version
from importlib.resources import files
from pathlib import Path
from typing import Any

Read = Callable[[str], ast.Module | None]
"""Returns the syntax of a module by its name, None where there is no such module in the package."""


def digest_of(function: Callable[..., Any], unused: tuple[str, ...] = ()) -> str:
    """Return a digest of all code that can decide what a function of a package (or a partial of one) returns.

    `unused` names what is imported on the way and never met: modules or packages that do not count.
    """
    while isinstance(function, partial):
        function = function.func
    return digest_module(function.__module__, unused)


@cache
def digest_module(module: str, unused: tuple[str, ...] = ()) -> str:
    """Return a digest of a module and of all that it imports."""
    package = module.partition(".")[0]
    source = PackageSource(package, Path(str(files(package))))
    return digest_closure(module, source.read, distributed_versions, unused)


def digest_closure(
    module: str,
    read: Read,
    versions: Callable[[set[str]], Mapping[str, str]],
    unused: tuple[str, ...] = (),
) -> str:
    """Return the digest: `read` reads modules of the package, `versions` names the versions of others."""
    inside, outside = find_closure(module, read, unused)
    facts = {"modules": {name: ast.dump(tree) for name, tree in inside.items()}, "others": versions(outside)}
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=dict).encode()).hexdigest()


def find_closure(
    module: str, read: Read, unused: tuple[str, ...] = ()
) -> tuple[dict[str, ast.Module], set[str]]:
    """Return the modules of the package that `module` needs, itself included, and the packages beside it."""
    package, read = module.partition(".")[0], cache(read)
    inside: dict[str, ast.Module] = {}
    outside: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if any(name == other or name.startswith(other + ".") for other in unused):
            continue
        tree = read(name)
        if tree is None or name in inside:
            continue
        inside[name] = tree
        for source, names in list_imports(tree):
            top = source.partition(".")[0]
            if top == package:
                waiting += modules_of(source, names, read)
            elif top not in sys.stdlib_module_names:
                outside.add(top)
    return inside, outside


def list_imports(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Yield what a module imports from, and which names.

    >>> list(list_imports(ast.parse("import x.y; from a import b")))
    [('x.y', []), ('a', ['b'])]
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise ValueError(
                    f"imports must be absolute to be followed, got a relative one in line {node.lineno}"
                )
            yield node.module, [alias.name for alias in node.names]


def modules_of(source: str, names: list[str], read: Read) -> list[str]:
    """Return the modules that names come from: those that are modules are themselves, the others are in `source`."""
    modules = [f"{source}.{name}" for name in names if read(f"{source}.{name}") is not None]
    return modules if names and len(modules) == len(names) else [source, *modules]


class PackageSource:
    """The modules of a package in a directory."""

    def __init__(self, package: str, directory: Path) -> None:
        self._package, self._directory = package, directory

    def read(self, module: str) -> ast.Module | None:
        """Return the syntax that counts of a module, None where there is none of that name."""
        parts = module.split(".")[1:]
        path = self._directory.joinpath(*parts)
        for file in (path / "__init__.py", path.with_suffix(".py") if parts else None):
            if file is not None and file.is_file():
                return strip(ast.parse(file.read_bytes()))
        return None


def strip(tree: ast.Module) -> ast.Module:
    """Return a module without docstrings (bare strings anywhere) and without what only type checkers see.

    >>> ast.unparse(strip(ast.parse("'what it is'; x = 1  # one")))
    'x = 1'
    """
    stripped: ast.Module = Stripper().visit(tree)
    return stripped


class Stripper(ast.NodeTransformer):
    """Removes what cannot decide a result."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Remove a bare string."""
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        """Remove `if TYPE_CHECKING`, but for its `else`."""
        if ast.unparse(node.test) not in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            return self.generic_visit(node)
        kept = [self.visit(statement) for statement in node.orelse]
        return [statement for statement in kept if statement is not None] or None


def distributed_versions(packages: set[str]) -> dict[str, str]:
    """Return the versions of the distributions that bring these packages; of those not installed, none."""
    known = _distributions()
    names = {name for package in packages for name in known.get(package, ())}
    return {name: version(name) for name in sorted(names)}


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()
