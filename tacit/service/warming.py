"""How a service opens: kernels are made ready, then the journal is read, and meanwhile it says that it is not ready.

Kernels are compiled once on a machine, which takes a minute, and read from disk later, which takes a second. A request
that needed them would hold up all others for so long, so a thread plays a few episodes first. Until then the service
answers /healthz, says on /readyz what it waits for, and asks clients to try again.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import numpy as np

from tacit.agent import Agent
from tacit.problem.layout import Layout
from tacit.problem.spaces import Vectors
from tacit.service.house import House
from tacit.trust.two_profiles import measure_misfit

WARMING = "kernels are read from disk, or compiled once, which takes a minute"
READING = "the journal is read"
EPISODES = 3
"""The first episode has nothing to go by, the second has: these call every kernel of Tacit's own recipe."""
COLLECT_AFTER = 50_000
"""Objects that were made and not yet let go of, after which Python looks for garbage."""

Opening = Callable[[House], contextlib.AbstractAsyncContextManager[None]]


@contextlib.asynccontextmanager
async def open_first(house: House) -> AsyncIterator[None]:
    """Answer nothing before the journal is read: for tests, and programs that hold a service inside."""
    await house.start()
    try:
        yield
    finally:
        await house.stop()


def open_beside(give_up: Callable[[Exception], None]) -> Opening:
    """Return what answers at once that the service is not ready, until it is; `give_up` hears why it never will be."""

    async def begin(house: House) -> None:
        house.failure = READING
        await house.start()

    return lambda house: warmed(house, begin, give_up)


@contextlib.asynccontextmanager
async def warmed(
    house: House, begin: Callable[[House], Awaitable[None]], give_up: Callable[[Exception], None]
) -> AsyncIterator[None]:
    """Warm kernels and then `begin`, in a task of its own; in the end that is cancelled, and the house stopped."""

    async def work() -> None:
        try:
            house.failure = WARMING
            await in_thread(warm_kernels)
            spare_collections()
            await begin(house)
        except Exception as error:
            give_up(error)

    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await house.stop()


def spare_collections() -> None:
    """Let Python look for garbage among what requests leave behind, seldom, and no more through all loaded code.

    That would hold up decisions for a tenth of a second now and then. Requests leave nothing that refers to itself
    but what errors do, so a look after some thousand of them is often enough.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])


async def in_thread(work: Callable[[], None]) -> None:
    """Wait for work in a thread that does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if not done.done():
            done.set_result(None) if error is None else done.set_exception(error)

    def run() -> None:
        failure: Exception | None = None
        try:
            work()
        except Exception as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, failure)

    threading.Thread(target=run, name="tacit-warming", daemon=True).start()
    await done


def warm_kernels() -> None:
    """Call every kernel that decisions and status of Tacit's own recipe need, so that the next call is quick.

    >>> warm_kernels()
    """
    counting = Layout.regular([1, 2], n_actions=3, n_contexts=1, n_feedback=2)
    for layout, context in ((counting, 0), (replace(counting, contexts=Vectors(1)), [0.0])):
        agent = Agent(layout)
        for _ in range(EPISODES):
            episode = agent.begin(context)
            agent.act(episode, 0)
            agent.act(episode, 1)
            agent.end(episode, 0)
        agent.diagnose()
        agent.policy(context)
    words = np.array([[4.0, 1, 1], [5, 1, 2], [1, 5, 2], [1, 4, 7]])
    measure_misfit(words, np.array([0.9, 0.1, 0.1]), np.array([1.0, 1, 0, 0]))
