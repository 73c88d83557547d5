"""The page at /: plain files of this package, with no build and no network.

Files are served under the hash of all of them, so that a browser keeps them for good and never mixes versions; the
page itself is asked for each time. Nothing else may run or be loaded: see the policy below.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
INDEX, MARK = "index.html", "{hash}"
"""The page, and what stands in it for the hash of all files."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Scripts, styles and answers of this service alone; no inline script, nobody's frame."""
SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
FOR_GOOD = "public, max-age=31536000, immutable"


def read_page() -> dict[str, bytes]:
    """Return the files of the page by name.

    >>> sorted(read_page())[0]
    'agent.js'
    """
    folder = files("tacit.service") / "page"
    return {
        each.name: each.read_bytes()
        for each in folder.iterdir()
        if any(each.name.endswith(kind) for kind in KINDS)
    }


def hash_page(contents: dict[str, bytes]) -> str:
    """Return the hash of all files together."""
    digest = hashlib.blake2b(digest_size=8)
    for name, content in sorted(contents.items()):
        digest.update(b"%s %d\n" % (name.encode(), len(content)) + content)
    return digest.hexdigest()


def page_routes() -> list[Route]:
    """Return the routes of the page and its files."""
    contents = read_page()
    version = hash_page(contents)
    index = contents.pop(INDEX).replace(MARK.encode(), version.encode())
    tag = f'"{version}"'

    async def show_page(request: Request) -> Response:
        headers = SAFE | {"cache-control": "no-cache", "etag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(index, media_type=KINDS[".html"], headers=headers)

    async def show_file(request: Request) -> Response:
        name = request.path_params["file"]
        if request.path_params["hash"] != version or name not in contents:
            raise HTTPException(404)
        kind = KINDS["." + name.rpartition(".")[2]]
        return Response(contents[name], media_type=kind, headers=SAFE | {"cache-control": FOR_GOOD})

    return [Route("/", show_page), Route("/page/{hash}/{file}", show_file)]
