"""What surrounds agents in a service that runs for others: keys, limits, metrics, links, pages of other sites."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response

from tacit.service.gate import Gate
from tacit.service.house import House
from tacit.service.keys import Keys
from tacit.service.link_pages import LinkPages
from tacit.service.links import open_signer
from tacit.service.metrics import CONTENT_TYPE, Metrics
from tacit.service.options import ServiceOptions
from tacit.service.routes import METRICS, Endpoint
from tacit.service.telemetry import Evaluations, open_telemetry

METHODS = ("GET", "PUT", "POST", "DELETE")
PREFLIGHT_FOR = 600
"""Seconds for which a browser remembers that a site may call."""


class Operations(NamedTuple):
    """The gate of a service, its further routes, those of them that /docs tells of, and what every request passes."""

    gate: Gate
    endpoints: list[Endpoint]
    described: list[Endpoint]
    middleware: list[Middleware]


def make_operations(house: House, options: ServiceOptions, clock: Callable[[], float]) -> Operations:
    """Return what options ask for; the house is watched from now on."""
    metrics = Metrics(house)
    house.observers.append(metrics.observe)
    if options.telemetry:
        house.observers.append(Evaluations(open_telemetry()).observe)
    gate = Gate(options, Keys(options.data), metrics)
    links = LinkPages(open_signer(options.data), gate, options.public_url, clock).endpoints()

    async def tell(house: House, request: Request) -> Response:
        return Response(await metrics.write(), media_type=CONTENT_TYPE)

    scope = "" if options.open_metrics else "admin"
    told = Endpoint("GET", METRICS, tell, "Counts, in Prometheus' text", scope)
    return Operations(gate, [*links, told], links[:1], other_sites(options.origins))


def other_sites(origins: tuple[str, ...]) -> list[Middleware]:
    """Return what lets pages of these sites call from a browser; none if there are no such sites."""
    if not origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=METHODS,
            allow_headers=("authorization", "content-type"),
            expose_headers=("retry-after",),
            max_age=PREFLIGHT_FOR,
        )
    ]
