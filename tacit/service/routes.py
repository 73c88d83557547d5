"""The HTTP interface: each route reads a body, asks the house, and writes the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tacit.service.answers import JSON, answer, refuse
from tacit.service.asking import Asking, host_of, read_body, read_bytes
from tacit.service.bodies import (
    Abandoned,
    Accepted,
    ActionChance,
    AgentList,
    AgentStatus,
    Anchored,
    Anchors,
    Ask,
    Began,
    Begin,
    ChosenBody,
    Decide,
    Decided,
    EpisodeStatus,
    Feedback,
    LabelBody,
    LabelsBody,
    PolicyBody,
    PolicyRow,
    Retire,
)
from tacit.service.descriptions import Description, read_description
from tacit.service.desk import Desk, Lane
from tacit.service.errors import RefusedError, invalid
from tacit.service.gate import Gate
from tacit.service.host import Answer, Host
from tacit.service.house import House
from tacit.service.journal import StoreError
from tacit.service.switch import Switched
from tacit.service.watching import Watchers

METRICS = "/metrics"
"""What each service tells of itself."""
LINES = "application/jsonl"
BYTES = "application/octet-stream"
MOST_FILE = 1 << 28
"""Of the file of an agent."""
Answering = Callable[[House, Request], Awaitable[Response]]


class Endpoint(NamedTuple):
    """A route: what it is called, what it does, what it takes and gives, and which key may use it."""

    method: str
    path: str
    do: Answering
    summary: str
    scope: str
    takes: type | None = None
    gives: type | None = None
    statuses: tuple[int, ...] = (200,)


async def list_agents(house: House, request: Request) -> Response:
    """Answer GET /v1/agents."""
    if house.failure is not None:
        house.find("")
    return answer(AgentList([house.status(host) for host in house.hosts.values()]))


async def put_agent(house: House, request: Request) -> Response:
    """Answer PUT /v1/agents/{name}."""
    described = read_description(await read_bytes(house, request), request.headers.get("content-type", JSON))
    host, new = await house.put_agent(request.path_params["name"], described)
    return answer(house.status(host), 201 if new else 200)


async def get_agent(house: House, request: Request) -> Response:
    """Answer GET /v1/agents/{name}."""
    return answer(house.status(host_of(house, request)))


async def delete_agent(house: House, request: Request) -> Response:
    """Answer DELETE /v1/agents/{name}."""
    house.delete_agent(request.path_params["name"])
    return Response(status_code=204)


async def get_episode(house: House, request: Request) -> Response:
    """Answer GET /v1/agents/{name}/episodes/{episode}."""
    return answer(host_of(house, request).known(request.path_params["episode"]).status())


async def get_policy(house: House, request: Request) -> Response:
    """Answer GET /v1/agents/{name}/policy?context=JSON."""
    host, told = host_of(house, request), request.query_params.get("context", "")
    try:
        context = msgspec.json.decode(told.encode())
        await house.rehearse(host, host.agent.policy, context)
        policy = host.agent.policy(context)
    except (ValueError, TypeError, msgspec.MsgspecError) as error:
        rule = "`context` in the query is a context in JSON, a text in quotes"
        raise invalid(f"{rule} (?context=%22new%22), got {told!r}: {error}", "context") from None
    rows = [
        PolicyRow(state, [ActionChance(action, chance) for action, chance in chances.items()])
        for state, chances in policy.items()
    ]
    return answer(PolicyBody(context, rows))


async def label(house: House, request: Request) -> Response:
    """Answer POST /v1/agents/{name}/label."""
    host, body = host_of(house, request), await read_body(house, request, LabelBody)
    await house.rehearse(host, host.label, body)
    return answer(host.label(body))


async def get_checkpoint(house: House, request: Request) -> Response:
    """Answer GET /v1/agents/{name}/checkpoint: the agent's file."""
    still = host_of(house, request).agent.still()
    return Response(await asyncio.to_thread(still.pack), media_type=BYTES)


async def put_checkpoint(house: House, request: Request) -> Response:
    """Answer PUT /v1/agents/{name}/checkpoint."""
    host = host_of(house, request)
    done = await house.do(host, host.load, await read_bytes(house, request, MOST_FILE))
    return answer(done.body)


async def export(house: House, request: Request) -> Response:
    """Answer GET /v1/agents/{name}/export: a stream of lines."""
    return StreamingResponse(house.export(host_of(house, request)), media_type=LINES)


async def watch(house: House, request: Request) -> Response:
    """Answer GET /v1/agents/{name}/watch: a stream of events."""
    return await watchers_of(request).watch(request)


async def watch_all(house: House, request: Request) -> Response:
    """Answer GET /v1/watch: a stream of events."""
    return await watchers_of(request).watch_all(request)


def watchers_of(request: Request) -> Watchers:
    """Return those who watch the house that a request is for."""
    watchers: Watchers = request.app.state.watchers
    return watchers


def asking(
    name: str,
    path: str,
    call: Callable[..., Answer],
    summary: str,
    scope: str,
    takes: type | None = None,
    gives: type | None = None,
    statuses: tuple[int, ...] = (200,),
) -> Endpoint:
    """Return the endpoint of a request that becomes one call of an agent."""
    return Endpoint("POST", path, Asking(name, call, takes), summary, scope, takes, gives, statuses)


AGENT, EPISODE = "/v1/agents/{name}", "/v1/agents/{name}/episodes/{episode}"
BEGIN, DECIDE, ACT, HEAR = f"{AGENT}/episodes", f"{AGENT}/decide", f"{EPISODE}/actions", f"{EPISODE}/feedback"
ENDPOINTS = (
    Endpoint("GET", "/v1/agents", list_agents, "List agents", "admin", None, AgentList),
    Endpoint("PUT", AGENT, put_agent, "Make an agent", "admin", Description, AgentStatus, (200, 201)),
    Endpoint("GET", AGENT, get_agent, "How an agent is doing", "admin", None, AgentStatus),
    Endpoint("DELETE", AGENT, delete_agent, "Delete an agent", "admin", None, None, (204,)),
    asking("begin_episode", BEGIN, Host.begin, "Begin an episode", "decide", Begin, Began, (200, 201)),
    asking("decide", DECIDE, Host.decide, "Begin, and act once", "decide", Decide, Decided, (200, 201)),
    Endpoint("GET", EPISODE, get_episode, "What was said in an episode", "decide", None, EpisodeStatus),
    asking("act", ACT, Host.act, "Ask for an action", "decide", Ask, ChosenBody),
    asking("hear", HEAR, Host.hear, "Tell how the person reacted", "feedback", Feedback, Accepted),
    asking(
        "abandon", f"{EPISODE}/abandon", Host.abandon, "Close what broke off", "feedback", None, Abandoned
    ),
    asking("retire", f"{AGENT}/retire", Host.retire, "Offer an action no more", "admin", Retire),
    Endpoint("GET", f"{AGENT}/policy", get_policy, "What is taken to be best", "admin", None, PolicyBody),
    asking("anchor", f"{AGENT}/anchors", Host.anchor, "Give known outcomes", "admin", Anchors, Anchored),
    Endpoint(
        "POST",
        f"{AGENT}/label",
        label,
        "What feedback of logged episodes means",
        "admin",
        LabelBody,
        LabelsBody,
    ),
    Endpoint("GET", f"{AGENT}/checkpoint", get_checkpoint, "The agent as a file", "admin"),
    Endpoint("PUT", f"{AGENT}/checkpoint", put_checkpoint, "Go on from the file of an agent", "admin"),
    Endpoint("GET", "/v1/watch", watch_all, "All agents, as events whenever they change", "admin"),
    Endpoint("GET", f"{AGENT}/watch", watch, "An agent, as events whenever it changes", "admin"),
    Endpoint("GET", f"{AGENT}/export", export, "All episodes in the log format", "admin"),
)
"""Everything that the service answers under /v1."""


def make_app(
    house: House,
    more: Sequence[Route | Endpoint] = (),
    lifespan: Any = None,
    gate: Gate | None = None,
    middleware: Sequence[Middleware] = (),
) -> Starlette:
    """Return the application that answers for a house; `gate` says who may ask for what, without one all may."""
    endpoints = [each for each in (*ENDPOINTS, *more) if isinstance(each, Endpoint)]
    table = {(each.method, each.path): _guarded(house, each, gate) for each in endpoints}
    routes = [Route(path, _Asgi(app), methods=[method]) for (method, path), app in table.items()]
    app = Switched(
        {key: respond for key, respond in table.items() if key[1].startswith("/v1")},
        routes=[*routes, *(each for each in more if not isinstance(each, Endpoint))],
        lifespan=lifespan,
        middleware=middleware,
        exception_handlers={HTTPException: _refuse_path, 404: _refuse_path, 405: _refuse_path},
    )
    app.router.redirect_slashes = False
    app.state.house, app.state.gate = house, gate
    app.state.watchers = Watchers(house)
    if not middleware:
        app.state.desk = Desk(house, gate, _lanes(endpoints, gate))
    return app


def _lanes(endpoints: Sequence[Endpoint], gate: Gate | None) -> dict[tuple[str, str], Lane]:
    """Return those endpoints that ask one thing of an agent, for the desk."""
    return {
        (each.method, each.path): Lane(each.do, each.scope, _noting(each, gate))
        for each in endpoints
        if isinstance(each.do, Asking)
    }


def _noting(endpoint: Endpoint, gate: Gate | None) -> Callable[[int, float], None] | None:
    return None if gate is None else gate.noting(endpoint.method, endpoint.path)


def _guarded(house: House, endpoint: Endpoint, gate: Gate | None) -> ASGIApp:
    """Return what answers the requests of an endpoint, all of them."""
    note = _noting(endpoint, gate)

    async def respond(request: Request) -> Response:
        try:
            if house.leader and house.send_on is not None and endpoint.path != METRICS:
                sent: Response = await house.send_on(request, house.leader)
                return sent
            if gate is not None:
                gate.admit(request.scope, endpoint.scope)
            return await endpoint.do(house, request)
        except RefusedError as refusal:
            return refuse(refusal)
        except StoreError as error:
            return refuse(RefusedError(503, "unready", f"the journal cannot be read: {error}"))

    async def answer_one(scope: Scope, receive: Receive, send: Send) -> None:
        began, status = perf_counter(), 500
        try:
            response = await respond(Request(scope, receive, send))
            status = response.status_code
        finally:
            if note is not None:
                note(status, perf_counter() - began)
        await response(scope, receive, send)

    return answer_one


class _Asgi:
    """An application as an object, which Starlette calls as it is; a function it would take for an endpoint."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


async def _refuse_path(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "there is nothing at this path; see /docs", 405: "this path has other methods; see /docs"}
    if request.app.state.gate is not None:
        request.app.state.gate.metrics.refuse(status)
    return refuse(
        RefusedError(status, "not-found" if status == 404 else "refused", words.get(status, str(error)))
    )
