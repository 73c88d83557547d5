"""`tacit load`: how much a service bears, measured from another process."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tacit.cli.exit_codes import FAILED
from tacit.cli.terminal import fail, guarded, say

if TYPE_CHECKING:
    from tacit.service.load import Load


def load(
    url: Annotated[str, typer.Argument(help="The service, as http://HOST:PORT.")],
    env: Annotated[
        str,
        typer.Option(
            help="Who comes: booking, synthetic, balanced, personal, flipped, vectors, random, or module:function."
        ),
    ] = "synthetic",
    episodes: Annotated[int, typer.Option(help="Episodes to play.", min=1)] = 5_000,
    concurrency: Annotated[int, typer.Option(help="Connections at once.", min=1, max=10_000)] = 16,
    agent: Annotated[str, typer.Option(help="The agent; made if it is not there.  [default: load-ENV]")] = "",
    seed: Annotated[int, typer.Option(help="Of the agent and of who comes.", min=0)] = 0,
    key: Annotated[
        str | None, typer.Option(help="A key of the service, if it asks for one.", envvar="TACIT_KEY")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Play an environment against a service: episodes a second, how long answers take, errors, reward earned."""
    console = Console(stderr=as_json)
    with guarded(console, "The episodes that were played stay with the agent."):
        try:
            from tacit.service.calls import ServiceError
        except ImportError as error:
            raise ImportError(f"this needs more packages: {error}; pip install 'tacit[serve]'") from None
        name = agent or "load-" + "".join(c if c.isalnum() else "-" for c in env.lower())
        try:
            done = asyncio.run(_run(console, url, env, episodes, concurrency, name, seed, key))
        except ServiceError as error:
            fail(console, error)
        print(json.dumps(done.to_json(), indent=2)) if as_json else _show(console, done)
        if done.errors:
            raise typer.Exit(FAILED)


async def _run(
    console: Console,
    url: str,
    env: str,
    episodes: int,
    connections: int,
    agent: str,
    seed: int,
    key: str | None,
) -> Load:
    from tacit.service.load import Loader, describe_agent, find_environment

    loader = Loader(url, agent, key)
    await loader.prepare(describe_agent(find_environment(env), seed))
    columns = (TextColumn("episodes"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=episodes)
        return await loader.run(
            lambda: find_environment(env), episodes, connections, seed, lambda n: bar.advance(task, n)
        )


def _show(console: Console, done: Load) -> None:
    told = done.to_json()
    table = Table("call", "answered", "p50", "p95", "p99", title="milliseconds")
    for kind, row in told["milliseconds"].items():
        table.add_row(kind, f"{len(done.timings[kind]):,}", *(f"{value:.2f}" for value in row.values()))
    console.print(table)
    say(
        console,
        f"{told['episodes_per_second']:,} episodes and {told['requests_per_second']:,} requests a second, "
        f"{told['episodes']:,} episodes in {told['seconds']:.1f} seconds",
    )
    if told["reward"] is not None:
        say(
            console,
            f"true reward {told['reward']:.3f} an episode, {told['reward_last_fifth']:.3f} in the last fifth",
        )
    for code, count in told["errors"].items():
        say(console, f"{count:,} episodes broke off: {code}", "error")
