"""The options of commands that say how CSV files are read, and the logs that they make of paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tacit.logs.reading import CsvLogs

Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Of CSV files, which column holds what: state=page. Again for each step of a row, or field of a context.",
    ),
]
AsString = Annotated[
    list[str] | None,
    typer.Option("--string", help="Of CSV files, what is never read as a number: context, say."),
]
Delimiter = Annotated[
    str | None, typer.Option(help="Of CSV files, what stands between cells.  [default: by the header]")
]
Encoding = Annotated[
    str | None, typer.Option(help="Of CSV files: cp1252, say.  [default: utf-8, or by its mark]")
]
NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
"""Words for delimiters that are awkward to type."""


def with_columns(
    logs: Sequence[Path],
    column: Sequence[str] | None,
    string: Sequence[str] | None,
    delimiter: str | None,
    encoding: str | None,
) -> list[Path] | CsvLogs:
    """Return logs as they are, or with what was said of their columns."""
    if not column and not string and delimiter is None and encoding is None:
        return list(logs)
    from tacit.logs.csv_columns import CsvSettings
    from tacit.logs.reading import CsvLogs

    between = None if delimiter is None else NAMES.get(delimiter, delimiter)
    settings = CsvSettings(read_columns(column or ()), tuple(string or ()), between, encoding)
    return CsvLogs(list(logs), settings)


def read_columns(given: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns by what they hold.

    >>> read_columns(["state=page", "context=age", "context=visits"])
    {'state': ['page'], 'context': ['age', 'visits']}
    """
    from tacit.logs.record import LogError

    columns: dict[str, list[str]] = {}
    for each in given:
        key, equals, name = each.partition("=")
        if not equals:
            raise LogError(
                f"a column is named as what it holds, =, and its name, got {each!r}; say state=page"
            )
        columns.setdefault(key.strip(), []).append(name.strip())
    return columns
