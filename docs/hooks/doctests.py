"""Docstrings on the site: their doctests are set as code. MkDocs hands this to Griffe, which reads the docstrings."""

from __future__ import annotations

from typing import Any

import griffe


class FencedDoctests(griffe.Extension):
    """Puts a fence around every doctest of every docstring."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Fence the doctests of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = fence_doctests(obj.docstring.value)


def fence_doctests(text: str) -> str:
    """Return a docstring whose doctests, up to the next empty line, are fenced.

    >>> fence_doctests("Return 2.\\n\\n>>> 1 + 1\\n2").splitlines()
    ['Return 2.', '', '```python', '>>> 1 + 1', '2', '```']
    """
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        begins = line.lstrip().startswith(">>>")
        if begins and not inside:
            lines.append(f"{line[: len(line) - len(line.lstrip())]}```python")
        if inside and not line.strip():
            lines.append("```")
        inside = begins or (inside and bool(line.strip()))
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)
