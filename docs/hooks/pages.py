"""What the site makes itself: the reference of every room, the command line, the examples, and the pages of the root.

MkDocs calls the functions `on_...`. Pages are written for whoever reads them in the repository; here links to files
that the site does not have become links to the pages that it makes of them.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tacit"
ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages of the repository's root, and what they are on the site."""
EXAMPLES, COMMANDS = "examples.md", "reference/command-line.md"

FENCE = re.compile(r"(^```.*?^```[ ]*$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
TAG = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*>")
NAME = re.compile(r"`(tacit(?:\.\w+)+)`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    from mkdocs.structure.files import File

    for uri, content in made_pages().items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page with its links as the site has them, and with names of code that lead to the reference."""
    return for_the_site(markdown, page.file.src_uri)


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that would load anything from the network."""
    from mkdocs.exceptions import PluginError

    for page in sorted(Path(config.site_dir).rglob("*.html")):
        if loaded := loads(page.read_text()):
            raise PluginError(f"{page.name} loads from the network: {loaded}; keep everything on the site")


def made_pages() -> dict[str, str]:
    """Return the pages that the site makes itself, by where they stand in it.

    >>> sorted(made_pages())[:3]
    ['changelog.md', 'contributing.md', 'examples.md']
    """
    pages = {uri: (ROOT / name).read_text() for name, uri in ROOT_PAGES.items()}
    pages |= {f"reference/{room}.md": reference(room) for room in rooms()}
    return pages | {EXAMPLES: examples(), COMMANDS: command_line()}


def rooms() -> list[str]:
    """Return the rooms, and the modules that stand beside them.

    >>> {"base", "learning", "agent"} <= set(rooms())
    True
    """
    found = [path.stem for path in sorted(PACKAGE.iterdir()) if (path / "__init__.py").exists()]
    return found + [path.stem for path in sorted(PACKAGE.glob("*.py")) if not path.stem.startswith("__")]


def reference(room: str) -> str:
    """Return the page of a room: what its `__init__` says, then its modules, documented from their docstrings."""
    folder = PACKAGE / room
    if not folder.is_dir():
        return f"# tacit.{room}\n\n::: tacit.{room}\n    options:\n      show_root_heading: false\n"
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    modules = [module_name(path) for path in sorted(folder.rglob("*.py")) if path.stem != "__init__"]
    return f"# tacit.{room}\n\n{said}\n\n" + "\n".join(f"::: {module}\n" for module in modules)


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def examples() -> str:
    """Return the page of the examples: each whole, as the tests run it."""
    parts = ["# Examples", "Five complete programs in `examples/`. The tests run each of them."]
    for path in sorted((ROOT / "examples").glob("*.py")):
        title = path.stem.replace("_", " ").capitalize()
        parts += [f"## {title} {{ #{path.stem} }}", f"```python\n{path.read_text()}```"]
    return "\n\n".join(parts) + "\n"


def command_line() -> str:
    """Return the page of the commands and their options, as the program itself knows them."""
    from typer.main import get_command

    from tacit.cli.main import app

    parts = ["# The command line", "`tacit COMMAND --help` says the same."]
    for name, command in _commands(get_command(app)):
        parts += [f"## tacit {name}", command.help or "", _usage(name, command), _options(command)]
    return "\n\n".join(part for part in parts if part) + "\n"


def for_the_site(markdown: str, uri: str) -> str:
    """Return a page's text with links and names as the site has them; code blocks stay as they are.

    >>> for_the_site("[layout](../tacit/problem/layout.py), [file](../Makefile), [log](log-format.md)", "a.md")
    '[layout][tacit.problem.layout], file, [log](log-format.md)'
    """
    source = next((name for name, made in ROOT_PAGES.items() if made == uri), f"docs/{uri}")
    parts = FENCE.split(markdown)
    for n in range(0, len(parts), 2):
        linked = LINK.sub(lambda found: _link(found, source, uri), parts[n])
        parts[n] = NAME.sub(_name, linked)
    return "".join(parts)


def loads(html: str) -> list[str]:
    """Return what a page of HTML would load from the network; links that a reader may follow are not loaded.

    >>> loads('<script src="https://a.b/c.js"></script> <a href="https://a.b">b</a> <img src="d.png">')
    ['<script src="https://a.b/c.js">']
    """
    return [tag for tag in TAG.findall(html) if re.search(r"""(?:src|href)=["']?(?:https?:)?//""", tag)]


def _link(found: re.Match[str], source: str, uri: str) -> str:
    picture, text, target = found.groups()
    if re.match(r"[a-z]+:|#", target):
        return found[0]
    path, _, fragment = target.partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if file.startswith("tacit/") and file.endswith(".py"):
        return f"[{text}][{file.removesuffix('.py').replace('/', '.')}]"
    place = _place(file)
    if place is None:
        return text
    page, _, own = place.partition("#")
    relative = posixpath.relpath(page, posixpath.dirname(uri) or ".")
    ending = f"#{fragment or own}" if fragment or own else ""
    return f"{picture}[{text}]({relative}{ending})"


def _place(file: str) -> str | None:
    """Return where the site has a file of the repository, None if it has not."""
    if file.startswith("examples"):
        return f"{EXAMPLES}#{Path(file).stem}" if file.endswith(".py") else EXAMPLES
    return file.removeprefix("docs/") if file.startswith("docs/") else ROOT_PAGES.get(file)


def _name(found: re.Match[str]) -> str:
    """Return a name as a link to the reference, if that has it."""
    name = found[1]
    return f'<autoref identifier="{_defined(name)}" optional><code>{name}</code></autoref>'


def _defined(name: str) -> str:
    """Return where something at the door is defined: `tacit.Agent` is `tacit.agent.Agent`."""
    import tacit

    door, _, rest = name.removeprefix("tacit.").partition(".")
    found: Any = getattr(tacit, door) if door in tacit.__all__ else None
    if not hasattr(found, "__module__") or not hasattr(found, "__name__"):
        return f"{tacit.PLACES[door]}.{door}" if door in tacit.PLACES else name
    return ".".join(part for part in (found.__module__, found.__name__, rest) if part)


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _usage(name: str, command: Any) -> str:
    given = [_metavar(p) for p in command.params if p.param_type_name == "argument"]
    return f"    tacit {' '.join([name, *given])} [OPTIONS]"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name).upper()


def _options(command: Any) -> str:
    rows = [
        f"| {_name_of(p)} | {_cell(p.help or '')} | {_cell(_default(p))} |"
        for p in command.params
        if p.name != "help"
    ]
    return "\n".join(["| | | default |", "|---|---|---|", *rows]) if rows else ""


def _name_of(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_metavar(parameter)}`"
    return f"`{parameter.opts[0]}`"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "must be given"
    default = parameter.default
    return "" if default is None or default is False or callable(default) else f"`{default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("  [default", " [default")
