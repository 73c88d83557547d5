"""The routes of links: a link is made with a key, its page is shown to whoever has it, its button gives feedback."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import msgspec
from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tacit.reports.pages import page_template
from tacit.service.answers import answer
from tacit.service.asking import UNREADABLE, host_of, read_bytes
from tacit.service.bodies import Feedback
from tacit.service.errors import RefusedError, invalid
from tacit.service.gate import Gate
from tacit.service.host import Host
from tacit.service.house import House
from tacit.service.limits import read_limited
from tacit.service.links import Grant, LinkBody, Linked, LinkError, Signer
from tacit.service.routes import EPISODE, Endpoint

MOST_LABELS = 20
"""Buttons of a page."""
MOST_TEXT = 4_000
"""Characters that a person may write."""
MOST_FORM = 12 * MOST_TEXT + 100
"""Bytes of a form: a character may take twelve."""
HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
}
"""A page of a link is kept by nobody, tells nobody where it is, and runs nothing."""


class Shown(NamedTuple):
    """A page: its heading and words, then what can be pressed (label, value), or whether something can be written."""

    heading: str
    words: str
    buttons: tuple[tuple[str, str], ...] = ()
    writes: bool = False


class LinkPages:
    """Makes links and answers those who follow them."""

    def __init__(
        self, signer: Signer, gate: Gate, public_url: str | None, clock: Callable[[], float] = time.time
    ) -> None:
        self._signer, self._gate, self._public, self._clock = signer, gate, public_url, clock
        self._template = page_template("tacit.service", "link.html.j2")

    def endpoints(self) -> list[Endpoint]:
        """Return the routes; the page and its button need no key."""
        make = Endpoint(
            *("POST", f"{EPISODE}/link", self.link, "A link by which a person reacts", "feedback or decide"),
            LinkBody,
            Linked,
        )
        show = Endpoint("GET", "/f/{token}", self.show, "The page of a link", "", None, None)
        give = Endpoint("POST", "/f/{token}", self.give, "Feedback by a link", "", None, None)
        return [make, show, give]

    async def link(self, house: House, request: Request) -> Response:
        """Answer POST /v1/agents/{name}/episodes/{episode}/link."""
        host, episode = host_of(house, request), request.path_params["episode"]
        content = await read_bytes(house, request)
        try:
            body = msgspec.json.decode(content or b"{}", type=LinkBody)
        except UNREADABLE as error:
            raise invalid(f"the body is not as it should be: {error}; see /docs") from None
        account = host.known(episode)
        if account.ended is not None:
            raise RefusedError(409, "ended", f"episode {episode!r} has ended ({account.ended})", "episode")
        if body.feedback is UNSET and choices(host) is None:
            raise invalid("a person can choose among a few labels or write; give `feedback`", "feedback")
        if body.feedback is not UNSET:
            _check_feedback(host, body.feedback)
        grant = Grant(
            *(host.row.name, host.row.number, episode, int(self._clock()) + body.expires), body.feedback
        )
        try:
            token = self._signer.sign(grant)
        except ValueError as error:
            raise invalid(str(error), "feedback") from None
        base = self._public or str(request.base_url).rstrip("/")
        return answer(Linked(f"{base}/f/{token}", grant.expires))

    async def show(self, house: House, request: Request) -> Response:
        """Answer GET /f/{token}: a page with a button. Nothing is told to the agent."""
        try:
            self._gate.admit_stranger(request)
            grant, host = self._read(house, request)
            account = host.known(grant.episode)
        except (LinkError, RefusedError) as error:
            return self._refuse(error)
        if account.ended is not None:
            return self._page(Shown("This is closed", "An answer was given, or it came too late."), 410)
        if grant.feedback is not UNSET:
            told = f"Your answer: {_label(grant.feedback)}"
            return self._page(Shown("Send your answer?", told, (("Send this answer", ""),)))
        known = choices(host)
        if known is None:
            return self._page(Shown("This is closed", "This link can no longer be used."), 410)
        buttons = tuple((_label(each), msgspec.json.encode(each).decode()) for each in known)
        words = "Choose what fits best." if known else "Say it in your own words."
        return self._page(Shown("How was it?", words, buttons, writes=not known))

    async def give(self, house: House, request: Request) -> Response:
        """Answer POST /f/{token}: the button was pressed."""
        try:
            self._gate.admit_stranger(request)
            grant, host = self._read(house, request)
            content = await read_limited(request.receive, MOST_FORM, house.limits.body_seconds)
            feedback = grant.feedback if grant.feedback is not UNSET else read_form(content, choices(host))
            await house.do(host, host.hear, grant.episode, Feedback(feedback))
        except (LinkError, RefusedError) as error:
            return self._refuse(error)
        return self._page(Shown("Thank you", "Your answer was kept. This page can be closed."))

    def _read(self, house: House, request: Request) -> tuple[Grant, Host]:
        grant = self._signer.read(request.path_params["token"], self._clock())
        if house.failure is None and grant.agent not in house.hosts:
            raise LinkError("this link can no longer be used", True)
        host = house.find(grant.agent)
        if host.row.number != grant.number:  # another agent by the same name
            raise LinkError("this link can no longer be used", True)
        return grant, host

    def _refuse(self, error: LinkError | RefusedError) -> Response:
        """Return a page that says no, in words that tell nothing of what is inside."""
        if isinstance(error, LinkError):
            return self._page(
                Shown("This link does not work", f"{str(error).capitalize()}."), 410 if error.gone else 403
            )
        words = {
            409: Shown("This is closed", "Another answer was given, or it came too late."),
            422: Shown("Something is missing", "Go back, and choose or write an answer."),
        }
        retry = Shown("Please try again", "The answer could not be kept. Try again in a moment.")
        response = self._page(words.get(error.status, retry), error.status)
        if error.status in (429, 503):
            response.headers["retry-after"] = error.headers.get("retry-after", "1")
        return response

    def _page(self, shown: Shown, status: int = 200) -> Response:
        content = self._template.render(shown=shown, most=MOST_TEXT)
        return HTMLResponse(content, status, headers=HEADERS)


def choices(host: Host) -> list[Any] | None:
    """Return the labels that a person may choose among, none where they may write; None if they can do neither."""
    layout = host.description.layout
    feedback = {"kind": "text"} if layout is None else layout["feedback"]
    if feedback["kind"] == "text":
        return []
    labels = feedback.get("labels", [])
    return list(labels) if feedback["kind"] == "finite" and 0 < len(labels) <= MOST_LABELS else None


def _check_feedback(host: Host, feedback: Any) -> None:
    """Raise RefusedError if an agent could not be told this; a person must not find that out."""
    try:
        host.agent.world.meet_feedback(feedback).read_feedback(feedback)
    except (ValueError, TypeError) as error:
        raise invalid(str(error), "feedback") from None


def read_form(content: bytes, known: list[Any] | None) -> Any:
    """Return what a form holds: one of the labels, or words."""
    try:
        form = parse_qs(content.decode(), strict_parsing=True, max_num_fields=4)
        if known:
            return next(each for each in known if msgspec.json.encode(each).decode() == form["feedback"][0])
        words = form["text"][0].strip()
    except (ValueError, KeyError, StopIteration):
        raise invalid("a form holds `feedback`, one of the labels, or `text`", "feedback") from None
    if known is None or not words or len(words) > MOST_TEXT:
        raise invalid("a form holds `feedback`, one of the labels, or `text`", "feedback")
    return words


def _label(feedback: Any) -> str:
    """Return feedback as a person reads it."""
    if feedback is None:
        return "nothing"
    return feedback if isinstance(feedback, str) else msgspec.json.encode(feedback).decode()
